package webrtc

import (
	"errors"
	"strings"
	"testing"
	"time"

	"clank/internal/test/check"
	"clank/voice"
)

const someOffer = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 " +
	"0.0.0.0\r\na=candidate:1 1 udp 1 8.8.8.8 53 typ host\r\na=candidate:2 1 udp 1 127.0.0.1 22 typ host\r\n" +
	"a=candidate:3 1 udp 1 somebody.local 80 typ host\r\na=candidate:4 1 udp 1 169.254.169.254 80 typ host\r\n" +
	"a=candidate:5 1 udp 1 ::ffff:127.0.0.1 80 typ host\r\na=candidate:6\r\na=candidate:7 1 udp 1 192.168.0.1 161 typ " +
	"host\r\na=candidate:8 1 udp 1 64:ff9b::a00:1 80 typ srflx\r\na=candidate:9 1 udp 1 100.64.0.1 80 typ " +
	"host\r\na=candidate:10 1 udp 1 fd00::1 80 typ host\r\na=ice-ufrag:x\r\na=end-of-candidates\r\n"

func TestAddressesThatWeWriteTo(t *testing.T) {
	for _, c := range []struct {
		name    string
		servers bool
		want    []string
	}{
		{"none of a page that reaches us", false, nil},
		{"public ones where there are servers", true, []string{"candidate:1 "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readOffer(someOffer, c.servers)
			check.Must(t, err)
			if n := strings.Count(got, "candidate"); n != len(c.want) {
				t.Errorf("%d candidates are left, want %d:\n%s", n, len(c.want), got)
			}
			for _, want := range append(c.want, "ice-ufrag:x") {
				check.Contains(t, got, want)
			}
		})
	}
}

func TestAnOfferDoesNotSendUsToManyAddresses(t *testing.T) {
	got, err := readOffer(someOffer+strings.Repeat("a=candidate:1 1 udp 1 9.9.9.9 53 typ host\r\n", 300), true)
	if n := strings.Count(got, "a=candidate:"); err != nil || n != maxCandidates {
		t.Errorf("%d candidates are left (%v), want %d", n, err, maxCandidates)
	}
}

func FuzzReadOffer(f *testing.F) {
	f.Add(someOffer)
	f.Add("v=0\r\nm=audio")
	f.Fuzz(func(t *testing.T, offer string) {
		clean, err := readOffer(offer, false)
		switch {
		case err != nil && !errors.Is(err, ErrBadOffer):
			t.Errorf("%v", err)
		case err == nil && strings.Contains(clean, "\na=candidate:"):
			t.Errorf("an address is left:\n%s", clean)
		}
	})
}

func TestNobodyIsHeardWhoHasMuted(t *testing.T) {
	call := &PageCall{queue: voice.NewEventQueue()}
	p := &callPage{call: call, person: voice.Person{ID: "page-1"}}
	for i, wish := range []string{"", `{"type":"mute","on":true}`, `{"type":"mute","on":false}`} {
		p.handleMessage([]byte(wish))
		p.handlePacket(voice.Packet{Opus: []byte("x"), Sequence: uint16(i)})
	}
	call.queue.End()
	go call.queue.Run(nil)
	for _, want := range []uint16{0, 2} {
		if e := <-call.queue.Events; e.Packet.From != "page-1" || e.Packet.Sequence != want {
			t.Errorf("heard %+v, want packet %d", e.Packet, want)
		}
	}
	if e, more := <-call.queue.Events; more {
		t.Errorf("heard %+v, too", e.Packet)
	}
}

func TestACallIsInterruptedWhenOnlyPagesOutOfReachAreLeft(t *testing.T) {
	for name, c := range map[string]struct {
		unreachable, leaves []string
		want                string
	}{
		"the last page leaves":             {leaves: []string{"ada", "bob"}, want: "left left"},
		"one of two leaves":                {leaves: []string{"ada"}, want: "left"},
		"the other one is out of reach":    {[]string{"bob"}, []string{"ada"}, "left trouble"},
		"both are, and leave":              {[]string{"ada", "bob"}, []string{"ada", "bob"}, "trouble left left"},
		"the one out of reach leaves":      {[]string{"bob"}, []string{"bob"}, "left"},
		"both are, and one of them leaves": {[]string{"ada", "bob"}, []string{"ada"}, "trouble left"},
	} {
		t.Run(name, func(t *testing.T) {
			call := &PageCall{
				host: &CallHost{}, queue: voice.NewEventQueue(), emptyTimer: time.NewTimer(time.Hour),
				pages: map[string]*callPage{}, unreachable: map[*callPage]bool{},
			}
			pages := map[string]*callPage{}
			for _, id := range []string{"ada", "bob"} {
				pages[id] = &callPage{person: voice.Person{ID: id}, conn: &Conn{messages: &messageChannel{}}}
				call.pages[id] = pages[id]
			}
			for _, id := range c.unreachable {
				call.setReachable(pages[id], false)
			}
			for _, id := range c.leaves {
				call.removePage(pages[id])
			}
			call.emptyTimer.Stop()
			call.queue.End()
			go call.queue.Run(nil)
			var got []string
			for e := range call.queue.Events {
				got = append(got, string(e.Kind))
			}
			check.Equal(t, "kind", strings.Join(got, " "), c.want)
		})
	}
}

func TestALineCarriesLessAfterLossesAndNeverMoreThanThePageEstimates(t *testing.T) {
	var l lineRate
	for i, step := range []struct {
		lost     uint8 // of 256
		estimate int
		want     int
	}{
		{0, 0, maxLineRate},
		{128, 0, maxLineRate * 7 / 10},
		{13, 0, maxLineRate * 7 / 10}, // a twentieth
		{0, 500_000, 500_000},
		{0, 9_000_000, maxLineRate * 7 / 10 * 121 / 100},
		{0, 1, minLineRate},
	} {
		l.estimate = step.estimate
		l.report(step.lost)
		if got := l.bitrate(); got < step.want*99/100 || got > step.want*101/100 {
			t.Errorf("step %d: %d bits a second, want about %d", i, got, step.want)
		}
	}
	for range 50 {
		l.report(255)
	}
	check.Equal(t, "bits a second after all was lost", l.held, minLineRate)
}
