package discordtest

import (
	"context"
	"fmt"
	"slices"

	"clank/internal/discordtest/member"
	"clank/internal/discordtest/shape"
	"clank/internal/discordtest/voiceserver"
)

// SetBotStreams decides about bots that want to go live. People may.
func (s *Server) SetBotStreams(fate BotStreams) {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	s.in.BotFate = fate
}

// RefuseStream answers the next wish to go live with STREAM_DELETE for that
// reason. Each call counts for one.
func (s *Server) RefuseStream(reason string) {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	s.in.Refusals = append(s.in.Refusals, reason)
}

// CreateAccount makes a person whose account a program signs in with, by a token
// without the word "Bot". Discord forbids that, and it can go live.
func (s *Server) CreateAccount(name, token string) Bot {
	u := s.CreateUser(name)
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	s.in.Accounts[u.ID] = &shape.Account{User: u, Token: token, Commands: map[string][]Command{}}
	return Bot{User: u, Token: token}
}

// Streams lists what is shown, by key.
func (s *Server) Streams() map[string]Stream {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	list := map[string]Stream{}
	for key, st := range s.in.Shown {
		copied := st.Stream
		copied.Viewers = slices.Clone(copied.Viewers)
		list[key] = copied
	}
	return list
}

// WaitStream waits until somebody shows something in the channel.
func (s *Server) WaitStream(ctx context.Context, in Channel, owner User) (Stream, error) {
	var found Stream
	err := s.Wait(ctx, owner.Username+" to go live", func() bool {
		for _, st := range s.Streams() {
			if st.Channel == in.ID && st.Owner == owner.ID {
				found = st
				return true
			}
		}
		return false
	})
	return found, err
}

// WatchStream has a person who is in the channel watch a stream, and connects
// them to its server. What they want to see they say by [member.Member.Want]. The
// caller closes the member.
func (s *Server) WatchStream(ctx context.Context, key string, user User, o member.Options) (*member.Member, error) {
	s.in.Mu.Lock()
	st := s.in.Shown[key]
	if st == nil || st.Endpoint == "" || st.Guild.Voice[user.ID].ChannelID == nil {
		s.in.Mu.Unlock()
		return nil, fmt.Errorf("%s watches %s: there is no such stream where they are", user.Username, key)
	}
	s.in.Watch(st, "", user.ID)
	o.Ticket, o.Endpoint = s.in.StreamTicket(st, user.ID), st.Endpoint
	s.in.Mu.Unlock()
	return member.Join(ctx, o)
}

// LoseStreamServer takes a stream's server away: those who are part of it get an
// endpoint of null, and the owner's connection is closed with the code unless it
// is 0. FindStreamServer gives it another.
func (s *Server) LoseStreamServer(key string, code int) {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	st := s.in.Shown[key]
	if st == nil {
		return
	}
	st.Endpoint = ""
	if code != 0 {
		s.Voice.Revoke(voiceserver.Seat{Server: st.Server, User: st.Owner}, code, "The server is going away.")
	}
	for user := range st.Sessions {
		s.in.TellStreamServer(st, user)
	}
	s.in.Notify()
}

// FindStreamServer gives a stream a new place and tells those who are part of it.
func (s *Server) FindStreamServer(key string) {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	if st := s.in.Shown[key]; st != nil {
		s.in.FindStreamServer(st)
		for user := range st.Sessions {
			s.in.TellStreamServer(st, user)
		}
		s.in.Notify()
	}
}

// EndStream ends a stream for a reason.
func (s *Server) EndStream(key, reason string) {
	s.in.Mu.Lock()
	defer s.in.Mu.Unlock()
	if st := s.in.Shown[key]; st != nil {
		s.in.EndStream(st, reason)
	}
}
