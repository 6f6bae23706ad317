package golive_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/videosource"
	"clank/voice"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
)

const (
	guild, channel, self = "11", "22", "33"
	key                  = "guild:11:22:33"
)

// page is one whose picture changes all the time: lossy WebP of 64 x 48 with nothing in it.
type page struct {
	mu    sync.Mutex
	width byte
	still bool // shows the same for ever
	taken int
}

func (p *page) CaptureWebP(context.Context, int, float64) ([]byte, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken++
	vp8 := []byte{0, 0, 0, 0x9d, 0x01, 0x2a, p.width, 0, 48, 0, byte(p.taken), byte(p.taken >> 8)}
	if p.still {
		vp8[10], vp8[11] = 0, 0
	}
	return append(append([]byte("RIFF\x18\x00\x00\x00WEBPVP8 "), byte(len(vp8)), 0, 0, 0), vp8...), "", nil
}

// count returns how many pictures were taken since the last call.
func (p *page) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.taken
	p.taken = 0
	return n
}

// leg is a voice connection in memory.
type leg struct {
	target conn.Target
	handle func(conn.Event)
	done   chan struct{}

	mu     sync.Mutex
	err    error
	mute   bool
	closed bool
	shown  []conn.Format
	frames int
}

func (l *leg) ShowVideo(f conn.Format) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shown = append(l.shown, f)
}

func (l *leg) SendVideo(vp8 []byte, _ time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mute || len(l.shown) == 0 || l.closed {
		return voice.ErrUnavailable
	}
	if len(vp8) != 12 {
		return errors.New("no such frame was made")
	}
	l.frames++
	return nil
}

func (l *leg) Done() <-chan struct{} { return l.done }

func (l *leg) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *leg) Close(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return nil
}

// drop ends the connection from the other side.
func (l *leg) drop(err error) {
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
	close(l.done)
}

// count returns how many frames have gone since the last call.
func (l *leg) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.frames
	l.frames = 0
	return n
}

// seat is a place in a call.
type seat struct {
	events chan voice.Event
	mu     sync.Mutex
	err    error
	closed bool
}

func (s *seat) SessionID() string          { return "session" }
func (s *seat) Events() <-chan voice.Event { return s.events }

func (s *seat) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

func (s *seat) Close(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// town is Discord, as far as one account sees it.
type town struct {
	pub  *golive.Publisher
	src  *videosource.Source
	page *page

	mu     sync.Mutex
	sent   []string // "18 {…}"
	seats  []*seat
	legs   []*leg
	answer func(op int) // what Discord does when it is told something
	sitErr error
	refuse error // of opening a leg
	slow   bool  // opening a leg takes until its context ends
	keys   bool  // a leg has keys at once
	eager  bool  // a leg tells so a second before it is open

	blocked string   // way that does not get through
	tried   []string // ways
}

// inTown runs a test in a bubble with a Discord that agrees to everything.
func inTown(t *testing.T, test func(t *testing.T, w *town)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		test(t, newTown(t))
	})
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{page: &page{width: 64}, keys: true}
	w.src = &videosource.Source{Screen: w.page}
	w.pub = &golive.Publisher{
		Format: conn.Format{Rate: 8, Bitrate: 4_000_000},
		Send: func(_ context.Context, op int, d any) error {
			data, err := json.Marshal(d)
			w.mu.Lock()
			w.sent = append(w.sent, fmt.Sprint(op, " ", string(data)))
			answer := w.answer
			w.mu.Unlock()
			if answer != nil {
				answer(op)
			}
			return err
		},
		JoinVoice: func(context.Context, string, string) (golive.VoicePresence, error) {
			if w.sitErr != nil {
				return nil, w.sitErr
			}
			s := &seat{events: make(chan voice.Event, 1)}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.seats = append(w.seats, s)
			return s, nil
		},
		Connect: w.connect,
	}
	w.say("READY", `{"user":{"id":%q}}`, self)
	w.answer = func(op int) {
		if op == 18 {
			w.agree("1001")
			w.server("a.example", "token-a")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = w.src.Run(ctx) }()
	t.Cleanup(func() {
		if err := w.pub.Close(context.Background()); err != nil {
			t.Error(err)
		}
		cancel()
		<-done
		for _, s := range w.seats {
			if !s.closed {
				t.Error("the account still sits in the call")
			}
		}
		for _, l := range w.legs {
			if !l.closed {
				t.Errorf("the connection to %s is still there", l.target.Endpoint)
			}
		}
		if n := w.src.Stats().Viewers; n != 0 {
			t.Errorf("%d still take pictures", n)
		}
	})
	return w
}

func (w *town) connect(ctx context.Context, to conn.Target, way golive.TransportOption, handle func(conn.Event)) (golive.StreamConn, error) {
	w.mu.Lock()
	refuse, slow, keys, eager := w.refuse, w.slow, w.keys, w.eager
	w.tried = append(w.tried, way.Name)
	blocked := w.blocked == way.Name
	w.mu.Unlock()
	if blocked {
		return nil, errors.New("nothing comes back")
	}
	if slow {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if refuse != nil {
		return nil, refuse
	}
	l := &leg{target: to, handle: handle, done: make(chan struct{})}
	w.mu.Lock()
	w.legs = append(w.legs, l)
	w.mu.Unlock()
	if keys {
		handle(conn.Event{Kind: conn.Up})
	}
	if eager {
		<-time.After(time.Second)
	}
	return l, nil
}

// leg returns the newest connection.
func (w *town) leg() *leg {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.legs[len(w.legs)-1]
}

func (w *town) say(kind, format string, args ...any) {
	w.pub.Dispatch(kind, json.RawMessage(fmt.Sprintf(format, args...)))
}

func (w *town) agree(server string) {
	w.say("STREAM_CREATE", `{"stream_key":%q,"rtc_server_id":%q,"region":"x","viewer_ids":["7"],"paused":false}`, key, server)
}

func (w *town) server(endpoint, token string) {
	w.say("STREAM_SERVER_UPDATE", `{"stream_key":%q,"guild_id":null,"token":%q,"endpoint":%q}`, key, token, endpoint)
}

// told returns what Discord was told since the last call.
func (w *town) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.sent
	w.sent = nil
	return out
}

// start begins a stream, which must succeed.
func (w *town) start(t *testing.T, lost func(error)) *golive.Stream {
	t.Helper()
	s, err := w.pub.Start(t.Context(), w.wish(lost))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	return s
}

func (w *town) wish(lost func(error)) golive.Request {
	return golive.Request{Guild: guild, Channel: channel, Source: w.src, Lost: lost}
}

// event has the newest connection tell something.
func (w *town) event(e conn.Event) {
	w.leg().handle(e)
	synctest.Wait()
}

// pass lets time go by in a bubble.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of synctest
	synctest.Wait()
}

// losses notes how a stream was lost.
type losses struct {
	mu   sync.Mutex
	errs []error
}

func (l *losses) add(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.errs = append(l.errs, err)
}

func (l *losses) all() []error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.errs)
}

// must ends the test at an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
