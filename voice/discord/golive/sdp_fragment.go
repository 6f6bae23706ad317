package golive

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// playoutDelayAttribute is the line that names the header extension with which package media asks players not to hold pictures back. The library
// writes header extensions as they come, so their numbers are ours.
const playoutDelayAttribute = "a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

// trimOffer keeps of an offer what goes to the gateway: each line once, without candidates, since the server learns where we are from our
// checks.
func trimOffer(offer string) string {
	kept := []string{"a=extmap-allow-mixed"}
	for line := range strings.Lines(offer) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:", "a=rtpmap:"} {
			if strings.HasPrefix(line, prefix) && !slices.Contains(kept, line) {
				kept = append(kept, line)
			}
		}
	}
	return strings.Join(append(kept, playoutDelayAttribute), "\n")
}

// remoteDescription is what the server's lines say.
type remoteDescription struct {
	ufrag, pwd, fingerprint string
	candidates              []string // values of a=candidate
}

// parseRemote reads the lines of the gateway's answer. Others than the known ones are passed over. A server that names no candidate is where its
// c= and a=rtcp lines say.
func parseRemote(text string) (remoteDescription, error) {
	var r remoteDescription
	var host, port string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		name, value, _ := strings.Cut(line, ":")
		switch {
		case strings.ContainsRune(line, '\r'): // would be two lines of the answer
		case strings.HasPrefix(line, "c=IN IP"):
			if _, rest, ok := strings.Cut(line[len("c=IN IP"):], " "); ok {
				host, _, _ = strings.Cut(rest, "/")
			}
		case name == "a=rtcp":
			port, _, _ = strings.Cut(value, " ")
		case name == "a=ice-ufrag":
			r.ufrag = value
		case name == "a=ice-pwd":
			r.pwd = value
		case name == "a=fingerprint":
			r.fingerprint = value
		case name == "a=candidate" && !slices.Contains(r.candidates, value):
			r.candidates = append(r.candidates, value)
		}
	}
	if len(r.candidates) == 0 {
		addr, err := netip.ParseAddr(host)
		number, bad := strconv.ParseUint(port, 10, 16)
		if err == nil && bad == nil && number > 0 {
			r.candidates = []string{fmt.Sprintf("1 1 UDP 2130706431 %s %d typ host", addr, number)}
		}
	}
	if r.ufrag == "" || r.pwd == "" || r.fingerprint == "" || len(r.candidates) == 0 {
		return remoteDescription{}, errors.New("read the voice server's answer: it needs ice-ufrag, ice-pwd, fingerprint and an address")
	}
	return r, nil
}

// answer returns the description that the server would have given to our offer: it is ice-lite and passive, and takes what we send.
func (r remoteDescription) answer() string {
	lines := []string{"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1", "a=ice-lite", "a=extmap-allow-mixed"}
	lines = append(lines, r.media("0", fmt.Sprintf("m=audio 9 UDP/TLS/RTP/SAVPF %d", typeOpus))...)
	lines = append(
		lines,
		fmt.Sprintf("a=rtpmap:%d opus/48000/2", typeOpus),
		fmt.Sprintf("a=fmtp:%d minptime=10;useinbandfec=1;usedtx=0", typeOpus), // silence in sound beside pictures is sent, too
	)
	lines = append(lines, r.media("1", fmt.Sprintf("m=video 9 UDP/TLS/RTP/SAVPF %d %d", typeVP8, typeRTX))...)
	lines = append(lines, fmt.Sprintf("a=rtpmap:%d VP8/90000", typeVP8))
	for _, f := range videoFeedback {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("a=rtcp-fb:%d %s %s", typeVP8, f.Type, f.Parameter)))
	}
	lines = append(lines, fmt.Sprintf("a=rtpmap:%d rtx/90000", typeRTX), fmt.Sprintf("a=fmtp:%d apt=%d", typeRTX, typeVP8))
	return strings.Join(lines, "\r\n") + "\r\n"
}

func (r remoteDescription) media(mid, head string) []string {
	lines := []string{
		head, "c=IN IP4 0.0.0.0", "a=mid:" + mid, "a=ice-ufrag:" + r.ufrag, "a=ice-pwd:" + r.pwd, "a=fingerprint:" + r.fingerprint,
		"a=setup:passive", "a=rtcp-mux", "a=recvonly",
	}
	for _, c := range r.candidates {
		lines = append(lines, "a=candidate:"+c)
	}
	return lines
}
