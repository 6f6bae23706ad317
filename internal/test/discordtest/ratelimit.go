package discordtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// bucketSize is how many requests a second the headers promise; only the plans of a test refuse one.
const bucketSize = 1000

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
func (s *hub) limit(h http.Header, c *RESTCall, p RoutePlan) error {
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
	if !now.Before(b.Reset) {
		b.Used, b.Reset = 0, now.Add(time.Second)
	}
	b.Used++
	sum := sha256.Sum256([]byte(c.Route))
	h.Set("X-RateLimit-Bucket", hex.EncodeToString(sum[:8]))
	h.Set("X-RateLimit-Limit", strconv.Itoa(bucketSize))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(max(0, bucketSize-b.Used)))
	h.Set("X-RateLimit-Reset", seconds(time.Duration(b.Reset.UnixNano())))
	h.Set("X-RateLimit-Reset-After", seconds(b.Reset.Sub(now)))
	if now.Before(b.Until) {
		h.Set("X-RateLimit-Remaining", "0")
		h.Set("X-RateLimit-Reset", seconds(time.Duration(b.Until.UnixNano())))
		return newRateLimitError(h, "user", b.Until.Sub(now))
	}
	return nil
}

func (s *hub) bucket(key string) *RateBucket {
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
