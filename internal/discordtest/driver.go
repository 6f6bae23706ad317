package discordtest

import (
	"cmp"
	"maps"
	"slices"
)

// CreateUser makes a person.
func (s *Server) CreateUser(name string) User {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := User{ID: s.newID(), Username: name, Discriminator: "0"}
	s.users[u.ID] = u
	return u
}

// CreateBot makes an application with a bot that signs in with the token. All
// privileged intents are on; see ForbidIntents.
func (s *Server) CreateBot(name, token string) Bot {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := User{ID: s.newID(), Username: name, Discriminator: "0000", Bot: true}
	s.users[u.ID] = u
	s.accounts[u.ID] = &account{user: u, token: token, commands: map[string][]Command{}}
	return Bot{u, token}
}

// ForbidIntents switches privileged intents off in the bot's settings. Asking
// for them closes the connection with 4014.
func (s *Server) ForbidIntents(bot Bot, intents Intents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accounts[bot.ID]; a != nil {
		a.forbidden = intents & privileged
	}
}

// RevokeToken makes the bot's token worthless, as a reset in the developer
// portal does, and closes its connections with 4004.
func (s *Server) RevokeToken(bot Bot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accounts[bot.ID]; a != nil {
		a.token = "revoked-" + s.newID()
	}
	for c := range s.conns {
		if c.bot == bot.ID {
			s.shut(c, CloseAuthFailed, "Authentication failed.")
		}
	}
}

// CreateGuild makes a guild with its owner in it.
func (s *Server) CreateGuild(name string, owner User) Guild {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &guild{
		Guild:  Guild{ID: s.newID(), Name: name, OwnerID: owner.ID},
		joined: s.now().UTC(), voice: map[string]VoiceState{},
	}
	g.roles = []*Role{{ID: g.ID, Name: "@everyone", Permissions: Everyday}}
	s.guilds[g.ID] = g
	s.findVoiceServer(g)
	s.enter(g, owner)
	return g.Guild
}

// AddMember lets a user into the guild. A connected bot is told of the guild,
// others of the member.
func (s *Server) AddMember(in Guild, user User, roles ...Role) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[in.ID]; g != nil && g.member(user.ID) == nil {
		s.enter(g, user, roles...)
	}
}

func (s *Server) enter(g *guild, user User, roles ...Role) {
	m := &Member{User: user, Roles: []string{}, JoinedAt: s.now().UTC()}
	for _, r := range roles {
		m.Roles = append(m.Roles, r.ID)
	}
	g.members = append(g.members, m)
	for _, ses := range s.sessionsInOrder() {
		if ses.bot.user.ID == user.ID {
			s.sendGuild(ses, g)
		}
	}
	s.dispatchGuild(g, "GUILD_MEMBER_ADD", memberIn{m, g.ID})
	s.notify()
}

type memberIn struct {
	*Member
	GuildID string `json:"guild_id"`
}

// RemoveMember takes a user out of the guild.
func (s *Server) RemoveMember(from Guild, user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[from.ID]
	if g == nil {
		return
	}
	if v, ok := g.voice[user.ID]; ok {
		s.setVoice(g, VoiceState{GuildID: g.ID, UserID: user.ID, SessionID: v.SessionID})
	}
	g.members = slices.DeleteFunc(g.members, func(m *Member) bool { return m.User.ID == user.ID })
	for _, ses := range s.sessionsInOrder() {
		if ses.bot.user.ID == user.ID && ses.intents&Guilds != 0 {
			s.dispatch(ses, "GUILD_DELETE", map[string]any{"id": g.ID})
		}
	}
	s.dispatchGuild(g, "GUILD_MEMBER_REMOVE", map[string]any{"guild_id": g.ID, "user": user})
	s.notify()
}

// CreateRole makes a role in the guild.
func (s *Server) CreateRole(in Guild, name string, has Permissions) Role {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[in.ID]
	r := &Role{ID: s.newID(), Name: name, Permissions: has, Position: len(g.roles)}
	g.roles = append(g.roles, r)
	s.dispatchGuild(g, "GUILD_ROLE_CREATE", map[string]any{"guild_id": g.ID, "role": r})
	return *r
}

// SetPermissions changes what a role may do in the whole guild; the zero Role
// stands for everyone's.
func (s *Server) SetPermissions(in Guild, role Role, has Permissions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[in.ID]
	if r := g.role(cmp.Or(role.ID, g.ID)); r != nil {
		r.Permissions = has
		s.dispatchGuild(g, "GUILD_ROLE_UPDATE", map[string]any{"guild_id": g.ID, "role": r})
	}
}

// CreateChannel makes a text channel.
func (s *Server) CreateChannel(in Guild, name string) Channel { return s.create(in, name, TextChannel) }

// CreateVoiceChannel makes a voice channel.
func (s *Server) CreateVoiceChannel(in Guild, name string) Channel {
	return s.create(in, name, VoiceChannel)
}

// CreateThread makes a public thread of a channel.
func (s *Server) CreateThread(of Channel, name string) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := &Channel{ID: s.newID(), Type: PublicThread, GuildID: of.GuildID, ParentID: &of.ID, Name: name}
	s.addChannel(ch)
	return *ch
}

func (s *Server) create(in Guild, name string, kind ChannelType) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := &Channel{ID: s.newID(), Type: kind, GuildID: in.ID, Name: name, Position: len(s.guilds[in.ID].channels)}
	s.addChannel(ch)
	return *ch
}

func (s *Server) addChannel(ch *Channel) {
	s.channels[ch.ID] = ch
	g := s.guilds[ch.GuildID]
	g.channels = append(g.channels, ch.ID)
	event := "CHANNEL_CREATE"
	if ch.Type == PublicThread {
		event = "THREAD_CREATE"
	}
	s.dispatchIn(ch, event, ch)
	s.notify()
}

// DeleteChannel takes a channel of a guild away.
func (s *Server) DeleteChannel(which Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[which.ID]
	if ch == nil || ch.GuildID == "" {
		return
	}
	s.dispatchIn(ch, "CHANNEL_DELETE", ch)
	g := s.guilds[ch.GuildID]
	for _, v := range maps.Clone(g.voice) {
		if *v.ChannelID == ch.ID {
			s.setVoice(g, VoiceState{GuildID: g.ID, UserID: v.UserID, SessionID: v.SessionID})
		}
	}
	g.channels = slices.DeleteFunc(g.channels, func(id string) bool { return id == ch.ID })
	delete(s.channels, ch.ID)
	s.notify()
}

// Overwrite changes permissions in one channel for a member or a role; exactly
// one of the two is given, the other zero. Both zero stands for everyone.
func (s *Server) Overwrite(in Channel, user User, role Role, allow, deny Permissions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[in.ID]
	if ch == nil {
		return
	}
	o := Overwrite{ID: cmp.Or(user.ID, role.ID, ch.GuildID), Allow: allow, Deny: deny}
	if user.ID != "" {
		o.Type = 1
	}
	ch.Overwrites = append(slices.DeleteFunc(slices.Clone(ch.Overwrites), func(x Overwrite) bool { return x.ID == o.ID }), o)
	s.dispatchIn(ch, "CHANNEL_UPDATE", ch)
	s.notify()
}

// OpenDM gives the conversation of a person with a bot.
func (s *Server) OpenDM(user User, bot Bot) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.conversation(bot.ID, user)
}

// CloseDMs makes a person refuse direct messages.
func (s *Server) CloseDMs(user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closedDMs[user.ID] = true
}
