package discordtest

import (
	"context"
	"fmt"
	"slices"

	"clank/internal/test/discordtest/voicetest"
)

// SetBotStreams decides about bots that want to go live. People may.
func (s *Server) SetBotStreams(fate BotStreams) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.BotFate = fate
}

// RefuseStream answers the next wish to go live with STREAM_DELETE for that
// reason. Each call counts for one.
func (s *Server) RefuseStream(reason string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Refusals = append(s.hub.Refusals, reason)
}

// CreateAccount makes a person whose account a program signs in with, by a token
// without the word "Bot". Discord forbids that, and it can go live.
func (s *Server) CreateAccount(name, token string) Bot {
	u := s.CreateUser(name)
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.Accounts[u.ID] = &Account{User: u, Token: token}
	return Bot{User: u, Token: token}
}

// Streams lists what is shown, by key.
func (s *Server) Streams() map[string]Stream {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	list := map[string]Stream{}
	for key, st := range s.hub.Shown {
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
// them to its server. What they want to see they say by [voicetest.Member.RequestQuality]. The
// caller closes the member.
func (s *Server) WatchStream(ctx context.Context, key string, user User, o voicetest.MemberOptions) (*voicetest.Member, error) {
	s.hub.Mu.Lock()
	st := s.hub.Shown[key]
	if st == nil || st.Endpoint == "" || st.Guild.Voice[user.ID].ChannelID == nil {
		s.hub.Mu.Unlock()
		return nil, fmt.Errorf("%s watches %s: there is no such stream where they are", user.Username, key)
	}
	s.hub.AddStreamViewer(st, "", user.ID)
	o.Credentials, o.Endpoint = s.hub.StreamCredentials(st, user.ID), st.Endpoint
	s.hub.Mu.Unlock()
	return voicetest.JoinCall(ctx, o)
}

// LoseStreamServer takes a stream's server away: those who are part of it get an
// endpoint of null, and the owner's connection is closed with the code unless it
// is 0. FindStreamServer gives it another.
func (s *Server) LoseStreamServer(key string, code int) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	st := s.hub.Shown[key]
	if st == nil {
		return
	}
	st.Endpoint = ""
	if code != 0 {
		s.Voice.Revoke(voicetest.ClientID{Server: st.Server, User: st.Owner}, code, "The server is going away.")
	}
	for user := range st.Sessions {
		s.hub.SendStreamServer(st, user)
	}
	s.hub.Notify()
}

// FindStreamServer gives a stream a new place and tells those who are part of it.
func (s *Server) FindStreamServer(key string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if st := s.hub.Shown[key]; st != nil {
		s.hub.FindStreamServer(st)
		for user := range st.Sessions {
			s.hub.SendStreamServer(st, user)
		}
		s.hub.Notify()
	}
}

// EndStream ends a stream for a reason.
func (s *Server) EndStream(key, reason string) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	if st := s.hub.Shown[key]; st != nil {
		s.hub.EndStream(st, reason)
	}
}
