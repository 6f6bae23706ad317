package computeruse

import (
	"image"
	"time"
)

// ActionKind says what an [Action] does.
type ActionKind string

// The kinds of action: the union of what the vendors' models do with a screen.
const (
	ActClick      ActionKind = "click"      // At (nil = where the mouse is), Button, Clicks, Held
	ActMove       ActionKind = "move"       // At, Held
	ActDown       ActionKind = "down"       // press a button and keep it down: At (nil = where the mouse is), Button
	ActUp         ActionKind = "up"         // let it go: At (nil = where the mouse is), Button
	ActDrag       ActionKind = "drag"       // Path of two points or more, Button, Held
	ActScroll     ActionKind = "scroll"     // At (nil = the middle), Scroll, Held
	ActKeys       ActionKind = "keys"       // Keys as one chord, Repeat; For = how long they are held
	ActKeyDown    ActionKind = "key_down"   // Keys
	ActKeyUp      ActionKind = "key_up"     // Keys
	ActType       ActionKind = "type"       // Text at the focus; then Enter if Enter; Clear = in place of what is there
	ActWait       ActionKind = "wait"       // For; 0 = a little
	ActScreenshot ActionKind = "screenshot" // nothing: every batch ends with a picture
	ActZoom       ActionKind = "zoom"       // Region, answered with its picture
	ActCursor     ActionKind = "cursor"     // answered with where the mouse is
	ActNavigate   ActionKind = "navigate"   // URL
	ActReveal     ActionKind = "reveal"     // scroll to Ref
	ActFill       ActionKind = "fill"       // Ref, Text: give a form's field this value
	ActBack       ActionKind = "back"
	ActForward    ActionKind = "forward"
	ActUnknown    ActionKind = "unknown" // Text says what the model wanted; it is answered with an error
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

// Action is one thing that mouse or keyboard do. Points are pixels of the
// picture that was sent, or cells of Grid; they may lie outside, and mean the
// middle of their pixel or cell.
// Keys are names as the vendor's model wrote them. Which fields a kind reads
// stands with it.
type Action struct {
	Kind   ActionKind
	At     *image.Point
	Ref    string // an element of the newest snapshot, in place of At
	Path   []image.Point
	Grid   image.Point // how many cells lie across and down the picture, where At and Path count in those; zero = pixels
	Button Button
	Clicks int      // 0 = 1
	Held   []string // keys that are held meanwhile
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
