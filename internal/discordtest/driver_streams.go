package discordtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"clank/internal/discordtest/member"
	"clank/internal/discordtest/voiceserver"
)

// BotStreams says what comes of a bot's wish to go live.
type BotStreams int

// What comes of it. What the real service does is not known; it is one of the
// first three.
const (
	IgnoreBots BotStreams = iota // nothing is said
	DeleteBots                   // STREAM_DELETE
	CloseBots                    // the gateway closes with 4001
	AllowBots                    // as for people
)

// SetBotStreams decides about bots that want to go live. People may.
func (s *Server) SetBotStreams(fate BotStreams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.botFate = fate
}

// RefuseStream answers the next wish to go live with STREAM_DELETE for that
// reason. Each call counts for one.
func (s *Server) RefuseStream(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals = append(s.refusals, reason)
}

// CreateAccount makes a person whose account a program signs in with, by a token
// without the word "Bot". Discord forbids that, and it can go live.
func (s *Server) CreateAccount(name, token string) Bot {
	u := s.CreateUser(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts[u.ID] = &account{user: u, token: token, commands: map[string][]Command{}}
	return Bot{u, token}
}

// Streams lists what is shown, by key.
func (s *Server) Streams() map[string]Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[string]Stream{}
	for key, st := range s.shown {
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
	s.mu.Lock()
	st := s.shown[key]
	if st == nil || st.endpoint == "" || st.guild.voice[user.ID].ChannelID == nil {
		s.mu.Unlock()
		return nil, fmt.Errorf("%s watches %s: there is no such stream where they are", user.Username, key)
	}
	s.watch(st, "", user.ID)
	o.Ticket, o.Endpoint = s.streamTicket(st, user.ID), st.endpoint
	s.mu.Unlock()
	return member.Join(ctx, o)
}

// LoseStreamServer takes a stream's server away: those who are part of it get an
// endpoint of null, and the owner's connection is closed with the code unless it
// is 0. FindStreamServer gives it another.
func (s *Server) LoseStreamServer(key string, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.shown[key]
	if st == nil {
		return
	}
	st.endpoint = ""
	if code != 0 {
		s.Voice.Revoke(voiceserver.Seat{Server: st.Server, User: st.Owner}, code, "The server is going away.")
	}
	for user := range st.sessions {
		s.tellStreamServer(st, user)
	}
	s.notify()
}

// FindStreamServer gives a stream a new place and tells those who are part of it.
func (s *Server) FindStreamServer(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.shown[key]; st != nil {
		s.findStreamServer(st)
		for user := range st.sessions {
			s.tellStreamServer(st, user)
		}
		s.notify()
	}
}

// EndStream ends a stream for a reason.
func (s *Server) EndStream(key, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.shown[key]; st != nil {
		s.endStream(st, reason)
	}
}

// postPreview keeps the thumbnail that is shown before somebody watches.
func (s *Server) postPreview(c *call) (any, error) {
	st := s.shown[c.PathValue("key")]
	var d struct {
		Thumbnail string `json:"thumbnail"`
	}
	switch {
	case st == nil:
		return nil, errNotFound
	case st.Owner != c.bot.user.ID:
		return nil, errMissingAccess
	case json.Unmarshal(c.body, &d) != nil:
		return nil, errInvalidJSON
	}
	st.Preview = d.Thumbnail
	return nil, nil
}
