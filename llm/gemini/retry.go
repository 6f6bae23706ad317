package gemini

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"clank/llm"
)

const (
	maxTries = 3
	maxWait  = 30 * time.Second // a server that asks for more is not waited for
)

// waitFor is how long to wait before the next try; false if that is longer
// than we wait or than the call may take.
func (m *Model) waitFor(ctx context.Context, try int, e *llm.Error) (time.Duration, bool) {
	wait := e.RetryAfter
	if wait == 0 {
		wait = backoff(m.opts.Backoff, try)
	}
	if wait > maxWait {
		return 0, false
	}
	if end, ok := ctx.Deadline(); ok && time.Until(end) <= wait {
		return 0, false
	}
	return wait, true
}

// backoff doubles with each try and varies by half either way, so that many
// callers do not come back at once.
func backoff(first time.Duration, try int) time.Duration {
	base := min(first<<(try-1), maxWait/2)
	return base/2 + rand.N(base)
}

// retryAfter reads how long a server asks to wait: Retry-After in seconds or as
// a date (RFC 9110, section 10.2.3), or google.rpc.RetryInfo of its error. 0 if
// it does not say, or says it wrongly.
func retryAfter(h http.Header, told toldError, now time.Time) time.Duration {
	value := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now))
	}
	if d, err := time.ParseDuration(told.retryDelay); err == nil {
		return bounded(d.Seconds())
	}
	return 0
}

// bounded converts seconds, taking nonsense for 0 and more than a day for a day.
func bounded(s float64) time.Duration {
	const day = 24 * time.Hour
	if !(s > 0) {
		return 0
	}
	if s > day.Seconds() {
		return day
	}
	return time.Duration(s * float64(time.Second))
}

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
