package actiontable

import "time"

// Time limits of actions. The longer ones are for actions that wait for the page rather than for an element.
var (
	interaction = Limit{Default: 8 * time.Second, Longest: 60 * time.Second}
	waiting     = Limit{Default: 20 * time.Second, Longest: 120 * time.Second}
)

// Pauses between typed characters, and time allowed for each.
const (
	// SlowKey is the pause between keys of slow typing.
	SlowKey = 75 * time.Millisecond
	fastKey = 10 * time.Millisecond
)

// LoadStates are the load states to wait for.
var LoadStates = []string{"load", "domcontentloaded", "networkidle"}

var (
	threeButtons = []string{"left", "right", "middle"}
	fiveButtons  = []string{"left", "right", "middle", "back", "forward"}
)

// Fields of several kinds.
var (
	ref         = Param{Name: "ref", Type: Ref, About: "element of the last snapshot, such as e12"}
	selector    = Param{Name: "selector", Type: Selector, About: "element by CSS, in place of ref"}
	doubleClick = Param{Name: "doubleClick", Type: Bool, About: "click twice", flag: "double"}
	button      = Param{Name: "button", About: "mouse button", Enum: threeButtons}
	anyButton   = Param{Name: "button", About: "mouse button", Enum: fiveButtons, In: Window}
	modifiers   = Param{Name: "modifiers", Type: Modifiers, About: "keys held down: Alt, Control, ControlOrMeta, " +
		"Meta, Shift"}
	held      = Param{Name: "delayMs", Type: Natural, About: "how long it is held down", Effect: AddsTime}
	x         = Param{Name: "x", Type: Coordinate, About: "CSS pixels of the viewport"}
	y         = Param{Name: "y", Type: Coordinate}
	key       = Param{Name: "key", Type: Key, About: "such as Enter or Control+Shift+T"}
	timeoutMs = Param{Name: "timeoutMs", Type: Positive, About: "how long it may take"}
)

var (
	byElement = []string{"ref", "selector"}
	byKey     = [][]string{{"key"}}
)

// with returns a copy of the field with a change.
func (p Param) with(change func(*Param)) Param {
	change(&p)
	return p
}

func (p Param) only(in Surface) Param   { return p.with(func(p *Param) { p.In = in }) }
func (p Param) upTo(most int) Param     { return p.with(func(p *Param) { p.Max = most }) }
func (p Param) about(s string) Param    { return p.with(func(p *Param) { p.About = s }) }
func (p Param) named(name string) Param { return p.with(func(p *Param) { p.Name = name }) }

// table returns the descriptions of all actions.
func table() []Spec { //nolint:funlen // a table
	maxDelay := held.upTo(5000)
	return []Spec{
		{
			Kind: KindClick, About: "click an element", Limit: interaction, MayClose: true, Needs: [][]string{byElement},
			Params: []Param{
				ref, selector, doubleClick, button, modifiers, maxDelay.about("pause between hovering and clicking"),
			},
			Command: "click", Args: []string{"ref"},
			Done: "clicked %s", Examples: []string{"click e12", "click e12 --double", "click e7 --modifiers Control,Shift"},
			Tool: "click", ToolFields: []string{"ref!", "doubleClick", "button"},
		},
		{
			Kind: KindClickCoords, About: "click a point of the visible page", Limit: interaction, AtPoint: true, MayClose: true,
			Params: []Param{
				x, y, doubleClick, button.only(API), anyButton, maxDelay, modifiers.only(Window),
				{Name: "clickCount", Type: Natural, Max: 3, In: Window, About: "how often"},
			},
			Sketch: "{x,y}", Command: "click-coords", Args: []string{"x", "y"},
			Done: "clicked at %s,%s",
			Tool: "click_at", ToolFields: []string{"x!", "y!", "doubleClick", "button"}, Label: "click at {x}, {y}",
		},
		{
			Kind: KindType, About: "put text into a field, in place of what it holds; press Tab after it where the page waits " +
				"for the change", Limit: interaction, MayClose: true,
			Needs: [][]string{byElement},
			Params: []Param{
				ref, selector,
				{Name: "text", Type: Verbatim, Required: true, About: "what to type", PerRune: SlowKey, OnlyIf: "slowly"},
				{Name: "submit", Type: Bool, About: "press Enter afterwards"},
				{Name: "slowly", Type: Bool, About: "key by key, after what the field holds"},
			},
			Sketch: "{text,submit}", Command: "type", Args: []string{"ref", "text"},
			Done: "typed into %s", Examples: []string{
				`type e5 "ada@example.com" --submit`,
				`type e5 -- "--text that begins with dashes"`,
			},
			Tool: "type", ToolFields: []string{"ref!", "text!", "submit"},
		},
		{
			Kind: KindPress, About: "press one or more keys", Limit: interaction, AtPoint: true, MayClose: true, Needs: byKey,
			Params: []Param{
				key, ref.about("focus this element first"), selector.only(Window), held,
				{Name: "count", Type: Natural, Max: 100, In: Window, About: "how often"},
			},
			Sketch: "{key,ref?}", Command: "press", Args: []string{"key"},
			Done: "pressed %s", Examples: []string{"press Enter", "press Control+Shift+T", "press ArrowDown --ref e5"},
			Tool: "press", ToolFields: []string{"key!", "ref"}, Label: "press {key}{ in ref}",
		},
		{
			Kind: KindHover, About: "hold the pointer over an element", Limit: interaction, Needs: [][]string{byElement},
			Params: []Param{ref, selector}, Command: "hover", Args: []string{"ref"},
			Done: "hovered over %s", ReadOnly: true,
			Tool: "hover", ToolFields: []string{"ref!"}, Label: "point at {ref}",
		},
		{
			Kind: KindScrollIntoView, About: "scroll until an element is in view", Limit: waiting, Needs: [][]string{byElement},
			Params: []Param{ref, selector}, Command: "scrollintoview", Args: []string{"ref"},
			Done: "scrolled to %s",
		},
		{
			Kind: KindScroll, About: "scroll the page or an element", Limit: waiting,
			Params: []Param{
				ref.about("scroll this element, or what it scrolls in, in place of the page"), selector.only(Window),
				{Name: "direction", About: "down if left out", Enum: []string{"up", "down", "left", "right"}},
				{Name: "pixels", Type: Natural, About: "most of what is in view if left out"},
			},
			Sketch: "{direction,ref?}", Command: "scroll", Args: []string{"ref"},
			Done: "scrolled", Examples: []string{"scroll --direction up --pixels 400"}, ByRef: true, ReadOnly: true,
			Tool: "scroll", ToolFields: []string{"direction!", "pixels", "ref"}, Label: "scroll {direction}{ in ref}",
		},
		{
			Kind: KindDrag, About: "drag one element onto another", Limit: interaction, MayClose: true,
			Needs: [][]string{{"startRef", "startSelector"}, {"endRef", "endSelector"}},
			Params: []Param{
				ref.named("startRef").about("what to drag"), selector.named("startSelector").about("the same by CSS"),
				ref.named("endRef").about("where to"), selector.named("endSelector").about("the same by CSS"),
			},
			Sketch: "{startRef,endRef}", Command: "drag", Args: []string{"startRef", "endRef"},
			Done: "dragged %s to %s",
			Tool: "drag", ToolFields: []string{"startRef!", "endRef!"}, Label: "drag {startRef} to {endRef}", ByRef: true,
		},
		{
			Kind: KindDragCoords, About: "drag from one point of the visible page to another", Limit: interaction, AtPoint: true,
			Params: []Param{
				x.only(API), y.only(API), x.named("endX").about("where to").only(API), y.named("endY").only(API),
				{Name: "path", Type: Points, In: Window, Required: true, About: `the way, two or more of "x, y"`},
				anyButton, modifiers.only(Window),
			},
			Sketch: "{x,y,endX,endY}", Command: "drag-coords", Args: []string{"x", "y", "endX", "endY"},
			Done: "dragged from %s,%s to %s,%s",
			Tool: "drag_at", ToolFields: []string{"path!"}, Label: "drag from {path}",
		},
		{
			Kind: KindSelect, About: "choose options of a list", Limit: interaction, MayClose: true,
			Needs: [][]string{byElement, {"values"}},
			Params: []Param{
				ref, selector, {Name: "values", Type: VerbatimTexts, About: "values or labels of the options"},
			},
			Sketch: "{values}", Command: "select", Args: []string{"ref", "values"},
			Done: "selected in %s", Examples: []string{"select e9 red blue"},
			Tool: "select", ToolFields: []string{"ref!", "values!"}, Label: "select {values}{ in ref}", ByRef: true,
		},
		{
			Kind: KindFill, About: "fill several fields at once, and leave them", Limit: interaction,
			Needs: [][]string{{"fields"}},
			Params: []Param{
				{Name: "fields", Type: Entries, About: "{ref, type?, value}", Effect: HasLimit},
			},
			Sketch: "{fields:[{ref,type,value}]}", Command: "fill",
			Done:     "filled the fields",
			Examples: []string{`fill --fields '[{"ref":"e5","value":"Ada"},{"ref":"e6","type":"checkbox","value":true}]'`},
		},
		{
			Kind: KindResize, About: "change the size of the visible page", Limit: interaction,
			Params: []Param{
				{Name: "width", Type: Size, Max: 8192, About: "CSS pixels"},
				{Name: "height", Type: Size, Max: 8192, About: "CSS pixels"},
			},
			Sketch: "{width,height}", Command: "resize", Args: []string{"width", "height"},
			Done: "resized to %sx%s",
		},
		{
			Kind: KindWait, About: "wait for a text, an address, an element or a state of the page", Limit: waiting,
			Needs: [][]string{{"timeMs", "text", "textGone", "selector", "url", "loadState", "fn"}},
			Params: []Param{
				{Name: "timeMs", Type: Natural, Max: 30_000, About: "for this long", Effect: AddsTime, flag: "time"},
				{Name: "text", About: "until this text can be seen", Effect: HasLimit},
				{Name: "textGone", About: "until this text cannot be seen", Effect: HasLimit},
				{Name: "selector", Type: Selector, About: "until this can be seen, by CSS", Effect: HasLimit},
				{Name: "url", About: "until the address is this; ** stands for anything", Effect: HasLimit},
				{
					Name: "loadState", About: "until the page has loaded so far", Effect: HasLimit, flag: "load",
					Enum: LoadStates, Ignored: true,
				},
				{Name: "fn", About: "until this JavaScript is true", Effect: HasLimit},
			},
			Sketch: "{timeMs|text|textGone|selector|url|loadState}", Command: "wait", Args: []string{"selector"},
			Done: "wait complete", Examples: []string{
				`wait --text "Order placed" --timeout-ms 60000`,
				`wait --url "**/done" --load networkidle`,
			}, ReadOnly: true,
			Tool: "wait", ToolFields: []string{"timeMs", "text", "textGone", "url", "loadState"},
		},
		{
			Kind: KindEvaluate, About: "run JavaScript in a page and return its value", Limit: waiting,
			Needs: [][]string{{"fn"}},
			Params: []Param{
				{Name: "fn", About: "function, expression or statements; el is the element of ref"}, ref,
			},
			Sketch: "{fn}", Command: "evaluate", Args: []string{"fn"},
			Examples: []string{`evaluate --fn "() => document.title"`, `evaluate --fn "(el) => el.value" --ref e5`},
		},
		{
			Kind: KindBack, About: "go back to the previous page", Limit: waiting, Command: "back",
			Done: "went back", ReadOnly: true,
			Tool: "back", Label: "go back", ByRef: true,
		},
		{
			Kind: KindForward, About: "go forward again", Limit: waiting, Command: "forward",
			Done: "went forward", ReadOnly: true,
			Tool: "forward", Label: "go forward", ByRef: true,
		},
		{
			Kind: KindReload, About: "reload the page", Limit: waiting, Command: "reload",
			Done: "loaded the page again",
			Tool: "reload", Label: "reload the page", ByRef: true,
		},
		{Kind: KindClose, About: "close the tab", Limit: interaction, In: API},
		{
			Kind: KindBatch, About: "do several actions, one after the other", In: API,
			Params: []Param{
				{Name: "actions", Type: Requests, About: "actions, in order"},
				{Name: "stopOnError", Type: Bool, About: "stop at the first that fails, which is the default"},
			},
			Sketch: "{actions}", Command: "batch",
			Examples: []string{
				`batch --actions '[{"kind":"type","ref":"e5","text":"Ada"},{"kind":"click","ref":"e6"}]'`,
				"batch --actions-file - < actions.json",
			},
		},
		{
			Kind: KindPointerMove, About: "move the mouse", Limit: interaction, In: Window, AtPoint: true,
			Params: []Param{x, y, modifiers},
		},
		{
			Kind: KindPointerDown, About: "press a mouse button and hold it", Limit: interaction, In: Window, AtPoint: true,
			Params: []Param{x, y, anyButton, modifiers},
		},
		{
			Kind: KindPointerUp, About: "let go of the mouse button", Limit: interaction, In: Window, AtPoint: true,
			Params: []Param{x, y, anyButton, modifiers},
		},
		{
			Kind: KindWheel, About: "turn the mouse wheel", Limit: interaction, In: Window, AtPoint: true,
			Needs: [][]string{{"deltaX", "deltaY"}},
			Params: []Param{
				{Name: "deltaX", Type: Number, Max: 100_000, About: "right is positive"},
				{Name: "deltaY", Type: Number, Max: 100_000, About: "down is positive"},
				x, y, modifiers,
			},
		},
		{
			Kind: KindKeyDown, About: "press keys and hold them", Limit: interaction, In: Window, AtPoint: true, Needs: byKey,
			Params: []Param{key},
		},
		{
			Kind: KindKeyUp, About: "let go of keys", Limit: interaction, In: Window, AtPoint: true, Needs: byKey,
			Params: []Param{key},
		},
		{
			Kind: KindInsertText, About: "type where the focus is", Limit: interaction, In: Window, AtPoint: true,
			Needs: [][]string{{"text", "clear"}},
			Params: []Param{
				{Name: "text", Type: Verbatim, About: "what to type", PerRune: fastKey},
				{Name: "clear", Type: Bool, About: "first select what the field holds"},
			},
		},
		{
			Kind: KindNavigate, About: "open an address in the current tab", In: Window,
			Params: []Param{{Name: "url", Required: true, About: "http or https address"}},
		},
		{
			Kind: KindTabNew, About: "open a tab", In: Window,
			Params: []Param{{Name: "url", About: "http or https address; an empty tab if left out"}},
		},
		{
			Kind: KindTabSelect, About: "go to a tab", In: Window,
			Params: []Param{{Name: "tab", Required: true, About: "id from the list of tabs"}},
		},
		{
			Kind: KindTabClose, About: "close a tab", In: Window,
			Params: []Param{{Name: "tab", About: "id from the list of tabs; the current one if left out"}},
		},
		{
			Kind: KindDialog, About: "answer the dialog that the page has opened", In: Window,
			Params: []Param{
				{Name: "accept", Type: Bool, Required: true},
				{Name: "promptText", Type: Verbatim, About: "what to enter into a prompt"},
			},
			Tool: "dialog", ToolFields: []string{"accept!", "promptText"},
		},
		{
			Kind: KindUpload, In: Window,
			About: "put files into a file field, or into what a click on an element asks for",
			Params: []Param{
				ref.with(func(p *Param) { p.Required = true }),
				{Name: "paths", Type: Texts, Required: true, About: "files that came with the request, as media://inbound/ID, or " +
					"of the uploads folder"},
			},
			Tool: "upload", ToolFields: []string{"ref!", "paths!"}, Label: "upload {paths}{ to ref}", ByRef: true,
		},
		{Kind: KindLinks, About: "list the links of the page with their addresses", In: Window},
	}
}
