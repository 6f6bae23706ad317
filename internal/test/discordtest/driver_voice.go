package discordtest

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"clank/internal/test/discordtest/voicetest"
)

// JoinVoice puts a user into a voice channel. Of somebody who is not a bot
// nothing is heard there; EnterCall gives them a voice.
func (s *Server) JoinVoice(in Channel, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if g := s.hub.Guilds[in.GuildID]; g != nil {
		s.hub.SetVoice(g, VoiceState{GuildID: g.ID, ChannelID: &in.ID, UserID: user.ID, SessionID: "v" + s.hub.NewID()})
	}
}

// LeaveVoice takes a user out of the guild's voice channels, as they do
// themselves or as a moderator does. Their voice connection is closed with 4014.
func (s *Server) LeaveVoice(in Guild, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if g := s.hub.Guilds[in.ID]; g != nil {
		s.hub.SetVoice(g, VoiceState{GuildID: g.ID, UserID: user.ID, SessionID: g.Voice[user.ID].SessionID})
	}
}

// VoiceStates lists who is in which voice channel of the guild, by user id.
func (s *Server) VoiceStates(in Guild) map[string]VoiceState {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if g := s.hub.Guilds[in.ID]; g != nil {
		return maps.Clone(g.Voice)
	}
	return nil
}

// ErrNoVoice says that the server was started without Config.Voice.
var ErrNoVoice = errors.New("the emulated discord has no voice server")

// EnterCall lets a person into a voice channel and connects them to its call. The
// options may be zero: where to connect and how to get in is filled in. With
// end-to-end encryption they need a Privacy, which package private has. The
// caller closes the member; LeaveVoice, or leaving by other means, ends it too.
func (s *Server) EnterCall(ctx context.Context, in Channel, user User, o voicetest.MemberOptions) (*voicetest.Member, error) {
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
	o.Endpoint = *endpoint
	return voicetest.JoinCall(ctx, o)
}

// VoiceClientID returns the place of a user on the voice server of a guild, for its verbs.
func VoiceClientID(in Guild, user User) voicetest.ClientID {
	return voicetest.ClientID{Server: in.ID, User: user.ID}
}

// MoveVoice moves a user who is in a call to another channel of the guild, as a
// moderator does. The voice connection of the user is closed with 4014; a bot is
// told where to connect now.
func (s *Server) MoveVoice(to Channel, user User) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[to.GuildID]
	if g == nil {
		return
	}
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

// MuteVoice mutes or deafens a user who is in a call, as a moderator does.
func (s *Server) MuteVoice(in Guild, user User, mute, deaf bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	if g == nil {
		return
	}
	if v, ok := g.Voice[user.ID]; ok {
		v.Mute, v.Deaf = mute, deaf
		s.hub.SetVoice(g, v)
	}
}

// LimitVoice lets at most so many users into a voice channel; 0 lets in all.
func (s *Server) LimitVoice(in Channel, users int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if ch := s.hub.Channels[in.ID]; ch != nil {
		ch.UserLimit = users
		s.hub.DispatchIn(ch, "CHANNEL_UPDATE", ch)
	}
}

// LoseVoiceServer takes the guild's voice server away: bots that are in a call
// get an endpoint of null, and their connections are closed with the code unless
// it is 0. Those who come now get null, too, until FindVoiceServer.
func (s *Server) LoseVoiceServer(in Guild, code int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	if g == nil {
		return
	}
	g.VoiceEndpoint = ""
	s.sendVoiceServer(g, code)
}

// FindVoiceServer gives the guild's calls a new place and tells it to the bots
// that are in one.
func (s *Server) FindVoiceServer(in Guild) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	g := s.hub.Guilds[in.ID]
	if g == nil {
		return
	}
	s.findVoiceServer(g)
	s.sendVoiceServer(g, 0)
}

// findVoiceServer opens a port for the guild's calls. While the server is being
// closed there is none.
func (s *Server) findVoiceServer(g *GuildState) {
	if s.Voice == nil {
		return
	}
	if endpoint, err := s.Voice.Endpoint(); err == nil {
		g.VoiceEndpoint = endpoint
	}
}

// sendVoiceServer sends the guild's server to all bots in a call.
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
