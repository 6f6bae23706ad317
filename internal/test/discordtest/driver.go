package discordtest

import (
	"cmp"
	"maps"
	"slices"
)

// CreateUser makes a person.
func (s *Server) CreateUser(name string) User {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	u := User{ID: s.hub.NewID(), Username: name, Discriminator: "0"}
	s.hub.Users[u.ID] = u
	return u
}

// CreateBot makes an application with a bot that signs in with the token. All
// privileged intents are on; see ForbidIntents.
func (s *Server) CreateBot(name, token string) Bot {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	u := User{ID: s.hub.NewID(), Username: name, Discriminator: "0000", Bot: true}
	s.hub.Users[u.ID] = u
	s.hub.Accounts[u.ID] = &Account{User: u, Token: token}
	return Bot{User: u, Token: token}
}

// ForbidIntents switches privileged intents off in the bot's settings. Asking
// for them closes the connection with 4014.
func (s *Server) ForbidIntents(bot Bot, intents Intents) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if a := s.hub.Accounts[bot.ID]; a != nil {
		a.Forbidden = intents & Privileged
	}
}

// RevokeToken makes the bot's token worthless, as a reset in the developer
// portal does, and closes its connections with 4004.
func (s *Server) RevokeToken(bot Bot) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if a := s.hub.Accounts[bot.ID]; a != nil {
		a.Token = "revoked-" + s.hub.NewID()
	}
	for c := range s.hub.Conns {
		if c.Bot == bot.ID {
			s.hub.CloseConn(c, CloseAuthFailed, "Authentication failed.")
		}
	}
}

// CreateGuild makes a guild with its owner in it.
func (s *Server) CreateGuild(name string, owner User) Guild {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := &GuildState{
		Guild:  Guild{ID: s.hub.NewID(), Name: name, OwnerID: owner.ID},
		Joined: s.hub.Now().UTC(), Voice: map[string]VoiceState{},
	}
	g.Roles = []*Role{{ID: g.ID, Name: "@everyone", Permissions: Everyday}}
	s.hub.Guilds[g.ID] = g
	s.findVoiceServer(g)
	s.addMember(g, owner)
	return g.Guild
}

// AddMember lets a user into the guild. A connected bot is told of the guild,
// others of the member.
func (s *Server) AddMember(in Guild, user User, roles ...Role) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if g := s.hub.Guilds[in.ID]; g != nil && g.Member(user.ID) == nil {
		s.addMember(g, user, roles...)
	}
}

func (s *Server) addMember(g *GuildState, user User, roles ...Role) {
	m := &Member{User: user, Roles: []string{}, JoinedAt: s.hub.Now().UTC()}
	for _, r := range roles {
		m.Roles = append(m.Roles, r.ID)
	}
	g.Members = append(g.Members, m)
	for _, ses := range s.hub.SessionsInOrder() {
		if ses.Bot.User.ID == user.ID {
			s.hub.SendGuild(ses, g)
		}
	}
	s.hub.DispatchGuild(g, "GUILD_MEMBER_ADD", memberObject{m, g.ID})
	s.hub.Notify()
}

type memberObject struct {
	*Member
	GuildID string `json:"guild_id"`
}

// RemoveMember takes a user out of the guild.
func (s *Server) RemoveMember(from Guild, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[from.ID]
	if g == nil {
		return
	}
	if v, ok := g.Voice[user.ID]; ok {
		s.hub.SetVoice(g, VoiceState{GuildID: g.ID, UserID: user.ID, SessionID: v.SessionID})
	}
	g.Members = slices.DeleteFunc(g.Members, func(m *Member) bool { return m.User.ID == user.ID })
	for _, ses := range s.hub.SessionsInOrder() {
		if ses.Bot.User.ID == user.ID && ses.Intents&Guilds != 0 {
			s.hub.Dispatch(ses, "GUILD_DELETE", map[string]any{"id": g.ID})
		}
	}
	s.hub.DispatchGuild(g, "GUILD_MEMBER_REMOVE", map[string]any{"guild_id": g.ID, "user": user})
	s.hub.Notify()
}

// CreateRole makes a role in the guild.
func (s *Server) CreateRole(in Guild, name string, has Permissions) Role {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	r := &Role{ID: s.hub.NewID(), Name: name, Permissions: has, Position: len(g.Roles)}
	g.Roles = append(g.Roles, r)
	s.hub.DispatchGuild(g, "GUILD_ROLE_CREATE", map[string]any{"guild_id": g.ID, "role": r})
	return *r
}

// SetPermissions changes what a role may do in the whole guild; the zero Role
// stands for everyone's.
func (s *Server) SetPermissions(in Guild, role Role, has Permissions) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	if r := g.Role(cmp.Or(role.ID, g.ID)); r != nil {
		r.Permissions = has
		s.hub.DispatchGuild(g, "GUILD_ROLE_UPDATE", map[string]any{"guild_id": g.ID, "role": r})
	}
}

// CreateChannel makes a text channel.
func (s *Server) CreateChannel(in Guild, name string) Channel {
	return s.create(in, name, TextChannel)
}

// CreateVoiceChannel makes a voice channel.
func (s *Server) CreateVoiceChannel(in Guild, name string) Channel {
	return s.create(in, name, VoiceChannel)
}

// CreateThread makes a public thread of a channel.
func (s *Server) CreateThread(of Channel, name string) Channel {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := &Channel{ID: s.hub.NewID(), Type: PublicThread, GuildID: of.GuildID, ParentID: &of.ID, Name: name}
	s.hub.AddChannel(ch)
	return *ch
}

func (s *Server) create(in Guild, name string, kind ChannelType) Channel {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := &Channel{ID: s.hub.NewID(), Type: kind, GuildID: in.ID, Name: name, Position: len(s.hub.Guilds[in.ID].Channels)}
	s.hub.AddChannel(ch)
	return *ch
}

// DeleteChannel takes a channel of a guild away.
func (s *Server) DeleteChannel(which Channel) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[which.ID]
	if ch == nil || ch.GuildID == "" {
		return
	}
	s.hub.DispatchIn(ch, "CHANNEL_DELETE", ch)
	g := s.hub.Guilds[ch.GuildID]
	for _, v := range maps.Clone(g.Voice) {
		if *v.ChannelID == ch.ID {
			s.hub.SetVoice(g, VoiceState{GuildID: g.ID, UserID: v.UserID, SessionID: v.SessionID})
		}
	}
	g.Channels = slices.DeleteFunc(g.Channels, func(id string) bool { return id == ch.ID })
	delete(s.hub.Channels, ch.ID)
	s.hub.Notify()
}

// Overwrite changes permissions in one channel for a member or a role; exactly
// one of the two is given, the other zero. Both zero stands for everyone.
func (s *Server) Overwrite(in Channel, user User, role Role, allow, deny Permissions) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[in.ID]
	if ch == nil {
		return
	}
	o := Overwrite{ID: cmp.Or(user.ID, role.ID, ch.GuildID), Allow: allow, Deny: deny}
	if user.ID != "" {
		o.Type = 1
	}
	ch.Overwrites = append(slices.DeleteFunc(slices.Clone(ch.Overwrites), func(x Overwrite) bool { return x.ID == o.ID }), o)
	s.hub.DispatchIn(ch, "CHANNEL_UPDATE", ch)
	s.hub.Notify()
}

// OpenDM gives the conversation of a person with a bot.
func (s *Server) OpenDM(user User, bot Bot) Channel {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return *s.hub.DMChannel(bot.ID, user)
}

// CloseDMs makes a person refuse direct messages.
func (s *Server) CloseDMs(user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.ClosedDMs[user.ID] = true
}
