package screenshot

import (
	"context"
	_ "embed"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

// Label is a ref of a snapshot to mark in the picture.
type Label struct {
	Ref  string
	Role string
	Name string
}

// Box is an area of a picture, in pixels.
type Box struct {
	X      int `json:"x"`
	Y      int `json:"y"`
	Width  int `json:"width"`
	Height int `json:"height"`
}

// Annotation locates an element in a picture. The box may lie outside the picture, and is empty if no part of the
// element is visible.
type Annotation struct {
	Ref    string `json:"ref"`
	Number int    `json:"number"` // the number at the end of the ref
	Role   string `json:"role"`
	Name   string `json:"name,omitempty"`
	Box    Box    `json:"box"`
}

// locateLabels returns the positions of the labels' elements in the viewport of the main frame. Elements that are gone
// are omitted.
func locateLabels(ctx context.Context, t *page.Tab, labels []Label) (map[string]elementPlace, error) {
	type group struct {
		refs []string
		at   []frame.Locator
	}
	groups := map[*frame.Frame]*group{}
	for _, l := range labels[:min(len(labels), MaxLabels)] {
		e, err := t.Locate(l.Ref, "")
		if err != nil || l.Ref == "" {
			continue
		}
		g := groups[e.Frame]
		if g == nil {
			g = &group{}
			groups[e.Frame] = g
		}
		g.refs, g.at = append(g.refs, l.Ref), append(g.at, frame.Locator{Ref: e.LocalRef})
	}
	found := map[string]elementPlace{}
	for f, g := range groups {
		places, err := runMeasureScript[[]*elementPlace](ctx, f, g.at, scriptArgument{Do: "places"})
		if err == nil {
			err = mapToMainFrame(ctx, f, places)
		}
		if cdp.IsDocumentGone(err) && f.Parent() != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		for i, p := range places {
			if p != nil {
				found[g.refs[i]] = *p
			}
		}
	}
	return found, nil
}

// mapToMainFrame maps positions in an out-of-process frame to the viewport of the main frame.
func mapToMainFrame(ctx context.Context, f *frame.Frame, places []*elementPlace) error {
	total := frameOffset{Scale: 1}
	for ; f.Parent() != nil; f = f.Parent() {
		owner, err := f.FindOwner(ctx)
		if err != nil {
			return err
		}
		s, err := runMeasureScript[*frameOffset](ctx, f.Parent(), []frame.Locator{{Ref: owner}}, scriptArgument{Do: "shift"})
		if err != nil {
			return err
		}
		if s == nil {
			return cdp.ErrDocumentGone
		}
		total = total.below(*s)
	}
	for _, p := range places {
		if p != nil && p.cssBox != (cssBox{}) {
			p.cssBox, p.Part = total.apply(p.cssBox), total.apply(p.Part)
		}
	}
	return nil
}

// labelSketch holds the labels to draw into a picture.
type labelSketch struct {
	labels    []Label
	places    map[string]elementPlace
	view      pictureArea
	truncated bool
}

func newSketch(labels []Label, places map[string]elementPlace, v pictureArea) *labelSketch {
	s := &labelSketch{labels: labels, places: places, view: v}
	if len(labels) > MaxLabels {
		s.labels, s.truncated = labels[:MaxLabels], true
	}
	return s
}

// pixels returns the box in the picture for one in the document.
func (v pictureArea) pixels(b cssBox, scale float64) image.Rectangle {
	at := func(n, origin float64) int { return int(math.Round((n - origin) * v.scale * scale)) }
	return image.Rect(at(b.Left, v.left), at(b.Top, v.top), at(b.Right, v.left), at(b.Bottom, v.top))
}

// draw draws the labels into a picture scaled by this factor, and adds them to out.
func (s *labelSketch) draw(canvas draw.Image, scale float64, out *Image) {
	out.Annotations, out.Truncated = []Annotation{}, s.truncated
	var drawn []Label
	var where []image.Rectangle
	for _, l := range s.labels {
		p, ok := s.places[l.Ref]
		if !ok {
			out.Skipped++
			continue
		}
		r := image.Rectangle{}
		if p.cssBox != (cssBox{}) {
			r = s.view.pixels(p.cssBox, scale)
		}
		out.Annotations = append(out.Annotations, Annotation{
			Ref: l.Ref, Number: refNumber(l.Ref), Role: l.Role, Name: l.Name, Box: Box{r.Min.X, r.Min.Y, r.Dx(), r.Dy()},
		})
		if !p.Seen || s.view.pixels(p.Part, scale).Intersect(canvas.Bounds()).Empty() {
			out.Skipped++
			continue
		}
		out.Drawn++
		drawn, where = append(drawn, l), append(where, r)
	}
	thick := max(2, int(math.Round(2*s.view.scale*scale)))
	for _, r := range where {
		drawOutline(canvas, r, min(thick, 6))
	}
	for i, l := range drawn {
		drawTag(canvas, where[i], l.Ref, int(math.Round(s.view.scale*scale)))
	}
}

// refNumber returns the number at the end of a ref.
func refNumber(ref string) int {
	digits := ref[len(strings.TrimRight(ref, "0123456789")):]
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

var (
	labelColor     = color.RGBA{R: 0xff, G: 0xb0, B: 0x20, A: 0xff}
	labelTextColor = color.RGBA{R: 0x1a, G: 0x1a, B: 0x1a, A: 0xff}
)

// drawOutline draws the outline of a box, inside its edges.
func drawOutline(canvas draw.Image, r image.Rectangle, thick int) {
	fill := image.NewUniform(labelColor)
	for _, side := range []image.Rectangle{
		{r.Min, image.Pt(r.Max.X, r.Min.Y+thick)},
		{image.Pt(r.Min.X, r.Max.Y-thick), r.Max},
		{r.Min, image.Pt(r.Min.X+thick, r.Max.Y)},
		{image.Pt(r.Max.X-thick, r.Min.Y), r.Max},
	} {
		draw.Draw(canvas, side.Intersect(r), fill, image.Point{}, draw.Src)
	}
}

// drawTag writes the ref above the box, or into its corner if there is no room above. zoom is an integer factor for the
// size of the letters.
func drawTag(canvas draw.Image, r image.Rectangle, ref string, zoom int) {
	zoom = min(max(zoom, 1), 4)
	letters := image.NewRGBA(image.Rect(0, 0, 7*len(ref)+4, 13))
	draw.Draw(letters, letters.Bounds(), image.NewUniform(labelColor), image.Point{}, draw.Src)
	pen := font.Drawer{Dst: letters, Src: image.NewUniform(labelTextColor), Face: basicfont.Face7x13, Dot: fixed.P(2, 11)}
	pen.DrawString(ref)
	size := letters.Bounds().Size().Mul(zoom)
	bounds := canvas.Bounds()
	at := image.Pt(min(max(r.Min.X, bounds.Min.X), bounds.Max.X-size.X), r.Min.Y-size.Y)
	if at.Y < bounds.Min.Y {
		at.Y = min(max(r.Min.Y, bounds.Min.Y), bounds.Max.Y-size.Y)
	}
	for y := range size.Y {
		for x := range size.X {
			if p := at.Add(image.Pt(x, y)); p.In(bounds) {
				canvas.Set(p.X, p.Y, letters.RGBAAt(x/zoom, y/zoom))
			}
		}
	}
}

//go:embed js/picture.js
var measureScript string

// viewportGeometry is the viewport of a tab. Lengths are CSS pixels of the page.
type viewportGeometry struct {
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	X      float64 `json:"x"` // scroll position
	Y      float64 `json:"y"`
	DPR    float64 `json:"dpr"`
	Scale  float64 `json:"scale"` // pinch zoom
	Left   float64 `json:"left"`  // upper left corner of the visible part, in the document
	Top    float64 `json:"top"`
	Bars   bool    `json:"bars"` // scroll bars take space
}

// cssBox is an area of a viewport, in CSS pixels.
type cssBox struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// elementPlace is the position of an element, and whether its ancestors leave part of it visible.
type elementPlace struct {
	cssBox
	Seen bool   `json:"seen"`
	Part cssBox `json:"part"`
}

// frameOffset is the position and scale of a frame's document in the parent's viewport.
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

// scriptArgument is the argument of the script.
type scriptArgument struct {
	Do     string            `json:"do"`
	Main   bool              `json:"main"` // the frame is the tab's main frame
	Far    bool              `json:"far"`  // the main frame may scroll too
	Part   *cssBox           `json:"part,omitempty"`
	Before *viewportGeometry `json:"before,omitempty"`
	Ms     int               `json:"ms,omitempty"`
}

func runMeasureScript[R any](ctx context.Context, f *frame.Frame, elements []frame.Locator,
	a scriptArgument,
) (R, error) {
	a.Main = f.Parent() == nil
	return frame.CallFunction[R](ctx, f, measureScript, elements, a)
}

func measureViewport(ctx context.Context, t *page.Tab) (viewportGeometry, error) {
	return runMeasureScript[viewportGeometry](ctx, t.MainFrame(), nil, scriptArgument{Do: "page"})
}

// findElement resolves the element to show.
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

// scrollIntoView scrolls an element into view, in all its frames, and returns its box in the viewport of the main
// frame.
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
		// An out-of-process frame is drawn only where it is visible, so the main frame scrolls too.
		up, err := runMeasureScript[*cssBox](ctx, f.Parent(), []frame.Locator{{Ref: owner}},
			scriptArgument{Do: "reveal", Part: &b, Far: true})
		if err != nil {
			return cssBox{}, e.Explain(err)
		}
		if up == nil {
			return cssBox{}, explainMissing(ctx, frame.Element{Frame: f.Parent(), LocalRef: owner, GivenRef: e.GivenRef},
				frame.Locator{Ref: owner})
		}
		b = *up
	}
	if remote {
		if err := awaitPainted(ctx, e.Frame); err != nil {
			return cssBox{}, err
		}
	}
	return b, nil
}

// awaitPainted waits until a frame that has come into view is drawn, and the documents around it draw that it is there.
func awaitPainted(ctx context.Context, f *frame.Frame) error {
	for ; f != nil; f = f.Parent() {
		if _, err := frame.RunScript[bool](ctx, f, frame.Script{Fn: "painted"}); err != nil {
			return err
		}
	}
	return nil
}

// offscreenDrawLimit bounds the wait until a page's out-of-process frames are drawn.
const offscreenDrawLimit = 3 * time.Second

// drawOffscreenFrames makes Chromium draw out-of-process frames that were never in view, which it otherwise omits, by
// scrolling the page to each. Those that are not drawn in time are left out. restoreTab scrolls back.
func drawOffscreenFrames(ctx context.Context, t *page.Tab) error {
	limited, cancel := context.WithTimeout(ctx, offscreenDrawLimit)
	defer cancel()
	for _, f := range t.Frames() {
		if f.Parent() == nil {
			continue
		}
		now, err := measureViewport(limited, t)
		if limited.Err() != nil && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return err
		}
		owner, err := f.FindOwner(limited)
		if err != nil {
			continue // the frame is gone
		}
		at := []frame.Locator{{Ref: owner}}
		places, err := runMeasureScript[[]*elementPlace](limited, f.Parent(), at, scriptArgument{Do: "places"})
		if err != nil || len(places) == 0 || places[0] == nil {
			continue
		}
		p := places[0]
		if !p.Seen || f.Parent().Parent() == nil && p.Bottom > 0 && p.Top < now.Height && p.Right > 0 && p.Left < now.Width {
			continue
		}
		_, err = runMeasureScript[*cssBox](limited, f.Parent(), at, scriptArgument{Do: "reveal", Far: true})
		if err != nil {
			continue
		}
		if err := awaitPainted(limited, f); err != nil {
			continue // it hangs, or the time is over
		}
	}
	return nil
}

// explainMissing returns why an element cannot be shown.
func explainMissing(ctx context.Context, e frame.Element, at frame.Locator) error {
	_, err := frame.RunScript[struct{}](ctx, e.Frame, frame.Script{Fn: "ready", Arg: map[string]any{
		"ref": at.Ref, "selector": at.Selector, "timeout": 0, "patience": 0,
	}})
	if err == nil {
		err = errors.New("the element changed while it was looked at: try again")
	}
	return e.Explain(err)
}

// restoreLimit bounds restoring a page, which is done even if ctx has ended.
const restoreLimit = 2 * time.Second

// restoreTab restores everything that was moved in a tab.
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
			continue // our scripts have not run there
		}
		if _, err := runMeasureScript[bool](ctx, f, nil, a); err != nil && f.Parent() == nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
