package terminal_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"clank/consent"
	"clank/internal/browsertest"
	"clank/internal/terminal"
)

// screen is what a terminal shows.
type screen struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func TestTheTerminalAsksAndTakesTheAnswer(t *testing.T) {
	d := &consent.Desk{}
	in, keys := io.Pipe()
	out := &screen{}
	p := terminal.StartPrompter(t.Context(), in, out, func(_ context.Context, id string, allowed, forSession bool) error {
		return d.Answer(id, consent.Answer{Allowed: allowed, ForSession: forSession, By: "you"})
	})
	f := d.Follow(func(consent.Question) bool { return true })
	defer f.Close()
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		for ev, err := f.Next(ctx); err == nil; ev, err = f.Next(ctx) {
			p.Tell(ev)
		}
	}()
	for i, tt := range []struct {
		class consent.Class
		line  string
		want  consent.Answer
	}{
		{consent.Buy, "y", consent.Answer{Allowed: true, By: "you"}},
		{consent.Buy, "s", consent.Answer{By: "you"}},
		{consent.Send, "S", consent.Answer{Allowed: true, ForSession: true, By: "you"}},
		{consent.Delete, "", consent.Answer{By: "you"}},
		{consent.Delete, "maybe", consent.Answer{By: "you"}},
	} {
		got := make(chan consent.Answer, 1)
		text := strings.Repeat("x", i+1) + " marks it"
		go func() {
			a, _ := d.Ask(t.Context(), consent.Question{Class: tt.class, Session: "s", Text: text, Detail: "Buy\x1b[2J\u202enow"})
			got <- a
		}()
		browsertest.Eventually(t, text, func() bool { return strings.Contains(out.text(), text+"?") })
		if strings.Contains(out.text(), "\x1b") {
			t.Errorf("a page's escape is shown: %q", out.text())
		}
		if _, err := io.WriteString(keys, tt.line+"\n"); err != nil {
			t.Fatal(err)
		}
		if a := <-got; a != tt.want {
			t.Errorf("%q to %s: %+v, want %+v", tt.line, tt.class, a, tt.want)
		}
	}
	stop()
	<-followed
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
