package action

// Kind names an action. The names are those of the control API's POST /act, and besides those of mouse and keyboard as
// somebody uses them who only sees the screen: pointerMove, pointerDown, pointerUp, wheel, keyDown, keyUp, insertText.
type Kind string

// The kinds of [Action].
const (
	KindClick          Kind = "click"
	KindClickCoords    Kind = "clickCoords"
	KindType           Kind = "type"
	KindPress          Kind = "press"
	KindHover          Kind = "hover"
	KindScrollIntoView Kind = "scrollIntoView"
	KindScroll         Kind = "scroll"
	KindDrag           Kind = "drag"
	KindDragCoords     Kind = "dragCoords"
	KindSelect         Kind = "select"
	KindFill           Kind = "fill"
	KindResize         Kind = "resize"
	KindWait           Kind = "wait"
	KindEvaluate       Kind = "evaluate"
	KindBack           Kind = "back"
	KindForward        Kind = "forward"
	KindReload         Kind = "reload"
	KindClose          Kind = "close"
	KindPointerMove    Kind = "pointerMove"
	KindPointerDown    Kind = "pointerDown"
	KindPointerUp      Kind = "pointerUp"
	KindWheel          Kind = "wheel"
	KindKeyDown        Kind = "keyDown"
	KindKeyUp          Kind = "keyUp"
	KindInsertText     Kind = "insertText"
)

// Action is one thing to do in a tab. Kind decides which fields count; the others are ignored. Times are milliseconds,
// coordinates CSS pixels of the viewport. An element is named by Ref (from a snapshot) or by Selector (CSS, first match,
// open shadow roots included).
type Action struct {
	Kind     Kind   `json:"kind"`
	Ref      string `json:"ref,omitempty"`
	Selector string `json:"selector,omitempty"`

	// click, clickCoords, pointer actions, wheel; dragCoords goes from X, Y to EndX, EndY, or along Path. NaN is a coordinate
	// that was not given.
	DoubleClick bool     `json:"doubleClick,omitempty"`
	Button      string   `json:"button,omitempty"`    // left (default), right, middle; at a point also back, forward
	Modifiers   []string `json:"modifiers,omitempty"` // Alt, Control, ControlOrMeta, Meta, Shift
	DelayMs     int      `json:"delayMs,omitempty"`   // click: between hover and click; clickCoords, press: how long it is held
	X           float64  `json:"x,omitempty"`
	Y           float64  `json:"y,omitempty"`
	EndX        float64  `json:"endX,omitempty"`
	EndY        float64  `json:"endY,omitempty"`
	Path        []string `json:"path,omitempty"`       // "x, y" each, two or more
	ClickCount  int      `json:"clickCount,omitempty"` // clickCoords: 1 to 3; DoubleClick is 2
	DeltaX      float64  `json:"deltaX,omitempty"`     // wheel: right and down are positive
	DeltaY      float64  `json:"deltaY,omitempty"`

	// type; Text is also what wait looks for
	Text   string `json:"text,omitempty"`
	Submit bool   `json:"submit,omitempty"` // press Enter afterwards
	Slowly bool   `json:"slowly,omitempty"` // click the field, then key by key, leaving what is there

	// insertText: first select what the field that has the focus holds
	Clear bool `json:"clear,omitempty"`

	Key    string   `json:"key,omitempty"`    // press, keyDown, keyUp: Enter, Control+Shift+T, a
	Count  int      `json:"count,omitempty"`  // press: how often, up to 100; 0 is once
	Values []string `json:"values,omitempty"` // select: option values or labels
	Fields []Field  `json:"fields,omitempty"` // fill; those without a ref are left out

	// scroll: up, down (default), left, right by Pixels (default: most of the viewport)
	Direction string `json:"direction,omitempty"`
	Pixels    int    `json:"pixels,omitempty"`

	// drag
	StartRef      string `json:"startRef,omitempty"`
	StartSelector string `json:"startSelector,omitempty"`
	EndRef        string `json:"endRef,omitempty"`
	EndSelector   string `json:"endSelector,omitempty"`

	// resize
	Width  int `json:"width,omitempty"`
	Height int `json:"height,omitempty"`

	// wait: whatever is given is waited for, in this order, together with Text above and Selector
	TimeMs    int    `json:"timeMs,omitempty"`
	TextGone  string `json:"textGone,omitempty"`
	URL       string `json:"url,omitempty"`       // exact or glob: * within a path segment, ** across
	LoadState string `json:"loadState,omitempty"` // load, domcontentloaded, networkidle

	// wait and evaluate: JavaScript, a function, an expression or statements; with a ref the element is the argument el
	Fn string `json:"fn,omitempty"`

	// TimeoutMs bounds the action: default 8000 for interactions (500–60000), 20000 for wait, evaluate and scroll
	// (500–120000). Each condition of a wait has it to itself; a script of evaluate gets 500 less, but at least 1000. The
	// context's own deadline wins if it is earlier.
	TimeoutMs int `json:"timeoutMs,omitempty"`
}

// Field is one entry of a fill: a text, or true, 1, "1" or "true" for a checkbox, radio or switch that is to be checked.
type Field struct {
	Ref   string `json:"ref"`
	Type  string `json:"type,omitempty"`  // checkbox, radio or switch; anything else is text
	Value any    `json:"value,omitempty"` // string, number or bool; nil is the empty text
}
