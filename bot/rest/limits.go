package rest

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	maxLimits     = 1000        // entries kept before old ones are swept
	longestWait   = time.Minute // no single wait is longer, whatever a header says
	defaultRefuse = time.Second // after a 429 that does not say how long
)

// limits knows until when requests must wait. The zero value knows of none.
type limits struct {
	mu     sync.Mutex
	routes map[string]time.Time
	global time.Time
}

// limitKey is what Discord counts together: the method, and the path up to its
// main id and what is below that.
func limitKey(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/") // parts[0] is empty
	keep := len(parts)
	switch {
	case len(parts) > 4 && parts[1] == "channels":
		keep = 4
	case len(parts) > 4 && parts[1] == "webhooks":
		keep = 4
	}
	return method + " " + strings.Join(parts[:keep], "/")
}

// exempt reports whether requests of key are answers to interactions, which
// Discord does not count towards the limit of the whole bot.
func exempt(key string) bool {
	_, path, _ := strings.Cut(key, " ")
	return strings.HasPrefix(path, "/interactions/") || strings.HasPrefix(path, "/webhooks/")
}

// wait waits until requests of key are allowed again.
func (l *limits) wait(ctx context.Context, key string) error {
	for {
		l.mu.Lock()
		until := l.routes[key]
		if l.global.After(until) && !exempt(key) {
			until = l.global
		}
		l.mu.Unlock()
		d := time.Until(until)
		if d <= 0 {
			return context.Cause(ctx)
		}
		if err := pause(ctx, d); err != nil {
			return err
		}
	}
}

// note learns from an answer.
func (l *limits) note(key string, resp *http.Response, body []byte) {
	var after time.Duration
	global := resp.Header.Get("X-RateLimit-Global") != ""
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		var said struct {
			After  float64 `json:"retry_after"` // seconds
			Global bool    `json:"global"`
		}
		after = seconds(resp.Header.Get("Retry-After"))
		if json.Unmarshal(body, &said) == nil && said.After > 0 {
			after, global = time.Duration(said.After*float64(time.Second)), global || said.Global
		}
		if after <= 0 {
			after = defaultRefuse
		}
	case resp.Header.Get("X-RateLimit-Remaining") == "0":
		after = seconds(resp.Header.Get("X-RateLimit-Reset-After"))
	}
	if after <= 0 {
		return
	}
	until := time.Now().Add(min(after, longestWait))
	l.mu.Lock()
	defer l.mu.Unlock()
	if global && resp.StatusCode == http.StatusTooManyRequests && !exempt(key) {
		l.global = until
		return
	}
	if l.routes == nil {
		l.routes = make(map[string]time.Time)
	}
	if len(l.routes) >= maxLimits {
		l.sweep()
	}
	l.routes[key] = until
}

// sweep drops what is over. The lock is held.
func (l *limits) sweep() {
	now := time.Now()
	for k, t := range l.routes {
		if t.Before(now) {
			delete(l.routes, k)
		}
	}
}

func seconds(s string) time.Duration {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < 0 || f > 1e6 {
		return 0
	}
	return time.Duration(f * float64(time.Second))
}
