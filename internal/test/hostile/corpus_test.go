package main

import (
	"flag"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"clank/internal/test/check"

	"golang.org/x/net/dns/dnsmessage"
)

var templateWord = regexp.MustCompile(`@[a-z]+@`)

func TestCasesAreManyAndDifferentAndUseKnownWords(t *testing.T) {
	const known = "@id@ @hostport@ @raw@ @port@ @url@ @sock@ @http@ @https@ @ws@ @wss@ @self@ @other@ @extra@"
	for namespace, least := range map[bool]int{true: 150, false: 100} {
		cases := RangeCases(namespace)
		if len(cases) < least {
			t.Errorf("%d cases, want %d at least", len(cases), least)
		}
		seen := map[string]bool{}
		for i, c := range cases {
			if seen[c.Title()] || c.Number != i {
				t.Errorf("%s has number %d as case %d, and was there before: %t", c.Title(), c.Number, i, seen[c.Title()])
			}
			seen[c.Title()] = true
			if !namespace && (!c.Addr.IsLoopback() || c.NameKind != "") {
				t.Errorf("%s is not for loopback", c.Title())
			}
			if host := c.URLHost("b001"); strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
				t.Errorf("%s: host %q wants brackets", c.Title(), host)
			}
			texts := []string{c.Page, c.Visit}
			for _, m := range []map[string]string{c.Head, c.Early, c.Files} {
				for _, text := range m {
					texts = append(texts, text)
				}
			}
			for _, w := range templateWord.FindAllString(strings.Join(texts, " "), -1) {
				if !strings.Contains(known, w) {
					t.Errorf("%s uses %s", c.Title(), w)
				}
			}
		}
	}
}

func TestEveryCaseHasItsTurn(t *testing.T) {
	all := RangeCases(true)
	taken := map[string]bool{}
	for from := range 3 {
		for i, c := range (RangeOptions{Every: 3, From: from}).everyNth(all) {
			if c.Number != i || taken[c.Title()] {
				t.Errorf("%s has number %d as case %d, and was taken before: %t", c.Title(), c.Number, i, taken[c.Title()])
			}
			taken[c.Title()] = true
		}
	}
	check.Equal(t, "len(taken)", len(taken), len(all))
	if got := len((RangeOptions{}).everyNth(all)); got != len(all) {
		t.Errorf("%d of %d cases without a choice", got, len(all))
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04b001\x07hostile\x04test\x00\x00\x01\x00\x01"))
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05x-7f0\x04both\x04bent\x04test\x00\x00\x1c\x00\x01"))
	f.Fuzz(func(t *testing.T, message []byte) {
		s := &NameServer{Site: siteV4}
		reply, ok := s.Answer(message, netip.AddrPort{})
		var m dnsmessage.Message
		if ok && m.Unpack(reply) != nil {
			t.Errorf("the answer to %q cannot be read", message)
		}
	})
}

func FuzzPackets(f *testing.F) {
	f.Add(append([]byte{0x45, 9: 17, 16: 224, 19: 251, 22: 5353 >> 8, 23: 5353 & 0xff}, 0, 0, 0, 0))
	f.Add([]byte{0x60})
	f.Add([]byte{0x4f, 20: 0})
	f.Fuzz(func(t *testing.T, packet []byte) {
		_, whole := PacketDestination(packet)
		_, _, segment := TCPSegment(packet)
		if (IsMDNSPacket(packet) || segment) && !whole {
			t.Errorf("%x is a message without a destination", packet)
		}
	})
}

// fewCases are cases of each sort. The others, and the pass of a browser that clank has joined, are for "make range".
const fewCases = `^(media/image→(loopback|metadata)|redirect/fetch 302→(home|loopback6)|socket/WebSocket→office|` +
	`webrtc/STUN→(ten|loopback)|navigate/location→carrier|name/rebinding by a closed port→both 10\.66\.0\.1|` +
	`spelling/image→(0x7f000001|\[::ffff:a9fe:a9fe\])|door/WebSocket→devtools)`

var otherHalf = flag.Bool("other", false, "try the range itself, with a guard that has a hole")

func TestRangeInASmallWay(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts two browsers")
	}
	inNamespace(t, checkGuardHolds)
}

// TestTheRangeReportsAHole opens a hole, on purpose: a range that cannot fail shows nothing. "make other-half" runs it.
func TestTheRangeReportsAHole(t *testing.T) {
	if !*otherHalf {
		t.Skip("make other-half runs it")
	}
	inNamespace(t, checkHoleReported)
}

// inNamespace runs a test itself again in a network namespace, and where none can be had on the loopback interface.
func inNamespace(t *testing.T, check func(t *testing.T, o RangeOptions)) {
	t.Helper()
	if !InsideNamespace() {
		cmd := ReenterCommand("-test.run=^"+t.Name()+"$", "-test.v", fmt.Sprintf("-other=%t", *otherHalf))
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Start()
		if err == nil {
			if err := cmd.Wait(); err != nil {
				t.Errorf("in the namespace: %v\n%s", err, out.String())
			}
			return
		}
		t.Logf("no network namespace can be made here, so only loopback addresses are tried: %v", err)
	}
	check(t, prepareSmallRange(t))
}

func prepareSmallRange(t *testing.T) RangeOptions {
	t.Helper()
	certificate, err := MakeCertificates()
	check.Must(t, err)
	options := RangeOptions{Ground: LoopbackNetwork(), Certificate: certificate, Workers: 4, Out: t.Output()}
	if !InsideNamespace() {
		return options
	}
	if options.Ground, err = PrepareNamespace(t.TempDir(), certificate.Certificate[1]); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(options.Ground.Recorder.Close)
	return options
}

func checkGuardHolds(t *testing.T, o RangeOptions) {
	t.Helper()
	o.Only = regexp.MustCompile(fewCases)
	report, err := RunPasses(t.Context(), o)
	check.Must(t, err)
	if err := report.Err(); err != nil {
		t.Error(err)
	}
	if report.Cases < 4 {
		t.Errorf("only %d cases ran", report.Cases)
	}
	if o.Ground.Recorder == nil {
		return
	}
	if n, first := o.Ground.Recorder.Count(DestinationPrivate); n != 0 {
		t.Errorf("%d packets for private addresses left, the first to %s", n, first)
	}
}

func checkHoleReported(t *testing.T, o RangeOptions) {
	t.Helper()
	o.AllowedHost = "127.0.0.1"
	o.Only = regexp.MustCompile(`^(media/image|socket/WebSocket)→loopback$`)
	report, err := RunPasses(t.Context(), o)
	check.Must(t, err)
	check.Equal(t, "cases reached the canary through the hole", report.Canary, 2)
	if report.Err() == nil {
		t.Error("the range is content with a hole")
	}
}
