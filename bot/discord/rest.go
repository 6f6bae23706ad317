package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/cancel"

	"github.com/bwmarrin/discordgo"
)

const (
	requestTimeout = 15 * time.Second
	slowestUpload  = 64 << 10 // bytes per second; the time limit of a request allows for its files at that speed
	longestUpload  = 5 * time.Minute
	maxTries       = 3           // of a request that Discord fails to answer, unless it is made with [Persist]
	longestRetry   = 30          // times the first pause, between two tries
	maxRateWaits   = 5           // refusals for going too fast, for one request that is not made with [Persist]
	longestWait    = time.Minute // limit of a single wait, whatever Discord requests

	defaultRetryWait = 500 * time.Millisecond
)

// REST speaks to Discord as one bot. Set its fields before use; it is then
// safe for concurrent use.
type REST struct {
	Token      string       // bare
	Base       string       // scheme and host in place of https://discord.com
	HTTPClient *http.Client // nil is the default client
	Logger     *slog.Logger

	// RetryWait is the pause before a first new try, half a second when zero; it
	// doubles with each.
	RetryWait time.Duration

	mu      sync.Mutex
	session *discordgo.Session // used for its REST client alone: it is never opened
	buckets map[string]*bucket
	counted *discordgo.RateLimiter // of requests that count towards the limit of the whole bot
	exempt  *discordgo.RateLimiter // of answers to interactions, which do not
}

// maxBuckets is how many rate limit buckets are kept. Every interaction has one
// of its own, and the library never forgets any.
const maxBuckets = 1000

// bucket counts the requests that Discord limits together. Only the holder of its turn may lock it.
type bucket struct {
	*discordgo.Bucket

	limiter *discordgo.RateLimiter
	turn    chan struct{} // holds a value during a request
}

type persistKey struct{}

// Persist returns a context whose requests are repeated until it ends, while Discord fails to answer them.
func Persist(ctx context.Context) context.Context { return context.WithValue(ctx, persistKey{}, true) }

// APIError is an answer of Discord that is a refusal.
type APIError struct {
	Method, Route string // without tokens
	Status        int    // HTTP status
	Code          int    // Discord's own, 0 if there was none
	Message       string // as Discord gave it
	// Fields are the errors of parts of the request, such as "0.options.1.name: Must be 32 or fewer in length."
	Fields []string

	after time.Duration // how long to wait, where the status is 429
}

func (e *APIError) Error() string {
	s := fmt.Sprintf("discord answered %s %s with %d", e.Method, e.Route, e.Status)
	if e.Message != "" {
		s += ": " + e.Message
	}
	if e.Code != 0 {
		s += fmt.Sprintf(" (%d)", e.Code)
	}
	if len(e.Fields) > 0 {
		s += ": " + strings.Join(e.Fields, "; ")
	}
	return s
}

// maxFieldErrors limits how many are shown.
const maxFieldErrors = 5

// fieldErrors reads the "errors" of a refusal: objects named after the fields, down to a list called "_errors".
func fieldErrors(body []byte) (list []string) {
	var answer struct {
		Errors json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	var walk func(at string, raw json.RawMessage)
	walk = func(at string, raw json.RawMessage) {
		var fields map[string]json.RawMessage
		if len(list) == maxFieldErrors || json.Unmarshal(raw, &fields) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if name != "_errors" {
				walk(strings.TrimPrefix(at+"."+name, "."), fields[name])
				continue
			}
			var wrong []struct{ Message string }
			if json.Unmarshal(fields[name], &wrong) == nil && len(wrong) > 0 {
				list = append(list, at+": "+wrong[0].Message)
			}
		}
	}
	walk("", answer.Errors)
	return list
}

// Discord's error codes that callers distinguish.
const (
	CodeUnknownChannel     = 10003
	CodeUnknownGuild       = 10004
	CodeUnknownMember      = 10007
	CodeUnknownMessage     = 10008
	CodeUnknownWebhook     = 10015
	CodeUnknownInteraction = 10062
	CodeAcknowledged       = 40060
	CodeTooLarge           = 40005
	CodeTooManyFollowUps   = 40094 // where the bot is no member
	CodeMissingAccess      = 50001
	CodeMissingPermission  = 50013
	CodeInvalidToken       = 50027
	CodeInvalidForm        = 50035
	CodeThreadExists       = 160004
)

// IsCode reports whether err is an [*Error] with one of codes.
func IsCode(err error, codes ...int) bool {
	e, ok := errors.AsType[*APIError](err)
	return ok && slices.Contains(codes, e.Code)
}

type apiRequest struct {
	method, path string // path below /api/v9
	route        string // path for logs; empty = path
	in           any    // sent as JSON; nil for none
	files        []*discordgo.File
	out          any // decoded from JSON; nil for none
}

// bucket returns the library's session, and the bucket called key.
func (c *REST) bucket(key string) (*discordgo.Session, *bucket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		c.session = c.open()
	}
	b, ok := c.buckets[key]
	if !ok && (c.buckets == nil || len(c.buckets) >= maxBuckets) {
		c.buckets = make(map[string]*bucket)
		c.counted, c.exempt = discordgo.NewRatelimiter(), discordgo.NewRatelimiter()
	}
	if !ok {
		limiter := c.counted
		if isInteractionRoute(key) {
			limiter = c.exempt
		}
		b = &bucket{limiter.GetBucket(key), limiter, make(chan struct{}, 1)}
		c.buckets[key] = b
	}
	return c.session, b
}

// isInteractionRoute reports whether requests of key are answers to interactions, which
// Discord does not count towards the limit of the whole bot.
func isInteractionRoute(key string) bool {
	_, path, _ := strings.Cut(key, " ")
	return strings.HasPrefix(path, "/interactions/") || strings.HasPrefix(path, "/webhooks/")
}

func (c *REST) open() *discordgo.Session {
	client := http.Client{}
	if c.HTTPClient != nil {
		client = *c.HTTPClient
	}
	client.Transport = restTransport{base: c.Base, next: client.Transport}
	return &discordgo.Session{
		Token:     "Bot " + c.Token,
		Client:    &client,
		UserAgent: "DiscordBot (clank, 1)",
		LogLevel:  -1, // what matters comes back as an error
	}
}

// do makes the request, waiting for its turn until ctx ends. It retries a limited number of times when Discord cannot
// be reached or answers 5xx.
func (c *REST) do(ctx context.Context, r apiRequest) error {
	r.route = cmp.Or(r.route, r.path)
	contentType, body, err := encodeRequest(r)
	if err != nil {
		return err
	}
	key := limitKey(r.method, r.path)
	if len(r.files) > 0 { // texts do not wait for a long upload; Discord refuses if both together are too many
		key += " with files"
	}
	for tries, waits := 1, 0; ; {
		session, bucket := c.bucket(key)
		if err := bucket.take(ctx); err != nil {
			return fmt.Errorf("%s %s: %w", r.method, r.route, err)
		}
		answer, err := sendOnce(ctx, session, r, bucket.Bucket, contentType, body)
		<-bucket.turn
		var refusal *APIError
		switch {
		case err == nil:
			return decodeResponse(r, answer)
		case !errors.As(err, &refusal) || refusal.Status >= http.StatusInternalServerError:
			if tries >= maxTries && ctx.Value(persistKey{}) == nil {
				return err
			}
			c.logger().Warn("request is tried again", "route", r.route, "try", tries, "error", err)
			wait := cmp.Or(c.RetryWait, defaultRetryWait) * time.Duration(min(1<<min(tries-1, 10), longestRetry))
			if cancel.Sleep(ctx, wait) != nil {
				return fmt.Errorf("%s %s: not in time: %w", r.method, r.route, err)
			}
			tries++
		case refusal.Status == http.StatusTooManyRequests && refusal.Code == 0 &&
			(waits < maxRateWaits || ctx.Value(persistKey{}) != nil):
			waits++
			c.logger().Info("request waits for a rate limit", "route", r.route, "wait", refusal.after)
			if err := cancel.Sleep(ctx, refusal.after); err != nil {
				return fmt.Errorf("%s %s: %w", r.method, r.route, err)
			}
		default:
			return err
		}
	}
}

// take waits until the bucket allows a request, takes its turn, and locks it. Otherwise the library would wait,
// regardless of ctx.
func (b *bucket) take(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case b.turn <- struct{}{}:
	}
	for {
		b.Lock()
		wait := b.limiter.GetWaitTime(b.Bucket, 1)
		if wait <= 0 {
			if err := context.Cause(ctx); err != nil {
				b.Unlock()
				<-b.turn
				return err
			}
			b.Remaining--
			return nil
		}
		b.Unlock()
		if err := cancel.Sleep(ctx, min(wait, longestWait)); err != nil {
			<-b.turn
			return err
		}
	}
}

// sendOnce sends the request on the locked bucket, which it releases. It is not
// given up when ctx ends, only after its time.
func sendOnce(ctx context.Context, s *discordgo.Session, r apiRequest, b *discordgo.Bucket, contentType string,
	body []byte,
) ([]byte, error) {
	within := requestTimeout + min(time.Duration(len(body))*time.Second/slowestUpload, longestUpload)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	answer, err := s.RequestWithLockedBucket(r.method, discordgo.EndpointAPI+strings.TrimPrefix(r.path, "/"), contentType,
		body, b, 0,
		discordgo.WithContext(ctx), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	if err == nil {
		return answer, nil
	}
	return nil, newAPIError(r, answer, err)
}

func newAPIError(r apiRequest, answer []byte, err error) error {
	e := &APIError{Method: r.method, Route: r.route}
	var limited *discordgo.RateLimitError
	var rest *discordgo.RESTError
	switch {
	case errors.As(err, &limited):
		e.Status, e.Message, e.after = http.StatusTooManyRequests, limited.Message,
			min(max(limited.RetryAfter, 0), longestWait)
		var body struct{ Code int }
		if json.Unmarshal(answer, &body) == nil {
			e.Code = body.Code // a limit that passes has none
		}
		return e
	case errors.As(err, &rest):
		e.Status = rest.Response.StatusCode
		if rest.Message != nil {
			e.Code, e.Message = rest.Message.Code, rest.Message.Message
		}
		e.Fields = fieldErrors(rest.ResponseBody)
		return e
	case answer != nil: // the library calls a 502 by no type of its own
		e.Status = http.StatusBadGateway
		return e
	}
	// The text of a url.Error holds the address, and that may hold a token.
	return fmt.Errorf("%s %s: cannot reach Discord: %w", r.method, r.route, cmp.Or(errors.Unwrap(err), err))
}

func (c *REST) logger() *slog.Logger { return cmp.Or(c.Logger, slog.New(slog.DiscardHandler)) }

func encodeRequest(r apiRequest) (contentType string, body []byte, err error) {
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

func decodeResponse(r apiRequest, answer []byte) error {
	if r.out == nil {
		return nil
	}
	if err := json.Unmarshal(answer, r.out); err != nil {
		return fmt.Errorf("%s %s: decode the answer: %w", r.method, r.route, err)
	}
	return nil
}

// limitKey returns the key under which Discord counts requests together: the method and the path up to its main
// id and the part below that.
func limitKey(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/") // parts[0] is empty
	if len(parts) > 4 && (parts[1] == "channels" || parts[1] == "webhooks") {
		parts = parts[:4]
	}
	return method + " " + strings.Join(parts, "/")
}

type restTransport struct {
	base string            // scheme and host in place of Discord's; empty = none
	next http.RoundTripper // nil = the default
}

// RoundTrip implements http.RoundTripper.
func (t restTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.base != "" {
		u, err := url.Parse(t.base)
		if err != nil {
			return nil, fmt.Errorf("parse the address of Discord: %w", err)
		}
		req = req.Clone(req.Context())
		req.URL.Scheme, req.URL.Host, req.Host = u.Scheme, u.Host, ""
	}
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusTooManyRequests {
		return resp, err
	}
	return rateLimitJSON(resp), nil
}

// rateLimitJSON replaces the body of a 429 by one from which the library reads the wait. Proxies before Discord answer
// in HTML and only have the header.
func rateLimitJSON(resp *http.Response) *http.Response {
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return resp
	}
	after, err := strconv.ParseFloat(resp.Header.Get("Retry-After"), 64)
	if err != nil || after < 0 {
		return resp
	}
	_ = resp.Body.Close()
	body := fmt.Sprintf(`{"message":"rate limited","retry_after":%g}`, after)
	resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return resp
}
