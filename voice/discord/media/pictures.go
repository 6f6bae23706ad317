package media

import (
	"context"
	"fmt"
	"time"

	"github.com/pion/rtcp"

	"clank/voice"
	"clank/voice/discord/dave"
	"clank/voice/discord/media/outbox"
)

const (
	defaultDelay = 6  // the extension's number in Discord's native clients
	defaultRate  = 10 // frames a second, where none was announced
)

// SendVideo sends one VP8 frame that was taken at a time. It is [voice.ErrMute] while nothing can be sent. The first packets have gone when
// it returns; the rest of a large frame follows within half of the time that the announced rate leaves between two.
func (c *Conn) SendVideo(vp8 []byte, taken time.Time) error {
	if len(vp8) == 0 || len(vp8) > outbox.MaxFrame {
		return fmt.Errorf("send a frame of %d bytes: it must have some, and at most %d", len(vp8), outbox.MaxFrame)
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	s := c.sendable()
	if s == nil {
		return voice.ErrMute
	}
	ssrc, rtx := s.ready.VideoSSRCs()
	if ssrc == 0 || !c.out.showing {
		return voice.ErrMute
	}
	frame, err := s.dave.Encrypt(dave.VP8, vp8)
	if err != nil {
		return voice.ErrMute
	}
	now := time.Now()
	f := outbox.Frame{
		Data: frame, SSRC: ssrc, RTX: rtx, Timestamp: c.out.pictures.timestamp + ticks(taken.Sub(c.out.began)),
		DelayID: c.PlayoutDelayID, Spread: c.spread(),
	}
	if f.DelayID == 0 {
		f.DelayID = defaultDelay
	}
	if err := c.out.box.Put(s, f, now); err != nil {
		return err
	}
	wait, err := c.step(now)
	if wait > 0 {
		c.wake()
	}
	return err
}

func ticks(d time.Duration) uint32 {
	return uint32(d.Seconds() * videoClock) // wraps after half a day
}

// spread is the time within which a frame has gone.
func (c *Conn) spread() time.Duration {
	rate := c.out.format.Rate
	if rate <= 0 {
		rate = defaultRate
	}
	return time.Second / time.Duration(rate) / 2
}

// pack makes the box of our pictures.
func (c *Conn) pack() {
	c.out.box.Type, c.out.box.AgainType = typeVP8, typeVP8RTX
	c.out.box.Send = func(s *session, packet []byte, payload int, at time.Time) error {
		return c.send(s, &c.out.pictures, packet, payload, at)
	}
	c.out.box.Again = func(s *session, packet []byte) {
		if err := s.transport.Send(packet); err != nil {
			c.logger().Debug("packet was not sent again", "error", err)
			return
		}
		c.note(func(s *Stats) { s.Repeated++ })
	}
	c.out.box.Reset()
}

// wake has the pacer look.
func (c *Conn) wake() {
	select {
	case c.waiting <- struct{}{}:
	default: // it will, or there is none
	}
}

// pace sends what waits in the box, until ctx ends.
func (c *Conn) pace(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	timer.Stop()
	for {
		select {
		case <-c.waiting:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		c.sending.Lock()
		wait, _ := c.step(time.Now()) // a packet that is lost here is like one that is lost on the way
		c.sending.Unlock()
		if wait > 0 {
			timer.Reset(wait)
		}
	}
}

// step sends the packets whose turn it is, and returns how long to wait for the next ones; 0 if there are none. It is called with sending
// held.
func (c *Conn) step(now time.Time) (time.Duration, error) {
	if !c.out.box.Waiting() {
		return 0, nil
	}
	return c.out.box.Step(c.sendable(), now)
}

// missed takes what a receiver did not get. A transport that sends again by itself needs nobody to.
func (c *Conn) missed(s *session, p *rtcp.TransportLayerNack, now time.Time) {
	c.sending.Lock()
	defer c.sending.Unlock()
	if !c.out.box.For(s) {
		return // of nothing that we have sent
	}
	video, _ := s.ready.VideoSSRCs()
	if _, itself := s.transport.(Sourcer); itself || p.MediaSSRC != video {
		return
	}
	c.out.box.Ask(p.Nacks, now)
	c.wake()
}
