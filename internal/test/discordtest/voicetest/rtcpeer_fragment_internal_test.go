package voicetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pion/webrtc/v4"
)

const lines = "a=extmap-allow-mixed\na=ice-ufrag:us\na=ice-pwd:secret\na=fingerprint:sha-256 AB:CD\n" +
	"a=rtpmap:120 opus/48000/2\na=rtpmap:105 VP8/90000\na=rtpmap:106 rtx/90000\na=rtpmap:105 VP8/90000"

func TestAFragmentBecomesAnOffer(t *testing.T) {
	f, err := parseFragment(lines)
	if err != nil {
		t.Fatal(err)
	}
	want := sdpFragment{ufrag: "us", pwd: "secret", fingerprint: "sha-256 AB:CD", codecs: []sdpCodec{
		{120, "opus", 48000, 2, webrtc.RTPCodecTypeAudio}, {105, "VP8", 90000, 0, webrtc.RTPCodecTypeVideo},
	}}
	if d := cmp.Diff(want, f, cmp.AllowUnexported(sdpFragment{}, sdpCodec{})); d != "" {
		t.Error(d)
	}
	both, sound := f.offer(1, 2), f.offer(1, 0)
	if !strings.Contains(both, "a=ssrc:2 ") || !strings.Contains(both, "m=video 9 UDP/TLS/RTP/SAVPF 105\r\n") {
		t.Errorf("got offer\n%s", both)
	}
	if strings.Contains(sound, "m=video") || !strings.Contains(sound, "a=group:BUNDLE 0\r\n") {
		t.Errorf("got offer\n%s, want no video", sound)
	}
}

func TestAWholeOfferWillDoAsAFragment(t *testing.T) {
	f, err := parseFragment(lines)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseFragment(f.offer(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f, again, cmp.AllowUnexported(sdpFragment{}, sdpCodec{})); d != "" {
		t.Error(d)
	}
}

func TestAnAnswerIsCutToWhatTheClientNeeds(t *testing.T) {
	got, err := shortenSDP("v=0\r\na=ice-ufrag:us\r\na=ice-pwd:secret\r\na=fingerprint:sha-256 AB\r\na=setup:passive\r\n" +
		"a=candidate:1 1 udp 2130706431 127.0.0.1 5000 typ host\r\na=candidate:2 1 udp 1 127.0.0.2 5001 typ host\r\n")
	if err != nil {
		t.Fatal(err)
	}
	want := "m=audio 5000 ICE/SDP\na=fingerprint:sha-256 AB\nc=IN IP4 127.0.0.1\na=rtcp:5000\na=ice-ufrag:us\na=ice-pwd:secret\n" +
		"a=candidate:1 1 udp 2130706431 127.0.0.1 5000 typ host\n"
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if _, err := shortenSDP("v=0\r\n"); err == nil {
		t.Error("an answer without an address is given")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(lines)
	f.Add("a=rtpmap:1 a/b")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseFragment(text)
		if err == nil && (got.ufrag == "" || len(got.codecs) == 0) {
			t.Errorf("got %+v, want an error", got)
		}
	})
}
