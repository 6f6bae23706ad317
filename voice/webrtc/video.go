package webrtc

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"clank/videosource"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
)

// packetSize is the payload size of a packet, which fits through every network with all headers.
const packetSize = 1160

// FrameSource is one look at a source of pictures. [videosource.Viewer] is one.
type FrameSource interface {
	Frames() <-chan videosource.Frame // the latest first; closed at the end
	Refresh()                         // asks for a frame that shows all, although nothing has changed
	SetBitrate(bitrate int)           // sets the capacity of the connection in bits per second; 0: unknown
	Close()
}

// refreshDelays are when a page that has just begun to watch gets the picture again. It may not be able to decrypt the
// first frames yet, and would take seconds to report that.
var refreshDelays = [...]time.Duration{150 * time.Millisecond, 300 * time.Millisecond, 600 * time.Millisecond}

// videoFeed is what the page is shown now; the zero show is nothing.
type videoFeed struct {
	source   FrameSource
	due      <-chan time.Time // the next reminder
	reminded int
}

func (s *videoFeed) scheduleRefresh() {
	s.due = nil
	if s.source != nil && s.reminded < len(refreshDelays) {
		s.due = time.After(refreshDelays[s.reminded])
		s.reminded++
	}
}

func (s videoFeed) frames() <-chan videosource.Frame {
	if s.source == nil {
		return nil
	}
	return s.source.Frames()
}

func (s videoFeed) refresh() {
	if s.source != nil {
		s.source.Refresh()
	}
}

func (s videoFeed) setBitrate(bitrate int) {
	if s.source != nil {
		s.source.SetBitrate(bitrate)
	}
}

func (s videoFeed) close() {
	if s.source != nil {
		s.source.Close()
	}
}

// ShowVideo shows video in place of the previous one, until it or the connection ends, and then closes f. nil ends the
// video. When the page loses the picture (PLI or FIR, RFC 4585 and 5104), a frame is requested from f.
func (c *Conn) ShowVideo(f FrameSource) {
	c.feedMu.Lock()
	defer c.feedMu.Unlock()
	next := videoFeed{source: f}
	if c.feedsClosed {
		next.close()
		return
	}
	select {
	case old := <-c.feeds: // it was not even begun
		old.close()
	default:
	}
	c.feeds <- next // there is room for one
}

// closeFeeds ends the feeds and refuses further ones.
func (c *Conn) closeFeeds() {
	c.feedMu.Lock()
	defer c.feedMu.Unlock()
	c.feedsClosed = true
	select {
	case next := <-c.feeds:
		next.close()
	default:
	}
}

// video is what the page sees.
type video struct {
	track     *webrtc.TrackLocalStaticRTP
	sender    *webrtc.RTPSender
	payloader codecs.VP8Payloader
	asked     chan struct{}
	rated     chan struct{} // bitrate has changed
	bitrate   atomic.Int64  // what the page's line carries; 0: not known
	line      lineRate
	delayID   uint8 // id of the header extension with the playout delay; 0: the page does not support it
	timeID    uint8 // id of the one with the send time
	began     time.Time
	first     uint32 // timestamp at began
	seq       uint16
}

func newVideo(pc *webrtc.PeerConnection) (*video, error) {
	track, err := webrtc.NewTrackLocalStaticRTP(vp8Codec, "picture", "clank-picture")
	if err != nil {
		return nil, fmt.Errorf("make the track of pictures: %w", err)
	}
	sender, err := pc.AddTrack(track)
	if err != nil {
		return nil, fmt.Errorf("add the track of pictures: %w", err)
	}
	return &video{
		track: track, sender: sender, asked: make(chan struct{}, 1), rated: make(chan struct{}, 1), began: time.Now(),
		first: rand.Uint32(), payloader: codecs.VP8Payloader{EnablePictureID: true},
	}, nil
}

// readExtensions stores which header extensions the page supports.
func (v *video) readExtensions() {
	for _, x := range v.sender.GetParameters().HeaderExtensions {
		switch id := uint8(x.ID); x.URI { //nolint:gosec // they are numbers of one byte
		case playoutDelayURI:
			v.delayID = id
		case absSendTimeURI:
			v.timeID = id
		}
	}
}

// reports reads the page's feedback about the video until the connection has ended.
func (v *video) reports() {
	for {
		packets, _, err := v.sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, p := range packets {
			switch p := p.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				signal(v.asked)
			case *rtcp.ReceiverEstimatedMaximumBitrate:
				v.line.estimate = int(p.Bitrate)
				v.rate()
			case *rtcp.ReceiverReport:
				for _, r := range p.Reports {
					v.line.report(r.FractionLost)
				}
				v.rate()
			}
		}
	}
}

func (v *video) rate() {
	v.bitrate.Store(int64(v.line.bitrate()))
	signal(v.rated)
}

// Bounds of what a line is taken to carry, in bits a second.
const (
	minLineRate = 100_000
	maxLineRate = 4_000_000
)

// lineRate estimates the capacity of a page's connection from its reports: it falls after losses and rises slowly
// without any, but never above the page's own estimate (REMB).
type lineRate struct {
	held     int // estimated from losses; 0: none yet
	estimate int // the page's; 0: none
}

// report handles the fraction, of 256, that was lost since the last report.
func (l *lineRate) report(lost uint8) {
	const many, few = 26, 5 // a tenth, a fiftieth
	rate := cmp.Or(l.held, maxLineRate)
	switch {
	case lost > many:
		rate = rate * 7 / 10
	case lost < few:
		rate = rate * 11 / 10
	}
	l.held = min(max(rate, minLineRate), maxLineRate)
}

func (l *lineRate) bitrate() int {
	rate := cmp.Or(l.held, maxLineRate)
	if l.estimate > 0 {
		rate = min(rate, max(l.estimate, minLineRate))
	}
	return rate
}

// send sends a frame in packets (RFC 7741). What is lost on the way is asked for again by the page, or another frame
// is.
func (v *video) send(f videosource.Frame) {
	ticks := time.Since(v.began).Microseconds() * 9 / 100 // at 90 kHz
	stamp := v.first + uint32(ticks)                      //nolint:gosec // wraps, as timestamps do
	parts := v.payloader.Payload(packetSize, f.Data)
	for i, part := range parts {
		p := rtp.Packet{
			Header:  rtp.Header{Version: 2, Marker: i == len(parts)-1, SequenceNumber: v.seq, Timestamp: stamp},
			Payload: part,
		}
		v.extend(&p.Header)
		v.seq++
		if v.track.WriteRTP(&p) != nil {
			return // the connection is ending, which its owner will be told
		}
	}
}

// extend adds the header extensions of a packet: show its frame immediately, without smoothing (playout-delay with
// minimum and maximum 0), and the send time, from which the page estimates the capacity of its connection.
func (v *video) extend(h *rtp.Header) {
	if v.delayID != 0 {
		_ = h.SetExtension(v.delayID, []byte{0, 0, 0}) // an id that was agreed on, and three bytes, always fit
	}
	if data, err := rtp.NewAbsSendTimeExtension(time.Now()).Marshal(); v.timeID != 0 && err == nil {
		_ = h.SetExtension(v.timeID, data)
	}
}
