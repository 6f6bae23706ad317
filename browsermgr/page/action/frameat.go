package action

import (
	"context"
	_ "embed" // the script
	"errors"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"
)

//go:embed under.js
var frameAtScript string

// maxFrameDepth bounds how deep frames of other processes are followed.
const maxFrameDepth = 16

// FrameAtPoint finds the frame that shows what is at a point of the tab's viewport, and the point in that frame's viewport.
// frames are the tab's, parents first.
func FrameAtPoint(ctx context.Context, frames []*frame.Frame, at frame.Point) (*frame.Frame, frame.Point, error) {
	return descendFrames(ctx, frames, &at)
}

// FocusedFrame finds the frame that takes what is typed. frames are the tab's, parents first.
func FocusedFrame(ctx context.Context, frames []*frame.Frame) (*frame.Frame, error) {
	f, _, err := descendFrames(ctx, frames, nil)
	return f, err
}

// descendFrames goes from the main frame into the frames of other processes, as long as they hold the point, or without one the
// focus. A frame that goes away meanwhile is where it ends.
func descendFrames(ctx context.Context, frames []*frame.Frame, at *frame.Point) (*frame.Frame, frame.Point, error) {
	f, point := frames[0], frame.Point{}
	if at != nil {
		point = *at
	}
	for range maxFrameDepth {
		var inner []*frame.Frame
		var owners []frame.Locator
		for _, child := range frames {
			if child.Parent() != f {
				continue
			}
			ref, err := child.FindOwner(ctx)
			if ctx.Err() != nil {
				return f, point, context.Cause(ctx)
			}
			if err == nil { // another one is just going away
				inner, owners = append(inner, child), append(owners, frame.Locator{Ref: ref})
			}
		}
		if len(inner) == 0 {
			return f, point, nil
		}
		var arg any
		if at != nil {
			arg = point
		}
		in, err := frame.CallFunction[struct {
			Owner int `json:"owner"`
			frame.Point
		}](ctx, f, frameAtScript, owners, arg)
		if errors.Is(err, cdp.ErrDocumentGone) || err == nil && in.Owner < 0 {
			return f, point, nil
		}
		if err != nil {
			return f, point, err
		}
		f, point = inner[in.Owner], in.Point
	}
	return f, point, nil
}
