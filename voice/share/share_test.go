package share_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/sessions"
	"clank/voice/share"

	"github.com/google/go-cmp/cmp"
)

func TestASessionIsSharedOnlyWhereAndByWhomItMayBe(t *testing.T) {
	for _, tc := range []struct {
		name string
		call share.CallRef
		id   string
		by   sessions.Origin
		with func(h *hall)
		want share.RefusalCode // empty: it is shared
	}{
		{name: "by its owner", call: call, id: "s1", by: ada},
		{name: "by a moderator", call: call, id: "s1", by: mod},
		{name: "by a moderator of another channel", call: call, id: "s1", by: memes, want: share.NotOwner},
		{name: "a private one by its owner", call: call, id: "secret", by: ada, want: share.NoSource},
		{name: "one of a private chat by its owner", call: call, id: "chat", by: ada, want: share.NoSource},
		{name: "one whose profile was taken away", call: call, id: "s1", by: ada, with: func(h *hall) {
			h.forbid(errors.New("the profile is bound to others now"))
		}, want: share.NotOwner},
		{name: "the operator's own", call: desk, id: "local", by: home},
		{name: "one from a server by the operator", call: desk, id: "s1", by: home},
		{name: "no call before no id", id: "", by: ada, want: share.NoCall},
		{name: "no id before no stage", call: call, by: ada, with: func(h *hall) { h.stages = nil }, want: share.NoSessionID},
		{
			name: "no stage before an unknown session", call: call, id: "s9", by: ada, with: func(h *hall) { h.stages = nil },
			want: share.NoTarget,
		},
		{name: "an unknown session", call: call, id: "s9", by: ada, want: share.NotFound},
		{name: "a closed session", call: call, id: "closed", by: ada, want: share.NotFound},
		{name: "somebody else's", call: call, id: "s1", by: bob, want: share.NotOwner},
		{name: "a private one by a moderator", call: call, id: "secret", by: mod, want: share.NotOwner},
		{name: "one of another server", call: call, id: "far", by: ada, want: share.NotOwner},
		{name: "one of another server by a moderator", call: call, id: "far", by: mod, want: share.NotOwner},
		{name: "the operator's own by a moderator of a server", call: call, id: "local", by: mod, want: share.NotOwner},
		{name: "one of a private chat by a moderator", call: call, id: "chat", by: mod, want: share.NotOwner},
		{name: "one without a page", call: call, id: "bobs", by: bob, want: share.NoSource},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newHall(t, &stage{name: "the page"})
			if tc.with != nil {
				tc.with(h)
			}
			r, err := h.Share(t.Context(), tc.call, tc.id, tc.by)
			if r.Error != tc.want || r.OK != (tc.want == "") || r.Started != r.OK || r.SessionID != tc.id {
				t.Errorf("got %+v, want the error %q", r, tc.want)
			}
			if no, refused := errors.AsType[*share.Refusal](err); (tc.want != "") != refused || refused &&
				(no.Code != tc.want || !strings.Contains(no.Error(), " ")) {
				t.Errorf("got error %v, want a refusal for %q in words", err, tc.want)
			}
			if got := len(h.Shares()) == 1; got != (tc.want == "") {
				t.Errorf("got %+v", h.Shares())
			}
		})
	}
}

func TestOneShareForEachCallReusedOrReplaced(t *testing.T) {
	page := &stage{name: "the page"}
	h := newHall(t, page)
	h.share(t, call, "s1", ada)
	first, _ := h.Current(call)
	if r := h.share(t, call, "s1", ada); !r.AlreadyShared || r.Started {
		t.Errorf("got %+v for a session that is shared already, want it reused", r)
	}
	if again, _ := h.Current(call); again.ID != first.ID {
		t.Error("sharing again has begun a new share")
	}
	h.awaitSounds(t, "s1 in "+call.ID)
	watch, ok := h.Watch(first.ID)
	if !ok {
		t.Fatal("the share is not found by its id")
	}
	h.share(t, call, "s2", ada)
	<-watch.Done
	h.awaitSounds(t, "s1 in "+call.ID, "s1 ended", "s2 in "+call.ID)
	if ids, _ := page.showing(); !slices.Equal(ids, []string{"s2"}) {
		t.Errorf("the page shows %v, want the new session alone", ids)
	}
	if _, ok := h.Watch(first.ID); ok {
		t.Error("the old share is still found")
	}
	h.share(t, desk, "s2", home)
	check.Equal(t, "len(h.Shares())", len(h.Shares()), 2)
	check.Must(t, check.Err(h.Stop(t.Context(), call, ada)))
	h.endCall(t, desk)
	want := []string{"s1 true", "s1 false", "s2 true", "s2 true", "s2 false"} // not let go while the other call shows it
	check.Diff(t, "sessions kept open", h.book.shared, want)
}

func TestARefusalIsToldAndTheNextStageIsTaken(t *testing.T) {
	live := &stage{name: "Go Live", err: errors.New("Discord does not let this account show video")}
	link := &stage{name: "a link"}
	h := newHall(t, live, link)
	r := h.share(t, call, "s1", ada)
	for _, want := range []string{"Go Live: Discord does not let this account show video.", "You see it on a link."} {
		check.Contains(t, r.Message, want)
	}
	st, _ := h.Current(call)
	if strings.Contains(r.Message, st.Location.Link) || st.Location.Link == "" {
		t.Errorf("the model gets to know the link: %q", r.Message)
	}
	told := h.news()
	if len(told) != 1 || told[0].Link != st.Location.Link || told[0].Call != call ||
		!strings.HasPrefix(told[0].Text, "Ada shares") || !strings.Contains(told[0].Text, r.Message) {
		t.Errorf("people were told %+v, want the same and the link", told)
	}
}

func TestNoStageAtAllLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHall(t, &stage{name: "Go Live", err: errors.New("no")}, &stage{name: "the page", hang: true})
		began := time.Now()
		r, err := h.Share(t.Context(), call, "s1", ada)
		if err == nil || r.Error != share.NotReady || !strings.Contains(r.Message, "Go Live: no.") ||
			!strings.Contains(r.Message, "within 15s") {
			t.Errorf("got %+v, error %v, want both reasons", r, err)
		}
		check.Equal(t, "it took", time.Since(began), 15*time.Second)
		h.wantNone(t)
		if want := []string{"s1 true", "s1 false"}; !slices.Equal(h.book.shared, want) {
			t.Errorf("got %v, want %v", h.book.shared, want)
		}
		if told := h.news(); len(told) > 0 {
			t.Errorf("the call was told %+v of what only one person asked", told)
		}
		h.stages = h.stages[:1]
		if r, _ := h.Share(t.Context(), call, "s1", ada); r.Error != share.NoTarget {
			t.Errorf("got %+v, want %q", r, share.NoTarget)
		}
	})
}

func TestALostStageIsFollowedByTheNextOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, live, link := sharing(t)
		_, show := live.showing()
		show.Lost(errors.New("Discord has ended the stream"))
		show.Lost(errors.New("twice"))
		synctest.Wait()
		if ids, _ := live.showing(); len(ids) > 0 {
			t.Errorf("Go Live still shows %v", ids)
		}
		st, _ := h.Current(call)
		if told := h.news(); st.Target != "a link" || len(told) != 1 || told[0].Link != st.Location.Link ||
			!strings.Contains(told[0].Text, "Discord has ended the stream") {
			t.Errorf("got %+v, told %+v, want the link instead", st, told)
		}
		_, show = link.showing()
		show.Lost(errors.New("nobody can reach it"))
		synctest.Wait()
		if told := h.news(); len(h.Shares()) > 0 || len(told) != 1 || !strings.Contains(told[0].Text, "nobody can reach it") {
			t.Errorf("got %+v, told %+v, want the end told", h.Shares(), told)
		}
	})
}

func TestAShareEndsWithItsSession(t *testing.T) {
	for name, end := range map[string]func(h *hall){
		"the model closed it": func(h *hall) {
			h.book.tell(sessions.Event{Record: sessions.TaskRecord{
				Task:  sessions.Task{SessionID: "s1"},
				State: sessions.TaskDone, Closed: true,
			}})
		},
		"a person closed it": func(h *hall) {
			h.book.set(sessions.Session{ID: "s1", Origin: ada, State: sessions.SessionClosed})
		},
		"it may not be shown any more": func(h *hall) { h.forbid(errors.New("the profile is bound to others now")) },
		"it was forgotten": func(h *hall) {
			h.book.mu.Lock()
			defer h.book.mu.Unlock()
			delete(h.book.all, "s1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := sharingPage(t)
				synctest.Wait()
				h.book.outrun() // it follows the sessions all the same
				synctest.Wait()
				h.book.tell(sessions.Event{Record: sessions.TaskRecord{
					Task:  sessions.Task{SessionID: "s1"},
					State: sessions.TaskDone,
				}})
				h.book.tell(sessions.Event{Record: sessions.TaskRecord{
					Task:  sessions.Task{SessionID: "s2"},
					State: sessions.TaskDone, Closed: true,
				}})
				pass(5 * time.Second)
				if len(h.Shares()) != 1 {
					t.Fatal("the share has ended although its session is there")
				}
				h.news()
				end(h)
				pass(5 * time.Second)
				if told := h.news(); len(h.Shares()) != 0 || len(told) != 1 ||
					!strings.Contains(told[0].Text, "not shared any more") {
					t.Errorf("got %+v, told %+v, want the share ended and that told", h.Shares(), told)
				}
			})
		})
	}
}

func TestWhatCannotBeLookedUpIsNotGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sharingPage(t)
		h.book.mu.Lock()
		h.book.broken = errors.New("the disk is full")
		h.book.mu.Unlock()
		pass(10 * time.Second)
		if len(h.Shares()) != 1 {
			t.Error("the share has ended")
		}
		if _, err := h.Share(t.Context(), desk, "s1", home); err == nil || !errors.Is(err, h.book.broken) {
			t.Errorf("got error %v, want %v", err, h.book.broken)
		}
	})
}

func TestWhoMayEndAShare(t *testing.T) {
	for _, tc := range []struct {
		name string
		by   sessions.Origin
		want share.RefusalCode
	}{
		{"the owner", ada, ""},
		{"who began it", mod, ""},
		{"the operator", home, ""},
		{"somebody", bob, share.NotAllowed},
	} {
		h := newHall(t, &stage{name: "the page"})
		if r, _ := h.Stop(t.Context(), call, tc.by); r.Error != share.Inactive {
			t.Errorf("%s: got %+v where nothing is shared, want %q", tc.name, r, share.Inactive)
		}
		h.share(t, call, "s1", mod)
		r, err := h.Stop(t.Context(), call, tc.by)
		if r.Error != tc.want || r.Stopped != (tc.want == "") || (err == nil) != r.OK {
			t.Errorf("%s: got %+v, error %v, want the error %q", tc.name, r, err, tc.want)
		}
		if got := len(h.Shares()); (got == 0) != r.Stopped {
			t.Errorf("%s: got %d shares", tc.name, got)
		}
	}
}

func TestAPictureThatStandsStillIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := sharingPage(t)
		st, _ := h.Current(call)
		watch, _ := h.Watch(st.ID)
		v := watch.Source.Subscribe()
		defer v.Close()
		pass(10 * time.Second)
		if st, _ := h.Current(call); st.Trouble != "a dialog is open" || st.Picture.Failed == 0 {
			t.Errorf("got %+v, want the trouble", st)
		}
		if told := h.news(); len(told) != 1 || !strings.Contains(told[0].Text, "is frozen for now: a dialog is open.") {
			t.Errorf("told %+v, want the trouble once", told)
		}
	})
}

func TestNothingIsSharedAfterTheEnd(t *testing.T) {
	h := sharingPage(t)
	st, _ := h.Current(call)
	watch, _ := h.Watch(st.ID)
	check.Must(t, h.Close(t.Context()))
	<-watch.Done
	if r, _ := h.Share(t.Context(), call, "s1", ada); r.Error != share.ShuttingDown {
		t.Errorf("got %+v, want %q", r, share.ShuttingDown)
	}
	check.Must(t, h.EndCall(t.Context(), call)) // the end of a call after the end
}

func TestALossThatIsToldTooLateEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, live, _ := sharing(t)
		_, old := live.showing()
		h.share(t, call, "s2", ada)
		h.news()
		old.Lost(errors.New("the first one has ended"))
		pass(time.Second)
		if st, _ := h.Current(call); st.SessionID != "s2" || st.Target != "Go Live" {
			t.Errorf("got %+v, want the second share where it was", st)
		}
		_, now := live.showing()
		now.Lost(errors.New("ended"))
		pass(time.Second)
		now.Lost(errors.New("ended, and told again when another stage has it"))
		pass(time.Second)
		if st, _ := h.Current(call); st.Target != "a link" {
			t.Errorf("got %+v, want it on the next stage", st)
		}
		if told := h.news(); len(told) != 1 {
			t.Errorf("told %+v, want one loss", told)
		}
	})
}

func TestManyWishesAtOnceLeaveOneShare(t *testing.T) {
	page := &stage{name: "the page"}
	h := newHall(t, page)
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			switch i % 3 {
			case 0:
				_, _ = h.Share(t.Context(), call, "s1", ada)
			case 1:
				_, _ = h.Share(t.Context(), call, "s2", ada)
			case 2:
				_, _ = h.Stop(t.Context(), call, ada)
			}
		})
	}
	all.Wait()
	h.share(t, call, "s1", ada)
	if ids, _ := page.showing(); !slices.Equal(ids, []string{"s1"}) {
		t.Errorf("the page shows %v, want s1 alone", ids)
	}
}

func TestModelsShareAndStopByTools(t *testing.T) {
	h := newHall(t, &stage{name: "the page"})
	tools := h.Tools(call)
	if len(tools) != 2 || tools[0].Name != "share_browser_session" || tools[1].Name != "stop_video_share" {
		t.Fatalf("got %+v", tools)
	}
	use := func(i int, o sessions.Origin, input string) (r share.Result) {
		t.Helper()
		text, _, err := tools[i].Call(t.Context(), o, json.RawMessage(input))
		check.Must(t, err)
		check.Must(t, json.Unmarshal([]byte(text), &r))
		r.Message = ""
		return r
	}
	for _, step := range []struct {
		tool  int
		o     sessions.Origin
		input string
		want  share.Result
	}{
		{1, ada, `{}`, share.Result{Error: share.Inactive}},
		{0, ada, `{"session_id":""}`, share.Result{Error: share.NoSessionID}},
		{0, bob, `{"session_id":"s1"}`, share.Result{SessionID: "s1", Error: share.NotOwner}},
		{0, ada, `{"session_id":"s1"}`, share.Result{OK: true, Started: true, SessionID: "s1"}},
		{0, ada, `{"session_id":"s1"}`, share.Result{OK: true, AlreadyShared: true, SessionID: "s1"}},
		{1, ada, ``, share.Result{OK: true, Stopped: true, SessionID: "s1"}},
	} {
		if diff := cmp.Diff(step.want, use(step.tool, step.o, step.input)); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tools[step.tool].Name, step.input, diff)
		}
	}
	_, _, err := tools[0].Call(t.Context(), ada, json.RawMessage(`[]`))
	check.Fails(t, err, nil, "read the arguments of share_browser_session")
	h.book.broken = errors.New("the disk is full")
	if _, _, err := tools[0].Call(t.Context(), ada, json.RawMessage(`{"session_id":"s1"}`)); !errors.Is(err,
		h.book.broken) {
		t.Errorf("got error %v, want %v", err, h.book.broken)
	}
}

func TestALinkIsGoodForItsShareUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life := time.Hour
		l := &share.Links{Lifetime: func() time.Duration { return life }}
		token, issued := l.Issue(share.Link{Share: "share-1"})
		life = 2 * time.Hour // from the next link on
		other, _ := l.Issue(share.Link{Share: "share-2"})
		got, err := l.Check(token, "")
		if got.ID != issued.ID || got.Share != "share-1" || !got.Until.Equal(time.Now().Add(time.Hour)) || err != nil {
			t.Errorf("got %+v, error %v, want share-1 for an hour", got, err)
		}
		if url.PathEscape(token) != token {
			t.Errorf("%q cannot stand in a path as it is", token)
		}
		l.Revoke(func(l share.Link) bool { return l.Share == "share-1" })
		check.Fails(t, check.Err(l.Check(token, "")), share.ErrLinkRevoked)
		time.Sleep(time.Hour) //nolint:forbidigo // of synctest's clock
		check.Fails(t, check.Err(l.Check(token, "")), share.ErrLinkExpired)
		if got, err := l.Check(other, ""); got.Share != "share-2" || err != nil {
			t.Errorf("got %+v, error %v for the other share, want it untouched", got, err)
		}
	})
}

func TestAForgedLinkIsWrong(t *testing.T) {
	var l, foreign share.Links
	token, _ := l.Issue(share.Link{Share: "share"})
	raw, _ := base64.RawURLEncoding.DecodeString(token)
	for i := range raw {
		forged := append([]byte(nil), raw...)
		forged[i] ^= 1
		if _, err := l.Check(base64.RawURLEncoding.EncodeToString(forged), ""); !errors.Is(err, share.ErrLinkInvalid) {
			t.Fatalf("byte %d changed: got error %v, want %v", i, err, share.ErrLinkInvalid)
		}
	}
	strange, _ := foreign.Issue(share.Link{Share: "share"})
	for _, token := range []string{
		"", "x", "öä", token[:len(token)-1], token + "A", token + "=", strange,
		strings.Repeat("A", 10000),
	} {
		check.Fails(t, check.Err(l.Check(token, "")), share.ErrLinkInvalid)
	}
}

func FuzzCheck(f *testing.F) {
	var l share.Links
	token, _ := l.Issue(share.Link{Share: "share"})
	f.Add(token)
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := l.Check(s, ""); err == nil && s != token {
			t.Errorf("%q was taken, which nobody gave out", s)
		}
	})
}

func TestALinkLeadsToTheViewerPage(t *testing.T) {
	base := "https://clank.example/watch/"
	links := &share.Links{}
	s := &share.LinkTarget{Links: links, Address: func(token string) string {
		if base == "" {
			return ""
		}
		return base + token
	}}
	show := share.Presentation{ID: "share"}
	place, err := s.Begin(t.Context(), show)
	check.Must(t, err)
	token, found := strings.CutPrefix(place.Link, base)
	got, err := links.Check(token, "")
	if !found || err != nil || got.Share != "share" || !strings.Contains(place.Text, "120 minutes") {
		t.Errorf("got %+v, error %v, want a link to the share for two hours", place, err)
	}
	check.Must(t, s.End(t.Context(), show))
	check.Fails(t, check.Err(links.Check(token, "")), share.ErrLinkRevoked)
	base = ""
	check.Fails(t, check.Err(s.Begin(t.Context(), show)), nil, "settings")
}
