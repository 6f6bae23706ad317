package discordtest

import "slices"

func (s *RESTServer) postTyping(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, SendMessages)
	if err != nil {
		return nil, err
	}
	s.StartTyping(ch, c.Bot.User)
	return nil, nil
}

// StartTyping tells that somebody writes in a channel.
func (s *RESTServer) StartTyping(ch *Channel, user User) {
	s.Typing = append(s.Typing, Typing{ChannelID: ch.ID, User: user, At: s.Now()})
	event := map[string]any{"channel_id": ch.ID, "user_id": user.ID, "timestamp": s.Now().Unix()}
	if ch.GuildID != "" {
		event["guild_id"] = ch.GuildID
		event["member"] = s.Guilds[ch.GuildID].Member(user.ID)
	}
	s.DispatchIn(ch, "TYPING_START", event)
	s.Notify()
}

// reactionFor finds message and emoji of a request.
func (s *RESTServer) reactionFor(c *RESTCall) (*Channel, *MessageRecord, string, error) {
	ch, err := s.channelFor(c, ReadMessageHistory)
	if err != nil {
		return nil, nil, "", err
	}
	r, err := s.messageFor(c, ch)
	if err != nil {
		return nil, nil, "", err
	}
	emoji := c.PathValue("emoji")
	if !KnownEmoji(emoji) {
		return nil, nil, "", ErrUnknownEmoji
	}
	return ch, r, emoji, nil
}

func (s *RESTServer) addReaction(c *RESTCall) (any, error) {
	ch, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	first := !slices.ContainsFunc(r.Reactions, func(x Reaction) bool { return x.Emoji == emoji })
	if first && s.Permissions(ch, c.Bot.User.ID)&AddReactions == 0 {
		return nil, ErrMissingPerms
	}
	s.React(ch, r, c.Bot.User, emoji)
	return nil, nil
}

// React adds a reaction of a user, once.
func (s *RESTServer) React(ch *Channel, r *MessageRecord, user User, emoji string) {
	if slices.ContainsFunc(r.Reactions, func(x Reaction) bool { return x.Emoji == emoji && x.User.ID == user.ID }) {
		return
	}
	r.Reactions = append(r.Reactions, Reaction{Emoji: emoji, User: user, At: s.Now()})
	s.dispatchReaction("MESSAGE_REACTION_ADD", ch, r, user, emoji)
}

func (s *RESTServer) removeReaction(c *RESTCall) (any, error) {
	ch, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	id := c.PathValue("user")
	if id == "@me" {
		id = c.Bot.User.ID
	}
	if id != c.Bot.User.ID && s.Permissions(ch, c.Bot.User.ID)&ManageMessages == 0 {
		return nil, ErrMissingPerms
	}
	user, ok := s.Users[id]
	if !ok {
		return nil, ErrUnknownUser
	}
	s.Unreact(ch, r, user, emoji)
	return nil, nil
}

// Unreact takes it away.
func (s *RESTServer) Unreact(ch *Channel, r *MessageRecord, user User, emoji string) {
	before := len(r.Reactions)
	r.Reactions = slices.DeleteFunc(r.Reactions, func(x Reaction) bool { return x.Emoji == emoji && x.User.ID == user.ID })
	if len(r.Reactions) < before {
		s.dispatchReaction("MESSAGE_REACTION_REMOVE", ch, r, user, emoji)
	}
}

func (s *RESTServer) dispatchReaction(event string, ch *Channel, r *MessageRecord, user User, emoji string) {
	d := map[string]any{
		"user_id": user.ID, "channel_id": ch.ID, "message_id": r.ID, "emoji": ParseEmoji(emoji),
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

func (s *RESTServer) getReactions(c *RESTCall) (any, error) {
	_, r, emoji, err := s.reactionFor(c)
	if err != nil {
		return nil, err
	}
	users := []User{}
	for _, x := range r.Reactions {
		if x.Emoji == emoji {
			users = append(users, x.User)
		}
	}
	return users, nil
}
