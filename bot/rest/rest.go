// Package rest is Discord's REST API as far as a bot needs it: messages,
// answers to interactions, commands, and where the gateway is.
//
// It uses discordgo's shapes, and not its client: that one sleeps through rate
// limits while it holds a lock, whatever the context says, and makes all
// interactions wait for each other. Here a wait obeys its context, and a request
// that is on the wire is finished, so that a later edit is never overtaken by
// an earlier one.
//
// It follows Discord's developer documentation, version 9 of the API.
package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"
)

const (
	version        = "9"
	requestTimeout = 15 * time.Second
	maxTries       = 3 // of a request that Discord fails to answer
	maxRateWaits   = 5 // refusals for going too fast, for one request
	maxBody        = 16 << 20
)

// Query belongs to every gateway address.
const Query = "v=" + version + "&encoding=json"

// Client speaks to Discord as one bot. Set its fields before use; it is then
// safe for concurrent use.
type Client struct {
	Token      string       // bare
	Base       string       // scheme and host in place of https://discord.com
	HTTPClient *http.Client // nil is the default client
	Logger     *slog.Logger

	// RetryWait is the pause before a first new try, half a second when zero; it
	// doubles with each.
	RetryWait time.Duration

	limits limits
}

// Error is an answer of Discord that is a refusal.
type Error struct {
	Method, Route string // without tokens
	Status        int    // HTTP status
	Code          int    // Discord's own, 0 if there was none
	Message       string // as Discord gave it
}

// Error implements error.
func (e *Error) Error() string {
	s := fmt.Sprintf("discord answered %s %s with %d", e.Method, e.Route, e.Status)
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Code != 0 {
		s += fmt.Sprintf(" (%d)", e.Code)
	}
	return s
}

// Discord's error codes that somebody branches on.
const (
	CodeUnknownChannel     = 10003
	CodeUnknownMessage     = 10008
	CodeUnknownWebhook     = 10015
	CodeUnknownInteraction = 10062
	CodeAcknowledged       = 40060
	CodeTooLarge           = 40005
	CodeMissingAccess      = 50001
	CodeCannotDM           = 50007
	CodeMissingPermission  = 50013
	CodeInvalidToken       = 50027
)

// Is reports whether err is an [*Error] with one of codes.
func Is(err error, codes ...int) bool {
	var e *Error
	if !errors.As(err, &e) {
		return false
	}
	for _, c := range codes {
		if e.Code == c {
			return true
		}
	}
	return false
}

// call is one request.
type call struct {
	method, path string // path below /api/v9
	route        string // path as it may be logged; empty = path
	in           any    // sent as JSON; nil for none
	files        []*discordgo.File
	out          any // decoded from JSON; nil for none
}

// do makes the request, waiting for its turn as long as ctx lasts. It tries
// again when Discord cannot be reached or answers 5xx, a limited number of times.
func (c *Client) do(ctx context.Context, r call) error {
	if r.route == "" {
		r.route = r.path
	}
	contentType, body, err := encode(r)
	if err != nil {
		return err
	}
	key := limitKey(r.method, r.path)
	for tries, waits := 1, 0; ; {
		if err := c.limits.wait(ctx, key); err != nil {
			return fmt.Errorf("%s %s: %w", r.method, r.route, err)
		}
		answer, err := c.once(ctx, r, key, contentType, body)
		var refusal *Error
		switch {
		case err == nil:
			return decode(r, answer)
		case !errors.As(err, &refusal) || refusal.Status >= http.StatusInternalServerError:
			if tries == maxTries {
				return err
			}
			c.logger().Warn("request is tried again", "route", r.route, "error", err)
			if err := pause(ctx, c.retryWait()<<(tries-1)); err != nil {
				return fmt.Errorf("%s %s: %w", r.method, r.route, err)
			}
			tries++
		case refusal.Status == http.StatusTooManyRequests && waits < maxRateWaits:
			waits++ // the limit was noted: the wait above obeys it
			c.logger().Info("request waits for a rate limit", "route", r.route)
		default:
			return err
		}
	}
}

// once sends the request. It is not given up when ctx ends, only after its time.
func (c *Client) once(ctx context.Context, r call, key, contentType string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	base := c.Base
	if base == "" {
		base = "https://discord.com"
	}
	req, err := http.NewRequestWithContext(ctx, r.method, strings.TrimSuffix(base, "/")+"/api/v"+version+r.path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", r.method, r.route, err)
	}
	req.Header.Set("Authorization", "Bot "+c.Token)
	req.Header.Set("User-Agent", "DiscordBot (clank, 1)")
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	client := c.HTTPClient
	if client == nil {
		client = http.DefaultClient
	}
	resp, err := client.Do(req)
	if err != nil {
		// The text of a url.Error holds the address, and that may hold a token.
		return nil, fmt.Errorf("%s %s: cannot reach Discord: %w", r.method, r.route, unwrapURL(err))
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the answer: %w", r.method, r.route, err)
	}
	c.limits.note(key, resp, answer)
	if resp.StatusCode < 300 {
		return answer, nil
	}
	e := &Error{Method: r.method, Route: r.route, Status: resp.StatusCode}
	var said struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &said) == nil {
		e.Code, e.Message = said.Code, said.Message
	}
	return nil, e
}

func (c *Client) logger() *slog.Logger {
	if c.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.Logger
}

func (c *Client) retryWait() time.Duration {
	if c.RetryWait == 0 {
		return 500 * time.Millisecond
	}
	return c.RetryWait
}

func encode(r call) (contentType string, body []byte, err error) {
	switch {
	case len(r.files) > 0:
		contentType, body, err = discordgo.MultipartBodyWithJSON(r.in, r.files)
	case r.in != nil:
		contentType = "application/json"
		body, err = json.Marshal(r.in)
	}
	if err != nil {
		return "", nil, fmt.Errorf("%s %s: encode: %w", r.method, r.route, err)
	}
	return contentType, body, nil
}

func decode(r call, answer []byte) error {
	if r.out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, r.out); err != nil {
		return fmt.Errorf("%s %s: decode the answer: %w", r.method, r.route, err)
	}
	return nil
}

func unwrapURL(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// pause waits for d, or returns the cause of ctx's end.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
