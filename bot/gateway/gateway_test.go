package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"clank/bot/gateway"

	"github.com/coder/websocket"
)

// serve plays the gateway: each socket is handed to the next of scripts, the
// last one again and again.
func serve(t *testing.T, scripts ...func(ctx context.Context, ws *websocket.Conn)) *gateway.Client {
	t.Helper()
	n := make(chan int, 1)
	n <- 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer ws.CloseNow()
		i := <-n
		n <- i + 1
		scripts[min(i, len(scripts)-1)](r.Context(), ws)
	}))
	t.Cleanup(srv.Close)
	c := &gateway.Client{
		Token: "secret", Intents: 513, MinWait: time.Millisecond, Query: "v=9&encoding=json",
		URL: func(context.Context) (string, error) {
			return "ws" + strings.TrimPrefix(srv.URL, "http") + "/?v=9", nil
		},
		OnDispatch: func(string, json.RawMessage) {},
	}
	t.Cleanup(func() {
		if err := c.Close(deadline(t)); err != nil {
			t.Error(err)
		}
	})
	return c
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 10*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func write(ctx context.Context, ws *websocket.Conn, text string) {
	_ = ws.Write(ctx, websocket.MessageText, []byte(text)) // a client that has gone is seen by the read
}

// op reads messages until one has this operation, and returns its data; empty
// when the client has gone.
func op(ctx context.Context, ws *websocket.Conn, want int) string {
	for {
		_, b, err := ws.Read(ctx)
		if err != nil {
			return ""
		}
		var f struct {
			Op int             `json:"op"`
			D  json.RawMessage `json:"d"`
		}
		if json.Unmarshal(b, &f) == nil && f.Op == want {
			return string(f.D)
		}
	}
}

const hello = `{"op":10,"d":{"heartbeat_interval":20}}`

// welcome says hello and READY, and answers heartbeats until the client leaves.
func welcome(ctx context.Context, ws *websocket.Conn) {
	write(ctx, ws, hello)
	op(ctx, ws, 2)
	write(ctx, ws, `{"op":0,"t":"READY","s":1,"d":{"session_id":"abc","user":{"id":"1"}}}`)
	for op(ctx, ws, 1) != "" {
		write(ctx, ws, `{"op":11}`)
	}
}

func closing(code int, reason string) func(context.Context, *websocket.Conn) {
	return func(ctx context.Context, ws *websocket.Conn) {
		write(ctx, ws, hello)
		op(ctx, ws, 2)
		_ = ws.Close(websocket.StatusCode(code), reason)
	}
}

func TestOpenTriesAgainUntilTheGatewayIsReady(t *testing.T) {
	c := serve(t,
		func(context.Context, *websocket.Conn) {},
		func(ctx context.Context, ws *websocket.Conn) { write(ctx, ws, "null") },
		func(ctx context.Context, ws *websocket.Conn) {
			write(ctx, ws, `{"op":10,"d":{"heartbeat_interval":0}}`)
		},
		func(ctx context.Context, ws *websocket.Conn) { write(ctx, ws, hello+"{") },
		closing(4000, "unknown error"),
		func(ctx context.Context, ws *websocket.Conn) { // asks to reconnect before READY
			write(ctx, ws, hello)
			write(ctx, ws, `{"op":7}`)
			op(ctx, ws, 99)
		},
		func(ctx context.Context, ws *websocket.Conn) { // never says that a new session is valid
			write(ctx, ws, hello)
			op(ctx, ws, 2)
			write(ctx, ws, `{"op":9,"d":false}`)
			op(ctx, ws, 99)
		},
		welcome,
	)
	if err := c.Open(deadline(t)); err != nil {
		t.Fatal(err)
	}
}

func TestRefusalsEndTheConnectionForGood(t *testing.T) {
	for _, code := range []int{4004, 4010, 4011, 4012, 4013, 4014} {
		c := serve(t, closing(code, "no"), welcome)
		err := c.Open(deadline(t))
		var refused *gateway.RefusedError
		if !errors.As(err, &refused) || refused.Code != code || refused.Reason != "no" {
			t.Errorf("code %d: Open = %v", code, err)
		}
		select {
		case <-c.Done():
		case <-deadline(t).Done():
			t.Errorf("code %d: the client goes on", code)
		}
	}
}

func TestAGatewayThatNeverGetsReadyIsGivenUpInTime(t *testing.T) {
	c := serve(t, func(ctx context.Context, ws *websocket.Conn) {
		write(ctx, ws, hello)
		for op(ctx, ws, 1) != "" {
			write(ctx, ws, `{"op":11}`)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := c.Open(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Open = %v, want the deadline", err)
	}
}

func TestASessionIsResumedWhereItWas(t *testing.T) {
	resumed := make(chan string, 1)
	kinds := make(chan string, 10)
	c := serve(t,
		func(ctx context.Context, ws *websocket.Conn) {
			write(ctx, ws, hello)
			op(ctx, ws, 2)
			write(ctx, ws, `{"op":0,"t":"READY","s":1,"d":{"session_id":"abc"}}`)
			write(ctx, ws, `{"op":0,"t":"SOMETHING","s":41,"d":{}}`)
			write(ctx, ws, `{"op":7}`)
			op(ctx, ws, 99)
		},
		func(ctx context.Context, ws *websocket.Conn) {
			write(ctx, ws, hello)
			resumed <- op(ctx, ws, 6)
			write(ctx, ws, `{"op":0,"t":"MISSED","s":42,"d":{}}`)
			write(ctx, ws, `{"op":0,"t":"RESUMED","s":43,"d":{}}`)
			for op(ctx, ws, 1) != "" {
				write(ctx, ws, `{"op":11}`)
			}
		},
	)
	c.OnDispatch = func(kind string, _ json.RawMessage) { kinds <- kind }
	if err := c.Open(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if got, want := <-resumed, `{"seq":41,"session_id":"abc","token":"secret"}`; got != want {
		t.Errorf("resumed with %s, want %s", got, want)
	}
	for _, want := range []string{"READY", "SOMETHING", "MISSED", "RESUMED"} {
		if got := <-kinds; got != want {
			t.Errorf("dispatch %s, want %s", got, want)
		}
	}
}

func TestAHandlerThatPanicsLosesOneDispatch(t *testing.T) {
	heard := make(chan string, 1)
	c := serve(t, func(ctx context.Context, ws *websocket.Conn) {
		write(ctx, ws, hello)
		op(ctx, ws, 2)
		write(ctx, ws, `{"op":0,"t":"READY","s":1,"d":null}`)
		write(ctx, ws, `{"op":0,"t":"NEXT","s":2}`)
		op(ctx, ws, 99)
	})
	c.OnDispatch = func(kind string, _ json.RawMessage) {
		if kind == "READY" {
			panic("boom")
		}
		heard <- kind
	}
	if err := c.Open(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got != "NEXT" {
		t.Errorf("heard %q", got)
	}
}

func TestSend(t *testing.T) {
	got := make(chan string, 1)
	c := serve(t, func(ctx context.Context, ws *websocket.Conn) {
		write(ctx, ws, hello)
		op(ctx, ws, 2)
		write(ctx, ws, `{"op":0,"t":"READY","s":1,"d":{}}`)
		got <- op(ctx, ws, gateway.OpVoiceState)
		op(ctx, ws, 99)
	})
	voice := map[string]any{"guild_id": "1", "channel_id": nil}
	if err := c.Send(t.Context(), gateway.OpVoiceState, voice); !errors.Is(err, gateway.ErrNotConnected) {
		t.Errorf("Send before Open = %v", err)
	}
	if err := c.Open(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if err := c.Open(deadline(t)); err == nil {
		t.Error("opened twice")
	}
	if err := c.Send(t.Context(), gateway.OpVoiceState, voice); err != nil {
		t.Fatal(err)
	}
	if got, want := <-got, `{"channel_id":null,"guild_id":"1"}`; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	if err := c.Close(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(t.Context(), gateway.OpVoiceState, voice); !errors.Is(err, gateway.ErrNotConnected) {
		t.Errorf("Send after Close = %v", err)
	}
}
