package share_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/rtctest"
	"clank/sessions"
	"clank/videosource"
	"clank/voice/share"
	"clank/voice/webrtc"
)

// book is the sessions there are.
type book struct {
	mu     sync.Mutex
	all    map[string]sessions.Session
	shared []string // "s1 true", in order
	subs   map[chan sessions.Event]bool
	broken error
}

func (b *book) Session(_ context.Context, id string) (sessions.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return sessions.Session{}, b.broken
	}
	s, ok := b.all[id]
	if !ok {
		return s, fmt.Errorf("session %s: %w", id, sessions.ErrNotFound)
	}
	return s, nil
}

func (b *book) SetShared(_ context.Context, id string, shared bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shared = append(b.shared, fmt.Sprint(id, " ", shared))
	return nil
}

func (b *book) Subscribe() (<-chan sessions.Event, func()) {
	ch := make(chan sessions.Event, 8)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subs == nil {
		b.subs = map[chan sessions.Event]bool{}
	}
	b.subs[ch] = true
	return ch, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.subs[ch] {
			delete(b.subs, ch)
			close(ch)
		}
	}
}

func (b *book) tell(ev sessions.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.subs {
		ch <- ev
	}
}

// outrun closes what subscribers read, as for one that fell behind.
func (b *book) outrun() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for ch := range b.subs {
		delete(b.subs, ch)
		close(ch)
	}
}

func (b *book) set(s sessions.Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all[s.ID] = s
}

// stage is one that does as it is told.
type stage struct {
	name string
	err  error // of Begin
	hang bool  // until ctx ends

	mu    sync.Mutex
	shows []share.Presentation // that are under way
	began int
}

func (s *stage) Name() string { return s.name }

func (s *stage) Begin(ctx context.Context, show share.Presentation) (share.ViewLocation, error) {
	if s.hang {
		<-ctx.Done()
		return share.ViewLocation{}, context.Cause(ctx)
	}
	if s.err != nil {
		return share.ViewLocation{}, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shows = append(s.shows, show)
	s.began++
	return share.ViewLocation{Text: "You see it on " + s.name + ".", Link: "https://view.example/" + show.ID}, nil
}

func (s *stage) End(_ context.Context, show share.Presentation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.shows {
		if s.shows[i].ID == show.ID {
			s.shows = append(s.shows[:i], s.shows[i+1:]...)
			return nil
		}
	}
	return errors.New("it was not begun")
}

// showing returns the sessions that the stage shows, and the last show.
func (s *stage) showing() (ids []string, last share.Presentation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, show := range s.shows {
		ids = append(ids, show.Session.ID)
		last = show
	}
	return ids, last
}

// blank is a page that cannot be drawn.
type blank struct{}

func (blank) CaptureWebP(context.Context, int, float64) ([]byte, string, error) {
	return nil, "", errors.New("a dialog is open")
}

// hall is a Manager with what it works with.
type hall struct {
	*share.Manager
	book   *book
	stages []*stage
	screen func(ctx context.Context) (videosource.Screenshotter, error) // in place of pages that cannot be drawn

	mu     sync.Mutex
	told   []share.Notice
	sounds []string // that were begun and ended
	may    error    // why nothing may be shown
}

// forbid has nothing be shown any more.
func (h *hall) forbid(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.may = why
}

var (
	ada = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "1", UserName: "Ada"}
	bob = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "2", UserName: "Bob"}
	mod = sessions.Origin{
		Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "3", UserName: "Mod", Moderator: true,
		ModeratesChannel: func(string) bool { return true },
	}
	memes = sessions.Origin{
		Kind: sessions.FromDiscord, Guild: "g", Channel: "memes", User: "3", UserName: "Mod",
		Moderator: true,
	}
	home = sessions.Origin{Kind: sessions.FromDashboard, Moderator: true}
	call = share.CallRef{ID: "discord:g/v", Guild: "g", Channel: "v"}
	desk = share.CallRef{ID: "page"}
)

// on returns ada's wish on a server, or on none.
func on(guild string, private bool) sessions.Origin {
	o := ada
	o.Guild, o.Private = guild, private
	return o
}

func newHall(t *testing.T, stages ...*stage) *hall {
	t.Helper()
	h := &hall{stages: stages, book: &book{all: map[string]sessions.Session{}}}
	for id, o := range map[string]sessions.Origin{
		"s1": ada, "s2": ada, "secret": on("g", true), "far": on("h", false), "bobs": bob,
		"local": {Kind: sessions.FromTerminal}, "chat": on("", false),
	} {
		h.book.set(sessions.Session{ID: id, Origin: o, State: sessions.SessionIdle})
	}
	h.book.set(sessions.Session{ID: "closed", Origin: ada, State: sessions.SessionClosed})
	h.Manager = &share.Manager{Sessions: h.book, Host: h, Links: new(share.Links)}
	t.Cleanup(func() {
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
		for _, s := range h.stages {
			if ids, _ := s.showing(); len(ids) > 0 {
				t.Errorf("%s still shows %v after the end", s.name, ids)
			}
		}
		if len(h.book.subs) > 0 {
			t.Error("somebody still follows the sessions after the end")
		}
	})
	return h
}

func (h *hall) Screenshotter(ctx context.Context, s sessions.Session) (videosource.Screenshotter, error) {
	switch {
	case h.screen != nil:
		return h.screen(ctx)
	case s.ID == "bobs":
		return nil, errors.New("its browser is of another kind")
	}
	return blank{}, nil
}

func (h *hall) ShareTargets(share.CallRef) (all []share.Target) {
	for _, s := range h.stages {
		all = append(all, s)
	}
	return all
}

func (h *hall) CheckShare(sessions.Origin, sessions.Session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.may
}

func (h *hall) PlaySound(ctx context.Context, c share.CallRef, s sessions.Session) {
	h.mu.Lock()
	h.sounds = append(h.sounds, s.ID+" in "+c.ID)
	h.mu.Unlock()
	<-ctx.Done()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sounds = append(h.sounds, s.ID+" ended")
}

// awaitSounds waits until these sounds have begun and ended, in any order.
func (h *hall) awaitSounds(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	browsertest.Eventually(t, strings.Join(want, ", "), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Equal(slices.Sorted(slices.Values(h.sounds)), want)
	})
}

func (h *hall) SendNotice(n share.Notice) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told = append(h.told, n)
}

// pass lets time go by in a bubble.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of synctest
}

// news returns what people were told since the last call.
func (h *hall) news() []share.Notice {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.told
	h.told = nil
	return out
}

// share shares a session, which must succeed.
func (h *hall) share(t *testing.T, c share.CallRef, id string, by sessions.Origin) share.Result {
	t.Helper()
	r, err := h.Share(t.Context(), c, id, by)
	if err != nil || !r.OK {
		t.Fatalf("share %s: got %+v, error %v", id, r, err)
	}
	return r
}

// sharing returns a hall in which ada shares s1 by Go Live, and which could share it by a link. That was told.
func sharing(t *testing.T) (h *hall, live, link *stage) {
	t.Helper()
	live, link = &stage{name: "Go Live"}, &stage{name: "a link"}
	h = newHall(t, live, link)
	h.share(t, call, "s1", ada)
	h.news()
	return h, live, link
}

// sharingPage returns a hall in which ada shares s1 on a page.
func sharingPage(t *testing.T) *hall {
	t.Helper()
	h := newHall(t, &stage{name: "the page"})
	h.share(t, call, "s1", ada)
	h.news()
	return h
}

func (h *hall) Shares() (all []share.State) {
	for _, c := range []share.CallRef{call, desk} {
		if st, ok := h.Current(c); ok {
			all = append(all, st)
		}
	}
	return all
}

func (h *hall) wantNone(t *testing.T) {
	t.Helper()
	if got := h.Shares(); len(got) > 0 {
		t.Errorf("got %+v, want no share", got)
	}
}

func (h *hall) move(t *testing.T) {
	t.Helper()
	check.Must(t, h.Move(t.Context(), elsewhereOn))
}

func (h *hall) endCall(t *testing.T, c share.CallRef) {
	t.Helper()
	check.Must(t, h.EndCall(t.Context(), c))
}

// browser is the one of the whole test binary.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

const token = "the-secret-of-this-link"

// links are good as long as their share has not ended.
type links struct {
	mu       sync.Mutex
	share    map[string]share.ViewerShare
	unsigned map[string]bool // those whose person has to sign in
}

func (l *links) CheckLink(token, _ string) (share.ViewerShare, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.share[token]
	if !ok {
		return s, errors.New("this link was not made here")
	}
	if l.unsigned[token] {
		return s, share.ErrLinkSignIn
	}
	return s, nil
}

// rig is a viewer with one share.
type rig struct {
	*share.ViewerPage

	screen rtctest.FrameSource
	end    func() // ends the share
	url    string
	log    bytes.Buffer
	mu     sync.Mutex
	format videosource.Format // that was asked for last
}

func (r *rig) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.Write(p)
}

func (r *rig) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.log.String()
}

// watch shows the same to all, and notes what they take.
func (r *rig) watch(format videosource.Format) webrtc.FrameSource {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.format = format
	return r.screen.Watch()
}

func start(t *testing.T, engine *webrtc.Engine, change ...func(*share.ViewerPage, *share.ViewerShare)) *rig {
	t.Helper()
	done := make(chan struct{})
	r := &rig{end: sync.OnceFunc(func() { close(done) })}
	r.ViewerPage = &share.ViewerPage{
		Engine: engine,
		Logger: slog.New(slog.NewTextHandler(r, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	shared := share.ViewerShare{ID: "s1", Title: "A shop <b>for lamps</b>", Watch: r.watch, Done: done}
	for _, c := range change {
		c(r.ViewerPage, &shared)
	}
	r.Links = &links{share: map[string]share.ViewerShare{token: shared}}
	check.Must(t, r.Open())
	r.screen.Show(rtctest.Red())
	server := httptest.NewServer(r.Handler())
	r.url = server.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), rtctest.Patience)
		defer cancel()
		if err := r.Close(ctx); err != nil {
			t.Error(err)
		}
		server.Close()
		check.Equal(t, "still look at the share", r.screen.Viewers(), 0)
		check.Lacks(t, r.logged(), token)
	})
	return r
}

// post sends what the page would, and returns status and answer.
func (r *rig) post(t *testing.T, path string, in share.WatchRequest) (int, map[string]any) {
	t.Helper()
	data, err := json.Marshal(in)
	check.Must(t, err)
	status, body := r.raw(t, http.MethodPost, path, string(data), http.Header{"Content-Type": {"application/json"}})
	var out map[string]any
	check.Must(t, json.Unmarshal([]byte(body), &out))
	return status, out
}

// raw sends a request as it stands and returns status and body.
func (r *rig) raw(t *testing.T, method, path, body string, header http.Header) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	check.Must(t, err)
	maps.Copy(req.Header, header)
	res, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	check.Must(t, err)
	return res.StatusCode, string(data)
}

// open opens the page with the given link.
func (r *rig) open(t *testing.T, token string) *page.Tab {
	t.Helper()
	tab := browsertest.Tab(t, browser.Connect(t, page.Options{}), page.TabOptions{})
	browsertest.Navigate(t, tab, share.ViewerLink(r.url, token))
	return tab
}

// waitFor waits until an expression is true in the page.
func waitFor(t *testing.T, tab *page.Tab, expression string) {
	t.Helper()
	browsertest.Eventually(t, expression, func() bool {
		return browsertest.JS(t, tab, "Boolean("+expression+")") == "true"
	})
}
