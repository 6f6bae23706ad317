package computeruse

import (
	"cmp"
	"image"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/internal/untrusted"
	"clank/sessions/agent"
)

// ActionKind is the kind of an [Action].
type ActionKind string

// The kinds of action: the union of what the vendors' models do with a screen.
const (
	ActClick      ActionKind = "click"      // At (nil = where the mouse is), Button, Clicks, Held
	ActMove       ActionKind = "move"       // At, Held
	ActDown       ActionKind = "down"       // press a button and keep it down: At (nil = where the mouse is), Button
	ActUp         ActionKind = "up"         // release Button at At (nil = where the mouse is)
	ActDrag       ActionKind = "drag"       // Path of two points or more, Button, Held
	ActScroll     ActionKind = "scroll"     // At or Ref (neither = the middle), Scroll, Held
	ActKeys       ActionKind = "keys"       // Keys as one chord, Repeat; For = how long they are held
	ActKeyDown    ActionKind = "key_down"   // Keys
	ActKeyUp      ActionKind = "key_up"     // Keys
	ActType       ActionKind = "type"       // Text at the focus, replacing the content if Clear; then Enter if Enter
	ActWait       ActionKind = "wait"       // For; 0 = a little
	ActScreenshot ActionKind = "screenshot" // nothing: every batch ends with a picture
	ActZoom       ActionKind = "zoom"       // Region, answered with its picture
	ActCursor     ActionKind = "cursor"     // answered with where the mouse is
	ActNavigate   ActionKind = "navigate"   // URL
	ActReveal     ActionKind = "reveal"     // scroll to Ref
	ActFill       ActionKind = "fill"       // Ref, Text: give a form's field this value
	ActBack       ActionKind = "back"
	ActForward    ActionKind = "forward"
	ActUnknown    ActionKind = "unknown" // Text is what the model requested; the result is an error
)

// Button is a button of a mouse.
type Button string

// The buttons; "" is the left one.
const (
	ButtonLeft    Button = "left"
	ButtonRight   Button = "right"
	ButtonMiddle  Button = "middle"
	ButtonBack    Button = "back"
	ButtonForward Button = "forward"
)

// Action is one action of mouse or keyboard. Points are pixels of the picture that the model received, or cells of
// Grid; they may be outside of it, and mean the middle of their pixel or cell. Keys are names as the vendor's model
// wrote them. The kinds say which fields they use.
type Action struct {
	Kind   ActionKind
	At     *image.Point
	Ref    string // an element of the newest snapshot, in place of At
	Path   []image.Point
	Grid   image.Point // cells across and down the picture, if At and Path are in cells; zero = pixels
	Button Button
	Clicks int      // 0 = 1
	Held   []string // keys held during the action
	Keys   []string // pressed together
	Repeat int      // 0 = 1
	Text   string
	Enter  bool
	Clear  bool
	Scroll image.Point // pixels of the picture, positive = down and right
	For    time.Duration
	Region image.Rectangle
	URL    string
}

// actionResult is the result of an action on the page, or of reading it.
type actionResult struct {
	err      error  // the failure; its text may be the page's
	refused  string // why it was refused, in our words
	decision string // the decision, if people were asked
	remark   string // ours
	notes    []string
	body     string // the text that was read
}

func (d *actionResult) failed() bool { return d.err != nil || d.refused != "" }

// add adds the result of a later part of the same action.
func (d *actionResult) add(o actionResult) {
	d.err, d.refused, d.remark, d.body = o.err, o.refused, o.remark, o.body
	d.decision = cmp.Or(o.decision, d.decision)
	d.notes = append(d.notes, o.notes...)
}

// text returns the result for the model, or "" if there is nothing to report. Untrusted text is marked.
func (d *actionResult) text() string {
	var ours, theirs []string
	for _, s := range []string{d.refused, d.decision, d.remark} {
		if s != "" {
			ours = append(ours, s)
		}
	}
	if d.err != nil {
		ours = append(ours, "It failed.")
		theirs = append(theirs, "error: "+untrusted.CleanLine(d.err.Error(), maxNote))
	}
	for _, n := range d.notes {
		theirs = append(theirs, "note: "+untrusted.CleanLine(n, maxNote))
	}
	if d.body != "" {
		theirs = append(theirs, untrusted.Clean(d.body))
	}
	if len(theirs) > 0 {
		ours = append(ours, untrusted.Wrap(strings.Join(theirs, "\n")))
	}
	return strings.Join(ours, "\n")
}

// summary returns what people read about the result.
func (d *actionResult) summary() string {
	var rest string
	switch {
	case d.err != nil:
		rest = d.err.Error()
	case d.refused != "":
		rest = agent.ForPeople(d.refused)
	case d.body != "":
		rest = agent.Truncate(d.body, 500)
	default:
		rest = strings.Join(d.notes, "; ")
	}
	return strings.TrimSpace(strings.TrimSpace(d.decision+" "+d.remark) + " " + rest)
}

// CSSPoint is a place of the viewport in CSS pixels.
type CSSPoint struct{ X, Y float64 }

// ScreenGeometry maps the picture that a model sees to the viewport.
type ScreenGeometry struct {
	Picture       image.Point // pixels
	Width, Height float64     // CSS pixels
}

// Known reports whether a picture was seen, so that its points mean something.
func (g ScreenGeometry) Known() bool {
	return g.Picture.X > 0 && g.Picture.Y > 0 && g.Width > 0 && g.Height > 0
}

// ToViewport returns the place under the middle of a pixel, inside of the viewport.
func (g ScreenGeometry) ToViewport(p image.Point) CSSPoint {
	return CSSPoint{
		clampInside((float64(p.X)+0.5)*g.Width/float64(g.Picture.X), g.Width),
		clampInside((float64(p.Y)+0.5)*g.Height/float64(g.Picture.Y), g.Height),
	}
}

// ToPicture returns the pixel over a place.
func (g ScreenGeometry) ToPicture(p CSSPoint) image.Point {
	return image.Pt(int(p.X*float64(g.Picture.X)/g.Width), int(p.Y*float64(g.Picture.Y)/g.Height))
}

// ScaleDistance returns a distance of the picture in CSS pixels, bounded.
func (g ScreenGeometry) ScaleDistance(p image.Point) CSSPoint {
	const most = 20000
	bound := func(v float64) float64 { return math.Max(-most, math.Min(most, v)) }
	return CSSPoint{
		bound(float64(p.X) * g.Width / float64(g.Picture.X)),
		bound(float64(p.Y) * g.Height / float64(g.Picture.Y)),
	}
}

// Center returns the place in the middle.
func (g ScreenGeometry) Center() CSSPoint { return CSSPoint{g.Width / 2, g.Height / 2} }

// clampInside clamps v into a side of the given length.
func clampInside(v, length float64) float64 {
	return math.Max(0, math.Min(v, length-math.Min(0.5, length/2)))
}

// String returns the point as paths of the control API have it.
func (p CSSPoint) String() string {
	return strconv.FormatFloat(p.X, 'f', -1, 64) + "," + strconv.FormatFloat(p.Y, 'f', -1, 64)
}
