package voicetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pion/webrtc/v4"
)

// sdpFragment is what the client's lines say.
type sdpFragment struct {
	ufrag, pwd, fingerprint string
	codecs                  []sdpCodec
}

type sdpCodec struct {
	payload  uint8
	name     string
	clock    uint32
	channels uint16
	kind     webrtc.RTPCodecType
}

// parseFragment reads the lines that matter. A line may come twice, as in an offer of two media.
func parseFragment(text string) (sdpFragment, error) {
	var f sdpFragment
	seen := map[uint8]bool{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "a=ice-ufrag":
			f.ufrag = value
		case "a=ice-pwd":
			f.pwd = value
		case "a=fingerprint":
			f.fingerprint = value
		case "a=rtpmap":
			c, err := parseCodec(value)
			if err != nil {
				return sdpFragment{}, err
			}
			if c.name != "rtx" && !seen[c.payload] {
				seen[c.payload] = true
				f.codecs = append(f.codecs, c)
			}
		}
	}
	if f.ufrag == "" || f.pwd == "" || f.fingerprint == "" || len(f.of(webrtc.RTPCodecTypeAudio)) == 0 {
		return sdpFragment{}, errors.New("read an offer: it needs ice-ufrag, ice-pwd, fingerprint and the rtpmap of opus")
	}
	return f, nil
}

func parseCodec(value string) (sdpCodec, error) {
	payload, format, _ := strings.Cut(value, " ")
	parts := strings.Split(format, "/")
	n, err := strconv.ParseUint(payload, 10, 7)
	if err != nil || len(parts) < 2 {
		return sdpCodec{}, fmt.Errorf("read an offer: %q is no payload type", value)
	}
	clock, err := strconv.ParseUint(parts[1], 10, 32)
	if err != nil {
		return sdpCodec{}, fmt.Errorf("read an offer: %q has no clock", value)
	}
	c := sdpCodec{payload: uint8(n), name: parts[0], clock: uint32(clock), kind: webrtc.RTPCodecTypeVideo}
	if strings.EqualFold(c.name, "opus") {
		c.kind, c.channels = webrtc.RTPCodecTypeAudio, 2
	}
	return c, nil
}

func (f sdpFragment) of(kind webrtc.RTPCodecType) []sdpCodec {
	var list []sdpCodec
	for _, c := range f.codecs {
		if c.kind == kind {
			list = append(list, c)
		}
	}
	return list
}

// offer returns the description that the fragment was cut from, as far as it matters.
func (f sdpFragment) offer(audio, video uint32) string {
	lines := []string{"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1", "a=msid-semantic: WMS *"}
	lines = append(lines, f.media(webrtc.RTPCodecTypeAudio, "0", audio)...)
	if video != 0 && len(f.of(webrtc.RTPCodecTypeVideo)) > 0 {
		lines = append(lines, f.media(webrtc.RTPCodecTypeVideo, "1", video)...)
	} else {
		lines[4] = "a=group:BUNDLE 0"
	}
	return strings.Join(lines, "\r\n") + "\r\n"
}

func (f sdpFragment) media(kind webrtc.RTPCodecType, mid string, ssrc uint32) []string {
	head := []string{"m=" + kind.String(), "9", "UDP/TLS/RTP/SAVPF"}
	var maps []string
	for _, c := range f.of(kind) {
		payload := strconv.Itoa(int(c.payload))
		head = append(head, payload)
		format := payload + " " + c.name + "/" + strconv.FormatUint(uint64(c.clock), 10)
		if c.channels > 0 {
			format += "/" + strconv.Itoa(int(c.channels))
		}
		maps = append(maps, "a=rtpmap:"+format)
		if kind == webrtc.RTPCodecTypeVideo {
			maps = append(maps, "a=rtcp-fb:"+payload+" ccm fir", "a=rtcp-fb:"+payload+" nack", "a=rtcp-fb:"+payload+" nack pli")
		}
	}
	source := strconv.FormatUint(uint64(ssrc), 10)
	lines := []string{
		strings.Join(head, " "), "c=IN IP4 0.0.0.0", "a=mid:" + mid, "a=ice-ufrag:" + f.ufrag, "a=ice-pwd:" + f.pwd,
		"a=fingerprint:" + f.fingerprint, "a=setup:actpass", "a=rtcp-mux", "a=sendonly", "a=msid:call " + kind.String(),
		"a=ssrc:" + source + " cname:member", "a=ssrc:" + source + " msid:call " + kind.String(),
	}
	return append(lines, maps...)
}
