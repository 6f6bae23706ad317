package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"clank/sessions/approval"
)

func TestTheTerminalAsksAndTakesTheAnswer(t *testing.T) {
	d := &approval.Queue{}
	in, keys := io.Pipe()
	out := newTranscript()
	p := startApprovalPrompter(t.Context(), in, out, func(_ context.Context, id string, allowed, forSession bool) error {
		return d.Answer(id, approval.Answer{Allowed: allowed, ForSession: forSession, By: "you"})
	})
	f := d.Follow(func(approval.Question) bool { return true })
	defer f.Close()
	ctx, stop := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		for ev, err := f.Next(ctx); err == nil; ev, err = f.Next(ctx) {
			p.HandleEvent(ev)
		}
	}()
	for i, tt := range []struct {
		class approval.Class
		line  string
		want  approval.Answer
	}{
		{approval.ClassBuy, "y", approval.Answer{Allowed: true, By: "you"}},
		{approval.ClassBuy, "s", approval.Answer{By: "you"}},
		{approval.ClassSend, "S", approval.Answer{Allowed: true, ForSession: true, By: "you"}},
		{approval.ClassDelete, "", approval.Answer{By: "you"}},
		{approval.ClassDelete, "maybe", approval.Answer{By: "you"}},
	} {
		got := make(chan approval.Answer, 1)
		text := strings.Repeat("x", i+1) + " marks it"
		go func() {
			a, _ := d.Ask(t.Context(), approval.Question{Class: tt.class, Session: "s", Text: text, Detail: "Buy\x1b[2J\u202enow"})
			got <- a
		}()
		awaitOutput(t, out, text+"?")
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
