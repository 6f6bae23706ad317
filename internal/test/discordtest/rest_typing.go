package discordtest

func (s *hub) postTyping(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, SendMessages)
	if err != nil {
		return nil, err
	}
	s.StartTyping(ch, c.Bot.User)
	return nil, nil
}

// StartTyping tells that somebody writes in a channel.
func (s *hub) StartTyping(ch *Channel, user User) {
	s.Typing = append(s.Typing, Typing{ChannelID: ch.ID, User: user, At: s.Now()})
	event := map[string]any{"channel_id": ch.ID, "user_id": user.ID, "timestamp": s.Now().Unix()}
	if ch.GuildID != "" {
		event["guild_id"] = ch.GuildID
		event["member"] = s.Guilds[ch.GuildID].Member(user.ID)
	}
	s.DispatchIn(ch, "TYPING_START", event)
	s.Notify()
}
