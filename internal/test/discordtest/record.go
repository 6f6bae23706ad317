package discordtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A Frame is one message of a client to the gateway.
type Frame struct {
	Op   int // -1 when it could not be read
	Data json.RawMessage
}

// A Disconnect is the end of one gateway connection.
type Disconnect struct {
	Code int // the close code somebody gave first, or -1 for a cut line
	// ByServer tells whether the server closed it.
	ByServer bool
}

// recordedTraffic is the record of all that came and went.
type recordedTraffic struct {
	Requests    []Request
	Frames      []Frame
	Disconnects []Disconnect
}

// RecordRequest notes a request.
func (s *hub) RecordRequest(r *http.Request, route Route, body []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Requests = append(s.Requests, Request{At: s.Now(), Route: route, Header: r.Header.Clone(), Body: bytes.Clone(body)})
	s.Notify()
}

// A Request is one call of the REST API as it came.
type Request struct {
	At     time.Time
	Route  Route // "" when the API has no such route
	Header http.Header
	Body   []byte
}

// Requests lists all calls of the API so far, oldest first.
func (s *Server) Requests() []Request {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.Clone(s.hub.Requests)
}

// RequestsTo lists the calls of one route.
func (s *Server) RequestsTo(route Route) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Route != route })
}

// Received lists the gateway messages with that opcode that clients sent, oldest first.
func (s *Server) Received(op int) []Frame {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.hub.Frames), func(f Frame) bool { return f.Op != op })
}

// Disconnects lists the gateway connections that have ended.
func (s *Server) Disconnects() []Disconnect {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.Clone(s.hub.Disconnects)
}

// Wait returns nil as soon as cond is true. It looks after every change on the
// server, so that nobody polls. Without luck it returns an error that names what
// was waited for, with the cause of the context.
func (s *Server) Wait(ctx context.Context, what string, cond func() bool) error {
	for {
		s.hub.Mu.Lock()
		changed := s.hub.Changed
		s.hub.Mu.Unlock()
		if cond() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		}
	}
}

// await waits until look finds something.
func await[T any](ctx context.Context, s *Server, what string, look func() (T, bool)) (found T, err error) {
	err = s.Wait(ctx, what, func() (ok bool) {
		found, ok = look()
		return ok
	})
	return found, err
}

func nth[T any](list []T, n int) (found T, ok bool) {
	if ok = n < len(list); ok {
		found = list[n]
	}
	return found, ok
}

// WaitMessage returns the first message in the channel, ephemeral ones included,
// that is or becomes what match asks for. Edits count.
func (s *Server) WaitMessage(ctx context.Context, in Channel, match func(Message) bool) (Message, error) {
	return await(ctx, s, "a message in "+in.Name, func() (Message, bool) {
		list := s.allMessages(in)
		i := slices.IndexFunc(list, match)
		return append(list, Message{})[max(i, 0)], i >= 0
	})
}

// allMessages lists all messages of a channel, whoever sees them.
func (s *Server) allMessages(in Channel) []Message {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	var list []Message
	for _, id := range s.hub.MessagesOf[in.ID] {
		list = append(list, CopyMessage(s.hub.Messages[id].Message))
	}
	return list
}

// WaitEdit returns the message when it is what match asks for.
func (s *Server) WaitEdit(ctx context.Context, id string, match func(Message) bool) (Message, error) {
	return await(ctx, s, "an edit of message "+id, func() (Message, bool) {
		m, ok := s.Message(id)
		return m, ok && match(m)
	})
}

// WaitInteraction returns the interaction when it stands as match asks for.
func (s *Server) WaitInteraction(ctx context.Context, it Interaction, match func(Interaction) bool) (Interaction, error) {
	return await(ctx, s, "an answer to the interaction", func() (Interaction, bool) {
		now, ok := s.Interaction(it.ID)
		return now, ok && match(now)
	})
}

// WaitAnswer returns the interaction when the bot has answered with something to
// read: a message that is not just "thinking", an edit, a modal or completions.
func (s *Server) WaitAnswer(ctx context.Context, it Interaction) (Interaction, error) {
	return s.WaitInteraction(ctx, it, func(i Interaction) bool { return i.Answer != 0 && !i.Thinking })
}

// WaitConnected waits until a gateway session of the bot is connected and ready.
func (s *Server) WaitConnected(ctx context.Context, bot Bot) error {
	return s.Wait(ctx, bot.Username+" to connect", func() bool { return s.Connected(bot) })
}

// Connected tells whether a gateway session of the bot is connected and ready.
func (s *Server) Connected(bot Bot) bool {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	for c := range s.hub.Conns {
		if c.Session != nil && c.Closing == 0 && c.Bot == bot.ID && c.Session.Conn == c {
			return true
		}
	}
	return false
}

// WaitRequest waits for a call of the route, beyond those that skip says are
// already known, and returns it. It may not be answered yet.
func (s *Server) WaitRequest(ctx context.Context, route Route, skip int) (Request, error) {
	return await(ctx, s, string(route), func() (Request, bool) { return nth(s.RequestsTo(route), skip) })
}

// WaitReceived waits until clients have sent more than skip gateway messages
// with that opcode, and returns the one after those.
func (s *Server) WaitReceived(ctx context.Context, op, skip int) (Frame, error) {
	return await(ctx, s, fmt.Sprintf("gateway message with op %d", op), func() (Frame, bool) { return nth(s.Received(op), skip) })
}
