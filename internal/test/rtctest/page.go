package rtctest

import (
	"context"
	"testing"
	"time"

	"clank/internal/test/check"
	voicewebrtc "clank/voice/webrtc"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
)

// Patience is how long a test waits for one event.
const Patience = 30 * time.Second

// Page is a page in a call.
type Page struct {
	PC      *webrtc.PeerConnection
	Up      chan struct{}    // closed when it is connected
	Sounds  chan *rtp.Packet // received audio; packets that are not read in time are dropped
	Frames  chan []byte      // received video
	Said    chan string      // received messages
	Ended   chan struct{}    // closed when its data channel is closed
	mic     *webrtc.TrackLocalStaticRTP
	notes   *webrtc.DataChannel
	picture chan webrtc.SSRC
}

// PageOptions configure a page.
type PageOptions struct {
	NoMicrophone bool // it has no microphone and only watches
	NoUDP        bool // its network blocks UDP

	// Relays are the TURN servers that it must use; it connects in no other way.
	Relays []voicewebrtc.ICEServer
}

// NewPage returns a page and its offer. Pass the answer to [Page.Accept].
func NewPage(tb testing.TB, o PageOptions) (*Page, string) {
	tb.Helper()
	set := webrtc.SettingEngine{}
	set.SetIncludeLoopbackCandidate(true)
	set.SetRelayAcceptanceMinWait(0) // there are no other candidates
	if o.NoUDP {
		set.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeTCP4})
	}
	config := webrtc.Configuration{}
	for _, s := range o.Relays {
		config.ICETransportPolicy = webrtc.ICETransportPolicyRelay
		config.ICEServers = append(config.ICEServers,
			webrtc.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential})
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(set)).NewPeerConnection(config)
	check.Must(tb, err)
	tb.Cleanup(func() { _ = pc.GracefulClose() })
	p := &Page{
		PC: pc, Up: make(chan struct{}), Sounds: make(chan *rtp.Packet, 200), Frames: make(chan []byte, 20),
		Said:  make(chan string, 100),
		Ended: make(chan struct{}), picture: make(chan webrtc.SSRC, 1),
	}
	p.notes, err = pc.CreateDataChannel("clank", nil)
	check.Must(tb, err)
	p.notes.OnMessage(func(m webrtc.DataChannelMessage) { offer(p.Said, string(m.Data)) })
	p.notes.OnClose(func() { close(p.Ended) })
	p.notes.OnOpen(func() { close(p.Up) })
	if !o.NoMicrophone {
		p.mic, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{
			MimeType: webrtc.MimeTypeOpus, ClockRate: 48000,
			Channels: 2,
		}, "mic", "page")
		check.Must(tb, err)
		_, err = pc.AddTrack(p.mic)
		check.Must(tb, err)
	}
	_, err = pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo,
		webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly})
	check.Must(tb, err)
	pc.OnTrack(p.readTrack)
	sdp, err := pc.CreateOffer(nil)
	check.Must(tb, err)
	gathered := webrtc.GatheringCompletePromise(pc)
	check.Must(tb, pc.SetLocalDescription(sdp))
	<-gathered
	return p, pc.LocalDescription().SDP
}

// Accept sets the answer.
func (p *Page) Accept(tb testing.TB, answer string) {
	tb.Helper()
	check.Must(tb, p.PC.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}))
}

func (p *Page) readTrack(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
	video := track.Kind() == webrtc.RTPCodecTypeVideo
	if video {
		offer(p.picture, track.SSRC())
	}
	var frame []byte
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		if !video {
			offer(p.Sounds, packet)
			continue
		}
		var vp8 codecs.VP8Packet
		part, err := vp8.Unmarshal(packet.Payload)
		if err != nil {
			continue
		}
		if frame = append(frame, part...); packet.Marker {
			offer(p.Frames, frame)
			frame = nil
		}
	}
}

// SendOpus sends n Opus packets with the given payload at once.
func (p *Page) SendOpus(tb testing.TB, n int, opus []byte) {
	tb.Helper()
	for i := range n {
		h := rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(i) * 960}
		check.Must(tb, p.mic.WriteRTP(&rtp.Packet{Header: h, Payload: opus}))
	}
}

// LosePicture reports a lost picture (PLI).
func (p *Page) LosePicture(tb testing.TB) {
	tb.Helper()
	ssrc := Next(tb, p.picture)
	check.Must(tb, p.PC.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(ssrc)}}))
}

// SendText sends a message like the page's script.
func (p *Page) SendText(tb testing.TB, text string) {
	tb.Helper()
	check.Must(tb, p.notes.SendText(text))
}

// Next waits for the next value of ch, or for ch to be closed.
func Next[T any](tb testing.TB, ch <-chan T) T {
	tb.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(Patience):
		tb.Fatal("it did not happen in time")
		panic("unreachable")
	}
}

func offer[T any](ch chan T, v T) {
	select {
	case ch <- v:
	default:
	}
}

func within(tb testing.TB) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(tb.Context()), Patience)
	tb.Cleanup(cancel)
	return ctx
}
