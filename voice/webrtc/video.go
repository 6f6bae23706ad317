package webrtc

import (
	"fmt"
	"math/rand/v2"
	"time"

	"clank/videosource"

	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
	"github.com/pion/webrtc/v4"
)

// packetSize is how much of a frame goes into one packet, so that it fits through every network with what is put around it.
const packetSize = 1160

// FrameSource is one look at a source of pictures. [videosource.Viewer] is one.
type FrameSource interface {
	Frames() <-chan videosource.Frame // the latest first; closed when there are no more
	Refresh()                         // asks for a frame although nothing has changed
	Close()
}

// refreshDelays are when a page that has just begun to look gets the picture again. Its first frames may come before it can decrypt them, and
// it would wait for seconds before it says that it has none.
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

func (s videoFeed) close() {
	if s.source != nil {
		s.source.Close()
	}
}

// ShowVideo shows pictures instead of those that were shown before, until they end or the connection does, and then closes f. nil ends the
// showing. When the page loses the picture (PLI or FIR, RFC 4585 and 5104), f is asked for a frame.
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

// closeFeeds ends what was to be shown next, and lets nothing follow.
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
		track: track, sender: sender, asked: make(chan struct{}, 1), began: time.Now(),
		first: rand.Uint32(), payloader: codecs.VP8Payloader{EnablePictureID: true},
	}, nil
}

// reports reads what the page says of the picture until the connection has ended.
func (v *video) reports() {
	for {
		packets, _, err := v.sender.ReadRTCP()
		if err != nil {
			return
		}
		for _, p := range packets {
			switch p.(type) {
			case *rtcp.PictureLossIndication, *rtcp.FullIntraRequest:
				signal(v.asked)
			}
		}
	}
}

// send sends a frame in packets (RFC 7741). What is lost on the way is asked for again by the page, or another frame is.
func (v *video) send(f videosource.Frame) {
	ticks := time.Since(v.began).Microseconds() * 9 / 100 // at 90 kHz
	stamp := v.first + uint32(ticks)                      //nolint:gosec // wraps, as timestamps do
	parts := v.payloader.Payload(packetSize, f.Data)
	for i, part := range parts {
		p := rtp.Packet{
			Header:  rtp.Header{Version: 2, Marker: i == len(parts)-1, SequenceNumber: v.seq, Timestamp: stamp},
			Payload: part,
		}
		v.seq++
		if v.track.WriteRTP(&p) != nil {
			return // the connection is ending, and its owner will hear of it
		}
	}
}
