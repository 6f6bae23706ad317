package act

import (
	"context"
	_ "embed" // the script
	"errors"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/input"
)

//go:embed under.js
var underScript string

// maxDeep bounds how deep frames of other processes are followed.
const maxDeep = 16

// UnderPoint finds the frame that shows what is at a point of the tab's viewport, and the point in that frame's viewport.
// frames are the tab's, parents first.
func UnderPoint(ctx context.Context, frames []*frame.Frame, at input.Point) (*frame.Frame, input.Point, error) {
	return descend(ctx, frames, &at)
}

// Focused finds the frame that takes what is typed. frames are the tab's, parents first.
func Focused(ctx context.Context, frames []*frame.Frame) (*frame.Frame, error) {
	f, _, err := descend(ctx, frames, nil)
	return f, err
}

// descend goes from the main frame into the frames of other processes, as long as they hold the point, or without one the
// focus. A frame that goes away meanwhile is where it ends.
func descend(ctx context.Context, frames []*frame.Frame, at *input.Point) (*frame.Frame, input.Point, error) {
	f, point := frames[0], input.Point{}
	if at != nil {
		point = *at
	}
	for range maxDeep {
		var inner []*frame.Frame
		var owners []frame.Locator
		for _, child := range frames {
			if child.Parent() != f {
				continue
			}
			ref, err := child.Place(ctx)
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
		in, err := frame.Apply[struct {
			Owner int `json:"owner"`
			input.Point
		}](ctx, f, underScript, owners, arg)
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
