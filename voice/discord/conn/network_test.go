package conn_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"clank/internal/test/check"
	"clank/internal/test/discordtest/voicetest"
	"clank/internal/test/endurance"
	"clank/voice/discord/conn"
)

// Messages of a gateway that says what it likes.
const (
	hello       = `{"op":8,"d":{"heartbeat_interval":5000}}`
	readyAES    = `{"op":2,"d":{"ssrc":5,"ip":"127.0.0.1","port":PORT,"modes":["aead_aes256_gcm_rtpsize"],"streams":[{"ssrc":6,"rtx_ssrc":7}]}}`
	readyNone   = `{"op":2,"d":{"ssrc":5,"ip":"127.0.0.1","port":9,"modes":["xsalsa20_poly1305"]}}`
	description = `{"op":4,"d":{"mode":"aead_aes256_gcm_rtpsize","secret_key":[1,2,3],"dave_protocol_version":0}}`
	otherMode   = `{"op":4,"d":{"mode":"aead_xchacha20_poly1305_rtpsize","secret_key":[1,2,3],"dave_protocol_version":0}}`
)

// TestFailuresAtEachStepOfConnectingLeaveNothing tests that no goroutines, which the bubble waits for, and no
// sockets are left.
func TestFailuresAtEachStepOfConnectingLeaveNothing(t *testing.T) {
	for name, says := range map[string][]string{
		"it says nothing":             nil,
		"hello, and nothing more":     {hello},
		"hello without an interval":   {`{"op":8,"d":{}}`},
		"ready before hello":          {readyAES},
		"no encryption of ours":       {hello, readyNone},
		"ready that cannot be read":   {hello, `{"op":2,"d":[]}`},
		"nobody answers over UDP":     {hello, strings.ReplaceAll(readyAES, "PORT", "9")},
		"it is never described":       {hello, readyAES},
		"ready twice":                 {hello, readyAES, readyAES},
		"a description before ready":  {hello, description},
		"a description out of shape":  {hello, readyAES, `{"op":4,"d":{"secret_key":"x"}}`},
		"a key of another length":     {hello, readyAES, description},
		"an encryption never offered": {hello, readyAES, otherMode},
		"resumed out of the blue":     {hello, `{"op":9,"d":null}`},
		"garbage":                     {"{", "\x00", hello, `{"op":"x"}`},
	} {
		for how, after := range map[string]websocket.StatusCode{"and stays": 0, "and closes": 4009, "and refuses": 4017} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { fail(t, says, after) })
			})
		}
	}
}

// fail has a connection try to open with a gateway that says something, and then closes unless after is 0.
func fail(t *testing.T, says []string, after websocket.StatusCode) {
	t.Helper()
	wires := endurance.NewNetwork()
	ln, err := wires.Listen()
	check.Must(t, err)
	udp, err := wires.ListenPacket()
	check.Must(t, err)
	seen := make(chan struct{})
	go func() { defer close(seen); discover(udp) }()
	_, port, _ := net.SplitHostPort(udp.LocalAddr().String())
	server := &http.Server{
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			defer func() { _ = ws.CloseNow() }()
			for _, text := range says {
				if ws.Write(r.Context(), websocket.MessageText, []byte(strings.ReplaceAll(text, "PORT", port))) != nil {
					return
				}
			}
			if after != 0 {
				_ = ws.Close(after, "enough")
			}
			for err == nil {
				_, _, err = ws.Read(r.Context())
			}
		}),
	}
	served := make(chan struct{})
	go func() { defer close(served); _ = server.Serve(ln) }()
	c := &conn.Conn{
		Target:  conn.Target{Endpoint: "ws://" + ln.Addr().String(), ServerID: guild, UserID: self, GroupID: 1},
		Handle:  func(conn.Event) {},
		MinWait: time.Second, MaxOutage: time.Minute, Video: true, Transport: conn.NewUDPWithDialer(wires.Dial),
		HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: wires.Dial}},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second)
	defer cancel()
	check.Fails(t, c.Open(ctx), nil, "voice")
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
	_ = server.Close()
	<-served
	_ = udp.Close()
	<-seen
	synctest.Wait()
	check.Equal(t, "sockets are left", wires.OpenSockets(), 0)
}

// discover tells whoever asks that it is seen somewhere, until the socket is closed.
func discover(udp net.PacketConn) {
	buf := make([]byte, 2048)
	for {
		n, from, err := udp.ReadFrom(buf)
		if err != nil {
			return
		}
		if n != 74 {
			continue
		}
		answer := append([]byte{0, 2}, buf[2:n]...)
		copy(answer[8:], "192.0.2.1")
		answer[73] = 7
		_, _ = udp.WriteTo(answer, from)
	}
}

// uplink is a socket whose way out carries so many bytes a second, and holds so many that wait for it. What is more is
// lost.
type uplink struct {
	net.Conn
	rate, hold float64

	mu     sync.Mutex
	queued float64
	at     time.Time
	lost   int
}

func (u *uplink) Write(p []byte) (int, error) {
	u.mu.Lock()
	now := time.Now()
	u.queued = max(0, u.queued-now.Sub(u.at).Seconds()*u.rate)
	u.at = now
	full := u.queued+float64(len(p)) > u.hold
	if full {
		u.lost++
	} else {
		u.queued += float64(len(p))
	}
	u.mu.Unlock()
	if full {
		return len(p), nil
	}
	return u.Conn.Write(p)
}

// TestPicturesArriveWholeOverABadNetwork counts the pictures that somebody who asks for lost packets gets, in simulated
// time.
func TestPicturesArriveWholeOverABadNetwork(t *testing.T) {
	const pictures = 80
	for name, step := range map[string]struct {
		network voicetest.NetworkFaults
		size    int
		ask     bool
		least   int
	}{
		"a narrow way": {size: 120 << 10, least: pictures},
		"a narrow way with 5 % lost, and reorder": {network: voicetest.NetworkFaults{
			Loss: 0.05, Reorder: 0.05,
			Delay: 30 * time.Millisecond,
		}, size: 120 << 10, ask: true, least: pictures - 2},
		"the same with jitter, and doubled": {network: voicetest.NetworkFaults{
			Loss: 0.05, Duplicate: 0.02,
			Delay: 20 * time.Millisecond, Jitter: 15 * time.Millisecond,
		}, size: 60 << 10, ask: true, least: pictures - 2},
		"5 % lost and nobody who asks: much is bad": {network: voicetest.NetworkFaults{Loss: 0.05}, size: 120 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got, repeated, lost := watch(t, step.network, step.size, pictures, step.ask)
				t.Logf("whole=%d of %d, sent again %d packets, lost on our way out %d", got, pictures, repeated, lost)
				if got < step.least || lost > 0 {
					t.Errorf("%d of %d pictures arrived whole, and %d packets were lost on our way out; want at least %d, and none",
						got, pictures, lost, step.least)
				}
			})
		})
	}
}

// watch sends pictures over a way of 40 Mbit/s that holds 32 KB, and counts those that arrive whole.
func watch(t *testing.T, n voicetest.NetworkFaults, size, pictures int,
	ask bool,
) (whole int, repeated uint64, lost int) {
	t.Helper()
	wires := endurance.NewNetwork()
	h := newHall(t, voicetest.Config{Listen: wires.Listen, ListenPacket: wires.ListenPacket, Seed: 1})
	defer func() { _ = h.Close() }()
	out := &uplink{rate: 40e6 / 8, hold: 32 << 10}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: wires.Dial}}
	c, e := h.open(t, func(c *conn.Conn) {
		c.Video, c.HTTPClient = true, client
		c.Transport = conn.NewUDPWithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := wires.Dial(ctx, network, address)
			out.Conn = conn
			return out, err
		})
	})
	m := h.join(t, ada, func(o *voicetest.MemberOptions) { o.Video, o.RequestLost, o.Dial = true, ask, wires.Dial })
	defer func() { _ = m.Close() }()
	c.ShowVideo(conn.Format{Width: 1280, Height: 720, Rate: 8})
	m.RequestQuality(100)
	e.next(t, 0, "somebody who looks", func(ev conn.Event) bool {
		return ev.Kind == conn.QualityWanted && ev.Quality == 100
	})
	h.SetNetwork(n)
	frame := bytes.Repeat([]byte{0x10, 2, 3, 4, 5, 6, 7, 8}, size/8)
	for range pictures {
		check.Must(t, c.SendVideo(frame, time.Now()))
		time.Sleep(time.Second / 8) //nolint:forbidigo // the clock of synctest
	}
	h.SetNetwork(voicetest.NetworkFaults{})
	check.Must(t, c.SendVideo(frame[:100], time.Now()))
	time.Sleep(2 * time.Second) //nolint:forbidigo // as above
	for {
		select {
		case f := <-m.Frames():
			if bytes.Equal(f.Data, frame) {
				whole++
			}
			continue
		default:
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
		return whole, c.Stats().Repeated, out.lost
	}
}
