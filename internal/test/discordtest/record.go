package discordtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// A Frame is one message of a client to the gateway.
type Frame struct {
	Op   int // -1 if it could not be parsed
	Data json.RawMessage
}

// A Disconnect is the end of one gateway connection.
type Disconnect struct {
	Code int // the close code of whichever side closed first, or -1 for a broken connection
	// ByServer reports whether the server closed it.
	ByServer bool
}

// recordedTraffic is the record of all requests and messages.
type recordedTraffic struct {
	Requests    []Request
	Frames      []Frame
	Disconnects []Disconnect
}

// RecordRequest records a request.
func (s *hub) RecordRequest(r *http.Request, route Route, body []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Requests = append(s.Requests, Request{At: s.Now(), Route: route, Header: r.Header.Clone(), Body: bytes.Clone(body)})
	s.Notify()
}

// A Request is a received call of the REST API.
type Request struct {
	At     time.Time
	Route  Route // "" if the API has no such route
	Header http.Header
	Body   []byte
}

// Requests returns all calls of the API so far, oldest first.
func (s *Server) Requests() []Request {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.Clone(s.hub.Requests)
}

// RequestsTo returns the calls of one route.
func (s *Server) RequestsTo(route Route) []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Route != route })
}

// Received returns the gateway messages with an opcode that clients sent, oldest first.
func (s *Server) Received(op int) []Frame {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.hub.Frames), func(f Frame) bool { return f.Op != op })
}

// Disconnects returns the gateway connections that have ended.
func (s *Server) Disconnects() []Disconnect {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	return slices.Clone(s.hub.Disconnects)
}

// Wait returns nil as soon as cond is true. It checks after every change on the server rather than polling. If ctx
// ends first, the error names what was waited for and the cause.
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

// await waits until look succeeds.
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

// WaitMessage returns the first message in the channel, including ephemeral ones, that matches, at first or after an
// edit.
func (s *Server) WaitMessage(ctx context.Context, in Channel, match func(Message) bool) (Message, error) {
	return await(ctx, s, "a message in "+in.Name, func() (Message, bool) {
		list := s.allMessages(in)
		i := slices.IndexFunc(list, match)
		return append(list, Message{})[max(i, 0)], i >= 0
	})
}

// allMessages returns all messages of a channel, whoever can see them.
func (s *Server) allMessages(in Channel) []Message {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	var list []Message
	for _, id := range s.hub.MessagesOf[in.ID] {
		list = append(list, CopyMessage(s.hub.Messages[id].Message))
	}
	return list
}

// WaitEdit returns the message as soon as it matches.
func (s *Server) WaitEdit(ctx context.Context, id string, match func(Message) bool) (Message, error) {
	return await(ctx, s, "an edit of message "+id, func() (Message, bool) {
		m, ok := s.Message(id)
		return m, ok && match(m)
	})
}

// WaitInteraction returns the interaction as soon as it matches.
func (s *Server) WaitInteraction(ctx context.Context, it Interaction,
	match func(Interaction) bool,
) (Interaction, error) {
	return await(ctx, s, "an answer to the interaction", func() (Interaction, bool) {
		now, ok := s.Interaction(it.ID)
		return now, ok && match(now)
	})
}

// WaitAnswer returns the interaction when the bot has answered with more than "thinking": a message, an edit, a modal
// or completions.
func (s *Server) WaitAnswer(ctx context.Context, it Interaction) (Interaction, error) {
	return s.WaitInteraction(ctx, it, func(i Interaction) bool { return i.Answer != 0 && !i.Thinking })
}

// WaitConnected waits until a gateway session of the bot is connected and ready.
func (s *Server) WaitConnected(ctx context.Context, bot Bot) error {
	return s.Wait(ctx, bot.Username+" to connect", func() bool { return s.Connected(bot) })
}

// Connected reports whether a gateway session of the bot is connected and ready.
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

// WaitRequest waits for a call of the route after the first skip ones, and returns it. It may not be answered yet.
func (s *Server) WaitRequest(ctx context.Context, route Route, skip int) (Request, error) {
	return await(ctx, s, string(route), func() (Request, bool) { return nth(s.RequestsTo(route), skip) })
}

// WaitReceived waits for a gateway message with an opcode after the first skip ones, and returns it.
func (s *Server) WaitReceived(ctx context.Context, op, skip int) (Frame, error) {
	return await(ctx, s, fmt.Sprintf("gateway message with op %d", op), func() (Frame, bool) {
		return nth(s.Received(op), skip)
	})
}

// FailNext fails the next request of the route with a status, without doing what it asks. Calls accumulate.
func (s *Server) FailNext(route Route, status int) {
	s.hub.Plan(route, RoutePlan{Status: status})
}

// RefuseNext refuses the next request of the route with an error.
func (s *Server) RefuseNext(route Route, with *APIError) { s.hub.Plan(route, RoutePlan{Refusal: with}) }

// Scopes of rate limits.
const (
	ScopeUser   = "user"   // of the bot, for a route
	ScopeShared = "shared" // of everyone who uses the same resource
	ScopeGlobal = "global" // of the bot, for everything but responses to interactions
)

// RateLimitNext answers the next request of the route with 429, and all others until retryAfter has passed.
func (s *Server) RateLimitNext(route Route, scope string, retryAfter time.Duration) {
	s.hub.Plan(route, RoutePlan{RetryAfter: retryAfter, Scope: scope})
}

// Outage fails every request of the API with a status for some time. The gateway keeps working.
func (s *Server) Outage(status int, length time.Duration) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.outage, s.hub.outageEnds = status, s.hub.Now().Add(length)
}

// HoldNext delays the next request of the route until it is released, the client gives up or the server closes.
func (s *Server) HoldNext(route Route) *RequestHold {
	h := NewRequestHold()
	s.hub.Plan(route, RoutePlan{Held: h})
	return h
}

// LoseNextAnswer processes the next request of the route and then cuts the connection, so that the client does not
// know the result.
func (s *Server) LoseNextAnswer(route Route) { s.hub.Plan(route, RoutePlan{Lose: true}) }

// ErrNotConnected means that the bot has no gateway session.
var ErrNotConnected = errors.New("the bot has no gateway session")

// Dispatch sends an event to every session of the bot, regardless of its intents, numbered and kept for resuming like
// any other. The data must be JSON, but may be invalid: null, missing fields and wrong types.
func (s *Server) Dispatch(bot Bot, event, data string) error {
	if !json.Valid([]byte(data)) {
		return fmt.Errorf("dispatch %s: the data is not JSON; SendRaw sends anything", event)
	}
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	found := false
	for _, ses := range s.hub.SessionsInOrder() {
		if ses.Bot.User.ID == bot.ID {
			s.hub.DispatchRaw(ses, event, json.RawMessage(data))
			found = true
		}
	}
	s.hub.Notify()
	if !found {
		return fmt.Errorf("dispatch %s: %w", event, ErrNotConnected)
	}
	return nil
}

// SendRaw sends a text as a gateway message to every connection of the bot.
func (s *Server) SendRaw(bot Bot, text string) error {
	return s.eachConn(bot, func(c *Conn) { c.Send(websocket.MessageText, []byte(text)) })
}

// DropSockets cuts all gateway connections of the bot without a close frame. Events in the meantime are kept for a
// resume.
func (s *Server) DropSockets(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) {
		if c.Session != nil {
			c.Session.Conn = nil
		}
		c.Cut()
	})
}

// CloseGateway closes all gateway connections of the bot with a code.
func (s *Server) CloseGateway(bot Bot, code int, reason string) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.CloseConn(c, code, reason) })
}

// Reconnect asks all connections of the bot to reconnect and resume (op 7).
func (s *Server) Reconnect(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.SendOp(c, OpReconnect, nil) })
}

// RequestHeartbeat requests an immediate heartbeat (op 1).
func (s *Server) RequestHeartbeat(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.SendOp(c, OpHeartbeat, nil) })
}

// InvalidateSession tells all connections of the bot that their session is invalid (op 9). If resumable is false the
// sessions are deleted, including those without a connection.
func (s *Server) InvalidateSession(bot Bot, resumable bool) error {
	err := s.eachConn(bot, func(c *Conn) {
		if c.Session != nil {
			c.Session.Conn, c.Session = nil, nil
		}
		s.hub.SendOp(c, OpInvalidSession, resumable)
	})
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	for id, ses := range s.hub.Sessions {
		if !resumable && ses.Bot.User.ID == bot.ID {
			delete(s.hub.Sessions, id)
			s.hub.LeaveCalls(ses)
		}
	}
	return err
}

// WithholdHeartbeatACK stops acknowledging heartbeats until it is called with false.
func (s *Server) WithholdHeartbeatACK(withhold bool) {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	s.hub.WithholdACKs = withhold
}

func (s *Server) eachConn(bot Bot, do func(*Conn)) error {
	s.hub.Mu.Lock()
	defer s.hub.Mu.Unlock()
	found := false
	for c := range s.hub.Conns {
		if c.Bot == bot.ID && c.Closing == 0 {
			do(c)
			found = true
		}
	}
	s.hub.Notify()
	if !found {
		return ErrNotConnected
	}
	return nil
}

// RoutePlan is the planned outcome of one request.
type RoutePlan struct {
	Status     int
	Refusal    *APIError
	RetryAfter time.Duration
	Scope      string // of the rate limit
	Held       *RequestHold
	Lose       bool
}

// faultSettings holds the plans per route, in order.
type faultSettings struct {
	plans        map[Route][]RoutePlan
	WithholdACKs bool
	outage       int // status of all responses until outageEnds
	outageEnds   time.Time
}

// Plan sets the outcome of the next request of a route. It takes the lock.
func (s *hub) Plan(route Route, p RoutePlan) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.plans == nil {
		s.plans = map[Route][]RoutePlan{}
	}
	s.plans[route] = append(s.plans[route], p)
}

// PlanFor removes and returns the next plan for the route, if there is one.
func (s *hub) PlanFor(route Route) RoutePlan {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	list := s.plans[route]
	if len(list) == 0 {
		return RoutePlan{}
	}
	s.plans[route] = list[1:]
	return list[0]
}

// globalLimit is the key of the limit shared by all routes.
const globalLimit = "global"

// rateLimitError is the body of a 429.
type rateLimitError struct {
	Message    string  `json:"message"`
	RetryAfter float64 `json:"retry_after"`
	Global     bool    `json:"global"`
}

func (e *rateLimitError) Error() string {
	return fmt.Sprintf("rate limited for %g s", e.RetryAfter)
}

// limit refuses the call if a rate limit applies to it. Only plans of a test set limits: for a route and a channel,
// guild or webhook, or for everything but responses to interactions.
func (s *hub) limit(h http.Header, c *RESTCall, p RoutePlan) error {
	own := string(c.Route) + " " + c.PathValue("channel") + c.PathValue("guild") + c.PathValue("app") +
		c.PathValue("token")
	if p.RetryAfter > 0 && p.Scope == ScopeGlobal {
		s.Limits[globalLimit] = s.Now().Add(p.RetryAfter)
	} else if p.RetryAfter > 0 {
		s.Limits[own] = s.Now().Add(p.RetryAfter)
	}
	if wait := s.Limits[globalLimit].Sub(s.Now()); wait > 0 && (p.Scope == ScopeGlobal || !c.Route.Open()) {
		h.Set("X-RateLimit-Global", "true")
		return newRateLimitError(h, ScopeGlobal, wait)
	}
	if wait := s.Limits[own].Sub(s.Now()); wait > 0 {
		return newRateLimitError(h, cmp.Or(p.Scope, ScopeUser), wait)
	}
	return nil
}

func newRateLimitError(h http.Header, scope string, wait time.Duration) error {
	h.Set("X-RateLimit-Scope", scope)
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(wait.Seconds(), 'f', 3, 64))
	h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return &rateLimitError{
		Message: "You are being rate limited.", RetryAfter: wait.Seconds(),
		Global: scope == ScopeGlobal,
	}
}
