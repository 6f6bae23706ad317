package voicetest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"

	"github.com/coder/websocket"
)

var seat = voicetest.ClientID{Server: "10", User: "1"}

func newServer(t *testing.T, cfg voicetest.Config) (*voicetest.Server, voicetest.MemberOptions) {
	t.Helper()
	s, err := voicetest.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	endpoint, err := s.Endpoint()
	if err != nil {
		t.Fatal(err)
	}
	ticket := voicetest.Credentials{ClientID: seat, Room: "20", Session: "s", Token: "t", Group: 20}
	s.Admit(ticket)
	return s, voicetest.MemberOptions{Endpoint: endpoint, Credentials: ticket}
}

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestAMemberThatIsNotLetInSaysWhy(t *testing.T) {
	s, o := newServer(t, voicetest.Config{})
	s.RefuseNext(voicetest.CloseRateLimited, "slowly")
	if _, err := voicetest.JoinCall(deadline(t), o); int(websocket.CloseStatus(err)) != voicetest.CloseRateLimited {
		t.Errorf("got %v, want close code %d", err, voicetest.CloseRateLimited)
	}
	o.Mode = "xsalsa20_poly1305"
	if _, err := voicetest.JoinCall(deadline(t), o); int(websocket.CloseStatus(err)) != voicetest.CloseUnknownMode {
		t.Errorf("got %v, want close code %d", err, voicetest.CloseUnknownMode)
	}
	o.Endpoint = "127.0.0.1:1"
	if _, err := voicetest.JoinCall(deadline(t), o); err == nil {
		t.Error("a member joins where nobody listens")
	}
	refused := errors.New("no keys today")
	_, o = newServer(t, voicetest.Config{})
	o.Privacy = func(voicetest.PrivacyConfig) (voicetest.Privacy, error) { return nil, refused }
	if _, err := voicetest.JoinCall(deadline(t), o); !errors.Is(err, refused) {
		t.Errorf("got %v, want what the encryption said", err)
	}
}

func TestADiscoveryThatIsLostIsRepeated(t *testing.T) {
	s, o := newServer(t, voicetest.Config{})
	s.LoseDiscoveries(1)
	m, err := voicetest.JoinCall(deadline(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

func TestJoiningEndsWithItsContext(t *testing.T) {
	s, o := newServer(t, voicetest.Config{})
	s.LoseDiscoveries(100)
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		if _, err := s.WaitReceived(context.WithoutCancel(ctx), voicetest.OpIdentify, 0); err == nil {
			cancel(stop)
		}
	}()
	if _, err := voicetest.JoinCall(ctx, o); !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
}

func TestAMemberEndsOnceAndHeartbeatsUntilThen(t *testing.T) {
	s, o := newServer(t, voicetest.Config{Heartbeat: time.Second}) // who is late by half of that is closed
	m, err := voicetest.JoinCall(deadline(t), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.WaitReceived(deadline(t), voicetest.OpHeartbeat, 0); err != nil {
		t.Fatal(err)
	}
	if err := m.Err(); err != nil {
		t.Errorf("got %v, want a member in the call", err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Err(); !errors.Is(err, voicetest.ErrMemberLeft) {
		t.Errorf("got %v, want ErrLeft", err)
	}
	if err := m.Wait(deadline(t), "anything", func() bool { return false }); !errors.Is(err, voicetest.ErrMemberLeft) {
		t.Errorf("got %v, want ErrLeft", err)
	}
	if err := s.Wait(deadline(t), "the seat to be free", func() bool { _, there := s.Client(seat); return !there }); err != nil {
		t.Error(err)
	}
	if err := m.Send([]byte{1}); err == nil {
		t.Error("a member that has left sends")
	}
}

func TestAMemberWithoutVideoShowsNothing(t *testing.T) {
	_, o := newServer(t, voicetest.Config{})
	m, err := voicetest.JoinCall(deadline(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	if err := m.SendVP8([]byte{1}); err == nil {
		t.Error("a picture is sent without a source")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if _, err := m.NextRTCP(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
