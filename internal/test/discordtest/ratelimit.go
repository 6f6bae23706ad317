package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// rateAllowance is how many requests a bucket takes in a period.
type rateAllowance struct {
	requests int
	period   time.Duration
}

// allowances with Config.RateLimits, near what Discord does. Others have 50 a
// second.
var allowances = map[Route]rateAllowance{
	RouteCreateMessage:  {5, 5 * time.Second},
	RouteEditMessage:    {5, 5 * time.Second},
	RouteDeleteMessage:  {5, time.Second},
	RouteTyping:         {5, 5 * time.Second},
	RouteAddReaction:    {1, 250 * time.Millisecond},
	RouteRemoveReaction: {1, 250 * time.Millisecond},
	RouteFollowup:       {5, 2 * time.Second},
	RouteEditResponse:   {5, 2 * time.Second},
	RouteSetCommands:    {2, 5 * time.Second},
}

// globalBucket is the key of the bucket that all routes share.
const globalBucket = "global"

// rateLimitError is the body of a 429.
type rateLimitError struct {
	Message    string  `json:"message"`
	RetryAfter float64 `json:"retry_after"`
	Global     bool    `json:"global"`
}

func (e *rateLimitError) Error() string {
	return fmt.Sprintf("rate limited for %g s", e.RetryAfter)
}

// limit counts the call and sets the X-RateLimit headers, or refuses it.
func (s *RESTServer) limit(h http.Header, c *RESTCall, p RoutePlan) error {
	now := s.Now()
	key := string(c.Route) + " " + c.PathValue("channel") + c.PathValue("guild") + c.PathValue("app") + c.PathValue("token")
	b, global := s.bucket(key), s.bucket(globalBucket)
	switch {
	case p.RetryAfter > 0 && p.Global:
		global.Until = now.Add(p.RetryAfter)
	case p.RetryAfter > 0:
		b.Until = now.Add(p.RetryAfter)
	}
	// Interactions are not bound to the global limit.
	if now.Before(global.Until) && (p.Global || !c.Route.Open()) {
		h.Set("X-RateLimit-Global", "true")
		return newRateLimitError(h, "global", global.Until.Sub(now))
	}
	allowed := rateAllowance{1000, time.Second}
	if s.Config.RateLimits {
		allowed = rateAllowance{50, time.Second}
		if a, ok := allowances[c.Route]; ok {
			allowed = a
		}
	}
	if !now.Before(b.Reset) {
		b.Used, b.Reset = 0, now.Add(allowed.period)
	}
	b.Used++
	if s.Config.RateLimits && b.Used > allowed.requests {
		b.Until = b.Reset
	}
	sum := sha256.Sum256([]byte(c.Route))
	h.Set("X-RateLimit-Bucket", hex.EncodeToString(sum[:8]))
	h.Set("X-RateLimit-Limit", strconv.Itoa(allowed.requests))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, allowed.requests-b.Used)))
	h.Set("X-RateLimit-Reset", seconds(time.Duration(b.Reset.UnixNano())))
	h.Set("X-RateLimit-Reset-After", seconds(b.Reset.Sub(now)))
	if now.Before(b.Until) {
		h.Set("X-RateLimit-Remaining", "0")
		h.Set("X-RateLimit-Reset", seconds(time.Duration(b.Until.UnixNano())))
		return newRateLimitError(h, "user", b.Until.Sub(now))
	}
	return nil
}

func (s *RESTServer) bucket(key string) *RateBucket {
	b := s.Buckets[key]
	if b == nil {
		b = &RateBucket{}
		s.Buckets[key] = b
	}
	return b
}

func newRateLimitError(h http.Header, scope string, wait time.Duration) error {
	h.Set("X-RateLimit-Scope", scope)
	h.Set("X-RateLimit-Reset-After", seconds(wait))
	h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return &rateLimitError{Message: "You are being rate limited.", RetryAfter: wait.Seconds(), Global: scope == "global"}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
