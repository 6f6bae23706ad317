package discordtest

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"clank/internal/discordtest/member"
	"clank/internal/discordtest/voiceserver"
)

// JoinVoice puts a user into a voice channel. Of somebody who is not a bot
// nothing is heard there; EnterCall gives them a voice.
func (s *Server) JoinVoice(in Channel, user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[in.GuildID]; g != nil {
		s.setVoice(g, VoiceState{GuildID: g.ID, ChannelID: &in.ID, UserID: user.ID, SessionID: "v" + s.newID()})
	}
}

// LeaveVoice takes a user out of the guild's voice channels, as they do
// themselves or as a moderator does. Their voice connection is closed with 4014.
func (s *Server) LeaveVoice(in Guild, user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[in.ID]; g != nil {
		s.setVoice(g, VoiceState{GuildID: g.ID, UserID: user.ID, SessionID: g.voice[user.ID].SessionID})
	}
}

// VoiceStates lists who is in which voice channel of the guild, by user id.
func (s *Server) VoiceStates(in Guild) map[string]VoiceState {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.guilds[in.ID]; g != nil {
		return maps.Clone(g.voice)
	}
	return nil
}

// ErrNoVoice says that the server was started without Config.Voice.
var ErrNoVoice = errors.New("the emulated discord has no voice server")

// EnterCall lets a person into a voice channel and connects them to its call. The
// options may be zero: where to connect and how to get in is filled in. With
// end-to-end encryption they need a Privacy, which package private has. The
// caller closes the member; LeaveVoice, or leaving by other means, ends it too.
func (s *Server) EnterCall(ctx context.Context, in Channel, user User, o member.Options) (*member.Member, error) {
	if s.Voice == nil {
		return nil, fmt.Errorf("%s enters a call: %w", user.Username, ErrNoVoice)
	}
	s.JoinVoice(in, user)
	s.mu.Lock()
	g := s.guilds[in.GuildID]
	if g == nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("%s enters a call: %w", user.Username, errNotFound)
	}
	o.Ticket = s.voiceTicket(g, user.ID)
	endpoint := s.voiceEndpoint(g)
	s.mu.Unlock()
	if endpoint == nil {
		return nil, fmt.Errorf("%s enters a call: it has no server now", user.Username)
	}
	o.Endpoint = *endpoint
	return member.Join(ctx, o)
}

// Seat is the place of a user on the voice server of a guild, for its verbs.
func Seat(in Guild, user User) voiceserver.Seat {
	return voiceserver.Seat{Server: in.ID, User: user.ID}
}

// MoveVoice moves a user who is in a call to another channel of the guild, as a
// moderator does. The voice connection of the user is closed with 4014; a bot is
// told where to connect now.
func (s *Server) MoveVoice(to Channel, user User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[to.GuildID]
	if g == nil {
		return
	}
	v, ok := g.voice[user.ID]
	if !ok || *v.ChannelID == to.ID {
		return
	}
	v.ChannelID = &to.ID
	s.setVoice(g, v)
	if ses := s.sessions[v.SessionID]; ses != nil {
		s.sendVoiceServer(ses, g)
	}
}

// MuteVoice mutes or deafens a user who is in a call, as a moderator does.
func (s *Server) MuteVoice(in Guild, user User, mute, deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[in.ID]
	if g == nil {
		return
	}
	if v, ok := g.voice[user.ID]; ok {
		v.Mute, v.Deaf = mute, deaf
		s.setVoice(g, v)
	}
}

// LimitVoice lets at most so many users into a voice channel; 0 lets in all.
func (s *Server) LimitVoice(in Channel, users int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.channels[in.ID]; ch != nil {
		ch.UserLimit = users
		s.dispatchIn(ch, "CHANNEL_UPDATE", ch)
	}
}

// LoseVoiceServer takes the guild's voice server away: bots that are in a call
// get an endpoint of null, and their connections are closed with the code unless
// it is 0. Those who come now get null, too, until FindVoiceServer.
func (s *Server) LoseVoiceServer(in Guild, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[in.ID]
	if g == nil {
		return
	}
	g.voiceEndpoint = ""
	s.tellVoiceServer(g, code)
}

// FindVoiceServer gives the guild's calls a new place and tells it to the bots
// that are in one.
func (s *Server) FindVoiceServer(in Guild) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.guilds[in.ID]
	if g == nil {
		return
	}
	s.findVoiceServer(g)
	s.tellVoiceServer(g, 0)
}

// findVoiceServer opens a port for the guild's calls. While the server is being
// closed there is none.
func (s *Server) findVoiceServer(g *guild) {
	if s.Voice == nil {
		return
	}
	if endpoint, err := s.Voice.Endpoint(); err == nil {
		g.voiceEndpoint = endpoint
	}
}

// tellVoiceServer sends the guild's server to all bots in a call.
func (s *Server) tellVoiceServer(g *guild, code int) {
	for user, v := range g.voice {
		ses := s.sessions[v.SessionID]
		if ses == nil {
			continue
		}
		if code != 0 && s.Voice != nil {
			s.Voice.Revoke(voiceserver.Seat{Server: g.ID, User: user}, code, "The server is going away.")
		}
		s.sendVoiceServer(ses, g)
	}
	s.notify()
}
