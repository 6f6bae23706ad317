package rest

import (
	"clank/internal/discordtest/hub"
	"clank/internal/discordtest/shape"
)

func (s *Server) getGateway(*shape.Call) (any, error) {
	return map[string]any{"url": s.GatewayURL()}, nil
}

func (s *Server) getGatewayBot(*shape.Call) (any, error) {
	return map[string]any{
		"url": s.GatewayURL(), "shards": 1,
		"session_start_limit": map[string]any{
			"total": 1000, "remaining": s.StartsLeft(), "reset_after": 86400000, "max_concurrency": 1,
		},
	}, nil
}

func (s *Server) getUser(c *shape.Call) (any, error) {
	id := c.PathValue("user")
	if id == "@me" {
		return c.Bot.User, nil
	}
	u, ok := s.Users[id]
	if !ok {
		return nil, shape.ErrUnknownUser
	}
	return u, nil
}

func (s *Server) getApplication(c *shape.Call) (any, error) {
	return map[string]any{
		"id": c.Bot.User.ID, "name": c.Bot.User.Username, "bot": c.Bot.User, "flags": 0,
		"description": "", "icon": nil, "bot_public": true, "bot_require_code_grant": false,
	}, nil
}

func (s *Server) getOwnGuilds(c *shape.Call) (any, error) {
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
func (s *Server) guildFor(c *shape.Call) (*shape.GuildState, error) {
	g := s.Guilds[c.PathValue("guild")]
	switch {
	case g == nil:
		return nil, shape.ErrUnknownGuild
	case g.Member(c.Bot.User.ID) == nil:
		return nil, shape.ErrMissingAccess
	}
	return g, nil
}

func (s *Server) getGuild(c *shape.Call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return hub.GuildObject(g), nil
}

func (s *Server) getGuildChannels(c *shape.Call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return s.ChannelsOf(g, false), nil
}

func (s *Server) getRoles(c *shape.Call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	return g.Roles, nil
}

func (s *Server) getMember(c *shape.Call) (any, error) {
	g, err := s.guildFor(c)
	if err != nil {
		return nil, err
	}
	m := g.Member(c.PathValue("user"))
	if m == nil {
		return nil, shape.ErrUnknownMember
	}
	return m, nil
}

func (s *Server) getChannel(c *shape.Call) (any, error) {
	ch, err := s.channelFor(c, 0)
	if err != nil {
		return nil, err
	}
	return ch, nil
}

func (s *Server) createDM(c *shape.Call) (any, error) {
	var b struct {
		RecipientID string `json:"recipient_id"`
	}
	if err := shape.Decode(c.Body, &b); err != nil {
		return nil, err
	}
	u, ok := s.Users[b.RecipientID]
	switch {
	case b.RecipientID == "":
		return nil, shape.FormError("recipient_id", "BASE_TYPE_REQUIRED", "This field is required")
	case !ok:
		return nil, shape.ErrUnknownUser
	case u.Bot:
		return nil, shape.ErrCannotDM
	}
	return s.Conversation(c.Bot.User.ID, u), nil
}

// Conversation finds or makes the direct channel of a bot and a person.
func (s *Server) Conversation(bot string, user shape.User) *shape.Channel {
	for _, ch := range s.Channels {
		if ch.Type == shape.DirectMessage && ch.BotID == bot && ch.Recipients[0].ID == user.ID {
			return ch
		}
	}
	ch := &shape.Channel{ID: s.NewID(), Type: shape.DirectMessage, Recipients: []shape.User{user}, BotID: bot}
	s.Channels[ch.ID] = ch
	return ch
}

func (s *Server) startThread(c *shape.Call) (any, error) {
	parent, err := s.channelFor(c, shape.CreateThreads)
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
	if err := shape.Decode(c.Body, &b); err != nil {
		return nil, err
	}
	var f shape.FormErrors
	f.Length("name", b.Name, 1, 100)
	if err := f.Err(); err != nil {
		return nil, err
	}
	if s.Channels[r.ID] != nil {
		return nil, shape.Refuse(400, 160004, "A thread has already been created for this message")
	}
	id := parent.ID
	ch := &shape.Channel{ID: r.ID, Type: shape.PublicThread, GuildID: parent.GuildID, ParentID: &id, Name: b.Name}
	s.AddChannel(ch)
	r.Flags |= shape.FlagHasThread
	s.DispatchMessage("MESSAGE_UPDATE", r)
	return created{ch}, nil
}
