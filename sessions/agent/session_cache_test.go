package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/sessions/agent"
)

func begin() *int { return new(int) }

func TestASessionIsWorkedByOneTaskAtATime(t *testing.T) {
	var k agent.SessionCache[*int]
	h, err := k.Acquire("a", func(error) {}, begin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := k.Acquire("a", func(error) {}, begin); err == nil || !strings.Contains(err.Error(), "session a is busy") {
		t.Errorf("err = %v", err)
	}
	if _, err := k.Acquire("b", func(error) {}, begin); err != nil {
		t.Errorf("another session: %v", err)
	}
	*h.State = 7
	k.Release(h)
	if h, err = k.Acquire("a", func(error) {}, begin); err != nil || *h.State != 7 {
		t.Errorf("again: %v, want what was kept", err)
	}
	k.Release(h)
	k.Drop("a")
	if h, err = k.Acquire("a", func(error) {}, begin); err != nil || *h.State != 0 {
		t.Errorf("after it was forgotten: %v, want nothing kept", err)
	}
}

func TestClosingEndsTheTaskAndWaitsForAPageThatOpens(t *testing.T) {
	var k agent.SessionCache[*int]
	ctx, stop := context.WithCancelCause(t.Context())
	h, err := k.Acquire("a", stop, begin)
	if err != nil {
		t.Fatal(err)
	}
	h.PageMu.Lock() // a page is being opened
	var order []string
	closed := make(chan error)
	go func() {
		closed <- k.Close(t.Context(), "a", func(context.Context, string) error {
			order = append(order, "closed")
			return errors.New("it is gone")
		})
	}()
	<-ctx.Done()
	order = append(order, "opened")
	h.PageMu.Unlock()
	if err := <-closed; err == nil || err.Error() != "close the browser of session a: it is gone" {
		t.Errorf("err = %v", err)
	}
	if got := strings.Join(order, " "); got != "opened closed" || !strings.Contains(context.Cause(ctx).Error(), "closed") {
		t.Errorf("order %s, cause %v", got, context.Cause(ctx))
	}
}

func TestClosingWhatIsNotKeptClosesTheBrowser(t *testing.T) {
	var k agent.SessionCache[*int]
	asked := ""
	if err := k.Close(t.Context(), "a", func(_ context.Context, id string) error { asked = id; return nil }); err != nil || asked != "a" {
		t.Errorf("asked for %q, %v", asked, err)
	}
}
