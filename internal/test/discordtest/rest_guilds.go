package discordtest

func (s *RESTServer) getGateway(*RESTCall) (any, error) {
	return map[string]any{"url": s.GatewayURL()}, nil
}

func (s *RESTServer) getGatewayBot(*RESTCall) (any, error) {
	return map[string]any{
		"url": s.GatewayURL(), "shards": 1,
		"session_start_limit": map[string]any{
			"total": 1000, "remaining": s.StartsLeft(), "reset_after": 86400000, "max_concurrency": 1,
		},
	}, nil
}

func (s *RESTServer) getUser(c *RESTCall) (any, error) {
	id := c.PathValue("user")
	if id == "@me" {
		return c.Bot.User, nil
	}
	u, ok := s.Users[id]
	if !ok {
		return nil, ErrUnknownUser
	}
	return u, nil
}

func (s *RESTServer) getApplication(c *RESTCall) (any, error) {
	return map[string]any{
		"id": c.Bot.User.ID, "name": c.Bot.User.Username, "bot": c.Bot.User, "flags": 0,
		"description": "", "icon": nil, "bot_public": true, "bot_require_code_grant": false,
	}, nil
}

func (s *RESTServer) getOwnGuilds(c *RESTCall) (any, error) {
	list := []map[string]any{}
	for _, g := range s.GuildsOf(c.Bot.User.ID) {
		m := g.Member(c.Bot.User.ID)
		list = append(list, map[string]any{
			"id": g.ID, "name": g.Name, "icon": nil, "owner": g.OwnerID == m.User.ID,
			"permissions": g.Base(m), "features": []string{},
		})
	}
	return list, nil
}

// guildFor finds the guild of the request; the bot must be in it.
func (s *RESTServer) guildFor(c *RESTCall) (*GuildState, error) {
	g := s.Guilds[c.PathValue("guild")]
	switch {
	case g == nil:
		return nil, ErrUnknownGuild
	case g.Member(c.Bot.User.ID) == nil:
		return nil, ErrMissingAccess
	}
	return g, nil
}

func (s *RESTServer) getGuild(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return GuildObject(g), nil
}

func (s *RESTServer) getGuildChannels(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return s.ChannelsOf(g, false), nil
}

func (s *RESTServer) getRoles(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return g.Roles, nil
}

func (s *RESTServer) getMember(c *RESTCall) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	m := g.Member(c.PathValue("user"))
	if m == nil {
		return nil, ErrUnknownMember
	}
	return m, nil
}

func (s *RESTServer) getChannel(c *RESTCall) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	return ch, nil
}

func (s *RESTServer) createDM(c *RESTCall) (any, error) {
	var b struct {
		RecipientID string `json:"recipient_id"`
	}
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	u, ok := s.Users[b.RecipientID]
	switch {
	case b.RecipientID == "":
		return nil, FormError("recipient_id", "BASE_TYPE_REQUIRED", "This field is required")
	case !ok:
		return nil, ErrUnknownUser
	case u.Bot:
		return nil, ErrCannotDM
	}
	return s.DMChannel(c.Bot.User.ID, u), nil
}

// DMChannel finds or makes the direct channel of a bot and a person.
func (s *RESTServer) DMChannel(bot string, user User) *Channel {
	for _, ch := range s.Channels {
		if ch.Type == DirectMessage && ch.BotID == bot && ch.Recipients[0].ID == user.ID {
			return ch
		}
	}
	ch := &Channel{ID: s.NewID(), Type: DirectMessage, Recipients: []User{user}, BotID: bot}
	s.Channels[ch.ID] = ch
	return ch
}

func (s *RESTServer) startThread(c *RESTCall) (any, error) {
	parent, err := s.channelFor(c, CreateThreads)
	if err != nil {
		return nil, err
	}
	r, err := s.messageFor(c, parent)
	if err != nil {
		return nil, err
	}
	var b struct {
		Name string `json:"name"`
	}
	if err := DecodeBody(c.Body, &b); err != nil {
		return nil, err
	}
	var f FormErrors
	f.Length("name", b.Name, 1, 100)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if s.Channels[r.ID] != nil {
		return nil, Refuse(400, 160004, "A thread has already been created for this message")
	}
	id := parent.ID
	ch := &Channel{ID: r.ID, Type: PublicThread, GuildID: parent.GuildID, ParentID: &id, Name: b.Name}
	s.AddChannel(ch)
	r.Flags |= FlagHasThread
	s.DispatchMessage("MESSAGE_UPDATE", r)
	return createdResult{ch}, nil
}
