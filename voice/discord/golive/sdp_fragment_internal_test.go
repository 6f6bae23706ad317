package golive

import (
	"strings"
	"testing"

	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
	"github.com/pion/sdp/v3"
)

const (
	known     = "a=ice-ufrag:them\na=ice-pwd:secret\na=fingerprint:sha-256 AB:CD\n"
	candidate = "1 1 UDP 4261412862 203.0.113.7 5000 typ host"
)

func TestAnOfferIsCutToTheLinesThatTheServerTakes(t *testing.T) {
	offer := "v=0\r\na=fingerprint:sha-256 AB\r\nm=audio 9 UDP/TLS/RTP/SAVPF " +
		"120\r\na=ice-ufrag:us\r\na=ice-pwd:secret\r\na=rtpmap:120 opus/48000/2\r\na=candidate:1 1 udp 1 127.0.0.1 5000 " +
		"typ host\r\nm=video 9 UDP/TLS/RTP/SAVPF 105\r\na=ice-ufrag:us\r\na=ice-pwd:secret\r\na=rtpmap:105 " +
		"VP8/90000\r\na=mid:1\r\n"
	want := "a=extmap-allow-mixed\na=fingerprint:sha-256 AB\na=ice-ufrag:us\na=ice-pwd:secret\na=rtpmap:120 " +
		"opus/48000/2\na=rtpmap:105 VP8/90000\n" + playoutDelayAttribute
	check.Diff(t, "the fragment", trimOffer(offer), want)
}

func TestTheServersLinesAreRead(t *testing.T) {
	for name, tc := range map[string]struct{ text, candidate string }{
		"a candidate": {"m=audio 5000 ICE/SDP\nc=IN IP4 203.0.113.9\na=rtcp:1\n" + known + "a=candidate:" + candidate +
			"\n", candidate},
		"only an address": {"c=IN IP4 203.0.113.7\na=rtcp:5000\n" + known, "1 1 UDP 2130706431 203.0.113.7 5000 typ host"},
		"with a long rtcp": {
			"c=IN IP6 2001:db8::7\r\na=rtcp:5000 IN IP6 2001:db8::7\r\n" + known,
			"1 1 UDP 2130706431 2001:db8::7 5000 typ host",
		},
	} {
		got, err := parseRemote(tc.text)
		want := remoteDescription{"them", "secret", "sha-256 AB:CD", []string{tc.candidate}}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(remoteDescription{})); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
	for _, text := range map[string]string{
		"nothing":    "",
		"no address": known,
		"no host":    known + "a=rtcp:5000\n",
		"a name":     known + "c=IN IP4 voice.example\na=rtcp:5000\n",
		"no port":    known + "c=IN IP4 203.0.113.7\na=rtcp:0\n",
		"no secret":  strings.ReplaceAll(known, "a=ice-pwd", "a=x") + "a=candidate:" + candidate,
	} {
		check.Fails(t, check.Err(parseRemote(text)), nil, "ice-ufrag, ice-pwd, fingerprint and an address")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(known + "a=candidate:" + candidate)
	f.Add("c=IN IP4 203.0.113.7/1\na=rtcp:5000\n" + known)
	f.Add("c=IN IP\na=rtcp")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := parseRemote(text)
		if err != nil {
			return
		}
		if strings.ContainsAny(r.ufrag+r.pwd+r.fingerprint+strings.Join(r.candidates, ""), "\r\n") {
			t.Errorf("got %+v, which breaks out of its lines", r)
		}
		var d sdp.SessionDescription
		if err := d.UnmarshalString(r.answer()); err == nil && len(d.MediaDescriptions) != 2 {
			t.Errorf("the answer has %d media, want 2", len(d.MediaDescriptions))
		}
	})
}
