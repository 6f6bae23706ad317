package record

import (
	"context"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// frameInterval is how long Chromium waits for the next picture: it sends one when the page changes, and has two on
	// their way at most.
	frameInterval = 250 * time.Millisecond
	frameQuality  = 60
	maxFrameSide  = 1280
	maxFrameSize  = 2 << 20
)

// startScreencast has Chromium send pictures of the tab.
func (r *traceRun) startScreencast(tab *page.Tab) {
	quality, side := frameQuality, maxFrameSide
	tab.MainFrame().Post(proto.PageStartScreencast{
		Format: proto.PageStartScreencastFormatJpeg, Quality: &quality, MaxWidth: &side, MaxHeight: &side,
	})
}

// frameAck lets Chromium send the next picture.
type frameAck struct {
	frame   *frame.Frame
	session int
	due     time.Time
}

// addFrame takes one of a tab.
func (r *traceRun) addFrame(tab *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p proto.PageScreencastFrame
	if !ev.Decode(&p) || p.Metadata == nil {
		return
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	select {
	case r.acks <- frameAck{frame: f, session: p.SessionID, due: time.Now().Add(frameInterval)}:
	default:
		f.Post(proto.PageScreencastFrameAck{SessionID: p.SessionID})
	}
	r.mu.Unlock()
	line := frameLine{
		Type: "screencast-frame", PageID: viewerPageID(tab), Width: p.Metadata.DeviceWidth, Height: p.Metadata.DeviceHeight,
		Timestamp: r.now(), FrameSwapWallTime: float64(p.Metadata.Timestamp) * 1000,
	}
	if len(p.Data) > maxFrameSize {
		return
	}
	r.enqueue(r.jobs, func(ctx context.Context) {
		data, err := tab.MaskImage(ctx, p.Data, p.Metadata.DeviceWidth, p.Metadata.PageScaleFactor)
		if err != nil {
			return // what cannot be covered is left out
		}
		name, err := r.spool.addResource("frames", data, ".jpeg")
		if err != nil {
			r.reportOmitted("pictures", err)
			return
		}
		line.File = name
		r.writeLine(traceLines, line)
	})
}

// acknowledgeFrames answers pictures when they are due, and all of them when the run ends.
func (r *traceRun) acknowledgeFrames(ctx context.Context) {
	for a := range r.acks {
		timer := time.NewTimer(time.Until(a.due))
		select {
		case <-timer.C:
		case <-r.ended:
		case <-ctx.Done():
		}
		timer.Stop()
		a.frame.Post(proto.PageScreencastFrameAck{SessionID: a.session})
	}
}
