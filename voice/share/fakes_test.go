package share_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"clank/sessions"
	"clank/videosource"
	"clank/voice/share"
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
	live   bool

	mu   sync.Mutex
	told []share.Notice
	may  error // why nothing may be shown
}

// forbid has nothing be shown any more.
func (h *hall) forbid(why error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.may = why
}

var (
	ada  = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "1", UserName: "Ada"}
	bob  = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "2", UserName: "Bob"}
	mod  = sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "3", UserName: "Mod", Moderator: true}
	home = sessions.Origin{Kind: sessions.FromDashboard, Moderator: true}
	call = share.CallRef{ID: "discord:g/v", Guild: "g", Channel: "v"}
	desk = share.CallRef{ID: "page"}
)

// private returns a wish that only the person may see.
func private(o sessions.Origin) sessions.Origin {
	o.Private = true
	return o
}

// elsewhere returns a wish on another server, or on none.
func elsewhere(o sessions.Origin, guild string) sessions.Origin {
	o.Guild = guild
	return o
}

func newHall(t *testing.T, stages ...*stage) *hall {
	t.Helper()
	h := &hall{stages: stages, live: true, book: &book{all: map[string]sessions.Session{}}}
	for id, o := range map[string]sessions.Origin{"s1": ada, "s2": ada, "secret": private(ada), "far": elsewhere(ada, "h"), "bobs": bob, "local": {Kind: sessions.FromTerminal}, "chat": elsewhere(ada, "")} {
		h.book.set(sessions.Session{ID: id, Origin: o, State: sessions.SessionIdle})
	}
	h.book.set(sessions.Session{ID: "closed", Origin: ada, State: sessions.SessionClosed})
	h.Manager = &share.Manager{
		Sessions: h.book,
		Screen: func(_ context.Context, s sessions.Session) (videosource.Screenshotter, error) {
			if s.ID == "bobs" {
				return nil, errors.New("its browser is of another kind")
			}
			return blank{}, nil
		},
		Targets: func(share.CallRef) []share.Target {
			var out []share.Target
			for _, s := range h.stages {
				out = append(out, s)
			}
			return out
		},
		CallActive: func(share.CallRef) bool { return h.live },
		CheckPermission: func(sessions.Origin, sessions.Session) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			return h.may
		},
		SendNotice: func(n share.Notice) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.told = append(h.told, n)
		},
	}
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
