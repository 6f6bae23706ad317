package golive_test

import (
	"context"
	"encoding/json"
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
	"clank/voice"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
	"clank/voice/share"
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
		check.Equal(t, "still take pictures", w.src.Stats().Viewers, 0)
	})
	return w
}

func (w *town) connect(ctx context.Context, to conn.Target, way golive.TransportOption,
	handle func(conn.Event),
) (golive.StreamConn, error) {
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
	w.say("STREAM_CREATE", `{"stream_key":%q,"rtc_server_id":%q,"region":"x","viewer_ids":["7"],"paused":false}`, key,
		server)
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
	check.Must(t, err)
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

func TestAStreamIsAskedForShownAndEnded(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		var lost losses
		s := w.start(t, lost.add)
		pass(2 * time.Second)
		l := w.leg()
		want := conn.Target{
			Endpoint: "a.example", ServerID: "1001", UserID: self, SessionID: "session", Token: "token-a",
			GroupID: 1000,
		}
		check.Diff(t, "the second connection goes elsewhere", l.target, want)
		check.Diff(t, "announced", l.shown, []conn.Format{{Width: 64, Height: 48, Rate: 8, Bitrate: 4_000_000}})
		st := s.State()
		if n := l.count(); n < 4 || n > 6 || st.Status != golive.Playing || st.Sent != uint64(n) || st.Key != key ||
			st.Server != "1001" || len(st.Viewers) != 1 {
			t.Errorf("got %d frames in 2 s and %+v, want about 5 and a stream that plays", n, st)
		}
		check.Must(t, s.Stop(t.Context()))
		if err := s.Stop(t.Context()); err != nil {
			t.Errorf("stopping twice: %v", err)
		}
		told := []string{
			`18 {"channel_id":"22","guild_id":"11","preferred_region":null,"type":"guild"}`,
			`22 {"paused":false,"stream_key":"guild:11:22:33"}`,
			`19 {"stream_key":"guild:11:22:33"}`,
		}
		check.Diff(t, "Discord was told", w.told(), told)
		if st := s.State(); st.Status != golive.Disconnected || len(lost.all()) > 0 {
			t.Errorf("got %+v, lost %v, want it ended and not lost", st, lost.all())
		}
		again := w.start(t, nil)
		if again.State().Status == golive.Disconnected {
			t.Error("no stream can be begun after one has ended")
		}
	})
}

func TestARefusalIsNoticedWithinTenSecondsAndSaysWhy(t *testing.T) {
	for name, tc := range map[string]struct {
		answer func(w *town)
		want   string
		after  time.Duration
	}{
		"silence":             {func(*town) {}, "did not answer within 8s", 8 * time.Second},
		"only half an answer": {func(w *town) { w.agree("1001") }, "named no server for it within 8s", 8 * time.Second},
		"a server that never comes": {func(w *town) {
			w.agree("1001")
			w.say("STREAM_SERVER_UPDATE", `{"stream_key":%q,"token":"x","endpoint":null}`, key)
		}, "names no other", 8 * time.Second},
		"not allowed": {
			func(w *town) { w.say("STREAM_DELETE", `{"stream_key":%q,"reason":"unauthorized"}`, key) },
			"bots never may", 0,
		},
		"full": {
			func(w *town) { w.say("STREAM_DELETE", `{"stream_key":%q,"reason":"stream_full"}`, key) },
			"too many watch", 0,
		},
		"another reason": {func(w *town) { w.say("STREAM_DELETE", `{"stream_key":%q,"reason":"odd"}`, key) }, `"odd"`, 0},
		"unavailable": {
			func(w *town) { w.say("STREAM_DELETE", `{"stream_key":%q,"unavailable":true}`, key) },
			"server has failed", 0,
		},
		"no reason":       {func(w *town) { w.say("STREAM_DELETE", `{"stream_key":%q}`, key) }, "gave no reason", 0},
		"a closed socket": {func(w *town) { w.say("RESUMED", `{}`) }, "closed the connection", 0},
		"a new session":   {func(w *town) { w.say("READY", `{"user":{"id":%q}}`, self) }, "closed the connection", 0},
		"another's stream": {func(w *town) {
			w.say("STREAM_DELETE", `{"stream_key":"guild:11:22:44","reason":"unauthorized"}`)
			w.say("STREAM_CREATE", `{"stream_key":"guild:11:22:44","rtc_server_id":"5"}`)
			w.say("STREAM_CREATE", `what is that`)
		}, "did not answer", 8 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				t.Helper()
				w.answer = func(op int) {
					if op == 22 {
						tc.answer(w)
					}
				}
				began := time.Now()
				_, err := w.pub.Start(t.Context(), w.wish(func(error) { t.Error("what never began was lost") }))
				if err == nil || !strings.Contains(err.Error(), tc.want) || time.Since(began) != tc.after {
					t.Errorf("got error %v after %s, want one with %q after %s", err, time.Since(began), tc.want, tc.after)
				}
				if name != "a server that never comes" {
					if _, refused := errors.AsType[*golive.RefusedError](err); !refused {
						t.Errorf("got error %v, want it told as Discord's choice", err)
					}
				}
				if w.pub.Current() != nil {
					t.Error("the stream is still there")
				}
			})
		})
	}
}

func TestWhatFailsOnTheWayIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		with   func(w *town)
		want   string
		status golive.Status
	}{
		"no seat": {func(w *town) { w.sitErr = errors.New("the channel is full") }, "cannot enter the call: the " +
			"channel is full", golive.Failed},
		"no number": {
			func(w *town) { w.answer = func(int) { w.agree("odd"); w.server("a.example", "t") } },
			"cannot be encrypted", golive.BadGroup,
		},
		"no connection": {func(w *town) { w.refuse = &conn.CloseError{Code: 4017} }, "4017", golive.NoTransport},
		"no answer":     {func(w *town) { w.slow = true }, "not ready within 8s", golive.Failed},
		"no keys":       {func(w *town) { w.keys = false }, "not ready within 8s", golive.Failed},
		"no main socket": {func(w *town) {
			w.pub.Send = func(context.Context, int, any) error { return errors.New("not connected") }
		}, "not connected", golive.Failed},
		"gone for good": {
			func(w *town) { w.answer = func(int) { w.pub.HandleDisconnect(errors.New("code 4004")) } },
			"code 4004", golive.Failed,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				t.Helper()
				tc.with(w)
				got := make(chan *golive.Stream, 1)
				go func() { synctest.Wait(); got <- w.pub.Current() }()
				check.Fails(t, check.Err(w.pub.Start(t.Context(), w.wish(nil))), nil, tc.want)
				if s := <-got; s != nil && s.State().Status != tc.status {
					t.Errorf("got %+v, want %q", s.State(), tc.status)
				}
				if w.refuse != nil && !slices.Equal(w.tried, []string{"UDP"}) {
					t.Errorf("tried %q, want no other way after a refusal", w.tried)
				}
			})
		})
	}
}

func TestNobodyLookingMeansNoPictures(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		w.page.still = true
		s := w.start(t, nil)
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 0})
		w.page.count()
		pass(10 * time.Second)
		if n := w.page.count(); n > 1 {
			t.Errorf("%d pictures were taken that nobody wants", n)
		}
		w.leg().count()
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 40})
		if n := w.leg().count(); n != 1 || s.State().WantedQuality != 40 {
			t.Errorf("%d frames went at once to who began to look, want 1", n)
		}
		pass(300 * time.Millisecond)
		w.leg().count()
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 100})
		check.Equal(t, "frames went when more was wanted", w.leg().count(), 1)
		pass(250 * time.Millisecond)
		w.leg().count()
		w.event(conn.Event{Kind: conn.QualityWanted, Quality: 50})
		check.Equal(t, "frames went when less was wanted", w.leg().count(), 0)
		w.event(conn.Event{Kind: conn.KeyFrameWanted})
		check.Equal(t, "frames went to who lost the picture", w.leg().count(), 1)
	})
}

func TestAMoveToAnotherServerIsFollowed(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		var lost losses
		s := w.start(t, lost.add)
		first := w.leg()
		w.say("STREAM_SERVER_UPDATE", `{"stream_key":%q,"token":"x","endpoint":null}`, key)
		synctest.Wait()
		if !first.closed || s.State().Status != golive.AwaitingCredentials {
			t.Errorf("got %+v, want the old server left", s.State())
		}
		w.server("b.example", "token-b")
		pass(time.Second)
		if l := w.leg(); l.target.Endpoint != "b.example" || l.target.Token != "token-b" || l.count() == 0 ||
			s.State().Status != golive.Playing {
			t.Errorf("got %+v on %s, want it to play on the new server", s.State(), l.target.Endpoint)
		}
		first.handle(conn.Event{Kind: conn.CodecChosen, Text: "H264"}) // the old one has no say any more
		w.slowly(true)
		w.server("c.example", "token-c")
		synctest.Wait()
		w.slowly(false)
		w.server("d.example", "token-d") // while the one before is being opened
		pass(time.Second)
		if l := w.leg(); l.target.Endpoint != "d.example" || l.count() == 0 || len(lost.all()) > 0 {
			t.Errorf("got %+v on %s, lost %v, want it to play on the newest server", s.State(), l.target.Endpoint, lost.all())
		}
	})
}

// slowly says whether opening a connection takes until it is given up.
func (w *town) slowly(slow bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slow = slow
}

func TestABrokenConnectionIsBridged(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		var lost losses
		s := w.start(t, lost.add)
		w.event(conn.Event{Kind: conn.Down, Text: "the network"})
		w.page.count()
		pass(5 * time.Second)
		if st := s.State(); st.Status != golive.AwaitingTransport || st.Reason != "the network" || w.page.count() > 1 {
			t.Errorf("got %+v, want it to wait without taking pictures", st)
		}
		w.leg().count()
		w.event(conn.Event{Kind: conn.Up})
		pass(time.Second)
		if s.State().Status != golive.Playing || w.leg().count() == 0 {
			t.Errorf("got %+v, want it to play again", s.State())
		}
		w.leg().drop(&conn.CloseError{Code: 4006})
		pass(2 * time.Second)
		w.server("b.example", "token-b")
		pass(time.Second)
		if s.State().Status != golive.Playing || w.leg().target.Token != "token-b" || len(lost.all()) > 0 {
			t.Errorf("got %+v, lost %v, want it to play with the new credentials", s.State(), lost.all())
		}
	})
}

func TestAStreamThatIsLostIsTold(t *testing.T) {
	for name, tc := range map[string]struct {
		lose func(w *town)
		want string
	}{
		"by Discord": {func(w *town) {
			w.say("STREAM_DELETE", `{"stream_key":%q,"reason":"stream_ended"}`, key)
		}, "it has ended"},
		"with the main session": {
			func(w *town) { w.say("READY", `{"user":{"id":%q}}`, self) },
			"broke, and the stream with it",
		},
		"with the main gateway":   {func(w *town) { w.pub.HandleDisconnect(errors.New("code 4004")) }, "code 4004"},
		"by the call's end":       {func(w *town) { w.leg().drop(&conn.CloseError{Code: 4022}) }, "4022"},
		"without new credentials": {func(w *town) { w.leg().drop(&conn.CloseError{Code: 4014}) }, "names no other"},
		"closed by itself":        {func(w *town) { w.leg().drop(nil) }, "was closed"},
		"with its seat": {
			func(w *town) { w.seats[0].err = errors.New("kicked"); close(w.seats[0].events) },
			"not in the call any more: kicked",
		},
		"with its seat, no reason": {func(w *town) { close(w.seats[0].events) }, "not in the call any more"},
		"by a move": {
			func(w *town) { w.seats[0].events <- voice.Event{Kind: voice.Moved, Text: "55"} },
			"moved",
		},
		"by the end of a move": {func(w *town) {
			w.say("STREAM_DELETE", `{"stream_key":%q,"reason":"user_requested"}`, key)
			pass(time.Second / 2)
			w.seats[0].events <- voice.Event{Kind: voice.Joined} // is nothing of ours
			w.seats[0].events <- voice.Event{Kind: voice.Moved, Text: "55"}
		}, "moved"},
		"by a refusal beside a move": {func(w *town) {
			w.say("STREAM_DELETE", `{"stream_key":%q,"reason":"unauthorized"}`, key)
			w.seats[0].events <- voice.Event{Kind: voice.Moved, Text: "55"}
		}, "permission"},
		"by another codec": {func(w *town) { w.leg().handle(conn.Event{Kind: conn.CodecChosen, Text: "H264"}) }, "H264"},
	} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				t.Helper()
				var lost losses
				s := w.start(t, lost.add)
				w.seats[0].events <- voice.Event{Kind: voice.Joined}     // is nothing of ours
				w.event(conn.Event{Kind: conn.CodecChosen, Text: "vp8"}) // neither
				w.say("RESUMED", `{}`)                                   // nor this
				w.say("STREAM_UPDATE", `{"stream_key":%q,"viewer_ids":["7","8"]}`, key)
				pass(time.Second)
				if st := s.State(); st.Status != golive.Playing || len(st.Viewers) != 2 {
					t.Fatalf("got %+v before anything has happened", st)
				}
				tc.lose(w)
				pass(9 * time.Second)
				if got := lost.all(); len(got) != 1 || !strings.Contains(got[0].Error(), tc.want) {
					t.Errorf("lost %v, want once with %q", got, tc.want)
				}
				if st := s.State(); (st.Status != golive.Failed && st.Status != golive.Unsupported) || st.Reason == "" {
					t.Errorf("got %+v, want the failure", st)
				}
			})
		})
	}
}

func TestFramesThatCannotGoAreCountedAndANewSizeIsAnnounced(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		s := w.start(t, nil)
		l := w.leg()
		l.mu.Lock()
		l.mute = true
		l.mu.Unlock()
		w.page.mu.Lock()
		w.page.width = 32
		w.page.mu.Unlock()
		pass(3 * time.Second)
		if st := s.State(); st.Dropped < 5 || st.Status != golive.Playing {
			t.Errorf("got %+v, want the frames counted", st)
		}
		if n := len(l.shown); n != 2 || l.shown[1].Width != 32 {
			t.Errorf("announced %+v, want both sizes", l.shown)
		}
	})
}

func TestOneStreamAtATime(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		s := w.start(t, nil)
		check.Fails(t, check.Err(w.pub.Start(t.Context(), w.wish(nil))), golive.ErrBusy)
		if w.pub.Current() != s {
			t.Error("the first stream is not the current one any more")
		}
		check.Must(t, w.pub.Close(t.Context()))
		check.Fails(t, check.Err(w.pub.Start(t.Context(), w.wish(nil))), golive.ErrClosed)
		check.Fails(t, check.Err((&golive.Publisher{}).Start(t.Context(), w.wish(nil))), nil, "not connected")
	})
}

func TestAWishTakenBackEndsTheStreamAtAnyPoint(t *testing.T) {
	for name, with := range map[string]func(w *town){
		"before Discord answers": func(w *town) { w.answer = nil },
		"while connecting":       func(w *town) { w.slow = true },
		"before there are keys":  func(w *town) { w.keys = false },
	} {
		t.Run(name, func(t *testing.T) {
			inTown(t, func(t *testing.T, w *town) {
				t.Helper()
				with(w)
				stopped := errors.New("stopped by Ada")
				ctx, cancel := context.WithCancelCause(t.Context())
				var all sync.WaitGroup
				all.Go(func() {
					check.Fails(t, check.Err(w.pub.Start(ctx, w.wish(nil))), stopped)
				})
				pass(time.Second)
				began := time.Now()
				cancel(stopped)
				all.Wait()
				if took := time.Since(began); took != 0 || w.pub.Current() != nil {
					t.Errorf("it took %s, want no time and nothing left", took)
				}
				if told := w.told(); told[len(told)-1] != `19 {"stream_key":"guild:11:22:33"}` {
					t.Errorf("Discord was told %v, want the end of it", told)
				}
			})
		})
	}
}

func TestGoLiveIsAStageOfSharing(t *testing.T) {
	inTown(t, func(t *testing.T, w *town) {
		t.Helper()
		var s share.Target = &golive.Target{Publisher: w.pub}
		show := share.Presentation{
			ID: "a", Call: share.CallRef{ID: "x", Guild: guild, Channel: channel}, Source: w.src,
			Lost: func(error) {},
		}
		check.Fails(t, check.Err(s.Begin(t.Context(), share.Presentation{ID: "b", Call: share.CallRef{ID: "page"}})),
			nil, "a voice channel of a server on Discord")
		if err := s.End(t.Context(), show); err != nil {
			t.Errorf("the end of what was not begun: %v", err)
		}
		place, err := s.Begin(t.Context(), show)
		if err != nil || place.Link != "" || !strings.Contains(place.Text, "voice channel") {
			t.Errorf("got %+v, error %v, want to be told where it is", place, err)
		}
		if err := s.End(t.Context(), show); err != nil || w.pub.Current() != nil {
			t.Errorf("got error %v, want the stream ended", err)
		}
	})
}
