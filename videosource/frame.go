package videosource

import (
	"context"
	"time"
)

// Screenshotter takes pictures of a page. A browser window is one.
type Screenshotter interface {
	// CaptureWebP is a picture of the current viewport as lossy WebP (quality 30 to 99), and the address of the page; the address
	// may be empty. scale is how large the picture is of what the page has in pixels: 1, or less to save bytes.
	CaptureWebP(ctx context.Context, quality int, scale float64) (data []byte, url string, err error)
}

// Reason says why a frame was sent.
type Reason string

// The reasons for a frame.
const (
	Initial   Reason = "initial"   // the first one, or the first for somebody who began to watch
	Activity  Reason = "activity"  // the page changed shortly after something was done
	Poll      Reason = "poll"      // the page changed by itself
	Heartbeat Reason = "heartbeat" // it has not changed; sent so that a lost frame is made good
	Requested Reason = "asked"     // a viewer lost the picture (PLI, FIR)
)

// Frame is one VP8 key frame (RFC 6386). Data is shared by all who get it and must not be changed.
type Frame struct {
	Data          []byte
	Width, Height int
	URL           string
	Reason        Reason
	Sequence      uint64    // counts what the source has sent, from 1; a viewer that is slow sees gaps
	Taken         time.Time // when the capture began
}
