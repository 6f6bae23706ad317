package conn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
	"clank/voice/discord/conn"
)

const (
	guild   = "41771983423143937"
	channel = "127121515262115840"
	self    = "900"
	ada     = "901"
)

var seat = voicetest.ClientID{Server: guild, User: self}

// hall is a voice server, and a connection of ours to it that is not open yet.
type hall struct {
	*voicetest.Server
	endpoint string
}

func newHall(t *testing.T, cfg voicetest.Config) hall {
	t.Helper()
	s, err := voicetest.Start(cfg)
	check.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	endpoint, err := s.Endpoint()
	check.Must(t, err)
	return hall{s, endpoint}
}

func (h hall) ticket(user string) voicetest.Credentials {
	ticket := voicetest.Credentials{
		ClientID: voicetest.ClientID{Server: guild, User: user}, Room: channel, Session: "session-" + user, Token: "token-" +
			user,
		Group: 1,
	}
	h.Admit(ticket)
	return ticket
}

// conn makes a connection of ours, with what happens on it.
func (h hall) conn(t *testing.T) (*conn.Conn, *events) {
	t.Helper()
	ticket, e := h.ticket(self), newEvents()
	c := &conn.Conn{
		Target: conn.Target{
			Endpoint: "ws://" + h.endpoint, ServerID: guild, UserID: self, SessionID: ticket.Session, Token: ticket.Token,
			GroupID: 1,
		},
		Handle: e.add, MinWait: 20 * time.Millisecond, MaxOutage: 20 * time.Second, Logger: slog.New(slog.DiscardHandler),
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		check.Must(t, c.Close(ctx))
	})
	return c, e
}

// open opens a connection of ours.
func (h hall) open(t *testing.T, change func(*conn.Conn)) (*conn.Conn, *events) {
	t.Helper()
	c, e := h.conn(t)
	if change != nil {
		change(c)
	}
	check.Must(t, c.Open(voicetest.Deadline(t)))
	return c, e
}

// join brings another person into the call.
func (h hall) join(t *testing.T, user string, change func(*voicetest.MemberOptions)) *voicetest.Member {
	t.Helper()
	o := voicetest.MemberOptions{Endpoint: h.endpoint, Credentials: h.ticket(user)}
	if change != nil {
		change(&o)
	}
	m, err := voicetest.JoinCall(voicetest.Deadline(t), o)
	check.Must(t, err)
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// events is what a connection has told.
type events struct {
	mu      sync.Mutex
	list    []conn.Event
	changed chan struct{}
}

func newEvents() *events { return &events{changed: make(chan struct{})} }

func (e *events) add(ev conn.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ev)
	close(e.changed)
	e.changed = make(chan struct{})
}

// next returns the first event from index from on that matches, and the index behind it.
func (e *events) next(t *testing.T, from int, what string, match func(conn.Event) bool) (conn.Event, int) {
	t.Helper()
	ctx := voicetest.Deadline(t)
	for {
		e.mu.Lock()
		list, changed := e.list, e.changed
		e.mu.Unlock()
		for i := from; i < len(list); i++ {
			if match(list[i]) {
				return list[i], i + 1
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("no %s among %d events", what, len(list))
		}
	}
}

func (e *events) kind(t *testing.T, from int, kind conn.EventKind) (conn.Event, int) {
	t.Helper()
	return e.next(t, from, string(kind), func(ev conn.Event) bool { return ev.Kind == kind })
}

func (e *events) count(kind conn.EventKind) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, ev := range e.list {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// await waits until a condition of the server holds.
func (h hall) await(t *testing.T, what string, cond func() bool) {
	t.Helper()
	check.Must(t, h.Wait(voicetest.Deadline(t), what, cond))
}

// done waits until a connection has ended for good.
func done(t *testing.T, c *conn.Conn) error {
	t.Helper()
	select {
	case <-c.Done():
		return c.Err()
	case <-voicetest.Deadline(t).Done():
		t.Fatal("the connection did not end")
		return nil
	}
}

// mute returns a server that takes connections and says nothing more. It counts those that are open.
func mute(t *testing.T) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check.Must(t, err)
	var conns sync.WaitGroup
	t.Cleanup(func() {
		_ = ln.Close()
		conns.Wait()
	})
	conns.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer c.Close()
				buf := make([]byte, 1024)
				for {
					if _, err := c.Read(buf); err != nil {
						return
					}
				}
			})
		}
	})
	return ln.Addr().String()
}

func TestSoundGoesBothWays(t *testing.T) {
	for _, mode := range []string{conn.ModeAES256GCM, conn.ModeXChaCha20Poly1305} {
		t.Run(mode, func(t *testing.T) {
			h := newHall(t, voicetest.Config{Modes: []string{mode}})
			h.SetNetwork(voicetest.NetworkFaults{Dress: true})
			c, e := h.open(t, nil)
			m := h.join(t, ada, nil)
			e.kind(t, 0, conn.UsersJoined)
			m.Speak(conn.SpeakingMicrophone)
			for i := range byte(3) {
				check.Must(t, m.Send([]byte{0x78, i}))
			}
			at := 0
			for i := range byte(3) {
				var ev conn.Event
				ev, at = e.kind(t, at, conn.PacketReceived)
				want := voice.Packet{
					From: ada, Sequence: ev.Packet.Sequence, Timestamp: ev.Packet.Timestamp, Opus: []byte{0x78, i},
					At: ev.Packet.At,
				}
				if diff := cmp.Diff(want, ev.Packet); diff != "" || ev.Packet.At.IsZero() {
					t.Errorf("packet %d, -want +got:\n%s", i, diff)
				}
			}
			for i := range byte(3) {
				check.Must(t, c.SendAudio([]byte{0x78, i}))
			}
			check.Must(t, c.EndSpeech())
			var heard [][]byte
			var last uint16
			var clock uint32
			for range 8 {
				f := voicetest.NextFrame(t, m)
				if len(heard) > 0 && (f.Sequence != last+1 || f.Timestamp != clock+960 || f.Payload != 120) {
					t.Errorf("packet %d at %d of type %d, want %d at %d of type 120", f.Sequence, f.Timestamp, f.Payload, last+1,
						clock+960)
				}
				last, clock = f.Sequence, f.Timestamp
				heard = append(heard, f.Data)
			}
			silence := []byte{0xf8, 0xff, 0xfe}
			want := [][]byte{{0x78, 0}, {0x78, 1}, {0x78, 2}, silence, silence, silence, silence, silence}
			if diff := cmp.Diff(want, heard); diff != "" {
				t.Errorf("what is heard of us, -want +got:\n%s", diff)
			}
			if got := masks(t, h, 2); !cmp.Equal(got, []int{conn.SpeakingMicrophone, 0}) {
				t.Errorf("we spoke as %v, want once a voice, then not", got)
			}
			if got := h.Violations(); len(got) > 0 {
				t.Errorf("violations %v", got)
			}
		})
	}
}

// masks returns the speaking states that we sent, once there are n.
func masks(t *testing.T, h hall, n int) (list []int) {
	t.Helper()
	h.await(t, "speaking states", func() bool {
		list = nil
		for _, m := range h.Received(voicetest.OpSpeaking) {
			var d struct{ Speaking, Delay int }
			if err := json.Unmarshal(m.Data, &d); err != nil || d.Delay != 0 {
				t.Errorf("speaking %s: %v", m.Data, err)
			}
			if m.Seat == seat {
				list = append(list, d.Speaking)
			}
		}
		return len(list) >= n
	})
	return list
}

func TestPausesShowInTimestamps(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, _ := h.open(t, nil)
	m := h.join(t, ada, nil)
	var first, last uint32
	began := time.Now()
	for i := range 2 {
		check.Must(t, c.SendAudio([]byte{1, 2, 3}))
		f := voicetest.NextFrame(t, m)
		if last = f.Timestamp; i == 0 {
			first = last
			select {
			case <-time.After(300 * time.Millisecond):
			case <-t.Context().Done():
			}
		}
	}
	got, real := time.Duration(last-first)*time.Second/48000, time.Since(began)
	if got < 250*time.Millisecond || got > real+voice.FrameTime {
		t.Errorf("the timestamps tell of %s, want the pause of 300 ms (and no more than %s)", got, real)
	}
}

// the reaction to every close code while the call goes on: what is asked of the gateway next, or how it ends.
func TestEveryCloseCodeHasItsReaction(t *testing.T) {
	const (
		resumes    = "resumes"
		identifies = "identifies"
		ends       = "ends"
	)
	for _, test := range []struct {
		code  int
		want  string
		react conn.Reaction
	}{
		{1000, resumes, conn.Resume},
		{1006, resumes, conn.Resume}, // the line is cut
		{1011, resumes, conn.Resume},
		{3999, resumes, conn.Resume},
		{4001, identifies, conn.Reidentify},
		{4002, identifies, conn.Reidentify},
		{4003, identifies, conn.Reidentify},
		{4004, ends, conn.Rejoin},
		{4005, identifies, conn.Reidentify},
		{4006, ends, conn.Rejoin},
		{4009, identifies, conn.Reidentify},
		{4011, ends, conn.Rejoin},
		{4012, ends, conn.GiveUp},
		{4013, identifies, conn.Reidentify},
		{4014, ends, conn.WaitForGateway},
		{4015, resumes, conn.Resume},
		{4016, ends, conn.GiveUp},
		{4017, ends, conn.GiveUp},
		{4020, identifies, conn.Reidentify},
		{4021, ends, conn.GiveUp},
		{4022, ends, conn.GiveUp},
		{4999, identifies, conn.Reidentify},
	} {
		t.Run(strconv.Itoa(test.code), func(t *testing.T) {
			t.Parallel()
			h := newHall(t, voicetest.Config{})
			c, e := h.open(t, nil)
			_, at := e.kind(t, 0, conn.Up)
			end := func() error { return h.CloseSeat(seat, test.code, "a reason") }
			if test.code == 1006 {
				end = func() error { return h.Drop(seat) }
			}
			check.Must(t, end())
			_, at = e.kind(t, at, conn.Down)
			if test.want == ends {
				err := done(t, c)
				closed, ok := errors.AsType[*conn.CloseError](err)
				if !ok || closed.Code != test.code || conn.ReactionTo(err) != test.react ||
					!strings.Contains(err.Error(), "a reason") {
					t.Errorf("ended with %v, reaction %v", err, conn.ReactionTo(err))
				}
				check.Fails(t, c.SendAudio([]byte{1}), voice.ErrUnavailable)
				return
			}
			e.kind(t, at, conn.Up)
			got := identifies
			if len(h.Received(voicetest.OpResume)) > 0 {
				got = resumes
			}
			if n := len(h.Received(voicetest.OpIdentify)); got != test.want || (n == 1) != (got == resumes) {
				t.Errorf("it %s after %d identifications, want it %s", got, n, test.want)
			}
			check.Must(t, c.SendAudio([]byte{1}))
		})
	}
}

func TestResumeAsksForWhatWasMissed(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	_, e := h.open(t, func(c *conn.Conn) { c.MinWait = 4 * time.Second })
	_, at := e.kind(t, 0, conn.Up)
	m := h.join(t, ada, nil)
	_, at = e.kind(t, at, conn.UsersJoined)
	check.Must(t, h.Drop(seat))
	e.kind(t, at, conn.Down)
	h.join(t, "902", nil)
	m.Speak(conn.SpeakingMicrophone)
	check.Must(t, m.Send([]byte{5}))
	_, at = e.kind(t, at, conn.Up)
	got, _ := e.kind(t, at-1, conn.UsersJoined)
	if len(got.Users) != 1 || got.Users[0] != "902" {
		// it may have come between the end of the old socket and the new one's beginning
		got, _ = e.next(t, 0, "902", func(ev conn.Event) bool { return ev.Kind == conn.UsersJoined && ev.Users[0] == "902" })
	}
	if n := e.count(conn.UsersJoined); n != 2 {
		t.Errorf("%d times somebody came, want ada and 902 once each (%v)", n, got.Users)
	}
	ev, _ := e.kind(t, 0, conn.PacketReceived)
	if ev.Packet.From != ada || !bytes.Equal(ev.Packet.Opus, []byte{5}) {
		t.Errorf("heard %+v, want ada", ev.Packet)
	}
	check.Equal(t, "identifications", len(h.Received(voicetest.OpIdentify)), 3)
}

func TestServerThatGoesSilentIsNoticed(t *testing.T) {
	t.Parallel()
	h := newHall(t, voicetest.Config{Heartbeat: 700 * time.Millisecond})
	c, e := h.open(t, nil)
	_, at := e.kind(t, 0, conn.Up)
	h.await(t, "heartbeats", func() bool { return len(h.Received(voicetest.OpHeartbeat)) > 0 })
	if d := c.Stats().RoundTrip; d < 0 || d > 10*time.Second {
		t.Errorf("a round trip of %s", d)
	}
	h.WithholdHeartbeatACK(true)
	down, at := e.kind(t, at, conn.Down)
	check.Contains(t, down.Text, "silent")
	h.WithholdHeartbeatACK(false)
	e.kind(t, at, conn.Up)
	if len(h.Received(voicetest.OpResume)) == 0 {
		t.Error("it did not resume")
	}
}

func TestHeartbeatsAcknowledgeBinaryMessagesToo(t *testing.T) {
	t.Parallel()
	h := newHall(t, voicetest.Config{Heartbeat: 500 * time.Millisecond})
	h.open(t, nil)
	check.Must(t, h.SendBinary(seat, 99, []byte{1}))
	_, err := h.WaitClient(voicetest.Deadline(t), seat, "acknowledgement of everything",
		func(c voicetest.Client) bool { return c.Unacknowledged == 0 })
	check.Must(t, err)
}

func TestGarbageIsPassedOver(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, e := h.open(t, nil)
	m := h.join(t, ada, nil)
	for _, text := range []string{
		"", "{", "[]", "null", `{"op":"x"}`, `{"op":5,"d":"x"}`, `{"op":5,"d":{"ssrc":-1}}`, `{"op":11,"d":{"user_ids":7}}`,
		`{"op":13,"d":[]}`,
		`{"op":12,"d":0}`, `{"op":14,"d":1}`, `{"op":15,"d":[1]}`, `{"op":77,"d":{}}`, `{"op":77}`, `{"op":6,"d":null}`,
		`{"op":9}`,
		`{"op":21,"d":"x"}`, `{"op":22}`, `{"op":24,"d":{"epoch":"x"}}`, `{"op":18,"d":{}}`, `{"op":20}`, `{"op":16,"d":{}}`,
	} {
		check.Must(t, h.SendRaw(seat, false, []byte(text)))
	}
	for _, data := range [][]byte{{}, {0}, {0, 1}} {
		check.Must(t, h.SendRaw(seat, true, data))
	}
	for op := range byte(40) {
		check.Must(t, h.SendBinary(seat, op, []byte{1, 2, 3}))
	}
	for _, data := range [][]byte{
		{},
		{1},
		bytes.Repeat([]byte{0x80}, 11), bytes.Repeat([]byte{0x9f}, 40),
		make([]byte, 1400),
		{0x80, 200, 0, 1},
	} {
		check.Must(t, h.SendUDP(seat, data))
	}
	for _, data := range [][]byte{{0x80, 200, 0, 6, 0, 0, 0, 1}, {0x81, 201, 0, 200, 0, 0, 0, 1}} {
		check.Must(t, h.SendRTCP(seat, data))
	}
	m.Speak(conn.SpeakingMicrophone)
	check.Must(t, m.Send([]byte{9}))
	ev, _ := e.kind(t, 0, conn.PacketReceived)
	if !bytes.Equal(ev.Packet.Opus, []byte{9}) {
		t.Errorf("heard %x", ev.Packet.Opus)
	}
	if s := c.Stats(); s.Malformed == 0 || s.Connects != 1 {
		t.Errorf("stats %+v, want what was malformed counted and one socket", s)
	}
}

func TestOwnPacketsAreNeverHeard(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	_, e := h.open(t, nil)
	m, bob := h.join(t, ada, nil), h.join(t, "902", nil)
	ssrc, _ := m.SSRC()
	m.Speak(conn.SpeakingMicrophone)
	h.await(t, "speaking", func() bool { return len(h.Received(voicetest.OpSpeaking)) > 0 })
	check.Must(t, h.Send(seat, voicetest.OpSpeaking, fmt.Sprintf(`{"user_id":%q,"ssrc":%d,"speaking":1}`, self, ssrc)))
	check.Must(t, h.Send(seat, voicetest.OpConnected, `{"user_ids":["903"]}`))
	e.next(t, 0, "903", func(ev conn.Event) bool { return ev.Kind == conn.UsersJoined && ev.Users[0] == "903" })
	bob.Speak(conn.SpeakingMicrophone)
	for _, who := range []interface{ Send([]byte) error }{m, bob} {
		check.Must(t, who.Send([]byte{1}))
	}
	ev, _ := e.kind(t, 0, conn.PacketReceived)
	if ev.Packet.From != "902" || e.count(conn.PacketReceived) != 1 {
		t.Errorf("heard %d packets, the first of %s, want one of 902", e.count(conn.PacketReceived), ev.Packet.From)
	}
}

func TestPeopleLeave(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	_, e := h.open(t, nil)
	m := h.join(t, ada, nil)
	_, at := e.kind(t, 0, conn.UsersJoined)
	check.Must(t, m.Close())
	ev, _ := e.kind(t, at, conn.UsersLeft)
	if !cmp.Equal(ev.Users, []string{ada}) {
		t.Errorf("gone is %v", ev.Users)
	}
}

func TestLostDiscoveriesAreAskedAgain(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	h.LoseDiscoveries(1)
	_, e := h.open(t, nil)
	e.kind(t, 0, conn.Up)
}

func TestServerWithoutOurEncryptionIsSaid(t *testing.T) {
	h := newHall(t, voicetest.Config{Modes: []string{"xsalsa20_poly1305"}})
	c, _ := h.conn(t)
	c.MaxOutage = time.Millisecond
	check.Fails(t, c.Open(voicetest.Deadline(t)), nil, "xsalsa20_poly1305")
}

func TestOutageHasAnEnd(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, e := h.open(t, func(c *conn.Conn) { c.MaxOutage = 100 * time.Millisecond })
	e.kind(t, 0, conn.Up)
	check.Must(t, h.Close())
	check.Fails(t, done(t, c), nil, "could not be restored")
}

func TestCancelWorksAtEachStep(t *testing.T) {
	for name, begin := range map[string]func(*testing.T) (*conn.Conn, func()){
		"dial": func(t *testing.T) (*conn.Conn, func()) {
			t.Helper()
			c, _ := newHall(t, voicetest.Config{}).conn(t)
			c.Target.Endpoint = "ws://" + mute(t)
			return c, func() {}
		},
		"discovery": func(t *testing.T) (*conn.Conn, func()) {
			t.Helper()
			h := newHall(t, voicetest.Config{})
			h.LoseDiscoveries(1000)
			c, _ := h.conn(t)
			return c, func() { h.await(t, "identification", func() bool { return len(h.Clients()) > 0 }) }
		},
		"retry": func(t *testing.T) (*conn.Conn, func()) {
			t.Helper()
			h := newHall(t, voicetest.Config{})
			h.RefuseNext(4009, "")
			c, _ := h.conn(t)
			c.MinWait = time.Hour
			return c, func() { h.await(t, "refusal", func() bool { return len(h.Endings()) > 0 }) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, reached := begin(t)
			ctx, cancel := context.WithCancelCause(t.Context())
			result := make(chan error, 1)
			go func() { result <- c.Open(ctx) }()
			reached()
			cause := errors.New("enough")
			cancel(cause)
			select {
			case err := <-result:
				if err == nil || (!errors.Is(err, cause) && name != "retry") {
					t.Errorf("Open = %v", err)
				}
			case <-voicetest.Deadline(t).Done():
				t.Fatal("Open did not return")
			}
			voicetest.NoneLeft(t)
		})
	}
}

func TestCloseEndsEverything(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	c, e := h.open(t, nil)
	e.kind(t, 0, conn.Up)
	for range 2 {
		check.Must(t, c.Close(voicetest.Deadline(t)))
	}
	check.Must(t, c.Err())
	voicetest.NoneLeft(t)
	h.await(t, "goodbye", func() bool { return len(h.Endings()) > 0 })
	if got := h.Endings()[0]; got.Code != 1000 {
		t.Errorf("ended with %+v, want a goodbye", got)
	}
	check.Fails(t, c.Open(voicetest.Deadline(t)), nil, "opened before")
	check.Fails(t, c.SendAudio([]byte{1}), voice.ErrUnavailable)
}

func TestWhatCannotBeOpened(t *testing.T) {
	closed := &conn.Conn{Target: conn.Target{UserID: self}}
	check.Must(t, closed.Close(t.Context()))
	for c, want := range map[*conn.Conn]string{
		closed:                                 "opened before",
		{Target: conn.Target{UserID: "clank"}}: `"clank"`,
	} {
		check.Fails(t, c.Open(t.Context()), nil, want)
	}
}
