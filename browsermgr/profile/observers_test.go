package profile_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/profile"
)

// follower notes what it was asked, and fails at everything.
type follower struct {
	page.Observer

	cleared, closed int
}

func (f *follower) ResetAll(context.Context) error { f.cleared++; return errors.New("stuck") }
func (f *follower) Close() error                   { f.closed++; return errors.New("jammed") }

// passer can neither be closed nor taken back.
type passer struct{ page.Observer }

func TestEachObserverIsTakenBackAndClosedThoughOthersFail(t *testing.T) {
	a, b := &follower{}, &follower{}
	all := []page.Observer{a, &passer{}, b}
	if err := profile.UndoOverrides(t.Context(), all); err == nil || strings.Count(err.Error(), "stuck") != 2 {
		t.Errorf("taken back: %v", err)
	}
	if err := profile.CloseObservers(all); err == nil || strings.Count(err.Error(), "jammed") != 2 {
		t.Errorf("closed: %v", err)
	}
	if a.cleared != 1 || b.cleared != 1 || a.closed != 1 || b.closed != 1 {
		t.Errorf("asked %+v and %+v", a, b)
	}
}
