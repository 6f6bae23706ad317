package voicetest_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest/voicetest"
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
