package voicetest

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/pion/interceptor"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"
)

// PeerOptions is what a peer is made of. Its functions are called from goroutines of the peer, and own what they are given.
type PeerOptions struct {
	// Fragment has the lines of the client's offer; others than the known ones are passed over, so a whole offer will do.
	Fragment string
	// Audio and Video are the sources that the client was given; Video is 0 without.
	Audio, Video uint32
	OnRTP        func(packet []byte)
	OnRTCP       func(packet []byte)
}

// An RTCPeer is the server's end of one connection.
type RTCPeer struct {
	pc    *webrtc.PeerConnection
	tasks sync.WaitGroup
}

// AnswerFragment makes the server's end and the lines that the client is told by op 4. The caller must Close the peer.
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

// newPeerConnection knows the client's payload types and listens on loopback only.
func newPeerConnection(f sdpFragment) (*webrtc.PeerConnection, error) {
	media := &webrtc.MediaEngine{}
	for _, c := range f.codecs {
		err := media.RegisterCodec(webrtc.RTPCodecParameters{
			RTPCodecCapability: webrtc.RTPCodecCapability{MimeType: c.kind.String() + "/" + c.name, ClockRate: c.clock, Channels: c.channels},
			PayloadType:        webrtc.PayloadType(c.payload),
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
	api := webrtc.NewAPI(webrtc.WithMediaEngine(media), webrtc.WithSettingEngine(setting), webrtc.WithInterceptorRegistry(reports))
	return api.NewPeerConnection(webrtc.Configuration{})
}

// gatherTimeout bounds the search for the own addresses, which are those of loopback.
const gatherTimeout = 10 * time.Second

// negotiate takes the offer that was made up and returns the lines of the answer.
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

// shortenSDP keeps of an answer what the client needs.
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

// Close ends the connection and waits for what the peer has started.
func (p *RTCPeer) Close() error {
	err := p.pc.GracefulClose()
	p.tasks.Wait()
	if err != nil {
		return fmt.Errorf("close a connection: %w", err)
	}
	return nil
}
