package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/control/client"
	"clank/internal/test/check"
)

func newClient(t *testing.T, cfg client.Config) *client.Client {
	t.Helper()
	c, err := client.New(cfg)
	check.Must(t, err)
	t.Cleanup(c.Close)
	return c
}

// serve answers every request with status and body.
func serve(t *testing.T, status int, body string) string {
	t.Helper()
	return serveFunc(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

func serveFunc(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// deadURL returns an address at which nothing listens.
func deadURL(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestARequestIsSentAsItWasMade(t *testing.T) {
	type sent struct{ Method, URI, Body, Type, Auth, Password string }
	got := make(chan sent, 1)
	address := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h := r.Header
		got <- sent{
			r.Method, r.RequestURI, string(body), h.Get("Content-Type"), h.Get("Authorization"),
			h.Get("X-Openclaw-Password"),
		}
		_, _ = io.WriteString(w, `{"ok":true,"n":7}`)
	})
	for name, tc := range map[string]struct {
		cfg    client.Config
		method string
		path   string
		query  url.Values
		body   any
		want   sent
	}{
		"without body": {
			client.Config{URL: address},
			"GET", "/tabs", nil, nil,
			sent{Method: "GET", URI: "/tabs"},
		},
		"body and token": {
			client.Config{URL: address, Secret: client.Secret{Token: "s3", Password: "pw"}},
			"POST", "/act", nil,
			map[string]any{"kind": "close"},
			sent{Method: "POST", URI: "/act", Body: `{"kind":"close"}`, Type: "application/json", Auth: "Bearer s3"},
		},
		"password": {
			client.Config{URL: address, Secret: client.Secret{Password: "pw"}},
			"GET", "/", nil, nil,
			sent{Method: "GET", URI: "/", Password: "pw"},
		},
		"password within the address": {
			client.Config{URL: strings.Replace(address, "http://", "http://me:pw@", 1)},
			"GET", "/", nil, nil,
			sent{Method: "GET", URI: "/", Password: "pw"},
		},
		"profile": {
			client.Config{URL: address, Profile: "work"},
			"GET", "/tabs",
			url.Values{"a": {"b c"}},
			nil,
			sent{Method: "GET", URI: "/tabs?a=b+c&profile=work"},
		},
		"a profile of its own": {
			client.Config{URL: address, Profile: "work"},
			"GET", "/tabs",
			url.Values{"profile": {"home"}},
			nil,
			sent{Method: "GET", URI: "/tabs?profile=home"},
		},
		"below a path": {
			client.Config{URL: address + "/clank/"},
			"DELETE", "/tabs/a%2Fb", nil, nil,
			sent{Method: "DELETE", URI: "/clank/tabs/a%2Fb"},
		},
		"without scheme": {
			client.Config{URL: strings.TrimPrefix(address, "http://")},
			"GET", "/", nil, nil,
			sent{Method: "GET", URI: "/"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var answer struct{ N int }
			check.Must(t, newClient(t, tc.cfg).Do(t.Context(), tc.method, tc.path, tc.query, tc.body, &answer))
			check.Diff(t, "request", <-got, tc.want)
			if answer.N != 7 {
				t.Errorf("got answer %+v, want n 7", answer)
			}
		})
	}
}

func TestWhatTheServerAnsweredIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		body   string
		want   client.Error
	}{
		"an error": {
			400, `{"error":"kind is required","code":"ACT_KIND_REQUIRED","reason":"r","details":{"a":1}}`,
			client.Error{
				Status: 400, Message: "kind is required", Code: "ACT_KIND_REQUIRED", Reason: "r",
				Details: json.RawMessage(`{"a":1}`),
			},
		},
		"plain text": {403, "Forbidden\n", client.Error{Status: 403, Message: "Forbidden"}},
		"a page": {
			502, "<html>\n\x1b[31mbad\x00 gateway",
			client.Error{Status: 502, Message: "<html> [31mbad gateway"},
		},
		"an error of another form": {
			500, `{"error":{"message":"x"}}`,
			client.Error{Status: 500, Message: `{"error":{"message":"x"}}`},
		},
		"nothing": {
			503, "",
			client.Error{Status: 503, Message: "the server answered 503 Service Unavailable and does not say why"},
		},
		"failure with status 200": {200, `{"ok":false,"error":"no"}`, client.Error{Status: 200, Message: "no"}},
		"redirect": {
			302, "",
			client.Error{Status: 302, Message: "the server answered 302 and points elsewhere, which is not followed; name the " +
				"address itself with --url"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := newClient(t, client.Config{URL: serve(t, tc.status, tc.body)}).Do(t.Context(), "GET", "/", nil, nil, nil)
			got, ok := errors.AsType[*client.Error](err)
			if !ok {
				t.Fatalf("got %v, want a *client.Error", err)
			}
			check.Diff(t, "error", *got, tc.want)
		})
	}
}

func TestAnAnswerThatCannotBeReadIsToldApart(t *testing.T) {
	for name, body := range map[string]string{
		"garbage": "<html>hello", "cut": `{"running":tr`, "nothing": "",
		"another form": `[1]`,
	} {
		t.Run(name, func(t *testing.T) {
			var list client.TabList
			check.Fails(t, newClient(t, client.Config{URL: serve(t, 200, body)}).Do(t.Context(), "GET", "/tabs", nil, nil,
				&list), client.ErrBadAnswer)
		})
	}
	for _, status := range []int{200, 404} {
		check.Fails(t, newClient(t, client.Config{URL: serve(t, status, "\n<!doctype html><p>hello")}).Do(t.Context(), "GET",
			"/tabs", nil, nil, nil), client.ErrBadAnswer, "no control server: check --url")
	}
	var raw json.RawMessage
	check.Fails(t, newClient(t, client.Config{URL: serve(t, 200, "hello")}).Do(t.Context(), "GET", "/", nil, nil,
		&raw), client.ErrBadAnswer)
}

func TestAnAnswerBeyondTheLimitIsRefused(t *testing.T) {
	chunk := strings.Repeat(" ", 1<<20)
	address := serveFunc(t, func(w http.ResponseWriter, _ *http.Request) {
		for range client.MaxAnswer>>20 + 2 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	check.Fails(t, newClient(t, client.Config{URL: address}).Do(t.Context(), "GET", "/", nil, nil, nil),
		client.ErrBadAnswer)
}

func TestNobodyListening(t *testing.T) {
	check.Fails(t, newClient(t, client.Config{URL: deadURL(t)}).Do(t.Context(), "GET", "/", nil, nil, nil),
		client.ErrNotListening, "clank serve")
}

func TestAConnectionThatBreaks(t *testing.T) {
	for name, wire := range map[string]string{
		"before the answer":    "",
		"within the head":      "HTTP/1.1 200 OK\r\nContent-",
		"within the body":      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"ok\":",
		"no HTTP at all":       "SSH-2.0-OpenSSH_9.2\r\n",
		"an endless long head": "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2<<20),
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			check.Must(t, err)
			defer l.Close()
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = io.WriteString(conn, wire)
			}()
			err = newClient(t, client.Config{URL: "http://" + l.Addr().String()}).Do(t.Context(), "POST", "/act", nil,
				map[string]any{"kind": "close"}, nil)
			check.Fails(t, err, client.ErrBroken)
		})
	}
}

// hang returns a server that never answers, and reports when a client has disconnected.
func hang(t *testing.T) (address string, arrived, left chan struct{}) {
	t.Helper()
	arrived, left = make(chan struct{}, 1), make(chan struct{}, 1)
	address = serveFunc(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case arrived <- struct{}{}:
		default:
		}
		<-r.Context().Done()
		select {
		case left <- struct{}{}:
		default:
		}
	})
	return address, arrived, left
}

func TestATimeoutEndsTheRequestOnTheServer(t *testing.T) {
	address, arrived, left := hang(t)
	untilItArrives(t, arrived, func(limit time.Duration) {
		check.Fails(t, newClient(t, client.Config{URL: address, Timeout: limit}).Do(t.Context(), "GET", "/tabs", nil, nil,
			nil), client.ErrTimeout)
	})
	<-left
}

// untilItArrives repeats a call with a longer limit until its request reached the server before the limit.
func untilItArrives(t *testing.T, arrived <-chan struct{}, call func(limit time.Duration)) {
	t.Helper()
	for limit := 50 * time.Millisecond; limit < time.Minute; limit *= 4 {
		call(limit)
		select {
		case <-arrived:
			return
		default:
		}
	}
	t.Fatal("no request arrived")
}

func TestTheWaitDoesNotCutTheTimeThatAnActionWasGiven(t *testing.T) {
	address := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-time.After(50 * time.Millisecond):
			_, _ = io.WriteString(w, `{"ok":true}`)
		}
	})
	c := newClient(t, client.Config{URL: address, Timeout: time.Millisecond})
	check.Must(t, c.Do(t.Context(), "POST", "/act", nil, map[string]any{"kind": "wait", "timeoutMs": 500, "text": "x"},
		nil)) // with its own time
	check.Fails(t, c.Do(t.Context(), "POST", "/act", nil, map[string]any{"kind": "click"}, nil), client.ErrTimeout)
}

func TestTheDeadlineOfTheCallerIsATimeout(t *testing.T) {
	address, arrived, left := hang(t)
	untilItArrives(t, arrived, func(limit time.Duration) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		check.Fails(t, newClient(t, client.Config{URL: address}).Do(ctx, "GET", "/tabs", nil, nil, nil),
			client.ErrTimeout)
	})
	<-left
}

func TestACancelledCallTellsTheCauseAndEndsOnTheServer(t *testing.T) {
	address, arrived, left := hang(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped by @ada")
	go func() {
		<-arrived
		cancel(stopped)
	}()
	err := newClient(t, client.Config{URL: address}).Do(ctx, "POST", "/act", nil, map[string]any{"kind": "wait"}, nil)
	if !errors.Is(err, stopped) || errors.Is(err, client.ErrTimeout) {
		t.Errorf("got %v, want the cause alone", err)
	}
	<-left
}

func TestAnUnwritableBodyIsNotSent(t *testing.T) {
	if err := newClient(t, client.Config{URL: deadURL(t)}).Do(t.Context(), "POST", "/act", nil, make(chan int),
		nil); err == nil || errors.Is(err, client.ErrNotListening) {
		t.Errorf("got %v, want that the body cannot be written", err)
	}
}

func TestSecretsStayOnThisMachine(t *testing.T) {
	got := make(chan string, 1)
	server := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, "Unauthorized")
	})
	_, port, err := net.SplitHostPort(strings.TrimPrefix(server, "http://"))
	check.Must(t, err)
	kept := client.Secret{Token: "s3"}
	for name, tc := range map[string]struct {
		host   string
		secret client.Secret
		want   string
		hint   string
	}{
		"loopback":             {"127.0.0.1", kept, "Bearer s3", "refused the secret"},
		"another loopback":     {"127.8.9.1", kept, "Bearer s3", "refused the secret"},
		"localhost":            {"LOCALHOST", kept, "Bearer s3", "refused the secret"},
		"IPv6":                 {"[::1]", kept, "Bearer s3", "refused the secret"},
		"mapped":               {"[::ffff:127.0.0.1]", kept, "Bearer s3", "refused the secret"},
		"elsewhere":            {"control.example", kept, "", "is not this machine"},
		"looks like localhost": {"localhost.example", kept, "", "is not this machine"},
		"looks like loopback":  {"127.0.0.1.example", kept, "", "is not this machine"},
		"private":              {"192.168.0.7", kept, "", "is not this machine"},
		"unspecified":          {"0.0.0.0", kept, "", "is not this machine"},
		"elsewhere, explicit": {
			"control.example",
			client.Secret{Token: "s3", AnyHost: true},
			"Bearer s3",
			"refused the secret",
		},
		"none": {"127.0.0.1", client.Secret{}, "", "--token"},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, client.Config{URL: "http://" + tc.host + ":" + port, Secret: tc.secret})
			c.DialTo(strings.TrimPrefix(server, "http://"))
			err := c.Do(t.Context(), "GET", "/", nil, nil, nil)
			if got := <-got; got != tc.want {
				t.Errorf("got authorization %q, want %q", got, tc.want)
			}
			check.Fails(t, err, nil, tc.hint)
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	visited := make(chan struct{}, 1)
	elsewhere := serveFunc(t, func(http.ResponseWriter, *http.Request) { visited <- struct{}{} })
	address := serveFunc(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	})
	c := newClient(t, client.Config{URL: address, Secret: client.Secret{Token: "s3"}})
	check.Fails(t, c.Do(t.Context(), "POST", "/act", nil, map[string]any{}, nil), nil, "307", "--url")
	if len(visited) != 0 {
		t.Error("the redirect was followed")
	}
}

func TestAddressesThatAreNone(t *testing.T) {
	for _, address := range []string{
		"", "http://", "ws://127.0.0.1:18789", "file:///etc/passwd", "http://[::1",
		"127.0.0.1:x",
	} {
		check.Fails(t, check.Err(client.New(client.Config{URL: address})), nil, "it looks like http://127.0.0.1:18791")
	}
	_, err := client.New(client.Config{URL: "ftp://me:geheim@127.0.0.1"})
	if err == nil || strings.Contains(err.Error(), "geheim") {
		t.Errorf("got %v, want an error without the password", err)
	}
}

func TestCallGivesWhateverWasAnswered(t *testing.T) {
	status, answer, err := newClient(t, client.Config{URL: serve(t, 404, `{"error":"tab not found"}`)}).Call(t.Context(),
		"GET", "/", nil, nil)
	if status != 404 || string(answer) != `{"error":"tab not found"}` || err != nil {
		t.Errorf("got %d %s %v", status, answer, err)
	}
}
