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

// Patience is how long a test waits for one thing.
const Patience = 30 * time.Second

// Page is a page that has joined.
type Page struct {
	PC      *webrtc.PeerConnection
	Up      chan struct{}    // closed when it is connected
	Sounds  chan *rtp.Packet // what it hears; what nobody reads is dropped
	Frames  chan []byte      // what it sees
	Said    chan string      // what its script is told
	Ended   chan struct{}    // closed when its channel for messages is
	mic     *webrtc.TrackLocalStaticRTP
	notes   *webrtc.DataChannel
	picture chan webrtc.SSRC
}

// PageOptions are what a page is like.
type PageOptions struct {
	NoMicrophone bool // it has no microphone, and only looks
	NoUDP        bool // its network lets none through

	// Relays are the servers that it may go through; it goes no other way.
	Relays []voicewebrtc.ICEServer
}

// NewPage makes a page, and the offer that it posts. [Page.Accept] takes the answer.
func NewPage(tb testing.TB, o PageOptions) (*Page, string) {
	tb.Helper()
	set := webrtc.SettingEngine{}
	set.SetIncludeLoopbackCandidate(true)
	set.SetRelayAcceptanceMinWait(0) // nothing better will come
	if o.NoUDP {
		set.SetNetworkTypes([]webrtc.NetworkType{webrtc.NetworkTypeTCP4})
	}
	config := webrtc.Configuration{}
	for _, s := range o.Relays {
		config.ICETransportPolicy = webrtc.ICETransportPolicyRelay
		config.ICEServers = append(config.ICEServers, webrtc.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential})
	}
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(set)).NewPeerConnection(config)
	check.Must(tb, err)
	tb.Cleanup(func() { _ = pc.GracefulClose() })
	p := &Page{
		PC: pc, Up: make(chan struct{}), Sounds: make(chan *rtp.Packet, 200), Frames: make(chan []byte, 20), Said: make(chan string, 100),
		Ended: make(chan struct{}), picture: make(chan webrtc.SSRC, 1),
	}
	p.notes, err = pc.CreateDataChannel("clank", nil)
	check.Must(tb, err)
	p.notes.OnMessage(func(m webrtc.DataChannelMessage) { offer(p.Said, string(m.Data)) })
	p.notes.OnClose(func() { close(p.Ended) })
	p.notes.OnOpen(func() { close(p.Up) })
	if !o.NoMicrophone {
		p.mic, err = webrtc.NewTrackLocalStaticRTP(webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: 48000, Channels: 2}, "mic", "page")
		check.Must(tb, err)
		_, err = pc.AddTrack(p.mic)
		check.Must(tb, err)
	}
	_, err = pc.AddTransceiverFromKind(webrtc.RTPCodecTypeVideo, webrtc.RTPTransceiverInit{Direction: webrtc.RTPTransceiverDirectionRecvonly})
	check.Must(tb, err)
	pc.OnTrack(p.readTrack)
	sdp, err := pc.CreateOffer(nil)
	check.Must(tb, err)
	gathered := webrtc.GatheringCompletePromise(pc)
	check.Must(tb, pc.SetLocalDescription(sdp))
	<-gathered
	return p, pc.LocalDescription().SDP
}

// Accept takes the answer.
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

// SendOpus sends n packets of Opus with the given payload, as a microphone would but all at once.
func (p *Page) SendOpus(tb testing.TB, n int, opus []byte) {
	tb.Helper()
	for i := range n {
		h := rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(i) * 960}
		check.Must(tb, p.mic.WriteRTP(&rtp.Packet{Header: h, Payload: opus}))
	}
}

// LosePicture says that the picture was lost (PLI).
func (p *Page) LosePicture(tb testing.TB) {
	tb.Helper()
	ssrc := Next(tb, p.picture)
	check.Must(tb, p.PC.WriteRTCP([]rtcp.Packet{&rtcp.PictureLossIndication{MediaSSRC: uint32(ssrc)}}))
}

// SendText sends what the page's script would.
func (p *Page) SendText(tb testing.TB, text string) {
	tb.Helper()
	check.Must(tb, p.notes.SendText(text))
}

// Next waits for the next value of ch; of a channel that is closed, for that.
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
