package discordtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"clank/internal/test/discordtest/voicetest"
)

// JoinVoice puts a user into a voice channel. A person joined like this is silent; use EnterCall for a person who
// speaks.
func (s *Server) JoinVoice(in Channel, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.GuildID]
	s.hub.SetVoice(g, VoiceState{GuildID: g.ID, ChannelID: &in.ID, UserID: user.ID, SessionID: "v" + s.hub.NewID()})
}

// LeaveVoice removes a user from the guild's voice channels, as if they left or a moderator disconnected them. Their
// voice connection is closed with 4014.
func (s *Server) LeaveVoice(in Guild, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	s.hub.SetVoice(g, VoiceState{GuildID: g.ID, UserID: user.ID, SessionID: g.Voice[user.ID].SessionID})
}

// VoiceStates returns the voice states of the guild by user id.
func (s *Server) VoiceStates(in Guild) map[string]VoiceState {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return maps.Clone(s.hub.Guilds[in.ID].Voice)
}

// ErrNoVoice means that the server was started without Config.Voice.
var ErrNoVoice = errors.New("the emulated discord has no voice server")

// EnterCall puts a person into a voice channel and connects them to its call. The options may be zero: address and
// credentials are filled in. End-to-end encryption needs a Privacy. The caller closes the member; LeaveVoice, or
// leaving by other means, ends it as well.
func (s *Server) EnterCall(ctx context.Context, in Channel, user User,
	o voicetest.MemberOptions,
) (*voicetest.Member, error) {
	if s.Voice == nil {
		return nil, fmt.Errorf("%s enters a call: %w", user.Username, ErrNoVoice)
	}
	s.JoinVoice(in, user)
	s.hub.Mu.Lock()
	g := s.hub.Guilds[in.GuildID]
	if g == nil {
		s.hub.Mu.Unlock()
		return nil, fmt.Errorf("%s enters a call: %w", user.Username, ErrNotFound)
	}
	o.Credentials = s.hub.VoiceCredentials(g, user.ID)
	endpoint := s.hub.VoiceEndpoint(g)
	s.hub.Mu.Unlock()
	if endpoint == nil {
		return nil, fmt.Errorf("%s enters a call: it has no server now", user.Username)
	}
	o.Endpoint, o.Roots = *endpoint, s.Voice.Roots()
	return voicetest.JoinCall(ctx, o)
}

// VoiceClientID returns the id of a user on the voice server of a guild, for its methods.
func VoiceClientID(in Guild, user User) voicetest.ClientID {
	return voicetest.ClientID{Server: in.ID, User: user.ID}
}

// MoveVoice moves a user in a call to another channel of the guild, as a moderator does. The user's voice connection
// is closed with 4014; a bot receives the new server.
func (s *Server) MoveVoice(to Channel, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[to.GuildID]
	v, ok := g.Voice[user.ID]
	if !ok || *v.ChannelID == to.ID {
		return
	}
	v.ChannelID = &to.ID
	s.hub.SetVoice(g, v)
	if ses := s.hub.Sessions[v.SessionID]; ses != nil {
		s.hub.SendVoiceServer(ses, g)
	}
}

// MuteVoice mutes or deafens a user in a call, as a moderator does.
func (s *Server) MuteVoice(in Guild, user User, mute, deaf bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	if v, ok := g.Voice[user.ID]; ok {
		v.Mute, v.Deaf = mute, deaf
		s.hub.SetVoice(g, v)
	}
}

// LimitVoice sets the user limit of a voice channel; 0 means none.
func (s *Server) LimitVoice(in Channel, users int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	ch := s.hub.Channels[in.ID]
	ch.UserLimit = users
	s.hub.DispatchIn(ch, "CHANNEL_UPDATE", ch)
}

// LoseVoiceServer removes the guild's voice server: bots in a call receive a null endpoint, and their connections are
// closed with the code unless it is 0. Bots that join later also receive null, until FindVoiceServer.
func (s *Server) LoseVoiceServer(in Guild, code int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	g.VoiceEndpoint = ""
	s.sendVoiceServer(g, code)
}

// FindVoiceServer assigns a new voice server to the guild and sends it to the bots in a call.
func (s *Server) FindVoiceServer(in Guild) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	s.findVoiceServer(g)
	s.sendVoiceServer(g, 0)
}

// findVoiceServer opens a port for the guild's calls. While the server is closing there is none.
func (s *Server) findVoiceServer(g *GuildState) {
	if s.Voice == nil {
		return
	}
	if endpoint, err := s.Voice.Endpoint(); err == nil {
		g.VoiceEndpoint = endpoint
	}
}

// sendVoiceServer sends the guild's voice server to all bots in a call.
func (s *Server) sendVoiceServer(g *GuildState, code int) {
	for user, v := range g.Voice {
		ses := s.hub.Sessions[v.SessionID]
		if ses == nil {
			continue
		}
		if code != 0 && s.Voice != nil {
			s.Voice.Revoke(voicetest.ClientID{Server: g.ID, User: user}, code, "The server is going away.")
		}
		s.hub.SendVoiceServer(ses, g)
	}
	s.hub.Notify()
}

// updateVoice handles op 4, by which a bot joins, moves in or leaves a voice channel. It reports whether the data
// could be parsed. If the bot may not join, Discord does not respond.
func (s *hub) updateVoice(ses *session, data json.RawMessage) bool {
	var d struct {
		GuildID   string  `json:"guild_id"`
		ChannelID *string `json:"channel_id"`
		SelfMute  bool    `json:"self_mute"`
		SelfDeaf  bool    `json:"self_deaf"`
		SelfVideo bool    `json:"self_video"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return false
	}
	g := s.Guilds[d.GuildID]
	if g == nil || g.Member(ses.Bot.User.ID) == nil {
		return true
	}
	if !ses.hears(g.ID) { // Discord only ignores it
		return false
	}
	if d.ChannelID != nil && !s.mayConnect(g, *d.ChannelID, ses.Bot.User.ID) {
		return true
	}
	s.SetVoice(g, VoiceState{
		GuildID: g.ID, ChannelID: d.ChannelID, UserID: ses.Bot.User.ID, SessionID: ses.id,
		SelfMute: d.SelfMute, SelfDeaf: d.SelfDeaf, SelfVideo: d.SelfVideo && !ses.Bot.User.Bot,
		Streaming: g.Voice[ses.Bot.User.ID].Streaming,
	})
	if d.ChannelID != nil {
		s.SendVoiceServer(ses, g)
	}
	return true
}

func (s *hub) mayConnect(g *GuildState, channel, user string) bool {
	ch := s.Channels[channel]
	need := ViewChannel | Connect
	if ch == nil || ch.GuildID != g.ID || s.Permissions(ch, user)&need != need {
		return false
	}
	there := 0
	for _, v := range g.Voice {
		if *v.ChannelID == channel && v.UserID != user {
			there++
		}
	}
	return ch.UserLimit == 0 || there < ch.UserLimit || s.Permissions(ch, user)&MoveMembers != 0
}

// SetVoice moves a user in, between or out of voice channels. A voice connection to the old channel is closed.
func (s *hub) SetVoice(g *GuildState, v VoiceState) {
	was, there := g.Voice[v.UserID]
	if there && (v.ChannelID == nil || *was.ChannelID != *v.ChannelID || was.SessionID != v.SessionID) {
		s.leaveStreams(g, v.UserID)
		s.revokeVoice(g, v.UserID)
		v.Streaming = false
	}
	if v.ChannelID == nil {
		delete(g.Voice, v.UserID)
	} else {
		g.Voice[v.UserID] = v
	}
	v.Member = g.Member(v.UserID)
	s.DispatchGuild(g, "VOICE_STATE_UPDATE", v)
	s.Notify()
}

func (s *hub) revokeVoice(g *GuildState, user string) {
	if s.Voice != nil {
		s.Voice.Revoke(voicetest.ClientID{Server: g.ID, User: user}, voicetest.CloseDisconnected, "Disconnected.")
	}
}

// SendVoiceServer sends a bot in a call the address for its voice connection.
func (s *hub) SendVoiceServer(ses *session, g *GuildState) {
	ticket := s.VoiceCredentials(g, ses.Bot.User.ID)
	s.Dispatch(ses, "VOICE_SERVER_UPDATE", map[string]any{
		"token": ticket.Token, "guild_id": g.ID, "endpoint": s.VoiceEndpoint(g),
	})
}

// VoiceCredentials returns the credentials of a user in a call. As in the real service, a bot gets no video source.
func (s *hub) VoiceCredentials(g *GuildState, user string) voicetest.Credentials {
	v := g.Voice[user]
	group, err := strconv.ParseUint(*v.ChannelID, 10, 64)
	if err != nil {
		group = 0 // our ids are numbers
	}
	t := voicetest.Credentials{
		ClientID: voicetest.ClientID{Server: g.ID, User: user}, Room: *v.ChannelID, Session: v.SessionID,
		Token: "voice-" + s.NewID(), Group: group, NoVideo: s.Users[user].Bot,
	}
	if s.Voice != nil {
		s.Voice.Admit(t)
	}
	return t
}

// VoiceEndpoint returns the address of the guild's voice server; nil while there is none.
func (s *hub) VoiceEndpoint(g *GuildState) *string {
	if g.VoiceEndpoint == "" {
		return nil
	}
	return &g.VoiceEndpoint
}

// LeaveCalls removes the user of an ended session from its calls.
func (s *hub) LeaveCalls(ses *session) {
	for _, g := range s.GuildsOf(ses.Bot.User.ID) {
		if v, ok := g.Voice[ses.Bot.User.ID]; ok && v.SessionID == ses.id {
			s.SetVoice(g, VoiceState{GuildID: g.ID, UserID: v.UserID, SessionID: v.SessionID})
		}
	}
}
