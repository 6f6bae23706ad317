package main

import (
	"net/netip"
	"testing"
)

func packet4(protocol byte, dst string, port uint16) []byte {
	p := make([]byte, 28)
	p[0], p[9] = 0x45, protocol
	a := netip.MustParseAddr(dst).As4()
	copy(p[16:], a[:])
	p[22], p[23] = byte(port>>8), byte(port)
	return p
}

func TestDestinationOfPackets(t *testing.T) {
	six := make([]byte, 40)
	six[0], six[6] = 0x60, 17
	copy(six[24:], netip.MustParseAddr("fd00:66::1").AsSlice())
	for _, test := range []struct {
		packet []byte
		want   string
	}{
		{packet4(6, "10.66.0.1", 80), "10.66.0.1"}, {six, "fd00:66::1"}, {six[:39], ""}, {nil, ""}, {[]byte{0x45, 1}, ""}, {[]byte{0xff}, ""},
	} {
		got, ok := PacketDestination(test.packet)
		if want := test.want; ok != (want != "") || ok && got.String() != want {
			t.Errorf("destination of %x: got %v, want %q", test.packet, got, want)
		}
	}
}

func TestMulticastNamesAreToldFromOtherMulticast(t *testing.T) {
	for _, test := range []struct {
		packet []byte
		want   bool
	}{
		{packet4(17, "224.0.0.251", 5353), true},
		{packet4(2, "224.0.0.251", 5353), false}, // a membership report
		{packet4(17, "224.0.0.251", 1900), false},
		{packet4(17, "10.66.0.1", 5353), false},
		{packet4(17, "224.0.0.251", 5353)[:22], false},
		{nil, false},
	} {
		if got := IsMDNSPacket(test.packet); got != test.want {
			t.Errorf("%x: got %v, want %v", test.packet, got, test.want)
		}
	}
}

func FuzzPackets(f *testing.F) {
	f.Add(packet4(17, "224.0.0.251", 5353))
	f.Add([]byte{0x60})
	f.Add([]byte{0x4f, 20: 0})
	f.Fuzz(func(t *testing.T, packet []byte) {
		_, whole := PacketDestination(packet)
		if IsMDNSPacket(packet) && !whole {
			t.Errorf("%x is a message without a destination", packet)
		}
	})
}

func TestSegmentsSayWhereTheyGoAndWhatTheyCarry(t *testing.T) {
	whole := append(packet4(6, "127.0.0.1", 8787)[:20], make([]byte, 20)...)
	whole[22], whole[23], whole[32] = 8787>>8, 8787&0xff, 5<<4
	whole = append(whole, "GET /x/b001"...)
	six := append(make([]byte, 40), whole[20:]...)
	six[0], six[6], six[39] = 0x60, 6, 1
	for name, packet := range map[string][]byte{"127.0.0.1:8787": whole, "[::1]:8787": six} {
		to, payload, ok := TCPSegment(packet)
		if want := "GET /x/b001"; !ok || to.String() != name || string(payload) != want {
			t.Errorf("got %v %q %t, want %s %q", to, payload, ok, name, want)
		}
	}
	beyond := append([]byte(nil), whole...)
	beyond[32] = 0xf0
	for _, packet := range [][]byte{packet4(17, "127.0.0.1", 53), packet4(6, "127.0.0.1", 80), whole[:39], beyond, nil} {
		if to, _, ok := TCPSegment(packet); ok {
			t.Errorf("%x is taken for a segment to %v", packet, to)
		}
	}
}
