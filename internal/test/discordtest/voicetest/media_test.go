package voicetest_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"clank/internal/test/discordtest/voicetest"
)

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
	ada := h.join(t, "1", nil)
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
