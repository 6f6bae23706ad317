package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// bucket counts the requests of one route and one channel, guild or webhook.
type bucket struct {
	used  int
	reset time.Time // when used starts again from 0
	until time.Time // everything before is refused
}

// allowance is how many requests a bucket takes in a period.
type allowance struct {
	requests int
	period   time.Duration
}

// allowances with Config.RateLimits, near what Discord does. Others have 50 a
// second.
var allowances = map[Route]allowance{
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
func (s *Server) limit(h http.Header, c *call, p plan) error {
	now := s.now()
	key := string(c.route) + " " + c.PathValue("channel") + c.PathValue("guild") + c.PathValue("app") + c.PathValue("token")
	b, global := s.bucket(key), s.bucket(globalBucket)
	switch {
	case p.retryAfter > 0 && p.global:
		global.until = now.Add(p.retryAfter)
	case p.retryAfter > 0:
		b.until = now.Add(p.retryAfter)
	}
	// Interactions are not bound to the global limit.
	if now.Before(global.until) && (p.global || !c.route.open()) {
		h.Set("X-RateLimit-Global", "true")
		return limited(h, "global", global.until.Sub(now))
	}
	allowed := allowance{1000, time.Second}
	if s.cfg.RateLimits {
		allowed = allowance{50, time.Second}
		if a, ok := allowances[c.route]; ok {
			allowed = a
		}
	}
	if !now.Before(b.reset) {
		b.used, b.reset = 0, now.Add(allowed.period)
	}
	b.used++
	if s.cfg.RateLimits && b.used > allowed.requests {
		b.until = b.reset
	}
	sum := sha256.Sum256([]byte(c.route))
	h.Set("X-RateLimit-Bucket", hex.EncodeToString(sum[:8]))
	h.Set("X-RateLimit-Limit", strconv.Itoa(allowed.requests))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, allowed.requests-b.used)))
	h.Set("X-RateLimit-Reset", seconds(time.Duration(b.reset.UnixNano())))
	h.Set("X-RateLimit-Reset-After", seconds(b.reset.Sub(now)))
	if now.Before(b.until) {
		h.Set("X-RateLimit-Remaining", "0")
		h.Set("X-RateLimit-Reset", seconds(time.Duration(b.until.UnixNano())))
		return limited(h, "user", b.until.Sub(now))
	}
	return nil
}

func (s *Server) bucket(key string) *bucket {
	b := s.buckets[key]
	if b == nil {
		b = &bucket{}
		s.buckets[key] = b
	}
	return b
}

func limited(h http.Header, scope string, wait time.Duration) error {
	h.Set("X-RateLimit-Scope", scope)
	h.Set("X-RateLimit-Reset-After", seconds(wait))
	h.Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
	return &rateLimitError{Message: "You are being rate limited.", RetryAfter: wait.Seconds(), Global: scope == "global"}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }
