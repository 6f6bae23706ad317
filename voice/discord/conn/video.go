package conn

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"clank/voice"
	"clank/voice/discord/dave"

	"github.com/pion/rtcp"
)

const (
	playoutDelayID = 6  // the number of the header extension, as in Discord's native clients
	defaultRate    = 10 // frames a second, where none was announced
)

// SendVideo sends one VP8 frame that was taken at a time. It returns [voice.ErrUnavailable] while nothing can be sent.
// When it returns, the first packets were sent; the rest of a large frame follows within half of the announced frame
// interval.
func (c *Conn) SendVideo(vp8 []byte, taken time.Time) error {
	if len(vp8) == 0 || len(vp8) > MaxVideoFrame {
		return fmt.Errorf("send a frame of %d bytes: it must have some, and at most %d", len(vp8), MaxVideoFrame)
	}
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	s := c.sendable()
	if s == nil {
		return voice.ErrUnavailable
	}
	ssrc, rtx := s.ready.VideoSSRCs()
	if ssrc == 0 || !c.out.showing {
		return voice.ErrUnavailable
	}
	frame, err := s.dave.Encrypt(dave.VP8, vp8)
	if err != nil {
		return voice.ErrUnavailable
	}
	now := time.Now()
	f := VideoFrame{
		Data: frame, SSRC: ssrc, RTX: rtx, Timestamp: c.out.video.timestamp + videoTicks(taken.Sub(c.out.began)),
		DelayID: playoutDelayID, Spread: time.Second / time.Duration(cmp.Or(c.out.format.Rate, defaultRate)) / 2,
	}
	if err := c.out.pacer.PutFrame(s, f, now); err != nil {
		return err
	}
	wait, err := c.sendDue(now)
	if wait > 0 {
		c.wakePacer()
	}
	return err
}

func videoTicks(d time.Duration) uint32 {
	return uint32(d.Seconds() * videoClock) // wraps after half a day
}

func (c *Conn) initPacer() {
	c.out.pacer.PayloadType, c.out.pacer.ResendType = typeVP8, typeVP8RTX
	c.out.pacer.Send = func(s *session, packet []byte, payload int, at time.Time) error {
		return c.send(s, &c.out.video, packet, payload, at)
	}
	c.out.pacer.Resend = func(s *session, packet []byte) {
		if err := s.transport.Send(packet); err != nil {
			c.logger().Debug("packet was not sent again", "error", err)
			return
		}
		c.updateStats(func(s *Stats) { s.Repeated++ })
	}
	c.out.pacer.Reset()
}

func (c *Conn) wakePacer() {
	select {
	case c.paceWake <- struct{}{}:
	default: // it is woken already, or does not run
	}
}

// pace sends waiting packets until ctx ends.
func (c *Conn) pace(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	timer.Stop()
	for {
		select {
		case <-c.paceWake:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		c.sendMu.Lock()
		wait, _ := c.sendDue(time.Now()) // a packet that is lost here is like one that is lost on the way
		c.sendMu.Unlock()
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// sendDue sends the packets that are due, and returns how long to wait for the next ones; 0 if there are none. The
// caller holds sending.
func (c *Conn) sendDue(now time.Time) (time.Duration, error) {
	if !c.out.pacer.Pending() {
		return 0, nil
	}
	return c.out.pacer.SendDue(c.sendable(), now)
}

// handleNack retransmits packets that a receiver did not get, unless the transport does.
func (c *Conn) handleNack(s *session, p *rtcp.TransportLayerNack, now time.Time) {
	c.sendMu.Lock()
	defer c.sendMu.Unlock()
	if !c.out.pacer.HoldsFor(s) {
		return // of nothing that we have sent
	}
	video, _ := s.ready.VideoSSRCs()
	if _, itself := s.transport.(SourceTransport); itself || p.MediaSSRC != video {
		return
	}
	c.out.pacer.QueueResends(p.Nacks, now)
	c.wakePacer()
}
