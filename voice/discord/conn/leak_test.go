package conn_test

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/endurance"
	"clank/voice/discord/conn"

	"github.com/coder/websocket"
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
	if err != nil {
		t.Fatal(err)
	}
	udp, err := wires.ListenPacket()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan struct{})
	go func() { defer close(seen); discover(udp) }()
	_, port, _ := net.SplitHostPort(udp.LocalAddr().String())
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	})}
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
	if err := c.Open(ctx); err == nil {
		t.Error("it opened")
	}
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
	_ = server.Close()
	<-served
	_ = udp.Close()
	<-seen
	synctest.Wait()
	if n := wires.OpenSockets(); n != 0 {
		t.Errorf("%d sockets are left", n)
	}
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
