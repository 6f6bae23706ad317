package share_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/voice/share"
)

// elsewhereOn is where the call is after somebody has moved it.
var elsewhereOn = share.CallRef{ID: call.ID, Guild: call.Guild, Channel: "w"}

func TestAShareFollowsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, link := &stage{name: "Go Live"}, &stage{name: "a link"}
		h := newHall(t, live, link)
		h.share(t, call, "s1", ada)
		before, _ := h.Current(call)
		old, _ := h.Watch(before.ID)
		h.news()
		for range 2 { // the second time it is there
			if err := h.Move(t.Context(), elsewhereOn); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		ids, show := live.showing()
		now, _ := h.Current(elsewhereOn)
		if len(ids) != 1 || show.Call != elsewhereOn || now.Call != elsewhereOn || now.ID == before.ID || now.RequestedBy.User != ada.User || live.began != 2 {
			t.Errorf("Go Live shows %v in %+v after %d beginnings, and the share is %+v; want it in the new channel alone", ids, show.Call, live.began, now)
		}
		select {
		case <-old.Done:
		default:
			t.Error("those who watched in the old channel still do")
		}
		if _, there := h.Watch(before.ID); there {
			t.Error("the link of the old channel still works")
		}
		told := h.news()
		if len(told) != 1 || told[0].Call != elsewhereOn || !strings.Contains(told[0].Text, "moved") || told[0].Link != now.Location.Link {
			t.Errorf("told %+v, want one notice, in the new channel", told)
		}
		if want := []string{"s1 true", "s1 false", "s1 true"}; !slices.Equal(h.book.shared, want) {
			t.Errorf("the session was noted as %v, want %v", h.book.shared, want)
		}
	})
}

func TestAShareThatIsRefusedWhereItsCallHasGoneIsShownByLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, link := &stage{name: "Go Live"}, &stage{name: "a link"}
		h := newHall(t, live, link)
		h.share(t, call, "s1", ada)
		h.news()
		live.err = errors.New("the account may not enter the channel")
		if err := h.Move(t.Context(), elsewhereOn); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		now, _ := h.Current(elsewhereOn)
		told := h.news()
		if now.Target != "a link" || len(told) != 1 || told[0].Link == "" || told[0].Link != now.Location.Link || !strings.Contains(told[0].Text, "may not enter") {
			t.Errorf("shown by %q, told %+v; want the link, and why", now.Target, told)
		}
		link.err = errors.New("there is no address")
		if err := h.Move(t.Context(), call); err == nil {
			t.Error("moved although nothing can show it")
		}
		synctest.Wait()
		if told := h.news(); len(h.Shares()) > 0 || len(told) != 1 || !strings.Contains(told[0].Text, "not shared any more") {
			t.Errorf("got %+v, told %+v; want the end told once", h.Shares(), told)
		}
	})
}

func TestACallThatShowsNothingMovesInSilence(t *testing.T) {
	h := newHall(t, &stage{name: "a link"})
	if err := h.Move(t.Context(), elsewhereOn); err != nil || len(h.news()) > 0 || len(h.Shares()) > 0 {
		t.Errorf("error %v, shares %+v", err, h.Shares())
	}
}

// errTakenAway is what a stage says that somebody has moved.
var errTakenAway = fmt.Errorf("the account: %w", share.ErrTargetMoved)

func TestPeopleAreToldOnceWhenTheStageIsMovedBeforeItsCall(t *testing.T) {
	for name, ladder := range map[string][]*stage{
		"with a link": {{name: "Go Live"}, {name: "a link"}},
		"alone":       {{name: "Go Live"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHall(t, ladder...)
				h.share(t, call, "s1", ada)
				_, show := ladder[0].showing()
				h.news()
				show.Lost(errTakenAway)
				pass(4 * time.Second) // of somebody who drags one after the other
				if told := h.news(); len(told) > 0 {
					t.Errorf("told %+v before the call could follow", told)
				}
				if err := h.Move(t.Context(), elsewhereOn); err != nil {
					t.Fatal(err)
				}
				pass(time.Minute)
				now, _ := h.Current(elsewhereOn)
				if told := h.news(); len(told) != 1 || told[0].Call != elsewhereOn || now.Target != "Go Live" {
					t.Errorf("shown by %q, told %+v; want one notice of Go Live in the new channel", now.Target, told)
				}
			})
		})
	}
}

func TestAStageThatIsMovedWithoutItsCallIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, link := &stage{name: "Go Live"}, &stage{name: "a link"}
		h := newHall(t, live, link)
		h.share(t, call, "s1", ada)
		_, show := live.showing()
		h.news()
		show.Lost(errTakenAway)
		pass(10 * time.Second)
		now, _ := h.Current(call)
		if told := h.news(); len(told) != 1 || told[0].Link == "" || told[0].Call != call || now.Target != "a link" {
			t.Errorf("shown by %q, told %+v; want the link", now.Target, told)
		}
	})
}

func TestAShareThatEndsWhileItsCallMayFollowIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, link := &stage{name: "Go Live"}, &stage{name: "a link"}
		h := newHall(t, live, link)
		h.share(t, call, "s1", ada)
		_, show := live.showing()
		h.news()
		show.Lost(errTakenAway)
		pass(time.Second)
		h.forbid(errors.New("the profile is somebody else's now"))
		pass(time.Minute)
		if told := h.news(); len(told) != 1 || !strings.Contains(told[0].Text, "somebody else's") || link.began > 0 {
			t.Errorf("told %+v after %d beginnings of the link, want the end alone", told, link.began)
		}
	})
}
