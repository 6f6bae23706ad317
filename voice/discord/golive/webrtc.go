package golive

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/ice/v4"
	"github.com/pion/interceptor"
	"github.com/pion/interceptor/pkg/nack"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"clank/voice/discord/conn"
)

// Payload types, as package media sends them.
const (
	typeOpus = 120
	typeVP8  = 105
	typeRTX  = 106
)

const (
	gatherTimeout        = 3 * time.Second // for our own addresses
	webrtcConnectTimeout = 6 * time.Second // for reaching the server
	maxControlPackets    = 2048            // bytes of control packets read at once
)

// videoFeedback is the feedback about our video that the server may send.
var videoFeedback = []webrtc.RTCPFeedback{
	{Type: "ccm", Parameter: "fir"},
	{Type: "nack"},
	{Type: "nack", Parameter: "pli"},
}

type webrtcTransport struct {
	received func([]byte)
	failed   func(error)

	pc        *webrtc.PeerConnection
	ready     conn.Ready
	rtx       uint32 // the source that repeats lost packets of pictures
	sound     *webrtc.TrackLocalStaticRTP
	pictures  *webrtc.TrackLocalStaticRTP
	connected chan struct{} // closed when packets can go
	ended     chan struct{} // closed when it can no longer send
	receiveMu sync.Mutex    // one call of received at a time
	work      sync.WaitGroup
	close     func() error
	closeOnce sync.Once
}

// NewWebRTCTransport creates the transport; see [conn.NewTransport].
func NewWebRTCTransport(received func(packet []byte), failed func(error)) conn.Transport {
	t := &webrtcTransport{received: received, failed: failed, connected: make(chan struct{}), ended: make(chan struct{})}
	t.close = sync.OnceValue(func() error {
		t.closeOnce.Do(func() { close(t.ended) })
		var err error
		if t.pc != nil {
			err = t.pc.GracefulClose()
		}
		t.work.Wait()
		if err != nil {
			return fmt.Errorf("close the WebRTC connection to the voice server: %w", err)
		}
		return nil
	})
	return t
}

// Select implements [conn.Transport]: it makes the offer.
func (t *webrtcTransport) Select(ctx context.Context, r conn.Ready) (string, any, error) {
	ssrc, _ := r.VideoSSRCs()
	if ssrc == 0 || r.SSRC == 0 {
		return "", nil, errors.New("the voice server gives no source for pictures, without which its WebRTC mode is of no " +
			"use here")
	}
	t.ready = r
	offer, err := t.offer(ctx, r.SSRC, ssrc)
	if err != nil {
		return "", nil, fmt.Errorf("offer the voice server a WebRTC connection: %w", err)
	}
	return "webrtc", trimOffer(offer), nil
}

func (t *webrtcTransport) offer(ctx context.Context, audio, video uint32) (string, error) {
	api, err := newWebRTCAPI(t.ready.IP)
	if err != nil {
		return "", err
	}
	if t.pc, err = api.NewPeerConnection(webrtc.Configuration{}); err != nil {
		return "", err
	}
	t.pc.OnConnectionStateChange(t.handleState)
	if t.sound, _, err = t.publish(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2},
		"sound", audio); err != nil {
		return "", err
	}
	var sender *webrtc.RTPSender
	if t.pictures, sender, err = t.publish(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000},
		"pictures", video); err != nil {
		return "", err
	}
	for _, e := range sender.GetParameters().Encodings {
		t.rtx = uint32(e.RTX.SSRC) // the library chooses it, whatever the server has offered
	}
	offer, err := t.pc.CreateOffer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(t.pc)
	if err := t.pc.SetLocalDescription(offer); err != nil {
		return "", err
	}
	select {
	case <-gathered:
	case <-time.After(gatherTimeout): // the candidates found so far suffice
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	return t.pc.LocalDescription().SDP, nil
}

// newWebRTCAPI returns an API set up with our payload types. It uses loopback only for a server there.
func newWebRTCAPI(server string) (*webrtc.API, error) {
	codecs := &webrtc.MediaEngine{}
	for _, c := range []struct {
		kind webrtc.RTPCodecType
		p    webrtc.RTPCodecParameters
	}{
		{
			webrtc.RTPCodecTypeAudio,
			webrtc.RTPCodecParameters{PayloadType: typeOpus, RTPCodecCapability: webrtc.RTPCodecCapability{
				MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2, SDPFmtpLine: "minptime=10;useinbandfec=1;usedtx=0",
			}},
		},
		{
			webrtc.RTPCodecTypeVideo,
			webrtc.RTPCodecParameters{PayloadType: typeVP8, RTPCodecCapability: webrtc.RTPCodecCapability{
				MimeType: webrtc.MimeTypeVP8, ClockRate: 90000, RTCPFeedback: videoFeedback,
			}},
		},
		{
			webrtc.RTPCodecTypeVideo,
			webrtc.RTPCodecParameters{PayloadType: typeRTX, RTPCodecCapability: webrtc.RTPCodecCapability{
				MimeType: webrtc.MimeTypeRTX, ClockRate: 90000, SDPFmtpLine: fmt.Sprintf("apt=%d", typeVP8),
			}},
		},
	} {
		if err := codecs.RegisterCodec(c.p, c.kind); err != nil {
			return nil, err
		}
	}
	repeats := &interceptor.Registry{} // lost packets are sent again; reports are package media's
	responder, err := nack.NewResponderInterceptor()
	if err != nil {
		return nil, err
	}
	repeats.Add(responder)
	set := webrtc.SettingEngine{}
	set.SetICEMulticastDNSMode(ice.MulticastDNSModeDisabled)
	set.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4, webrtc.NetworkTypeUDP6})
	set.SetICETimeouts(4*time.Second, 8*time.Second, 2*time.Second)
	if addr, err := netip.ParseAddr(server); err == nil && addr.IsLoopback() {
		set.SetIncludeLoopbackCandidate(true)
	}
	return webrtc.NewAPI(webrtc.WithMediaEngine(codecs), webrtc.WithInterceptorRegistry(repeats),
		webrtc.WithSettingEngine(set)), nil
}

// publish adds a track with the source that the server assigned, and passes on the feedback about it.
func (t *webrtcTransport) publish(c webrtc.RTPCodecCapability, id string,
	ssrc uint32,
) (*webrtc.TrackLocalStaticRTP, *webrtc.RTPSender, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(c, id, "clank")
	if err != nil {
		return nil, nil, err
	}
	transceiver, err := t.pc.AddTransceiverFromTrack(track, webrtc.RTPTransceiverInit{
		Direction: webrtc.RTPTransceiverDirectionSendonly,
		SendEncodings: []webrtc.RTPEncodingParameters{
			{RTPCodingParameters: webrtc.RTPCodingParameters{SSRC: webrtc.SSRC(ssrc)}},
		},
	})
	if err != nil {
		return nil, nil, err
	}
	sender := transceiver.Sender()
	t.work.Go(func() { t.read(sender) })
	return track, sender, nil
}

func (t *webrtcTransport) read(sender *webrtc.RTPSender) {
	buf := make([]byte, maxControlPackets)
	for {
		n, _, err := sender.Read(buf)
		if err != nil {
			return
		}
		t.receiveMu.Lock()
		t.received(append([]byte(nil), buf[:n]...))
		t.receiveMu.Unlock()
	}
}

func (t *webrtcTransport) handleState(state webrtc.PeerConnectionState) {
	switch state {
	case webrtc.PeerConnectionStateConnected:
		select {
		case <-t.connected:
		default:
			close(t.connected)
		}
	case webrtc.PeerConnectionStateFailed:
		t.closeOnce.Do(func() {
			close(t.ended)
			t.failed(errors.New("the voice server is not reached over WebRTC any more"))
		})
	default: // a break may pass
	}
}

func (t *webrtcTransport) Sources() (video, rtx uint32) {
	video, _ = t.ready.VideoSSRCs()
	return video, t.rtx
}

// Start implements [conn.Transport]: it returns when packets can go.
func (t *webrtcTransport) Start(ctx context.Context, d conn.Description) error {
	if t.pc == nil || t.pc.RemoteDescription() != nil {
		return errors.New("the gateway settled the transport out of order")
	}
	r, err := parseRemote(d.SDP)
	if err != nil {
		return err
	}
	if err := t.pc.SetRemoteDescription(webrtc.SessionDescription{
		Type: webrtc.SDPTypeAnswer,
		SDP:  r.answer(),
	}); err != nil {
		return fmt.Errorf("take the voice server's answer: %w", err)
	}
	select {
	case <-t.connected:
		return nil
	case <-t.ended:
		return errors.New("the voice server cannot be reached over WebRTC")
	case <-time.After(webrtcConnectTimeout):
		return fmt.Errorf("the voice server was not reached over WebRTC within %s; a firewall may keep clank from "+
			"sending UDP", webrtcConnectTimeout)
	case <-ctx.Done():
		return fmt.Errorf("reach the voice server over WebRTC: %w", context.Cause(ctx))
	}
}

func (t *webrtcTransport) Send(packet []byte) error {
	if isControlPacket(packet) {
		packets, err := rtcp.Unmarshal(packet)
		if err == nil {
			err = t.pc.WriteRTCP(packets)
		}
		if err != nil {
			return fmt.Errorf("send a control packet over WebRTC: %w", err)
		}
		return nil
	}
	var p rtp.Packet
	if err := p.Unmarshal(packet); err != nil {
		return fmt.Errorf("send a packet over WebRTC: %w", err)
	}
	p.Payload = append([]byte(nil), p.Payload...) // it may be sent again later, and the caller reuses the packet
	track := t.pictures
	if p.PayloadType == typeOpus {
		track = t.sound
	}
	if err := track.WriteRTP(&p); err != nil {
		return fmt.Errorf("send a packet over WebRTC: %w", err)
	}
	return nil
}

// isControlPacket reports whether a packet is of RTCP (RFC 5761).
func isControlPacket(packet []byte) bool {
	return len(packet) > 1 && packet[1] >= 192 && packet[1] <= 223
}

func (t *webrtcTransport) Close() error { return t.close() }

// playoutDelayAttribute negotiates the header extension with which package conn asks players not to delay video. The
// library writes header extensions unchanged, so we choose their ids.
const playoutDelayAttribute = "a=extmap:6 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay"

// trimOffer returns the lines of an offer that the gateway gets: each line once, without candidates, since the server
// learns our address from our checks.
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

// parseRemote parses the lines of the gateway's answer and ignores unknown ones. If it names no candidate, its c= and
// a=rtcp lines have the server's address.
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
		return remoteDescription{}, errors.New("read the voice server's answer: it needs ice-ufrag, ice-pwd, fingerprint " +
			"and an address")
	}
	return r, nil
}

// answer returns the description with which the server would have answered our offer: it is ice-lite and passive, and
// receives what we send.
func (r remoteDescription) answer() string {
	lines := []string{
		"v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1", "a=ice-lite",
		"a=extmap-allow-mixed",
	}
	lines = append(lines, r.media("0", fmt.Sprintf("m=audio 9 UDP/TLS/RTP/SAVPF %d", typeOpus))...)
	lines = append(
		lines,
		fmt.Sprintf("a=rtpmap:%d opus/48000/2", typeOpus),
		// silence is sent as well when there is video
		fmt.Sprintf("a=fmtp:%d minptime=10;useinbandfec=1;usedtx=0", typeOpus),
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
		head, "c=IN IP4 0.0.0.0", "a=mid:" + mid, "a=ice-ufrag:" + r.ufrag, "a=ice-pwd:" + r.pwd, "a=fingerprint:" +
			r.fingerprint,
		"a=setup:passive", "a=rtcp-mux", "a=recvonly",
	}
	for _, c := range r.candidates {
		lines = append(lines, "a=candidate:"+c)
	}
	return lines
}
