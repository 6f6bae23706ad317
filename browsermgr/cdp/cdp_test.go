package cdp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/internal/test/check"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/proto"
)

// peer is a fake browser whose answers a function chooses: any number of raw messages, or closing the connection.
type peer func(id int, session, method string) (messages []string, end bool)

func dial(t *testing.T, timeout time.Duration, p peer, onEvent func(cdp.Event)) *cdp.Conn {
	t.Helper()
	return dialWith(t, cdp.Options{CallTimeout: timeout}, p, onEvent)
}

func dialWith(t *testing.T, options cdp.Options, p peer, onEvent func(cdp.Event)) *cdp.Conn {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = ws.CloseNow() }()
		for {
			_, data, err := ws.Read(r.Context())
			if err != nil {
				return
			}
			var req struct {
				ID      int    `json:"id"`
				Session string `json:"sessionId"`
				Method  string `json:"method"`
			}
			if err := json.Unmarshal(data, &req); err != nil {
				t.Errorf("request %s: %v", data, err)
				return
			}
			messages, end := p(req.ID, req.Session, req.Method)
			for _, m := range messages {
				if ws.Write(r.Context(), websocket.MessageText, []byte(m)) != nil {
					return
				}
			}
			if end {
				return
			}
		}
	}))
	t.Cleanup(srv.Close)
	c, err := cdp.Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"), options)
	check.Must(t, err)
	c.Start(onEvent)
	t.Cleanup(c.Close)
	return c
}

func quiet(cdp.Event) {}

func TestAnswersFindTheirCallsAndEventsComeInOrder(t *testing.T) {
	var late string
	p := func(id int, session, _ string) ([]string, bool) {
		answer := fmt.Sprintf(`{"id":%d,"result":{"cookies":%d},"sessionId":%q}`, id, id, session)
		if id == 1 {
			late = answer
			return nil, false
		}
		return []string{
			`{"method":"A.one","params":{"n":1},"sessionId":"s"}`, `{"method":"A.two","params":{"n":2}}`, answer,
			late,
		}, false
	}
	var events []string
	c := dial(t, 5*time.Second, p, func(ev cdp.Event) {
		var params struct {
			N int `json:"n"`
		}
		if !ev.Decode(&params) {
			t.Errorf("event %s: params do not decode", ev.Method)
		}
		events = append(events, fmt.Sprint(ev.Session, ev.Method, params.N))
	})
	s := c.Session("s", nil)
	first, second := s.Begin(proto.StorageGetCookies{}), s.Begin(proto.StorageGetCookies{})
	for want, call := range map[int]*cdp.Call{2: second, 1: first} {
		var res struct{ Cookies int }
		if err := call.Wait(t.Context(), &res); err != nil || res.Cookies != want {
			t.Errorf("got %d, %v; want %d", res.Cookies, err, want)
		}
	}
	// The answers came after the events, so the events have been handled.
	check.Diff(t, "events", events, []string{"sA.one1", "A.two2"})
}

func TestCallEndsWhenItMust(t *testing.T) {
	mute := func(int, string, string) ([]string, bool) { return nil, false }
	stopped := errors.New("stopped by @ada")
	gone := errors.New("that tab is closed")
	tests := map[string]struct {
		timeout time.Duration
		peer    peer
		end     func(*cdp.Session, context.CancelCauseFunc)
		want    error
	}{
		"context":   {time.Minute, mute, func(_ *cdp.Session, cancel context.CancelCauseFunc) { cancel(stopped) }, stopped},
		"no answer": {30 * time.Millisecond, mute, nil, cdp.ErrNoAnswer},
		"target":    {time.Minute, mute, func(s *cdp.Session, _ context.CancelCauseFunc) { s.End() }, gone},
		"browser":   {time.Minute, func(int, string, string) ([]string, bool) { return nil, true }, nil, cdp.ErrGone},
		"garbage": {
			time.Minute, func(int, string, string) ([]string, bool) { return []string{"[}"}, false }, nil,
			cdp.ErrGone,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := dial(t, tt.timeout, tt.peer, quiet).Session("s", gone)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			call := s.Begin(proto.PageEnable{})
			if tt.end != nil {
				tt.end(s, cancel)
			}
			start := time.Now()
			if err := call.Wait(ctx, nil); !errors.Is(err, tt.want) || time.Since(start) > 5*time.Second {
				t.Errorf("got %v after %s, want %v", err, time.Since(start), tt.want)
			}
		})
	}
}

func TestLateAnswerHarmsNothing(t *testing.T) {
	p := func(id int, _, method string) ([]string, bool) {
		if method == "Page.enable" {
			return nil, false
		}
		return []string{
			fmt.Sprintf(`{"id":%d,"result":{}}`, id-1), `{"id":99,"result":{}}`,
			fmt.Sprintf(`{ "id" : %d, "result":{}}`, id),
		}, false
	}
	s := dial(t, 5*time.Second, p, quiet).Session("", nil)
	call := s.Begin(proto.PageEnable{})
	call.Abandon()
	check.Must(t, s.Do(t.Context(), proto.PageDisable{}))
}

func TestRefusalsNameTheMethod(t *testing.T) {
	p := func(id int, _, method string) ([]string, bool) {
		code, text := -32000, "no such thing"
		switch method {
		case "Page.reload":
			text = "Cannot find context with specified id"
		case "Runtime.evaluate":
			code, text = -32603, "Internal error"
		}
		return []string{fmt.Sprintf(`{"id":%d,"error":{"code":%d,"message":%q}}`, id, code, text)}, false
	}
	s := dial(t, 5*time.Second, p, quiet).Session("s", nil)
	_, err := cdp.Ask[struct{}](t.Context(), s, proto.PageStopLoading{})
	if err == nil || !strings.Contains(err.Error(), "Page.stopLoading") ||
		!strings.Contains(err.Error(), "no such thing") || cdp.IsDocumentGone(err) {
		t.Errorf("got %v, want the method and the reason", err)
	}
	if err := s.Do(t.Context(), proto.PageReload{}); !cdp.IsDocumentGone(err) {
		t.Errorf("got %v, want the document to be gone", err)
	}
	check.Fails(t, s.Do(t.Context(), proto.RuntimeEvaluate{}), cdp.ErrScriptStopped, "Runtime.evaluate", "try again")
}

func TestCloseIsNoFailureAndMayBeRepeated(t *testing.T) {
	c := dial(t, 5*time.Second, func(int, string, string) ([]string, bool) { return nil, false }, quiet)
	check.Must(t, c.Err())
	c.Close()
	c.Close()
	<-c.Done()
	check.Must(t, c.Err())
	check.Fails(t, c.Session("", nil).Do(t.Context(), proto.PageEnable{}), cdp.ErrGone)
}

func TestAddressInErrorsHoldsNoSecret(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	for _, url := range []string{
		"ws" + strings.TrimPrefix(srv.URL, "http") + "/x?token=secret",
		"ws://user:secret@127.0.0.1:1/", "ws://secret\x00",
	} {
		_, err := cdp.Dial(t.Context(), url, cdp.Options{CallTimeout: time.Second})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v", err)
		}
	}
}

func TestHandshakeCarriesHeadersAndARefusalKeepsItsStatus(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Basic dTpw" {
			http.Error(w, "the secret is dTpw", http.StatusUnauthorized)
			return
		}
		http.Error(w, "the secret is dTpw", http.StatusTooManyRequests)
	}))
	defer srv.Close()
	url := "ws" + strings.TrimPrefix(srv.URL, "http")
	for want, header := range map[int]http.Header{
		http.StatusUnauthorized:    nil,
		http.StatusTooManyRequests: {"Authorization": {"Basic dTpw"}},
	} {
		_, err := cdp.Dial(t.Context(), url, cdp.Options{CallTimeout: 10 * time.Second, HandshakeHeader: header})
		refused, ok := errors.AsType[*cdp.StatusError](err)
		if !ok || refused.Code != want || strings.Contains(err.Error(), "dTpw") {
			t.Errorf("got %v, want status %d and no body", err, want)
		}
	}
}

func TestHandshakeHasABoundOfItsOwn(t *testing.T) {
	release := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer srv.Close()
	defer close(release)
	check.Fails(t, check.Err(cdp.Dial(t.Context(), "ws"+strings.TrimPrefix(srv.URL, "http"),
		cdp.Options{CallTimeout: time.Hour, HandshakeTimeout: 50 * time.Millisecond})), context.DeadlineExceeded)
}

func TestMessagesAreCleanedBeforeAnybodyReadsThem(t *testing.T) {
	event := ""
	c := dialWith(t, cdp.Options{
		CallTimeout: 5 * time.Second, Redact: func(m []byte) []byte {
			return bytes.ReplaceAll(m, []byte("hunter2"), []byte("[secret]"))
		},
	}, func(int, string, string) ([]string, bool) {
		return []string{`{"method":"A.one","params":{"text":"hunter2"}}`, `{"id":1,"result":{"product":"hunter2"}}`}, false
	}, func(ev cdp.Event) { event = string(ev.Params) }) // before the answer, on one goroutine
	res, err := cdp.Ask[proto.BrowserGetVersionResult](t.Context(), c.Session("", cdp.ErrGone), proto.BrowserGetVersion{})
	if err != nil || res.Product != "[secret]" || event != `{"text":"[secret]"}` {
		t.Errorf("got %q and %s, %v", res.Product, event, err)
	}
}
