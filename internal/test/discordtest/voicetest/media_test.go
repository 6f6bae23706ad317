package voicetest_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"

	"github.com/google/go-cmp/cmp"
)

// pair is two people who can hear each other.
func pair(t *testing.T, h hall, change func(*voicetest.MemberOptions)) (ada, bob *voicetest.Member) {
	t.Helper()
	ada, bob = h.join(t, "1", change), h.join(t, "2", change)
	ada.Speak(1)
	if err := bob.Wait(testDeadline(t), "ada's voice", func() bool { return bob.KnowsUser("1") }); err != nil {
		t.Fatal(err)
	}
	return ada, bob
}

func TestSoundIsForwardedInBothModes(t *testing.T) {
	for _, modes := range [][2]string{{voicetest.ModeAES256GCM, voicetest.ModeXChaCha20Poly1305}, {voicetest.ModeXChaCha20Poly1305, voicetest.ModeAES256GCM}} {
		t.Run(modes[0], func(t *testing.T) {
			h := newHall(t, voicetest.Config{})
			ada := h.join(t, "1", func(o *voicetest.MemberOptions) { o.Mode = modes[0] })
			bob := h.join(t, "2", func(o *voicetest.MemberOptions) { o.Mode = modes[1] })
			ada.Speak(1)
			for i := range byte(3) {
				if err := ada.Send([]byte{0x78, i}); err != nil {
					t.Fatal(err)
				}
			}
			for i := range byte(3) {
				f, err := bob.Next(testDeadline(t))
				if err != nil {
					t.Fatal(err)
				}
				if want := []byte{0x78, i}; f.From != "1" || !bytes.Equal(f.Data, want) || f.Timestamp != 960*uint32(i+1) {
					t.Errorf("got %+v, want %x of ada", f, want)
				}
			}
			if got := h.Violations(); len(got) != 0 {
				t.Errorf("got violations %v, want none", got)
			}
		})
	}
}

func TestSoundBeforeSpeakingIsNotForwarded(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	ada, bob := h.join(t, "1", nil), h.join(t, "2", nil)
	for i := range byte(65) {
		if err := ada.Send([]byte{i}); err != nil {
			t.Fatal(err)
		}
	}
	violation(t, h, "sound before op 5")
	if got := len(bob.Frames()); got != 0 {
		t.Errorf("got %d packets, want none", got)
	}
	ada.Speak(1)
	if f, err := bob.Next(testDeadline(t)); err != nil || !bytes.Equal(f.Data, []byte{0}) {
		t.Errorf("got %+v, %v, want what may have overtaken op 5", f, err)
	}
}

func violation(t *testing.T, h hall, text string) {
	t.Helper()
	if err := h.Wait(testDeadline(t), "violation: "+text, func() bool {
		for _, v := range h.Violations() {
			if strings.Contains(v.Text, text) {
				return true
			}
		}
		return false
	}); err != nil {
		t.Errorf("%v; there is %v", err, h.Violations())
	}
}

func TestForgedMediaIsNoticed(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	ada, _ := pair(t, h, nil)
	ssrc, _ := ada.SSRC()
	packet := []byte{0x80, 120, 0, 1, 0, 0, 3, 192, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(packet[8:], ssrc)
	for text, data := range map[string][]byte{
		"which nobody has": append(make([]byte, 40), 0x80)[:40:40],
		"does not open":    append(bytes.Clone(packet), make([]byte, 30)...),
		"no packet of RTP": {0x80, 120, 0},
	} {
		if text == "which nobody has" {
			data[0] = 0x80
		}
		if err := ada.SendUDP(data); err != nil {
			t.Fatal(err)
		}
		violation(t, h, text)
	}
	if err := ada.SendUDP(append([]byte{0x81, 201, 0, 7, 0, 0, 0, 1}, make([]byte, 28)...)); err != nil {
		t.Fatal(err)
	}
	violation(t, h, "a control packet that does not open")
}

func TestPingsAreAnswered(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	r := h.dial(t, "v=8")
	ssrc, media := r.ready("1")
	c, err := (&net.Dialer{}).DialContext(t.Context(), "udp", media)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if exchange(t, c, discovery(ssrc), 10*time.Second) == nil {
		t.Fatal("no discovery")
	}
	r.write(fmt.Sprintf(`{"op":1,"d":{"protocol":"udp","data":{"address":"127.0.0.1","port":%d,"mode":%q}}}`,
		c.LocalAddr().(*net.UDPAddr).Port, voicetest.ModeXChaCha20Poly1305))
	r.await(voicetest.OpDescription)
	for _, p := range []struct{ ask, want []byte }{
		{[]byte{0x13, 0x37, 0xca, 0xfe, 0, 0, 0, 5}, []byte{0x13, 0x37, 0xf0, 0x0d, 0, 0, 0, 5}},
		{[]byte{9, 0, 0, 0, 0, 0, 0, 0}, []byte{9, 0, 0, 0, 0, 0, 0, 0}},
	} {
		if d := cmp.Diff(p.want, exchange(t, c, p.ask, 10*time.Second)); d != "" {
			t.Error(d)
		}
	}
}

func TestTheNetworkLosesDoublesAndReorders(t *testing.T) {
	const sent = 200 // as many as a socket holds
	for name, c := range map[string]struct {
		network  voicetest.NetworkFaults
		min, max int
		sorted   bool
	}{
		"good":      {voicetest.NetworkFaults{}, sent, sent, true},
		"loss":      {voicetest.NetworkFaults{Loss: 0.1}, sent * 8 / 10, sent * 97 / 100, true},
		"duplicate": {voicetest.NetworkFaults{Duplicate: 0.1}, sent * 103 / 100, sent * 12 / 10, true},
		"reorder":   {voicetest.NetworkFaults{Reorder: 0.1}, sent - 1, sent, false},
		"jitter":    {voicetest.NetworkFaults{Delay: time.Millisecond, Jitter: 20 * time.Millisecond}, sent, sent, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t, voicetest.Config{Seed: 1})
			h.SetNetwork(c.network)
			ada, bob := pair(t, h, nil)
			for i := range sent {
				if err := ada.Send([]byte{byte(i >> 8), byte(i)}); err != nil {
					t.Fatal(err)
				}
				if i%50 == 49 { // no more at once than the sockets hold
					awaitPackets(t, h, "1", i+1)
				}
			}
			list := collect(t, bob, 400*time.Millisecond, c.max+1)
			if len(list) < c.min || len(list) > c.max {
				t.Errorf("got %d packets, want %d to %d", len(list), c.min, c.max)
			}
			sorted := true
			for i := 1; i < len(list); i++ {
				sorted = sorted && list[i].Sequence >= list[i-1].Sequence
			}
			if sorted != c.sorted {
				t.Errorf("got in order %v, want %v", sorted, c.sorted)
			}
		})
	}
}

func awaitPackets(t *testing.T, h hall, user string, count int) {
	t.Helper()
	_, err := h.WaitClient(testDeadline(t), voicetest.ClientID{Server: guild, User: user}, "packets", func(c voicetest.Client) bool {
		return c.Received >= count
	})
	if err != nil {
		t.Fatal(err)
	}
}

// collect takes frames until most have come, or none for so long.
func collect(t *testing.T, m *voicetest.Member, patience time.Duration, most int) []voicetest.ReceivedFrame {
	t.Helper()
	var list []voicetest.ReceivedFrame
	for len(list) < most {
		select {
		case f := <-m.Frames():
			list = append(list, f)
		case <-time.After(patience):
			return list
		}
	}
	return list
}

func TestDressedPacketsCarryTheSame(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	h.SetNetwork(voicetest.NetworkFaults{Dress: true})
	ada, bob := pair(t, h, nil)
	if err := ada.Send([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if f, err := bob.Next(testDeadline(t)); err != nil || string(f.Data) != "hello" {
		t.Errorf("got %+v, %v, want what was sent", f, err)
	}
}

func TestVideoGoesToThoseWhoWantIt(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	ada := h.join(t, "1", func(o *voicetest.MemberOptions) { o.Video = true })
	bob := h.join(t, "2", nil)
	if got := ada.Wanted(); got != 0 {
		t.Errorf("got want %d, want 0", got)
	}
	picture := bytes.Repeat([]byte{0x10, 2, 3}, 2000)
	for range 16 {
		if err := ada.SendVP8(picture); err != nil {
			t.Fatal(err)
		}
	}
	violation(t, h, "video before op 12")
	ada.AnnounceVideo(true, 1280, 720)
	bob.RequestQuality(100)
	if err := ada.Wait(testDeadline(t), "a viewer", func() bool { return ada.Wanted() == 100 }); err != nil {
		t.Fatal(err)
	}
	if err := ada.SendVP8(picture); err != nil {
		t.Fatal(err)
	}
	f, err := bob.Next(testDeadline(t))
	if err != nil || !f.Video || f.From != "1" || !bytes.Equal(f.Data, picture) {
		t.Errorf("got %d bytes of %q, %v, want ada's picture", len(f.Data), f.From, err)
	}
	bob.RequestQuality(0)
	if err := ada.Wait(testDeadline(t), "nobody", func() bool { return ada.Wanted() == 0 }); err != nil {
		t.Fatal(err)
	}
}

func TestFeedbackReachesTheSourceThatItNames(t *testing.T) {
	h := newHall(t, voicetest.Config{})
	ada := h.join(t, "1", func(o *voicetest.MemberOptions) { o.Video = true })
	bob := h.join(t, "2", nil)
	_, video := ada.SSRC()
	mine, _ := bob.SSRC()
	pli := []byte{0x81, 206, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(pli[4:], mine)
	binary.BigEndian.PutUint32(pli[8:], video)
	if err := bob.SendRTCP(pli); err != nil {
		t.Fatal(err)
	}
	got, err := ada.NextRTCP(testDeadline(t))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(pli, got); d != "" {
		t.Error(d)
	}
	if err := h.SendRTCP(voicetest.ClientID{Server: guild, User: "2"}, pli); err != nil {
		t.Fatal(err)
	}
	if got, err := bob.NextRTCP(testDeadline(t)); err != nil || !bytes.Equal(got, pli) {
		t.Errorf("got %x, %v, want the server's own", got, err)
	}
	if got := h.RTCP(); len(got) != 1 || got[0].Seat.User != "2" {
		t.Errorf("got control packets %v, want bob's", got)
	}
}

func TestTheServerPicksACodecThatAllCanRead(t *testing.T) {
	both := []map[string]any{
		{"name": "opus", "type": "audio", "priority": 1000, "payload_type": 120},
		{"name": "H264", "type": "video", "priority": 1000, "payload_type": 101, "encode": true, "decode": true},
		{"name": "VP8", "type": "video", "priority": 2000, "payload_type": 105, "encode": true, "decode": true},
	}
	h := newHall(t, voicetest.Config{})
	ada := h.join(t, "1", func(o *voicetest.MemberOptions) { o.Codecs = both })
	bob := h.join(t, "2", func(o *voicetest.MemberOptions) { o.Codecs = both[2:] })
	eve := h.join(t, "3", func(o *voicetest.MemberOptions) { o.Codecs = both })
	none := h.join(t, "4", nil)
	for want, m := range map[string]*voicetest.Member{"H264": ada, "VP8": eve} {
		if got := m.VideoCodec(); got != want {
			t.Errorf("%s got codec %q, want %q", m.User, got, want)
		}
	}
	if got, want := none.VideoCodec(), "H264"; got != want {
		t.Errorf("got codec %q for a member that names none, want %q", got, want)
	}
	h.ChooseVideoCodec("AV1")
	if err := bob.Wait(testDeadline(t), "another codec", func() bool { return bob.VideoCodec() == "AV1" }); err != nil {
		t.Error(err)
	}
}
