package voicetest

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/voice"
)

// Deadline returns a context for what must come soon, even on a busy machine. It ends with the test.
func Deadline(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 30*time.Second)
	tb.Cleanup(cancel)
	return ctx
}

// Repeat sends until it is stopped: what is said while keys change is lost to those who are new.
func Repeat(tb testing.TB, send func() error) (stop func()) {
	tb.Helper()
	var wg sync.WaitGroup
	over := make(chan struct{})
	wg.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			if err := send(); err != nil && !errors.Is(err, voice.ErrUnavailable) {
				tb.Error(err)
			}
			select {
			case <-tick.C:
			case <-over:
				return
			}
		}
	})
	return sync.OnceFunc(func() { close(over); wg.Wait() })
}

// NextFrame returns what a member gets next.
func NextFrame(tb testing.TB, m *Member) ReceivedFrame {
	tb.Helper()
	f, err := m.Next(Deadline(tb))
	check.Must(tb, err)
	return f
}

// NoneLeft waits until no goroutine of voice connections is left.
func NoneLeft(tb testing.TB) {
	tb.Helper()
	buf := make([]byte, 4<<20)
	var left string
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); {
		left = ""
		for g := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			for _, ours := range []string{"voice/discord.(*Line)", "voice/discord/conn.(*", "coder/websocket.Dial"} {
				if strings.Contains(g, ours) {
					left = g
				}
			}
		}
		if left == "" {
			return
		}
		<-time.After(20 * time.Millisecond) // each look stops everything
	}
	tb.Errorf("a goroutine is left:\n%s", left)
}
