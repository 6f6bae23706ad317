package discordtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/coder/websocket"
)

// FailNext answers the next request of the route with that status, without
// doing what it asks. Each call counts for one request.
func (s *Server) FailNext(route Route, status int) {
	s.hub.Plan(route, RoutePlan{Status: status})
}

// RateLimitNext answers the next request of the route with 429, and also those
// that come before retryAfter has passed.
func (s *Server) RateLimitNext(route Route, retryAfter time.Duration) {
	s.hub.Plan(route, RoutePlan{RetryAfter: retryAfter})
}

// RateLimitEverything does the same with a global limit: the next request of
// the route meets it, then all routes until retryAfter has passed.
func (s *Server) RateLimitEverything(route Route, retryAfter time.Duration) {
	s.hub.Plan(route, RoutePlan{RetryAfter: retryAfter, Global: true})
}

// HoldNext keeps the next request of the route waiting until it is released,
// the client gives up or the server closes.
func (s *Server) HoldNext(route Route) *RequestHold {
	h := NewRequestHold()
	s.hub.Plan(route, RoutePlan{Held: h})
	return h
}

// LoseNextAnswer does what the next request of the route asks and then cuts the
// connection, so that the client cannot know.
func (s *Server) LoseNextAnswer(route Route) { s.hub.Plan(route, RoutePlan{Lose: true}) }

// ErrNotConnected says that no gateway session of the bot is there.
var ErrNotConnected = errors.New("the bot has no gateway session")

// Dispatch sends an event with that data to every session of the bot, whatever
// its intents, numbered and kept for resuming like any other. The data is not
// looked at beyond being JSON: null, missing fields and wrong types are welcome.
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

// SendRaw sends any text as one gateway message to every connection of the bot.
func (s *Server) SendRaw(bot Bot, text string) error {
	return s.eachConn(bot, func(c *Conn) { c.Send(websocket.MessageText, []byte(text)) })
}

// DropSockets cuts all gateway connections of the bot without a close frame.
// What happens meanwhile is kept for a resume.
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

// Reconnect asks all connections of the bot to come again and resume (op 7).
func (s *Server) Reconnect(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.SendOp(c, OpReconnect, nil) })
}

// RequestHeartbeat asks for a heartbeat at once (op 1).
func (s *Server) RequestHeartbeat(bot Bot) error {
	return s.eachConn(bot, func(c *Conn) { s.hub.SendOp(c, OpHeartbeat, nil) })
}

// InvalidateSession tells all connections of the bot that their session is
// invalid (op 9). With resumable the session stays; without, it is gone, also
// for those who are not connected now.
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

// WithholdHeartbeatACK stops answering heartbeats, until it is called with false.
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

// RoutePlan is what a test has ordered for one request.
type RoutePlan struct {
	Status     int
	RetryAfter time.Duration
	Global     bool
	Held       *RequestHold
	Lose       bool
}

// faultSettings holds the orders, per route, in the order they were given.
type faultSettings struct {
	plans        map[Route][]RoutePlan
	WithholdACKs bool
}

// Plan orders what comes of the next request of a route. It takes the lock.
func (s *hub) Plan(route Route, p RoutePlan) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.plans == nil {
		s.plans = map[Route][]RoutePlan{}
	}
	s.plans[route] = append(s.plans[route], p)
}

// PlanFor takes the next order for the route, if there is one.
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

// globalLimit is the key of the limit that all routes share.
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

// limit refuses the call if a limit holds for it. Only the plans of a test set any: one for a route and a channel, guild
// or webhook, or one for everything but answers to interactions.
func (s *hub) limit(h http.Header, c *RESTCall, p RoutePlan) error {
	own := string(c.Route) + " " + c.PathValue("channel") + c.PathValue("guild") + c.PathValue("app") + c.PathValue("token")
	if p.RetryAfter > 0 && p.Global {
		s.Limits[globalLimit] = s.Now().Add(p.RetryAfter)
	} else if p.RetryAfter > 0 {
		s.Limits[own] = s.Now().Add(p.RetryAfter)
	}
	if wait := s.Limits[globalLimit].Sub(s.Now()); wait > 0 && (p.Global || !c.Route.Open()) {
		h.Set("X-RateLimit-Global", "true")
		return newRateLimitError(h, "global", wait)
	}
	if wait := s.Limits[own].Sub(s.Now()); wait > 0 {
		return newRateLimitError(h, "user", wait)
	}
	return nil
}

func newRateLimitError(h http.Header, scope string, wait time.Duration) error {
	h.Set("X-RateLimit-Scope", scope)
	h.Set("X-RateLimit-Remaining", "0")
	h.Set("X-RateLimit-Reset-After", strconv.FormatFloat(wait.Seconds(), 'f', 3, 64))
	h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return &rateLimitError{Message: "You are being rate limited.", RetryAfter: wait.Seconds(), Global: scope == "global"}
}
