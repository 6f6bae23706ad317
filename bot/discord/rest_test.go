package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/internal/test/check"

	"github.com/bwmarrin/discordgo"
)

// api answers each request with the next of answers, the last one again and
// again, and remembers when they came and what they brought.
type api struct {
	*discord.REST

	mu      sync.Mutex
	answers []http.HandlerFunc
	at      []time.Time
	bodies  []string
}

func serve(t *testing.T, answers ...http.HandlerFunc) *api {
	t.Helper()
	a := &api{answers: answers}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		i := min(len(a.at), len(a.answers)-1)
		a.at, a.bodies = append(a.at, time.Now()), append(a.bodies, string(b))
		a.mu.Unlock()
		a.answers[i](w, r)
	}))
	t.Cleanup(srv.Close)
	a.REST = &discord.REST{Token: "secret", Base: srv.URL, RetryWait: time.Millisecond}
	return a
}

func (a *api) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at)
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func hang(w http.ResponseWriter, _ *http.Request) {
	if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = c.Close()
	}
}

var posted = status(200, `{"id":"9"}`)

func TestServerErrorsAreTriedAgainTwice(t *testing.T) {
	a := serve(t, status(502, "<html>"), hang, posted)
	if id, err := a.Send(t.Context(), "1", discord.OutgoingMessage{Content: "hi"}); err != nil || id != "9" {
		t.Errorf("Send = %q, %v", id, err)
	}
	var first, last struct {
		Nonce   string `json:"nonce"`
		Enforce bool   `json:"enforce_nonce"`
	}
	for i, into := range map[int]any{0: &first, 2: &last} {
		check.Must(t, json.Unmarshal([]byte(a.bodies[i]), into))
	}
	if first != last || first.Nonce == "" || len(first.Nonce) > 25 || !first.Enforce {
		t.Errorf("a new try could post twice: %+v, %+v", first, last)
	}
	a = serve(t, status(500, ""))
	_, err := a.Send(t.Context(), "1", discord.OutgoingMessage{Content: "hi"})
	var refusal *discord.APIError
	if !errors.As(err, &refusal) || refusal.Status != 500 || a.count() != 3 {
		t.Errorf("error %v after %d tries, want 500 after 3", err, a.count())
	}
}

func TestRefusalsAreNotTriedAgain(t *testing.T) {
	a := serve(t, status(403, `{"code":50013,"message":"Missing Permissions"}`))
	_, err := a.Send(t.Context(), "1", discord.OutgoingMessage{Content: "hi"})
	if !discord.IsCode(err, discord.CodeMissingPermission) || discord.IsCode(err, discord.CodeMissingAccess) ||
		a.count() != 1 {
		t.Errorf("error %v after %d tries", err, a.count())
	}
	check.Equal(t, "error", err.Error(),
		"discord answered POST /channels/1/messages with 403: Missing Permissions (50013)")
	if discord.IsCode(errors.New("x"), 0) {
		t.Error("any error is Discord's")
	}
}

func TestErrorsDoNotTellTokens(t *testing.T) {
	i := &discordgo.Interaction{ID: "1", AppID: "2", Token: "very-secret"}
	for name, a := range map[string]*api{
		"refused": serve(t, status(404, `{"code":10062,"message":"Unknown interaction"}`)), "cut": serve(t, hang),
	} {
		for _, err := range []error{
			a.Respond(t.Context(), i, discordgo.InteractionResponseDeferredMessageUpdate, discord.OutgoingMessage{}),
			check.Err(a.EditResponse(t.Context(), i, discord.OutgoingMessage{})),
			a.FollowUp(t.Context(), i, discord.OutgoingMessage{}),
		} {
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestRateLimitsAreObeyed(t *testing.T) {
	for name, refusal := range map[string]http.HandlerFunc{
		"in the body":   status(429, `{"retry_after":0.2}`),
		"in the header": status(429, "<html>", "Retry-After", "0.2"),
		"used up":       status(200, `{"id":"9"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "0.2"),
		"global":        status(429, `{"retry_after":0.2,"global":true}`, "X-RateLimit-Global", "true"),
	} {
		t.Run(name, func(t *testing.T) {
			a := serve(t, refusal, posted)
			for range 2 {
				check.Must(t, check.Err(a.Send(t.Context(), "1", discord.OutgoingMessage{Content: "hi"})))
			}
			if d := a.at[1].Sub(a.at[0]); d < 190*time.Millisecond {
				t.Errorf("the next request came after %s", d)
			}
		})
	}
}

func TestARateLimitHoldsItsRouteAlone(t *testing.T) {
	a := serve(t, status(200, `{"id":"9"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset-After", "30"), posted)
	for _, channel := range []string{"1", "2"} {
		check.Must(t, check.Err(a.Send(t.Context(), channel, discord.OutgoingMessage{Content: "hi"})))
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := a.Send(ctx, "1", discord.OutgoingMessage{Content: "hi"})
		done <- err
	}()
	why := errors.New("enough")
	cancel(why)
	if err := <-done; !errors.Is(err, why) || a.count() != 2 {
		t.Errorf("error = %v after %d requests, want the cause and no request", err, a.count())
	}
}

func TestAnswersToInteractionsPassTheGlobalLimit(t *testing.T) {
	a := serve(t, status(429, `{"retry_after":30,"global":true}`), status(204, ""))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	check.Fails(t, check.Err(a.Send(ctx, "1", discord.OutgoingMessage{Content: "hi"})), context.DeadlineExceeded)
	i := &discordgo.Interaction{ID: "1", AppID: "2", Token: "t"}
	check.Must(t, a.Respond(t.Context(), i, discordgo.InteractionResponseDeferredMessageUpdate,
		discord.OutgoingMessage{}))
}

func TestRefusalsForGoingTooFastDoNotGoOnForEver(t *testing.T) {
	a := serve(t, status(429, `{"retry_after":0.001}`))
	_, err := a.Send(t.Context(), "1", discord.OutgoingMessage{Content: "hi"})
	var refusal *discord.APIError
	if !errors.As(err, &refusal) || refusal.Status != 429 || a.count() != 6 {
		t.Errorf("error %v after %d requests", err, a.count())
	}
}

func TestARequestOnTheWireIsFinished(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	a := serve(t, func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		posted(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := a.Send(ctx, "1", discord.OutgoingMessage{Content: "hi"})
		done <- err
	}()
	<-arrived
	cancel()
	close(release)
	check.Must(t, <-done)
}

func TestARequestDoesNotWaitForASlowOne(t *testing.T) {
	for name, c := range map[string]struct {
		files    []discord.File
		give, ok bool
	}{
		"a text passes an upload":      {files: []discord.File{{Name: "x.png", Data: make([]byte, 1)}}, ok: true},
		"a wait ends with its context": {give: true},
	} {
		t.Run(name, func(t *testing.T) {
			arrived, release := make(chan struct{}), make(chan struct{})
			var first atomic.Bool
			a := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if first.CompareAndSwap(false, true) {
					close(arrived)
					<-release
				}
				posted(w, r)
			})
			var slow sync.WaitGroup
			slow.Go(func() {
				check.Must(t, check.Err(a.Send(t.Context(), "1", discord.OutgoingMessage{Content: "x", Files: c.files})))
			})
			<-arrived
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := a.Send(ctx, "1", discord.OutgoingMessage{Content: "hi"})
				done <- err
			}()
			if c.give {
				cancel()
			}
			select {
			case err := <-done:
				if (err == nil) != c.ok {
					t.Errorf("Send = %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Error("it waits for the other")
			}
			close(release)
			slow.Wait()
		})
	}
}

// transport is what a request is sent with.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A line that sends 1 Mbit a second is no reason to lose the files of an answer.
func TestFilesHaveTheTimeThatASlowLineNeeds(t *testing.T) {
	var left time.Duration
	a := serve(t, posted)
	a.HTTPClient = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		end, _ := r.Context().Deadline()
		left = time.Until(end)
		return http.DefaultTransport.RoundTrip(r)
	})}
	for size, least := range map[int]time.Duration{0: 0, 9 << 20: 75 * time.Second} {
		m := discord.OutgoingMessage{Content: "x", Files: []discord.File{{Name: "x.zip", Data: make([]byte, size)}}}
		check.Must(t, check.Err(a.Send(t.Context(), "1", m)))
		if left < least || left > least+2*time.Minute {
			t.Errorf("%d bytes: %v, want %v or some more", size, left, least)
		}
	}
}

func TestGatewayAddress(t *testing.T) {
	const address = "wss://gateway.discord.gg/?v=9&encoding=json"
	for body, want := range map[string]discord.GatewayInfo{
		`{"url":"wss://gateway.discord.gg"}`: {URL: address, Shards: 1, AtOnce: 1},
		`{"url":"wss://gateway.discord.gg/","shards":9,"session_start_limit":{"total":1000,"remaining":1,"max_concurrency":2}}`: {
			URL: address, Shards: 9, AtOnce: 2,
		},
		`{"url":""}`: {},
		`{"url":"wss://x","session_start_limit":{"total":1000,"remaining":0,"reset_after":3600000}}`: {},
		`nothing`: {},
	} {
		got, err := serve(t, status(200, body)).Gateway(t.Context())
		if got != want || (err == nil) != (want.URL != "") {
			t.Errorf("%s: %+v, %v; want %+v", body, got, err, want)
		}
	}
}

func TestMessagesReplaceOrKeepTheirFiles(t *testing.T) {
	a := serve(t, posted)
	for _, m := range []discord.OutgoingMessage{
		{Content: "a"},
		{Content: "b", KeepFiles: true},
		{Content: "c", Files: []discord.File{{Name: "x.png", MediaType: "image/png", Data: []byte("PNG")}}},
	} {
		check.Must(t, a.Edit(t.Context(), "1", "2", m))
	}
	for i, want := range []string{`"attachments":[]`, ``, `filename="x.png"`} {
		if got := a.bodies[i]; !strings.Contains(got, want) || (want == "") == strings.Contains(got, "attachments") {
			t.Errorf("edit %d: %s, want %q", i, got, want)
		}
	}
	for _, b := range a.bodies {
		check.Contains(t, b, `"allowed_mentions":{"parse":[],"replied_user":false}`)
	}
}

func TestARefusalNamesTheFields(t *testing.T) {
	a := serve(t, status(http.StatusBadRequest, `{"code":50035,"message":"Invalid Form Body","errors":{
		"0":{"options":{"1":{"name":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 32 or fewer in length."}]}}}},
		"2":{"_errors":[{"code":"APPLICATION_COMMANDS_DUPLICATE_NAME","message":"Application command names must be unique"}]}}}`))
	err := a.PutCommands(t.Context(), "1", nil)
	for _, part := range []string{"0.options.1.name: Must be 32 or fewer in length.", "2: Application command names " +
		"must be unique", "50035"} {
		check.Fails(t, err, nil, part)
	}
}
