package share_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/videosource"
	"clank/voice/share"
)

// elsewhereOn is where the call is after somebody has moved it.
var elsewhereOn = share.CallRef{ID: call.ID, Guild: call.Guild, Channel: "w"}

func TestAShareFollowsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, live, _ := sharing(t)
		before, _ := h.Current(call)
		old, _ := h.Watch(before.ID)
		h.news()
		for range 2 { // the second time it is there
			h.move(t)
		}
		synctest.Wait()
		ids, show := live.showing()
		now, _ := h.Current(elsewhereOn)
		if len(ids) != 1 || show.Call != elsewhereOn || now.Call != elsewhereOn || now.ID == before.ID ||
			now.RequestedBy.User != ada.User || live.began != 2 {
			t.Errorf("Go Live shows %v in %+v after %d beginnings, and the share is %+v; want it in the new channel alone", ids,
				show.Call, live.began, now)
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
		if len(told) != 1 || told[0].Call != elsewhereOn || !strings.Contains(told[0].Text, "moved") ||
			told[0].Link != now.Location.Link {
			t.Errorf("told %+v, want one notice, in the new channel", told)
		}
		h.awaitSounds(t, "s1 in "+call.ID, "s1 ended", "s1 in "+elsewhereOn.ID)
		if want := []string{"s1 true", "s1 false", "s1 true"}; !slices.Equal(h.book.shared, want) {
			t.Errorf("the session was noted as %v, want %v", h.book.shared, want)
		}
	})
}

func TestAShareThatIsRefusedWhereItsCallHasGoneIsShownByLink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, live, link := sharing(t)
		live.err = errors.New("the account may not enter the channel")
		h.move(t)
		synctest.Wait()
		now, _ := h.Current(elsewhereOn)
		told := h.news()
		if now.Target != "a link" || len(told) != 1 || told[0].Link == "" || told[0].Link != now.Location.Link ||
			!strings.Contains(told[0].Text, "may not enter") {
			t.Errorf("shown by %q, told %+v; want the link, and why", now.Target, told)
		}
		link.err = errors.New("there is no address")
		check.Fails(t, h.Move(t.Context(), call),
			nil, "by Go Live: the account may not enter the channel", "by a link: there is no address")
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
				h.move(t)
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
		h, live, _ := sharing(t)
		_, show := live.showing()
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
		h, live, link := sharing(t)
		_, show := live.showing()
		show.Lost(errTakenAway)
		pass(time.Second)
		h.forbid(errors.New("the profile is somebody else's now"))
		pass(time.Minute)
		if told := h.news(); len(told) != 1 || !strings.Contains(told[0].Text, "somebody else's") || link.began > 0 {
			t.Errorf("told %+v after %d beginnings of the link, want the end alone", told, link.began)
		}
	})
}

func TestWhoMayEndAShareNeedNotWaitForItsBeginning(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(ctx context.Context, h *hall) error
		want string // what the one who wanted it is told; empty: it goes on, until it was not ready in time
	}{
		"the one who wants it": {
			func(ctx context.Context, h *hall) error { _, err := h.Stop(ctx, call, ada); return err },
			"Ada has ended the share",
		},
		"a moderator": {
			func(ctx context.Context, h *hall) error { _, err := h.Stop(ctx, call, mod); return err },
			"Mod has ended the share",
		},
		"the end of the call": {
			func(ctx context.Context, h *hall) error { return h.EndCall(ctx, call) },
			"the call has ended",
		},
		"the end of it all": {func(ctx context.Context, h *hall) error { return h.Close(ctx) }, "shutting down"},
		"somebody else": {func(ctx context.Context, h *hall) error {
			if r, _ := h.Stop(ctx, call, bob); r.OK {
				return errors.New("somebody else has ended it")
			}
			return nil
		}, "not ready within"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHall(t, &stage{name: "Go Live", hang: true})
				began := time.Now()
				var all sync.WaitGroup
				all.Go(func() {
					r, err := h.Share(t.Context(), call, "s1", ada)
					if err == nil || !strings.Contains(r.Message, tc.want) {
						t.Errorf("got %+v, error %v, want %q", r, err, tc.want)
					}
				})
				synctest.Wait()
				check.Must(t, tc.end(t.Context(), h))
				all.Wait()
				if took := time.Since(began); took > 0 && name != "somebody else" {
					t.Errorf("it took %s", took)
				}
				h.wantNone(t)
				if n := len(h.book.shared); n == 0 || h.book.shared[n-1] != "s1 false" {
					t.Errorf("got %v, want the session let go", h.book.shared)
				}
			})
		})
	}
}

func TestALookForAnotherStageIsGivenUpWithTheShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := &stage{name: "Go Live"}
		h := newHall(t, live, &stage{name: "a link", hang: true})
		h.share(t, call, "s1", ada)
		_, show := live.showing()
		show.Lost(errors.New("Discord has ended the stream"))
		synctest.Wait()
		began := time.Now()
		if r, err := h.Stop(t.Context(), call, ada); err != nil || !r.Stopped {
			t.Errorf("got %+v, error %v", r, err)
		}
		synctest.Wait()
		if took := time.Since(began); took > 0 || len(h.Shares()) > 0 {
			t.Errorf("it took %s, and %d are left", took, len(h.Shares()))
		}
	})
}

func TestAWishIsGivenUpAtEachStep(t *testing.T) {
	stopped := errors.New("stopped by Ada")
	for name, hang := range map[string]func(h *hall){
		"the page is looked for": func(h *hall) {
			h.screen = func(ctx context.Context) (videosource.Screenshotter, error) {
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}
		},
		"a stage begins": func(h *hall) { h.stages = []*stage{{name: "Go Live", hang: true}} },
		"a second one does": func(h *hall) {
			h.stages = []*stage{{name: "Go Live", err: errors.New("no")}, {name: "a link", hang: true}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHall(t, &stage{name: "the page"})
				hang(h)
				ctx, cancel := context.WithCancelCause(t.Context())
				var all sync.WaitGroup
				for range 2 { // at once: the second waits for its turn
					all.Go(func() {
						if r, err := h.Share(ctx, call, "s1", ada); !errors.Is(err, stopped) ||
							!strings.Contains(r.Message, "stopped by Ada") {
							t.Errorf("got %+v, error %v", r, err)
						}
					})
				}
				synctest.Wait()
				cancel(stopped)
				all.Wait()
				if len(h.Shares()) > 0 || len(h.news()) > 0 {
					t.Errorf("got %+v", h.Shares())
				}
			})
		})
	}
}

func TestTwoCallsThatShowTheSamePageShareItsPictures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, &stage{name: "the page"})
		watch := func(c share.CallRef) share.WatchedShare {
			st, _ := h.Current(c)
			w, ok := h.Watch(st.ID)
			if !ok {
				t.Fatal("there is no share")
			}
			return w
		}
		h.share(t, call, "s1", ada)
		h.share(t, desk, "s1", home)
		one, two := watch(call), watch(desk)
		if one.Source != two.Source {
			t.Error("pictures are taken twice")
		}
		v := two.Source.Subscribe()
		pass(5 * time.Second)
		for _, c := range []share.CallRef{call, desk} {
			if st, _ := h.Current(c); st.Trouble == "" {
				t.Errorf("the trouble is not known in %s", c.ID)
			}
		}
		h.endCall(t, call)
		<-one.Done
		select {
		case _, open := <-v.Frames():
			t.Errorf("the other call's picture has ended with it: %v", open)
		case <-two.Done:
			t.Error("the other call's share has ended with it")
		default:
		}
		h.endCall(t, desk)
		if _, open := <-v.Frames(); open {
			t.Error("pictures go on after the last share")
		}
		h.share(t, call, "s1", ada)
		if watch(call).Source == one.Source {
			t.Error("an ended source was taken again")
		}
	})
}
