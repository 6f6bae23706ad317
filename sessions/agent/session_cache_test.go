package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/internal/test/check"
	"clank/sessions"
	"clank/sessions/agent"
)

func begin() *int { return new(int) }

func TestASessionIsWorkedByOneTaskAtATime(t *testing.T) {
	var k agent.SessionCache[*int]
	h, err := k.Acquire("a", func(error) {}, begin)
	check.Must(t, err)
	check.Fails(t, check.Err(k.Acquire("a", func(error) {}, begin)), nil, "session a is busy")
	check.Must(t, check.Err(k.Acquire("b", func(error) {}, begin))) // another session
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
	check.Must(t, err)
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
	if err := k.Close(t.Context(), "a", func(_ context.Context, id string) error { asked = id; return nil }); err != nil ||
		asked != "a" {
		t.Errorf("asked for %q, %v", asked, err)
	}
}

func TestARunTellsWhatItsConsumerMustKnow(t *testing.T) {
	stopped, stop := context.WithCancelCause(t.Context())
	unread := errors.New("unreadable")
	stop(errors.New("stopped by ada"))
	for name, tt := range map[string]struct {
		ctx   context.Context
		fails error // of the work
		works bool
		want  string
	}{
		"done":              {t.Context(), nil, true, ""},
		"failed":            {t.Context(), errors.New("it failed"), true, "it failed"},
		"nobody listens":    {t.Context(), agent.ErrConsumerStopped, true, ""},
		"stopped before":    {stopped, nil, false, "stopped by ada"},
		"busy with another": {t.Context(), nil, false, "session a is busy"},
		"busy, and stopped": {stopped, nil, false, "stopped by ada"},
	} {
		var k agent.SessionCache[*int]
		busy := strings.HasPrefix(name, "busy")
		if busy {
			check.Must(t, check.Err(k.Acquire("a", func(error) {}, begin)))
		}
		worked := 0
		var told error
		k.Run(tt.ctx, "a", func(_ sessions.Step, err error) bool { told = errors.Join(told, err); return true },
			func() (*int, error) { return begin(), unread },
			func(_ context.Context, _ *agent.CachedSession[*int], why error) error {
				worked++
				check.Fails(t, why, unread)
				return tt.fails
			})
		check.Outcome(t, name, told, tt.want)
		check.Equal(t, name+": it worked", worked == 1, tt.works)
		if _, err := k.Acquire("a", func(error) {}, begin); (err == nil) == busy {
			t.Errorf("%s: afterwards it is free: %v", name, err)
		}
	}
}

// parking is a browser that parks as it is told to.
type parking struct {
	sessions.Browser // no other method is called

	parked bool
	err    error
}

func (p parking) Park(context.Context, string, bool) (bool, error) { return p.parked, p.err }

func TestWhatAParkedSessionRemembersIsDropped(t *testing.T) {
	broken := errors.New("it is gone")
	for name, tt := range map[string]parking{
		"parked": {parked: true}, "in use": {}, "broken": {err: broken},
	} {
		var k agent.SessionCache[*int]
		h, err := k.Acquire("a", func(error) {}, begin)
		check.Must(t, err)
		*h.State = 7
		k.Release(h)
		for _, session := range []string{"a", "unknown"} {
			parked, err := k.Park(t.Context(), session, false, tt)
			if check.Equal(t, name, parked, tt.parked); tt.err != nil {
				check.Fails(t, err, broken, "park the page of session "+session)
			} else {
				check.Must(t, err)
			}
		}
		h, err = k.Acquire("a", func(error) {}, begin)
		check.Must(t, err)
		check.Equal(t, name+": it is remembered", *h.State == 7, !tt.parked)
	}
}
