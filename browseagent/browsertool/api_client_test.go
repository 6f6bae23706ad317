package browsertool_test

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

	"clank/browseagent/browsertool"
)

func serve(t *testing.T, h http.HandlerFunc) *browsertool.APIClient {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return &browsertool.APIClient{URL: srv.URL, Token: "secret"}
}

func TestACallCarriesQueryBodyAndToken(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode([]string{r.Method, r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(b)})
	})
	status, answer, err := c.Call(t.Context(), "POST", "/act", url.Values{"profile": {"a b"}}, map[string]int{"x": 1})
	want := `["POST","/act?profile=a+b","Bearer secret","application/json","{\"x\":1}"]`
	if err != nil || status != 200 || string(answer) != want {
		t.Errorf("got %d %s %v, want %s", status, answer, err, want)
	}
}

func TestFailuresNameTheirLayer(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	cut := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	}
	say := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	for name, tt := range map[string]struct {
		c      *browsertool.APIClient
		want   error
		status int
		answer string
	}{
		"nobody listens":    {c: &browsertool.APIClient{URL: gone.URL}, want: browsertool.ErrAPIUnreachable},
		"no address":        {c: &browsertool.APIClient{}, want: browsertool.ErrAPIUnreachable},
		"broken connection": {c: serve(t, cut), want: browsertool.ErrAPIUnreachable},
		"not JSON":          {c: serve(t, say(200, "<html>")), want: browsertool.ErrAPIBadAnswer, status: 200},
		"empty":             {c: serve(t, say(200, "")), want: browsertool.ErrAPIBadAnswer, status: 200},
		"an error as text":  {c: serve(t, say(401, "Unauthorized")), status: 401, answer: `{"error":"Unauthorized"}`},
		"an error, no text": {c: serve(t, say(503, "")), status: 503, answer: `{"error":"Service Unavailable"}`},
		"an error as it is": {c: serve(t, say(404, `{"error":"tab not found"}`)), status: 404, answer: `{"error":"tab not found"}`},
		"redirect is no place": {c: serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, gone.URL, http.StatusTemporaryRedirect)
		}), status: 307, answer: `{"error":"Temporary Redirect"}`},
	} {
		status, answer, err := tt.c.Call(t.Context(), "POST", "/act", nil, nil)
		if !errors.Is(err, tt.want) || status != tt.status || string(answer) != tt.answer {
			t.Errorf("%s: got %d %s %v, want %d %s %v", name, status, answer, err, tt.status, tt.answer, tt.want)
		}
	}
}

func TestALateAnswerIsToldFromACancelledCall(t *testing.T) {
	c := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, _, err := c.Call(ctx, "GET", "/", nil, nil); !errors.Is(err, browsertool.ErrAPITimedOut) {
		t.Errorf("got %v, want %v", err, browsertool.ErrAPITimedOut)
	}
	why := errors.New("stopped by @ada")
	ctx2, cancel2 := context.WithCancelCause(t.Context())
	cancel2(why)
	if _, _, err := c.Call(ctx2, "GET", "/", nil, nil); !errors.Is(err, why) {
		t.Errorf("got %v, want %v", err, why)
	}
}

func TestErrorsDoNotShowCredentialsOfTheAddress(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	c := &browsertool.APIClient{URL: "http://user:hunter2@" + l.Addr().String() + "/?token=hunter2"}
	_, _, err = c.Call(t.Context(), "GET", "/", nil, nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}
