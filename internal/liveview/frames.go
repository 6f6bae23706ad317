package liveview

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"time"

	"clank/videosource"

	"github.com/coder/websocket"
)

// showFrames sends frames as fast as the viewer acknowledges them.
func (c *viewing) showFrames(ctx context.Context) error {
	leaveLast := func() {} // called when the next stream is open, so that the capture continues
	defer func() { leaveLast() }()
	for {
		c.mu.Lock()
		key := streamKey{session: c.session.ID, takeover: c.takeover}
		if !c.video {
			key.width, key.height = c.width, c.height
		}
		c.mu.Unlock()
		view, leave := c.server.subscribe(key, c.session)
		leaveLast()
		leaveLast = leave
		if err := c.showView(ctx, view.Frames()); err != nil {
			return err
		}
	}
}

// showView sends frames until another stream is to be shown. Its error is that of the viewer.
func (c *viewing) showView(ctx context.Context, frames <-chan videosource.Frame) error {
	unread := time.NewTimer(unreadTimeout)
	defer unread.Stop()
	for {
		next := frames
		c.mu.Lock()
		if len(c.sent) >= maxInFlight {
			next = nil
		} else {
			unread.Reset(unreadTimeout)
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.streamChanged:
			return nil
		case <-c.acks:
		case <-unread.C:
			return errors.New("the viewer does not show what it is sent")
		case f, ok := <-next:
			if !ok {
				return errClosing
			}
			if err := c.sendFrame(ctx, f); err != nil {
				return err
			}
		}
	}
}

// recordShown records that the viewer has acknowledged the oldest frame. If images arrive late, video is sent from then
// on: it needs a hundredth of the bandwidth, but a browser that encodes it.
func (c *viewing) recordShown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sent) == 0 {
		return
	}
	if time.Since(c.sent[0]) > lateAfter {
		c.late++
	} else {
		c.late = 0
	}
	c.sent = c.sent[1:]
	signal(c.acks)
	if c.late >= lateFrames && c.decodes && !c.video {
		c.video = true
		signal(c.streamChanged)
	}
}

// setDecodes notes whether the viewer's browser decodes video.
func (c *viewing) setDecodes(decodes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decodes = decodes
	if !decodes && c.video {
		c.video = false
		signal(c.streamChanged)
	}
}

// frameHeader describes a frame.
type frameHeader struct {
	N  int     `json:"n"`
	W  int     `json:"w"` // of the image
	H  int     `json:"h"`
	VW float64 `json:"vw"` // of the viewport, in CSS pixels
	VH float64 `json:"vh"`
}

// Kinds of frames.
const (
	kindJPEG byte = 1
	kindVP8  byte = 2
)

func (c *viewing) sendFrame(ctx context.Context, f videosource.Frame) error {
	c.number++
	head, err := json.Marshal(frameHeader{c.number, f.Width, f.Height, f.View.Width, f.View.Height})
	if err != nil {
		return err
	}
	kind := kindVP8
	if f.JPEG {
		kind = kindJPEG
	}
	data := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(head))) //nolint:gosec // the header is short
	c.mu.Lock()
	c.sent = append(c.sent, time.Now())
	c.size = Size{f.View.Width, f.View.Height}
	c.mu.Unlock()
	ctx, cancel := writing(ctx)
	defer cancel()
	return c.conn.Write(ctx, websocket.MessageBinary, append(append(data, head...), f.Data...))
}
