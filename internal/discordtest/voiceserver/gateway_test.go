package voiceserver_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"clank/internal/discordtest/member"
	"clank/internal/discordtest/voiceserver"
)

func TestGatewayClosesWithTheDocumentedCodes(t *testing.T) {
	type step = string
	good, ours := identify("1"), `"server_id":"`+guild+`","session_id":"session-1","token":"token-1"`
	for name, c := range map[string]struct {
		cfg   voiceserver.Config
		query string
		send  []step
		want  int
	}{
		"version 3":         {query: "v=3", want: voiceserver.CloseUnknownProtocol},
		"no version":        {want: voiceserver.CloseUnknownProtocol},
		"unknown opcode":    {query: "v=8", send: []step{`{"op":99,"d":{}}`}, want: voiceserver.CloseUnknownOpcode},
		"not JSON":          {query: "v=8", send: []step{`{`}, want: voiceserver.CloseDecodeError},
		"no opcode":         {query: "v=8", send: []step{`{"d":{}}`}, want: voiceserver.CloseDecodeError},
		"wrong type":        {query: "v=8", send: []step{`{"op":0,"d":{"token":5}}`}, want: voiceserver.CloseDecodeError},
		"before identify":   {query: "v=8", send: []step{selectGCM}, want: voiceserver.CloseNotAuthenticated},
		"wrong token":       {query: "v=8", send: []step{`{"op":0,"d":{"server_id":"` + guild + `","user_id":"1","session_id":"session-1","token":"x"}}`}, want: voiceserver.CloseAuthFailed},
		"other user":        {query: "v=8", send: []step{`{"op":0,"d":{"user_id":"2",` + ours + `}}`}, want: voiceserver.CloseAuthFailed},
		"wrong session":     {query: "v=8", send: []step{`{"op":0,"d":{"server_id":"` + guild + `","user_id":"1","session_id":"x","token":"token-1"}}`}, want: voiceserver.CloseSessionInvalid},
		"wrong server":      {query: "v=8", send: []step{`{"op":0,"d":{"server_id":"5","user_id":"1","session_id":"session-1","token":"token-1"}}`}, want: voiceserver.CloseServerNotFound},
		"identify twice":    {query: "v=8", send: []step{good, good}, want: voiceserver.CloseAlreadyAuthed},
		"unknown protocol":  {query: "v=8", send: []step{good, `{"op":1,"d":{"protocol":"quic","data":{}}}`}, want: voiceserver.CloseUnknownProtocol},
		"old mode":          {query: "v=8", send: []step{good, `{"op":1,"d":{"protocol":"udp","data":{"address":"127.0.0.1","port":9,"mode":"xsalsa20_poly1305"}}}`}, want: voiceserver.CloseUnknownMode},
		"no address":        {query: "v=8", send: []step{good, `{"op":1,"d":{"protocol":"udp","data":{"port":9,"mode":"aead_aes256_gcm_rtpsize"}}}`}, want: voiceserver.CloseDecodeError},
		"foreign SSRC":      {query: "v=8", send: []step{good, `{"op":5,"d":{"speaking":1,"delay":0,"ssrc":1}}`}, want: voiceserver.CloseBadRequest},
		"foreign video":     {query: "v=8", send: []step{good, `{"op":12,"d":{"audio_ssrc":1001,"video_ssrc":77,"rtx_ssrc":0,"streams":[]}}`}, want: voiceserver.CloseBadRequest},
		"seq_ack ahead":     {query: "v=8", send: []step{good, `{"op":3,"d":{"t":1,"seq_ack":99}}`}, want: voiceserver.CloseBadRequest},
		"heartbeat of v7":   {query: "v=8", send: []step{good, `{"op":3,"d":1}`}, want: voiceserver.CloseDecodeError},
		"no DAVE":           {cfg: voiceserver.Config{DAVE: 1}, query: "v=8", send: []step{`{"op":0,"d":{"user_id":"1",` + ours + `}}`}, want: voiceserver.CloseNeedsDAVE},
		"resume nothing":    {query: "v=8", send: []step{`{"op":7,"d":{` + ours + `,"seq_ack":-1}}`}, want: voiceserver.CloseSessionInvalid},
		"resume, bad token": {query: "v=8", send: []step{`{"op":7,"d":{"server_id":"1","session_id":"s","token":"x","seq_ack":-1}}`}, want: voiceserver.CloseAuthFailed},
		"resume of v7":      {query: "v=8", send: []step{`{"op":7,"d":{` + ours + `}}`}, want: voiceserver.CloseDecodeError},
		"silence":           {cfg: voiceserver.Config{Heartbeat: 20 * time.Millisecond}, query: "v=8", send: []step{good}, want: voiceserver.CloseTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, c.cfg)
			h.ticket("1")
			r := h.dial(t, c.query)
			for _, text := range c.send {
				r.write(text)
			}
			if got := r.code(); got != c.want {
				t.Errorf("got close code %d, want %d", got, c.want)
			}
		})
	}
}

func TestBinaryMessagesThatNobodyKnowsAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want int
	}{
		"empty":           {nil, voiceserver.CloseDecodeError},
		"of the server":   {[]byte{voiceserver.OpProposals, 1}, voiceserver.CloseUnknownOpcode},
		"before identify": {[]byte{voiceserver.OpKeyPackage, 1}, voiceserver.CloseNotAuthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHall(t, voiceserver.Config{}).dial(t, "v=8")
			if err := r.ws.Write(deadline(t), websocket.MessageBinary, c.data); err != nil {
				t.Fatal(err)
			}
			if got := r.code(); got != c.want {
				t.Errorf("got close code %d, want %d", got, c.want)
			}
		})
	}
}

func TestAnyCloseCodeCanBeOrdered(t *testing.T) {
	h := newHall(t, voiceserver.Config{})
	seat := h.ticket("1").Seat
	for _, want := range []int{1000, 1007, 4001, 4006, 4014, 4015, 4021, 4022} {
		r := h.dial(t, "v=8")
		r.ready("1")
		if err := h.CloseSeat(seat, want, "as ordered"); err != nil {
			t.Fatal(err)
		}
		if got := r.code(); got != want {
			t.Errorf("got close code %d, want %d", got, want)
		}
		_, there := h.Client(seat)
		if resumable := want == 4015 || want < 4000; there != resumable {
			t.Errorf("after %d: session there %v, want %v", want, there, resumable)
		}
	}
	h.RefuseNext(voiceserver.CloseRateLimited, "slowly")
	r := h.dial(t, "v=8")
	r.write(identify("1"))
	if got, want := r.code(), voiceserver.CloseRateLimited; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
	if err := h.CloseSeat(voiceserver.Seat{Server: guild, User: "nobody"}, 4014, ""); err == nil {
		t.Error("an empty seat was closed")
	}
}

func TestResumeSendsWhatWasMissedInOrder(t *testing.T) {
	h := newHall(t, voiceserver.Config{})
	seat := h.ticket("1").Seat
	r := h.dial(t, "v=8")
	r.ready("1")
	if err := h.Send(seat, voiceserver.OpFlags, `{"user_id":"2","flags":1}`); err != nil {
		t.Fatal(err)
	}
	last := *r.await(voiceserver.OpFlags).Seq
	r.write(fmt.Sprintf(`{"op":3,"d":{"t":77,"seq_ack":%d}}`, last))
	if got, want := string(r.await(voiceserver.OpHeartbeatACK).Data), `{"t":77}`; got != want {
		t.Errorf("got heartbeat ack %s, want %s", got, want)
	}
	if err := h.Send(seat, voiceserver.OpPlatform, `{"missed":1}`); err != nil {
		t.Fatal(err)
	}
	if err := h.SendBinary(seat, voiceserver.OpProposals, []byte{7, 8}); err != nil {
		t.Fatal(err)
	}
	if err := h.Drop(seat); err != nil {
		t.Fatal(err)
	}
	if c, _ := h.Client(seat); c.Connected || c.Unacknowledged != 2 {
		t.Errorf("got client %+v, want no line and two messages kept", c)
	}
	r = h.dial(t, "v=8")
	r.write(fmt.Sprintf(`{"op":7,"d":{"server_id":%q,"session_id":"session-1","token":"token-1","seq_ack":%d}}`, guild, last))
	if m := r.await(voiceserver.OpResumed); m.Seq != nil {
		t.Errorf("got resumed with number %d, want none", *m.Seq)
	}
	if m := r.await(voiceserver.OpPlatform); *m.Seq != last+1 || string(m.Data) != `{"missed":1}` {
		t.Errorf("got %d %s, want number %d", *m.Seq, m.Data, last+1)
	}
	kind, data, err := r.ws.Read(deadline(t))
	if err != nil {
		t.Fatal(err)
	}
	want := append(binary.BigEndian.AppendUint16(nil, uint16(last+2)), voiceserver.OpProposals, 7, 8)
	if d := cmp.Diff(want, data); kind != websocket.MessageBinary || d != "" {
		t.Errorf("binary message: %s", d)
	}
}

func TestForgottenSessionsCannotBeResumed(t *testing.T) {
	h := newHall(t, voiceserver.Config{})
	seat := h.ticket("1").Seat
	h.dial(t, "v=8").ready("1")
	if err := h.Forget(seat); err != nil {
		t.Fatal(err)
	}
	r := h.dial(t, "v=8")
	r.write(fmt.Sprintf(`{"op":7,"d":{"server_id":%q,"session_id":"session-1","token":"token-1","seq_ack":0}}`, guild))
	if got, want := r.code(), voiceserver.CloseSessionInvalid; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}

func TestRevokedTicketsLetNobodyIn(t *testing.T) {
	h := newHall(t, voiceserver.Config{})
	seat := h.ticket("1").Seat
	r := h.dial(t, "v=8")
	r.ready("1")
	h.Revoke(seat, voiceserver.CloseDisconnected, "Disconnected.")
	if got, want := r.code(), voiceserver.CloseDisconnected; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
	r = h.dial(t, "v=8")
	r.write(identify("1"))
	if got, want := r.code(), voiceserver.CloseAuthFailed; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}

func TestASecondIdentifyTakesTheSeat(t *testing.T) {
	h := newHall(t, voiceserver.Config{})
	first, second := h.dial(t, "v=8"), h.dial(t, "v=8")
	first.ready("1")
	second.ready("1")
	if got, want := first.code(), voiceserver.CloseSessionInvalid; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}

func TestHelloIsAFractionAndReadyLiesAboutTheInterval(t *testing.T) {
	h := newHall(t, voiceserver.Config{Heartbeat: 13750500 * time.Microsecond})
	h.ticket("1")
	r := h.dial(t, "v=8")
	if got, want := string(r.await(voiceserver.OpHello).Data), `{"heartbeat_interval":13750.5,"v":8}`; got != want {
		t.Errorf("got hello %s, want %s", got, want)
	}
	r.write(identify("1"))
	var ready map[string]any
	if err := json.Unmarshal(r.await(voiceserver.OpReady).Data, &ready); err != nil {
		t.Fatal(err)
	}
	if ready["heartbeat_interval"] != 1.0 {
		t.Errorf("got %v in ready, want the interval that is wrong", ready["heartbeat_interval"])
	}
	r.write(`{"op":16,"d":{}}`)
	r.await(voiceserver.OpBackend)
	h.WithholdHeartbeatACK(true)
	r.write(`{"op":3,"d":{"t":1,"seq_ack":0}}`)
	r.write(`{"op":16,"d":{}}`)
	if m := r.next(); m.Op != voiceserver.OpBackend {
		t.Errorf("got op %d, want no heartbeat ack", m.Op)
	}
}

func TestDiscoveryTellsTheAddressUnlessItIsLost(t *testing.T) {
	h := newHall(t, voiceserver.Config{})
	ssrc, media := h.dial(t, "v=8").ready("1")
	c, err := (&net.Dialer{}).DialContext(t.Context(), "udp", media)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	h.LoseDiscoveries(1)
	if got := exchange(t, c, discovery(ssrc), 50*time.Millisecond); got != nil {
		t.Errorf("got answer %x, want none", got)
	}
	if got := exchange(t, c, discovery(99), 50*time.Millisecond); got != nil {
		t.Errorf("got answer %x to a stranger, want none", got)
	}
	got := exchange(t, c, discovery(ssrc), 10*time.Second)
	want := make([]byte, 74)
	binary.BigEndian.PutUint16(want, 2)
	binary.BigEndian.PutUint16(want[2:], 70)
	binary.BigEndian.PutUint32(want[4:], ssrc)
	copy(want[8:], "127.0.0.1")
	binary.BigEndian.PutUint16(want[72:], uint16(c.LocalAddr().(*net.UDPAddr).Port))
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNewcomersAndThoseWhoGoAreAnnounced(t *testing.T) {
	h := newHall(t, voiceserver.Config{})
	ada := h.join(t, "1", nil)
	ada.Speak(1)
	bob := h.join(t, "2", func(o *member.Options) { o.Roots = h.Roots() })
	if err := ada.Wait(deadline(t), "bob", func() bool { return ada.People()["2"] }); err != nil {
		t.Fatal(err)
	}
	if err := bob.Wait(deadline(t), "ada", func() bool { return bob.People()["1"] }); err != nil {
		t.Fatal(err)
	}
	if err := bob.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ada.Wait(deadline(t), "bob to go", func() bool { return !ada.People()["2"] }); err != nil {
		t.Fatal(err)
	}
}
