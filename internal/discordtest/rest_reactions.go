package discordtest

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Typing is one "… is typing", which lasts ten seconds.
type Typing struct {
	ChannelID string
	User      User
	At        time.Time
}

func (s *Server) postTyping(c *call) (any, error) {
	ch, err := s.channelFor(c, SendMessages)
	if err != nil {
		return nil, err
	}
	s.startTyping(ch, c.bot.user)
	return nil, nil
}

func (s *Server) startTyping(ch *Channel, user User) {
	s.typing = append(s.typing, Typing{ch.ID, user, s.now()})
	event := map[string]any{"channel_id": ch.ID, "user_id": user.ID, "timestamp": s.now().Unix()}
	if ch.GuildID != "" {
		event["guild_id"] = ch.GuildID
		event["member"] = s.guilds[ch.GuildID].member(user.ID)
	}
	s.dispatchIn(ch, "TYPING_START", event)
	s.notify()
}

// parseEmoji reads a character or "name:id".
func parseEmoji(text string) Emoji {
	if name, id, ok := strings.Cut(text, ":"); ok {
		return Emoji{Name: name, ID: &id}
	}
	return Emoji{Name: text}
}

func (e Emoji) text() string {
	if e.ID != nil {
		return e.Name + ":" + *e.ID
	}
	return e.Name
}

// knownEmoji takes "name:id" and short text without letters, which is as near as
// one comes without Unicode's table.
func knownEmoji(text string) bool {
	if name, id, ok := strings.Cut(text, ":"); ok {
		return name != "" && number64(id) > 0
	}
	r, _ := utf8.DecodeRuneInString(text)
	keycap := strings.HasSuffix(text, "\u20e3")
	return text != "" && utf8.RuneCountInString(text) <= 12 && (r > 0x7f || keycap)
}

// reactionFor finds message and emoji of a request.
func (s *Server) reactionFor(c *call) (*Channel, *record, string, error) {
	ch, err := s.channelFor(c, ReadMessageHistory)
	if err != nil {
		return nil, nil, "", err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, nil, "", err
	}
	emoji := c.PathValue("emoji")
	if !knownEmoji(emoji) {
		return nil, nil, "", errUnknownEmoji
	}
	return ch, r, emoji, nil
}

func (s *Server) addReaction(c *call) (any, error) {
	ch, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	first := !slices.ContainsFunc(r.reactions, func(x Reaction) bool { return x.Emoji == emoji })
	if first && s.permissions(ch, c.bot.user.ID)&AddReactions == 0 {
		return nil, errMissingPerms
	}
	s.react(ch, r, c.bot.user, emoji)
	return nil, nil
}

func (s *Server) react(ch *Channel, r *record, user User, emoji string) {
	if slices.ContainsFunc(r.reactions, func(x Reaction) bool { return x.Emoji == emoji && x.User.ID == user.ID }) {
		return
	}
	r.reactions = append(r.reactions, Reaction{emoji, user, s.now()})
	s.dispatchReaction("MESSAGE_REACTION_ADD", ch, r, user, emoji)
}

func (s *Server) removeReaction(c *call) (any, error) {
	ch, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	id := c.PathValue("user")
	if id == "@me" {
		id = c.bot.user.ID
	}
	if id != c.bot.user.ID && s.permissions(ch, c.bot.user.ID)&ManageMessages == 0 {
		return nil, errMissingPerms
	}
	user, ok := s.users[id]
	if !ok {
		return nil, errUnknownUser
	}
	s.unreact(ch, r, user, emoji)
	return nil, nil
}

func (s *Server) unreact(ch *Channel, r *record, user User, emoji string) {
	before := len(r.reactions)
	r.reactions = slices.DeleteFunc(r.reactions, func(x Reaction) bool { return x.Emoji == emoji && x.User.ID == user.ID })
	if len(r.reactions) < before {
		s.dispatchReaction("MESSAGE_REACTION_REMOVE", ch, r, user, emoji)
	}
}

func (s *Server) dispatchReaction(event string, ch *Channel, r *record, user User, emoji string) {
	d := map[string]any{
		"user_id": user.ID, "channel_id": ch.ID, "message_id": r.ID, "emoji": parseEmoji(emoji),
		"burst": false, "type": 0, "message_author_id": r.Author.ID,
	}
	if ch.GuildID != "" {
		d["guild_id"] = ch.GuildID
		if event == "MESSAGE_REACTION_ADD" {
			d["member"] = s.guilds[ch.GuildID].member(user.ID)
		}
	}
	s.dispatchIn(ch, event, d)
	s.notify()
}

func (s *Server) getReactions(c *call) (any, error) {
	_, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	users := []User{}
	for _, x := range r.reactions {
		if x.Emoji == emoji {
			users = append(users, x.User)
		}
	}
	return users, nil
}
