package screenshot

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
)

//go:embed js/picture.js
var measureScript string

// viewportGeometry is the viewport of a tab. Lengths are CSS pixels of the page.
type viewportGeometry struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	X      float64 `json:"x"` // scroll position
	Y      float64 `json:"y"`
	DPR    float64 `json:"dpr"`
	Scale  float64 `json:"scale"` // by pinching
	Left   float64 `json:"left"`  // what shows, in the document
	Top    float64 `json:"top"`
	Bars   bool    `json:"bars"` // scroll bars take room
}

// cssBox is an area of a viewport, in CSS pixels.
type cssBox struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// elementPlace is where an element is, and whether something of it shows as far as its surroundings decide.
type elementPlace struct {
	cssBox
	Seen bool   `json:"seen"`
	Part cssBox `json:"part"`
}

// frameOffset is how a frame's document lies in the viewport above.
type frameOffset struct {
	Left  float64 `json:"left"`
	Top   float64 `json:"top"`
	Scale float64 `json:"scale"`
}

func (s frameOffset) apply(b cssBox) cssBox {
	return cssBox{s.Left + s.Scale*b.Left, s.Top + s.Scale*b.Top, s.Left + s.Scale*b.Right, s.Top + s.Scale*b.Bottom}
}

func (s frameOffset) below(outer frameOffset) frameOffset {
	return frameOffset{outer.Left + outer.Scale*s.Left, outer.Top + outer.Scale*s.Top, outer.Scale * s.Scale}
}

// scriptArgument is what the script is told.
type scriptArgument struct {
	Do     string            `json:"do"`
	Main   bool              `json:"main"` // the frame is the tab's main one
	Far    bool              `json:"far"`  // the main frame may scroll too
	Part   *cssBox           `json:"part,omitempty"`
	Before *viewportGeometry `json:"before,omitempty"`
	Ms     int               `json:"ms,omitempty"`
}

func runMeasureScript[R any](ctx context.Context, f *frame.Frame, elements []frame.Locator, a scriptArgument) (R, error) {
	a.Main = f.Parent() == nil
	return frame.CallFunction[R](ctx, f, measureScript, elements, a)
}

func measureViewport(ctx context.Context, t *page.Tab) (viewportGeometry, error) {
	return runMeasureScript[viewportGeometry](ctx, t.MainFrame(), nil, scriptArgument{Do: "page"})
}

// findElement resolves the element that a picture is asked of.
func findElement(t *page.Tab, ref, selector string) (frame.Element, frame.Locator, error) {
	e, err := t.Locate(ref, selector)
	if err != nil {
		return e, frame.Locator{}, err
	}
	if ref == "" {
		return e, frame.Locator{Selector: selector}, nil
	}
	return e, frame.Locator{Ref: e.LocalRef}, nil
}

// scrollIntoView has an element show, its frames included, and returns its box in the viewport of the main frame.
func scrollIntoView(ctx context.Context, e frame.Element, at frame.Locator) (cssBox, error) {
	remote := e.Frame.Parent() != nil
	found, err := runMeasureScript[*cssBox](ctx, e.Frame, []frame.Locator{at}, scriptArgument{Do: "reveal"})
	if err != nil {
		return cssBox{}, e.Explain(err)
	}
	if found == nil {
		return cssBox{}, explainMissing(ctx, e, at)
	}
	b := *found
	for f := e.Frame; f.Parent() != nil; f = f.Parent() {
		owner, err := f.FindOwner(ctx)
		if err != nil {
			return cssBox{}, e.Explain(err)
		}
		// A frame of another process is drawn only where it shows: the main frame scrolls too.
		up, err := runMeasureScript[*cssBox](ctx, f.Parent(), []frame.Locator{{Ref: owner}}, scriptArgument{Do: "reveal", Part: &b, Far: true})
		if err != nil {
			return cssBox{}, e.Explain(err)
		}
		if up == nil {
			return cssBox{}, explainMissing(ctx, frame.Element{Frame: f.Parent(), LocalRef: owner, GivenRef: e.GivenRef}, frame.Locator{Ref: owner})
		}
		b = *up
	}
	if remote {
		for f := e.Frame; f != nil; f = f.Parent() {
			if _, err := f.AwaitQuiet(ctx, true); err != nil {
				return cssBox{}, err
			}
		}
	}
	return b, nil
}

// offscreenDrawLimit bounds how long a page waits for its frames of other processes.
const offscreenDrawLimit = 3 * time.Second

// drawOffscreenFrames has frames of other processes drawn that were never in view: Chromium spares itself the effort until they are. The
// page is scrolled to each; restore brings it back.
func drawOffscreenFrames(ctx context.Context, t *page.Tab) error {
	ctx, cancel := context.WithTimeout(ctx, offscreenDrawLimit)
	defer cancel()
	for _, f := range t.Frames() {
		if f.Parent() == nil {
			continue
		}
		now, err := measureViewport(ctx, t)
		if err != nil {
			return err
		}
		owner, err := f.FindOwner(ctx)
		if err != nil {
			continue // it went away
		}
		at := []frame.Locator{{Ref: owner}}
		places, err := runMeasureScript[[]*elementPlace](ctx, f.Parent(), at, scriptArgument{Do: "places"})
		if err != nil || len(places) == 0 || places[0] == nil {
			continue
		}
		p := places[0]
		if !p.Seen || f.Parent().Parent() == nil && p.Bottom > 0 && p.Top < now.Height && p.Right > 0 && p.Left < now.Width {
			continue
		}
		if _, err := runMeasureScript[*cssBox](ctx, f.Parent(), at, scriptArgument{Do: "reveal", Far: true}); err != nil {
			continue
		}
		if _, err := f.AwaitQuiet(ctx, true); err != nil {
			continue
		}
	}
	return nil
}

// explainMissing says why an element cannot be shown.
func explainMissing(ctx context.Context, e frame.Element, at frame.Locator) error {
	_, err := frame.RunScript[struct{}](ctx, e.Frame, frame.Script{Fn: "ready", Arg: map[string]any{
		"ref": at.Ref, "selector": at.Selector, "timeout": 0, "patience": 0,
	}})
	if err == nil {
		err = errors.New("the element changed while it was looked at: try again")
	}
	return e.Explain(err)
}

// restoreLimit bounds putting a page back, which is done even if the caller has gone.
const restoreLimit = 2 * time.Second

// restoreTab puts everything back that was moved in a tab.
func restoreTab(ctx context.Context, t *page.Tab, before *viewportGeometry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreLimit)
	defer cancel()
	var errs []error
	for _, f := range t.Frames() {
		a := scriptArgument{Do: "restore"}
		if f.Parent() == nil {
			a.Before = before
		}
		if f.DocumentToken() == "" {
			continue // nothing of ours ran there
		}
		if _, err := runMeasureScript[bool](ctx, f, nil, a); err != nil && f.Parent() == nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
