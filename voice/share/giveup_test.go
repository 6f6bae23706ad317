package share_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/sessions"
	"clank/videosource"
	"clank/voice/share"
)

func TestWhoMayEndAShareNeedNotWaitForItsBeginning(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(ctx context.Context, h *hall) error
		want string // what the one who wanted it is told; empty: it goes on, until it was not ready in time
	}{
		"the one who wants it": {func(ctx context.Context, h *hall) error { _, err := h.Stop(ctx, call, ada); return err }, "Ada has ended the share"},
		"a moderator":          {func(ctx context.Context, h *hall) error { _, err := h.Stop(ctx, call, mod); return err }, "Mod has ended the share"},
		"the end of the call":  {func(ctx context.Context, h *hall) error { return h.EndCall(ctx, call) }, "the call has ended"},
		"the end of it all":    {func(ctx context.Context, h *hall) error { return h.Close(ctx) }, "shutting down"},
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
				if err := tc.end(t.Context(), h); err != nil {
					t.Error(err)
				}
				all.Wait()
				if took := time.Since(began); took > 0 && name != "somebody else" {
					t.Errorf("it took %s", took)
				}
				if got := h.Shares(); len(got) > 0 {
					t.Errorf("got %+v, want no share", got)
				}
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
			h.Screen = func(ctx context.Context, _ sessions.Session) (videosource.Screenshotter, error) {
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
						if r, err := h.Share(ctx, call, "s1", ada); !errors.Is(err, stopped) || !strings.Contains(r.Message, "stopped by Ada") {
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
		if err := h.EndCall(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		<-one.Done
		select {
		case _, open := <-v.Frames():
			t.Errorf("the other call's picture has ended with it: %v", open)
		case <-two.Done:
			t.Error("the other call's share has ended with it")
		default:
		}
		if err := h.EndCall(t.Context(), desk); err != nil {
			t.Fatal(err)
		}
		if _, open := <-v.Frames(); open {
			t.Error("pictures go on after the last share")
		}
		h.share(t, call, "s1", ada)
		if watch(call).Source == one.Source {
			t.Error("an ended source was taken again")
		}
	})
}
