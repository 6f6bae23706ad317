package voicetest_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"
)

// sender is a client that sends whatever a test makes up.
type sender struct {
	*raw
	ssrc uint32
	udp  net.Conn
	key  []byte
	box  *voicetest.PacketCipher
}

// sender signs in and gets as far as to send. What it says by op 1 besides the address is more.
func (h hall) sender(t *testing.T, more string) *sender {
	t.Helper()
	s := &sender{raw: h.dial(t, "v=8")}
	var media string
	s.ssrc, media = s.ready("1")
	udp, err := (&net.Dialer{}).DialContext(t.Context(), "udp", media)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = udp.Close() })
	s.udp = udp
	s.write(fmt.Sprintf(`{"op":1,"d":{"protocol":"udp","data":{"address":"127.0.0.1","port":%d,"mode":"aead_aes256_gcm_rtpsize"}%s}}`,
		udp.LocalAddr().(*net.UDPAddr).Port, more))
	var d struct {
		Key []int `json:"secret_key"`
	}
	if err := json.Unmarshal(s.await(voicetest.OpDescription).Data, &d); err != nil {
		t.Fatal(err)
	}
	for _, b := range d.Key {
		s.key = append(s.key, byte(b))
	}
	s.box = s.fresh()
	s.write(fmt.Sprintf(`{"op":5,"d":{"speaking":1,"delay":0,"ssrc":%d}}`, s.ssrc))
	return s
}

// fresh begins with the first nonce.
func (s *sender) fresh() *voicetest.PacketCipher {
	s.Helper()
	box, err := voicetest.NewPacketCipher(voicetest.ModeAES256GCM, s.key)
	if err != nil {
		s.Fatal(err)
	}
	return box
}

// packet returns a packet of sound.
func (s *sender) packet(payload byte, sequence uint16, timestamp uint32, body ...byte) []byte {
	p := []byte{0x80, payload}
	p = binary.BigEndian.AppendUint16(p, sequence)
	p = binary.BigEndian.AppendUint32(p, timestamp)
	p = binary.BigEndian.AppendUint32(p, s.ssrc)
	return append(p, body...)
}

func (s *sender) send(sealed []byte) {
	s.Helper()
	if _, err := s.udp.Write(sealed); err != nil {
		s.Fatal(err)
	}
}

func TestMediaThatNobodyMaySendIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		dave int
		send func(s *sender)
		want string
	}{
		"payload type": {send: func(s *sender) {
			s.send(s.box.Seal(s.packet(111, 1, 1, 0x78), 12))
		}, want: "payload type 111"},
		"sequence": {send: func(s *sender) {
			s.send(s.box.Seal(s.packet(120, 7, 1, 0x78), 12))
			s.send(s.box.Seal(s.packet(120, 7, 2, 0x78), 12))
		}, want: "sequence number 7 after 7"},
		"timestamp": {send: func(s *sender) {
			s.send(s.box.Seal(s.packet(120, 65535, 9, 0x78), 12))
			s.send(s.box.Seal(s.packet(120, 0, 8, 0x78), 12))
		}, want: "timestamp 8 after 9"},
		"nonce, with another between": {send: func(s *sender) {
			s.send(s.box.Seal(s.packet(120, 1, 1, 0x78), 12))
			s.send(s.box.Seal(s.packet(120, 2, 2, 0x78), 12))
			s.send(s.fresh().Seal(s.packet(120, 3, 3, 0x78), 12))
		}, want: "the nonce 1 twice"},
		"nonce of a control packet": {send: func(s *sender) {
			s.send(s.box.Seal(s.packet(120, 1, 1, 0x78), 12))
			s.send(s.fresh().Seal([]byte{0x80, 201, 0, 1, 0, 0, 0, 1}, 8))
		}, want: "the nonce 1 twice, for a control packet"},
		"plain sound": {dave: 1, send: func(s *sender) {
			s.send(s.box.Seal(s.packet(120, 1, 1, 0x78, 5), 12))
		}, want: "not encrypted from end to end"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, voicetest.Config{DAVE: c.dave})
			c.send(h.sender(t, ""))
			violation(t, h, c.want)
			if got := h.Violations(); len(got) != 1 {
				t.Errorf("got violations %v, want one", got)
			}
		})
	}
}

func TestMessagesThatAreNotInOrderAreNoticed(t *testing.T) {
	const opus = `{"name":"opus","type":"audio","priority":1000,"payload_type":120}`
	for name, c := range map[string]struct {
		more string // of op 1
		then string
		want string
	}{
		"payload type 96": {more: `,"codecs":[` + opus + `,{"name":"VP8","type":"video","priority":1000,"payload_type":96,"rtx_payload_type":97}]`, want: "payload type 96"},
		"two of a type":   {more: `,"codecs":[` + opus + `,{"name":"VP8","type":"video","priority":1000,"payload_type":105,"rtx_payload_type":120}]`, want: "payload type 120"},
		"priority":        {more: `,"codecs":[{"name":"opus","type":"audio","priority":7,"payload_type":120}]`, want: "priority 7"},
		"no opus":         {more: `,"codecs":[{"name":"VP8","type":"video","priority":1000,"payload_type":105,"rtx_payload_type":106}]`, want: "codecs without opus"},
		"codecs of op 14": {then: `{"op":14,"d":{"codecs":[{"name":"opus","type":"sound","priority":1000,"payload_type":120}]}}`, want: `of type "sound"`},
		"speaking":        {then: `{"op":5,"d":{"speaking":8,"delay":0,"ssrc":1001}}`, want: "speaks by"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, voicetest.Config{})
			s := h.sender(t, c.more)
			if c.then != "" {
				s.write(c.then)
			}
			violation(t, h, c.want)
		})
	}
}

func TestWhatComesBeforeOp4IsNoticed(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	r := h.dial(t, "v=8")
	ssrc, media := r.ready("1")
	r.write(fmt.Sprintf(`{"op":5,"d":{"speaking":1,"delay":0,"ssrc":%d}}`, ssrc))
	violation(t, h, "op 5 before op 4")
	c, err := (&net.Dialer{}).DialContext(t.Context(), "udp", media)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	exchange(t, c, discovery(ssrc), 10*time.Second)
	r.write(selectGCM)
	violation(t, h, "selects 127.0.0.1:9")
}

func TestWhatWasOnceAcknowledgedCannotBeAskedFor(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	r := h.dial(t, "v=8")
	r.ready("1")
	r.write(`{"op":3,"d":{"t":1,"seq_ack":0}}`)
	r.await(voicetest.OpHeartbeatACK)
	r.write(`{"op":3,"d":{"t":2,"seq_ack":-1}}`)
	if got, want := r.code(), voicetest.CloseBadRequest; got != want {
		t.Errorf("got close code %d, want %d", got, want)
	}
}
