package voicetest_test

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
)

func TestGatewayClosesWithTheDocumentedCodes(t *testing.T) {
	type step = string
	good, ours := identify("1"), `"server_id":"`+guild+`","session_id":"session-1","token":"token-1"`
	for name, c := range map[string]struct {
		cfg   voicetest.Config
		query string
		send  []step
		want  int
	}{
		"version 3":         {query: "v=3", want: voicetest.CloseUnknownProtocol},
		"no version":        {want: voicetest.CloseUnknownProtocol},
		"unknown opcode":    {query: "v=8", send: []step{`{"op":99,"d":{}}`}, want: voicetest.CloseUnknownOpcode},
		"not JSON":          {query: "v=8", send: []step{`{`}, want: voicetest.CloseDecodeError},
		"no opcode":         {query: "v=8", send: []step{`{"d":{}}`}, want: voicetest.CloseDecodeError},
		"wrong type":        {query: "v=8", send: []step{`{"op":0,"d":{"token":5}}`}, want: voicetest.CloseDecodeError},
		"before identify":   {query: "v=8", send: []step{selectGCM}, want: voicetest.CloseNotAuthenticated},
		"wrong token":       {query: "v=8", send: []step{`{"op":0,"d":{"server_id":"` + guild + `","user_id":"1","session_id":"session-1","token":"x"}}`}, want: voicetest.CloseAuthFailed},
		"other user":        {query: "v=8", send: []step{`{"op":0,"d":{"user_id":"2",` + ours + `}}`}, want: voicetest.CloseAuthFailed},
		"wrong session":     {query: "v=8", send: []step{`{"op":0,"d":{"server_id":"` + guild + `","user_id":"1","session_id":"x","token":"token-1"}}`}, want: voicetest.CloseSessionInvalid},
		"wrong server":      {query: "v=8", send: []step{`{"op":0,"d":{"server_id":"5","user_id":"1","session_id":"session-1","token":"token-1"}}`}, want: voicetest.CloseServerNotFound},
		"identify twice":    {query: "v=8", send: []step{good, good}, want: voicetest.CloseAlreadyAuthed},
		"unknown protocol":  {query: "v=8", send: []step{good, `{"op":1,"d":{"protocol":"quic","data":{}}}`}, want: voicetest.CloseUnknownProtocol},
		"old mode":          {query: "v=8", send: []step{good, `{"op":1,"d":{"protocol":"udp","data":{"address":"127.0.0.1","port":9,"mode":"xsalsa20_poly1305"}}}`}, want: voicetest.CloseUnknownMode},
		"no address":        {query: "v=8", send: []step{good, `{"op":1,"d":{"protocol":"udp","data":{"port":9,"mode":"aead_aes256_gcm_rtpsize"}}}`}, want: voicetest.CloseDecodeError},
		"foreign SSRC":      {query: "v=8", send: []step{good, `{"op":5,"d":{"speaking":1,"delay":0,"ssrc":1}}`}, want: voicetest.CloseBadRequest},
		"foreign video":     {query: "v=8", send: []step{good, `{"op":12,"d":{"audio_ssrc":1001,"video_ssrc":77,"rtx_ssrc":0,"streams":[]}}`}, want: voicetest.CloseBadRequest},
		"seq_ack ahead":     {query: "v=8", send: []step{good, `{"op":3,"d":{"t":1,"seq_ack":99}}`}, want: voicetest.CloseBadRequest},
		"heartbeat of v7":   {query: "v=8", send: []step{good, `{"op":3,"d":1}`}, want: voicetest.CloseDecodeError},
		"no DAVE":           {cfg: voicetest.Config{DAVE: 1}, query: "v=8", send: []step{`{"op":0,"d":{"user_id":"1",` + ours + `}}`}, want: voicetest.CloseNeedsDAVE},
		"resume nothing":    {query: "v=8", send: []step{`{"op":7,"d":{` + ours + `,"seq_ack":-1}}`}, want: voicetest.CloseSessionInvalid},
		"resume, bad token": {query: "v=8", send: []step{`{"op":7,"d":{"server_id":"1","session_id":"s","token":"x","seq_ack":-1}}`}, want: voicetest.CloseAuthFailed},
		"resume of v7":      {query: "v=8", send: []step{`{"op":7,"d":{` + ours + `}}`}, want: voicetest.CloseDecodeError},
		"silence":           {cfg: voicetest.Config{Heartbeat: 20 * time.Millisecond}, query: "v=8", send: []step{good}, want: voicetest.CloseTimeout},
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
		"empty":           {nil, voicetest.CloseDecodeError},
		"of the server":   {[]byte{voicetest.OpProposals, 1}, voicetest.CloseUnknownOpcode},
		"before identify": {[]byte{voicetest.OpKeyPackage, 1}, voicetest.CloseNotAuthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHall(t, voicetest.Config{}).dial(t, "v=8")
			if err := r.ws.Write(testDeadline(t), websocket.MessageBinary, c.data); err != nil {
				t.Fatal(err)
			}
			if got := r.code(); got != c.want {
				t.Errorf("got close code %d, want %d", got, c.want)
			}
		})
	}
}

func TestResumeSendsWhatWasMissedInOrder(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	seat := h.ticket("1").ClientID
	r := h.dial(t, "v=8")
	r.ready("1")
	if err := h.Send(seat, voicetest.OpFlags, `{"user_id":"2","flags":1}`); err != nil {
		t.Fatal(err)
	}
	last := *r.await(voicetest.OpFlags).Seq
	r.write(fmt.Sprintf(`{"op":3,"d":{"t":77,"seq_ack":%d}}`, last))
	if got, want := string(r.await(voicetest.OpHeartbeatACK).Data), `{"t":77}`; got != want {
		t.Errorf("got heartbeat ack %s, want %s", got, want)
	}
	if err := h.Send(seat, voicetest.OpPlatform, `{"missed":1}`); err != nil {
		t.Fatal(err)
	}
	if err := h.SendBinary(seat, voicetest.OpProposals, []byte{7, 8}); err != nil {
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
	if m := r.await(voicetest.OpResumed); m.Seq != nil {
		t.Errorf("got resumed with number %d, want none", *m.Seq)
	}
	if m := r.await(voicetest.OpPlatform); *m.Seq != last+1 || string(m.Data) != `{"missed":1}` {
		t.Errorf("got %d %s, want number %d", *m.Seq, m.Data, last+1)
	}
	kind, data, err := r.ws.Read(testDeadline(t))
	if err != nil {
		t.Fatal(err)
	}
	want := append(binary.BigEndian.AppendUint16(nil, uint16(last+2)), voicetest.OpProposals, 7, 8)
	if d := cmp.Diff(want, data); kind != websocket.MessageBinary || d != "" {
		t.Errorf("binary message: %s", d)
	}
}
