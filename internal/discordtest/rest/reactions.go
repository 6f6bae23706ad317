package rest

import (
	"slices"

	"clank/internal/discordtest/shape"
)

func (s *Server) postTyping(c *shape.Call) (any, error) {
	ch, err := s.channelFor(c, shape.SendMessages)
	if err != nil {
		return nil, err
	}
	s.StartTyping(ch, c.Bot.User)
	return nil, nil
}

// StartTyping tells that somebody writes in a channel.
func (s *Server) StartTyping(ch *shape.Channel, user shape.User) {
	s.Typing = append(s.Typing, shape.Typing{ChannelID: ch.ID, User: user, At: s.Now()})
	event := map[string]any{"channel_id": ch.ID, "user_id": user.ID, "timestamp": s.Now().Unix()}
	if ch.GuildID != "" {
		event["guild_id"] = ch.GuildID
		event["member"] = s.Guilds[ch.GuildID].Member(user.ID)
	}
	s.DispatchIn(ch, "TYPING_START", event)
	s.Notify()
}

// reactionFor finds message and emoji of a request.
func (s *Server) reactionFor(c *shape.Call) (*shape.Channel, *shape.Record, string, error) {
	ch, err := s.channelFor(c, shape.ReadMessageHistory)
	if err != nil {
		return nil, nil, "", err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, nil, "", err
	}
	emoji := c.PathValue("emoji")
	if !shape.KnownEmoji(emoji) {
		return nil, nil, "", shape.ErrUnknownEmoji
	}
	return ch, r, emoji, nil
}

func (s *Server) addReaction(c *shape.Call) (any, error) {
	ch, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	first := !slices.ContainsFunc(r.Reactions, func(x shape.Reaction) bool { return x.Emoji == emoji })
	if first && s.Permissions(ch, c.Bot.User.ID)&shape.AddReactions == 0 {
		return nil, shape.ErrMissingPerms
	}
	s.React(ch, r, c.Bot.User, emoji)
	return nil, nil
}

// React adds a reaction of a user, once.
func (s *Server) React(ch *shape.Channel, r *shape.Record, user shape.User, emoji string) {
	if slices.ContainsFunc(r.Reactions, func(x shape.Reaction) bool { return x.Emoji == emoji && x.User.ID == user.ID }) {
		return
	}
	r.Reactions = append(r.Reactions, shape.Reaction{Emoji: emoji, User: user, At: s.Now()})
	s.dispatchReaction("MESSAGE_REACTION_ADD", ch, r, user, emoji)
}

func (s *Server) removeReaction(c *shape.Call) (any, error) {
	ch, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	id := c.PathValue("user")
	if id == "@me" {
		id = c.Bot.User.ID
	}
	if id != c.Bot.User.ID && s.Permissions(ch, c.Bot.User.ID)&shape.ManageMessages == 0 {
		return nil, shape.ErrMissingPerms
	}
	user, ok := s.Users[id]
	if !ok {
		return nil, shape.ErrUnknownUser
	}
	s.Unreact(ch, r, user, emoji)
	return nil, nil
}

// Unreact takes it away.
func (s *Server) Unreact(ch *shape.Channel, r *shape.Record, user shape.User, emoji string) {
	before := len(r.Reactions)
	r.Reactions = slices.DeleteFunc(r.Reactions, func(x shape.Reaction) bool { return x.Emoji == emoji && x.User.ID == user.ID })
	if len(r.Reactions) < before {
		s.dispatchReaction("MESSAGE_REACTION_REMOVE", ch, r, user, emoji)
	}
}

func (s *Server) dispatchReaction(event string, ch *shape.Channel, r *shape.Record, user shape.User, emoji string) {
	d := map[string]any{
		"user_id": user.ID, "channel_id": ch.ID, "message_id": r.ID, "emoji": shape.ParseEmoji(emoji),
		"burst": false, "type": 0, "message_author_id": r.Author.ID,
	}
	if ch.GuildID != "" {
		d["guild_id"] = ch.GuildID
		if event == "MESSAGE_REACTION_ADD" {
			d["member"] = s.Guilds[ch.GuildID].Member(user.ID)
		}
	}
	s.DispatchIn(ch, event, d)
	s.Notify()
}

func (s *Server) getReactions(c *shape.Call) (any, error) {
	_, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	users := []shape.User{}
	for _, x := range r.Reactions {
		if x.Emoji == emoji {
			users = append(users, x.User)
		}
	}
	return users, nil
}
