package conn_test

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice/discord/conn"
)

const (
	guild   = "41771983423143937"
	channel = "127121515262115840"
	self    = "900"
	ada     = "901"
)

var seat = voicetest.ClientID{Server: guild, User: self}

// hall is a voice server, and a connection of ours to it that is not open yet.
type hall struct {
	*voicetest.Server
	endpoint string
}

func newHall(t *testing.T, cfg voicetest.Config) hall {
	t.Helper()
	s, err := voicetest.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	endpoint, err := s.Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	return hall{s, endpoint}
}

func (h hall) ticket(user string) voicetest.Credentials {
	ticket := voicetest.Credentials{
		ClientID: voicetest.ClientID{Server: guild, User: user}, Room: channel, Session: "session-" + user, Token: "token-" + user,
		Group: 1,
	}
	h.Admit(ticket)
	return ticket
}

// conn makes a connection of ours, with what happens on it.
func (h hall) conn(t *testing.T) (*conn.Conn, *events) {
	t.Helper()
	ticket, e := h.ticket(self), newEvents()
	c := &conn.Conn{
		Target: conn.Target{
			Endpoint: "ws://" + h.endpoint, ServerID: guild, UserID: self, SessionID: ticket.Session, Token: ticket.Token, GroupID: 1,
		},
		Handle: e.add, MinWait: 20 * time.Millisecond, MaxOutage: 20 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c, e
}

// open opens a connection of ours.
func (h hall) open(t *testing.T, change func(*conn.Conn)) (*conn.Conn, *events) {
	t.Helper()
	c, e := h.conn(t)
	if change != nil {
		change(c)
	}
	must(t, c.Open(voicetest.Deadline(t)))
	return c, e
}

// join brings another person into the call.
func (h hall) join(t *testing.T, user string, change func(*voicetest.MemberOptions)) *voicetest.Member {
	t.Helper()
	o := voicetest.MemberOptions{Endpoint: h.endpoint, Credentials: h.ticket(user)}
	if change != nil {
		change(&o)
	}
	m, err := voicetest.JoinCall(voicetest.Deadline(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// events is what a connection has told.
type events struct {
	mu      sync.Mutex
	list    []conn.Event
	changed chan struct{}
}

func newEvents() *events { return &events{changed: make(chan struct{})} }

func (e *events) add(ev conn.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ev)
	close(e.changed)
	e.changed = make(chan struct{})
}

// next returns the first event from index from on that matches, and the index behind it.
func (e *events) next(t *testing.T, from int, what string, match func(conn.Event) bool) (conn.Event, int) {
	t.Helper()
	ctx := voicetest.Deadline(t)
	for {
		e.mu.Lock()
		list, changed := e.list, e.changed
		e.mu.Unlock()
		for i := from; i < len(list); i++ {
			if match(list[i]) {
				return list[i], i + 1
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("no %s among %d events", what, len(list))
		}
	}
}

func (e *events) kind(t *testing.T, from int, kind conn.EventKind) (conn.Event, int) {
	t.Helper()
	return e.next(t, from, string(kind), func(ev conn.Event) bool { return ev.Kind == kind })
}

func (e *events) count(kind conn.EventKind) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, ev := range e.list {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// await waits until a condition of the server holds.
func (h hall) await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	must(t, h.Wait(voicetest.Deadline(t), what, cond))
}

// done waits until a connection has ended for good.
func done(t *testing.T, c *conn.Conn) error {
	t.Helper()
	select {
	case <-c.Done():
		return c.Err()
	case <-voicetest.Deadline(t).Done():
		t.Fatal("the connection did not end")
		return nil
	}
}

// mute returns a server that takes connections and says nothing more. It counts those that are open.
func mute(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		conns.Wait()
	})
	conns.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				buf := make([]byte, 1024)
				for {
					if _, err := c.Read(buf); err != nil {
						return
					}
				}
			})
		}
	})
	return ln.Addr().String()
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
