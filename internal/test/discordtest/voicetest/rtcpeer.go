package voicetest

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

// selectWebRTC starts WebRTC mode: the data of op 1 is a part of an offer. Op 4 follows with the answer. The client
// can send media; it does not receive that of others.
func (s *Server) selectWebRTC(c *conn, data json.RawMessage) bool {
	var offer string
	if json.Unmarshal(data, &offer) != nil {
		return false
	}
	cl := c.client
	s.tasks.Go(func() {
		peer, answer, err := AnswerFragment(PeerOptions{
			Fragment: offer, Audio: cl.audio, Video: cl.video,
			OnRTP:  func(p []byte) { s.receivePlain(cl, p) },
			OnRTCP: func(p []byte) { s.receivePlainRTCP(cl, p) },
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		defer s.notify()
		if err != nil {
			s.recordViolation(cl.seat, err.Error())
			s.closeWith(c, CloseBadRequest, "Bad request.")
			return
		}
		s.peers[peer] = true
		if s.clients[cl.seat] != cl {
			s.endPeer(peer)
			return
		}
		s.endPeer(cl.peer)
		cl.peer, cl.mode = peer, "webrtc"
		s.startMedia(cl, map[string]any{"sdp": answer})
	})
	return true
}

// endPeer closes a connection without waiting for it; Close waits. The caller holds the lock, which goroutines of the
// connection may need.
func (s *Server) endPeer(p *RTCPeer) {
	if p == nil || s.closed {
		return
	}
	delete(s.peers, p)
	s.tasks.Go(func() {
		_ = p.Close() // the client has gone
	})
}

// receivePlain handles a media packet received over WebRTC.
func (s *Server) receivePlain(cl *client, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	if _, err := ClearRTP(p); err != nil {
		s.recordViolation(cl.seat, fmt.Sprintf("no packet of RTP: %d bytes", len(p)))
		return
	}
	ssrc := binary.BigEndian.Uint32(p[8:])
	if s.sources[ssrc] != cl {
		s.recordViolation(cl.seat, fmt.Sprintf("media of SSRC %d, which is not its own", ssrc))
		return
	}
	s.handleRTP(cl, ssrc, p)
}

// receivePlainRTCP handles control packets received over WebRTC.
func (s *Server) receivePlainRTCP(cl *client, p []byte) {
	if !IsRTCP(p) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	s.handleRTCP(cl, p)
}

// PeerOptions configure a peer. The callbacks run on goroutines of the peer, and own their arguments.
type PeerOptions struct {
	// Fragment contains the lines of the client's offer. Unknown lines are ignored, so a whole offer works as well.
	Fragment string
	// Audio and Video are the client's SSRCs; Video is 0 if there is none.
	Audio, Video uint32
	OnRTP        func(packet []byte)
	OnRTCP       func(packet []byte)
}

// An RTCPeer is the server's end of a WebRTC connection.
type RTCPeer struct {
	pc    *webrtc.PeerConnection
	tasks sync.WaitGroup
}

// AnswerFragment creates the server's end and returns the lines for op 4. The caller must close the peer.
func AnswerFragment(o PeerOptions) (*RTCPeer, string, error) {
	f, err := parseFragment(o.Fragment)
	if err != nil {
		return nil, "", err
	}
	pc, err := newPeerConnection(f)
	if err != nil {
		return nil, "", fmt.Errorf("answer a client: %w", err)
	}
	p := &RTCPeer{pc: pc}
	pc.OnTrack(func(track *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
		p.tasks.Go(func() {
			for buf := make([]byte, 1500); ; {
				n, _, err := receiver.Read(buf)
				if err != nil {
					return
				}
				o.OnRTCP(append([]byte(nil), buf[:n]...))
			}
		})
		for buf := make([]byte, 1500); ; {
			n, _, err := track.Read(buf)
			if err != nil {
				return
			}
			o.OnRTP(append([]byte(nil), buf[:n]...))
		}
	})
	answer, err := p.negotiate(f.offer(o.Audio, o.Video))
	if err != nil {
		return nil, "", errors.Join(fmt.Errorf("answer a client: %w", err), p.Close())
	}
	return p, answer, nil
}

// newPeerConnection returns a connection with the client's payload types that listens only on loopback.
func newPeerConnection(f sdpFragment) (*webrtc.PeerConnection, error) {
	media := &webrtc.MediaEngine{}
	for _, c := range f.codecs {
		err := media.RegisterCodec(webrtc.RTPCodecParameters{
			RTPCodecCapability: webrtc.RTPCodecCapability{
				MimeType: c.kind.String() + "/" + c.name, ClockRate: c.clock,
				Channels: c.channels,
			},
			PayloadType: webrtc.PayloadType(c.payload),
		}, c.kind)
		if err != nil {
			return nil, err
		}
	}
	setting := webrtc.SettingEngine{}
	setting.SetLite(true)
	setting.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeUDP4})
	setting.SetIncludeLoopbackCandidate(true)
	setting.SetIPFilter(func(ip net.IP) bool { return ip.IsLoopback() })
	if err := setting.SetAnsweringDTLSRole(webrtc.DTLSRoleServer); err != nil {
		return nil, err
	}
	reports := &interceptor.Registry{}
	if err := webrtc.ConfigureRTCPReports(reports); err != nil {
		return nil, err
	}
	api := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(setting),
		webrtc.WithInterceptorRegistry(reports))
	return api.NewPeerConnection(webrtc.Configuration{})
}

// gatherTimeout bounds gathering the ICE candidates, which are on loopback.
const gatherTimeout = 10 * time.Second

// negotiate processes the reconstructed offer and returns the lines of the answer.
func (p *RTCPeer) negotiate(offer string) (string, error) {
	if err := p.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", err
	}
	answer, err := p.pc.CreateAnswer(nil)
	if err != nil {
		return "", err
	}
	gathered := webrtc.GatheringCompletePromise(p.pc)
	if err := p.pc.SetLocalDescription(answer); err != nil {
		return "", err
	}
	select {
	case <-gathered:
	case <-time.After(gatherTimeout):
		return "", errors.New("the own addresses were not found in time")
	}
	return shortenSDP(p.pc.LocalDescription().SDP)
}

// shortenSDP reduces an answer to the lines that the client needs.
func shortenSDP(sdp string) (string, error) {
	kept := map[string]string{}
	for line := range strings.Lines(sdp) {
		line = strings.TrimSpace(line)
		name, _, _ := strings.Cut(line, ":")
		if _, there := kept[name]; !there {
			kept[name] = line
		}
	}
	candidate := strings.Fields(kept["a=candidate"])
	if len(candidate) < 6 {
		return "", errors.New("no address was found")
	}
	host, port := candidate[4], candidate[5]
	return strings.Join([]string{
		"m=audio " + port + " ICE/SDP", kept["a=fingerprint"], "c=IN IP4 " + host, "a=rtcp:" + port,
		kept["a=ice-ufrag"], kept["a=ice-pwd"], kept["a=candidate"],
	}, "\n") + "\n", nil
}

// WriteRTCP sends control packets to the client.
func (p *RTCPeer) WriteRTCP(packet []byte) error {
	packets, err := rtcp.Unmarshal(packet)
	if err != nil {
		return fmt.Errorf("send control packets: %w", err)
	}
	if err := p.pc.WriteRTCP(packets); err != nil {
		return fmt.Errorf("send control packets: %w", err)
	}
	return nil
}

// Close closes the connection and waits for the peer's goroutines.
func (p *RTCPeer) Close() error {
	err := p.pc.GracefulClose()
	p.tasks.Wait()
	if err != nil {
		return fmt.Errorf("close a connection: %w", err)
	}
	return nil
}

// sdpFragment is the parsed part of the client's offer.
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

// parseFragment parses the relevant lines. A line may occur twice, as in an offer of two media.
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

// offer returns the relevant parts of the offer from which the fragment was taken.
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
