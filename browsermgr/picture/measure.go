package picture

import (
	"context"
	_ "embed"
	"errors"
	"time"

	"clank/browsermgr/frame"
	"clank/browsermgr/page"
)

//go:embed js/picture.js
var script string

// geometry is the viewport of a tab. Lengths are CSS pixels of the page.
type geometry struct {
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

// box is an area of a viewport, in CSS pixels.
type box struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// place is where an element is, and whether something of it shows as far as its surroundings decide.
type place struct {
	box
	Seen bool `json:"seen"`
	Part box  `json:"part"`
}

// shift is how a frame's document lies in the viewport above.
type shift struct {
	Left  float64 `json:"left"`
	Top   float64 `json:"top"`
	Scale float64 `json:"scale"`
}

func (s shift) apply(b box) box {
	return box{s.Left + s.Scale*b.Left, s.Top + s.Scale*b.Top, s.Left + s.Scale*b.Right, s.Top + s.Scale*b.Bottom}
}

func (s shift) below(outer shift) shift {
	return shift{outer.Left + outer.Scale*s.Left, outer.Top + outer.Scale*s.Top, outer.Scale * s.Scale}
}

// argument is what the script is told.
type argument struct {
	Do     string    `json:"do"`
	Main   bool      `json:"main"` // the frame is the tab's main one
	Far    bool      `json:"far"`  // the main frame may scroll too
	Part   *box      `json:"part,omitempty"`
	Before *geometry `json:"before,omitempty"`
	Ms     int       `json:"ms,omitempty"`
}

func run[R any](ctx context.Context, f *frame.Frame, elements []frame.Locator, a argument) (R, error) {
	a.Main = f.Parent() == nil
	return frame.Apply[R](ctx, f, script, elements, a)
}

func measure(ctx context.Context, t *page.Tab) (geometry, error) {
	return run[geometry](ctx, t.Main(), nil, argument{Do: "page"})
}

// find resolves the element that a picture is asked of.
func find(t *page.Tab, ref, selector string) (frame.Element, frame.Locator, error) {
	e, err := t.Locate(ref, selector)
	if err != nil {
		return e, frame.Locator{}, err
	}
	if ref == "" {
		return e, frame.Locator{Selector: selector}, nil
	}
	return e, frame.Locator{Ref: e.Local}, nil
}

// reveal has an element show, its frames included, and returns its box in the viewport of the main frame.
func reveal(ctx context.Context, e frame.Element, at frame.Locator) (box, error) {
	remote := e.Frame.Parent() != nil
	found, err := run[*box](ctx, e.Frame, []frame.Locator{at}, argument{Do: "reveal"})
	if err != nil {
		return box{}, e.Explain(err)
	}
	if found == nil {
		return box{}, missing(ctx, e, at)
	}
	b := *found
	for f := e.Frame; f.Parent() != nil; f = f.Parent() {
		owner, err := f.Place(ctx)
		if err != nil {
			return box{}, e.Explain(err)
		}
		// A frame of another process is drawn only where it shows: the main frame scrolls too.
		up, err := run[*box](ctx, f.Parent(), []frame.Locator{{Ref: owner}}, argument{Do: "reveal", Part: &b, Far: true})
		if err != nil {
			return box{}, e.Explain(err)
		}
		if up == nil {
			return box{}, missing(ctx, frame.Element{Frame: f.Parent(), Local: owner, Given: e.Given}, frame.Locator{Ref: owner})
		}
		b = *up
	}
	if remote {
		for f := e.Frame; f != nil; f = f.Parent() {
			if _, err := f.Quiet(ctx, true); err != nil {
				return box{}, err
			}
		}
	}
	return b, nil
}

// wakeLimit bounds how long a page waits for its frames of other processes.
const wakeLimit = 3 * time.Second

// wake has frames of other processes drawn that were never in view: Chromium spares itself the effort until they are. The
// page is scrolled to each; restore brings it back.
func wake(ctx context.Context, t *page.Tab) error {
	ctx, cancel := context.WithTimeout(ctx, wakeLimit)
	defer cancel()
	for _, f := range t.Frames() {
		if f.Parent() == nil {
			continue
		}
		now, err := measure(ctx, t)
		if err != nil {
			return err
		}
		owner, err := f.Place(ctx)
		if err != nil {
			continue // it went away
		}
		at := []frame.Locator{{Ref: owner}}
		places, err := run[[]*place](ctx, f.Parent(), at, argument{Do: "places"})
		if err != nil || len(places) == 0 || places[0] == nil {
			continue
		}
		p := places[0]
		if !p.Seen || f.Parent().Parent() == nil && p.Bottom > 0 && p.Top < now.Height && p.Right > 0 && p.Left < now.Width {
			continue
		}
		if _, err := run[*box](ctx, f.Parent(), at, argument{Do: "reveal", Far: true}); err != nil {
			continue
		}
		if _, err := f.Quiet(ctx, true); err != nil {
			continue
		}
	}
	return nil
}

// missing says why an element cannot be shown.
func missing(ctx context.Context, e frame.Element, at frame.Locator) error {
	_, err := frame.Run[struct{}](ctx, e.Frame, frame.Script{Fn: "ready", Arg: map[string]any{
		"ref": at.Ref, "selector": at.Selector, "timeout": 0, "patience": 0,
	}})
	if err == nil {
		err = errors.New("the element changed while it was looked at: try again")
	}
	return e.Explain(err)
}

// restoreLimit bounds putting a page back, which is done even if the caller has gone.
const restoreLimit = 2 * time.Second

// restore puts everything back that was moved in a tab.
func restore(ctx context.Context, t *page.Tab, before *geometry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), restoreLimit)
	defer cancel()
	var errs []error
	for _, f := range t.Frames() {
		a := argument{Do: "restore"}
		if f.Parent() == nil {
			a.Before = before
		}
		if f.Token() == "" {
			continue // nothing of ours ran there
		}
		if _, err := run[bool](ctx, f, nil, a); err != nil && f.Parent() == nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
