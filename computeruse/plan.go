package computeruse

import (
	"errors"
	"fmt"
	"image"
	"slices"
	"strings"
	"time"

	"clank/sessions/agent"
)

// Bounds of what one batch may ask for.
const (
	maxActions  = 30
	maxPath     = 500
	maxRepeat   = 100
	maxHold     = 5 * time.Second
	maxWait     = 5 * time.Second
	defaultWait = time.Second
	maxTyped    = 20000 // bytes
)

// screenMove is one call of [sessions.Page.Act].
type screenMove struct {
	kind string
	args map[string]any
}

// plannedAction is a valid action and the moves that it consists of.
type plannedAction struct {
	Action
	moves []screenMove
	wait  time.Duration // what of its time is waiting
	mouse CSSPoint      // where the mouse is after it
}

// planActions checks a whole batch before its first side effect. The error is for the model.
func planActions(actions []Action, g ScreenGeometry, mouse CSSPoint) ([]plannedAction, error) {
	switch {
	case len(actions) == 0:
		return nil, errors.New("the call has no actions")
	case len(actions) > maxActions:
		return nil, fmt.Errorf("more than %d actions in one call", maxActions)
	}
	var all []plannedAction
	for i, a := range actions {
		p := plannedAction{Action: a, mouse: mouse}
		if err := p.planMoves(g); err != nil {
			if len(actions) > 1 {
				err = fmt.Errorf("action %d of %d: %w (nothing of the call was done)", i+1, len(actions), err)
			}
			return nil, err
		}
		mouse = p.mouse
		all = append(all, p)
	}
	return all, nil
}

// planMoves determines the moves of the action.
func (p *plannedAction) planMoves(g ScreenGeometry) error {
	if strings.Contains(p.Text, maskForModel) && (p.Kind == ActType || p.Kind == ActFill) {
		return fmt.Errorf("%s: %s stands for a password that is not kept: ask the person for it", p.Kind, maskForModel)
	}
	switch p.Kind {
	case ActClick, ActMove, ActDown, ActUp, ActDrag, ActScroll:
		return p.planPointer(g)
	case ActKeys, ActKeyDown, ActKeyUp:
		return p.planKeys()
	case ActType:
		return p.planTyping()
	case ActWait:
		p.wait = defaultWait
		if p.For > 0 {
			p.wait = min(p.For, maxWait)
		}
	case ActScreenshot, ActCursor:
	case ActZoom:
		if p.Region.Canon().Intersect(image.Rectangle{Max: g.Picture}).Empty() {
			return errors.New("zoom: the region is missing or lies outside of the picture")
		}
	case ActNavigate:
		if p.URL == "" {
			return errors.New("navigate: the URL is missing")
		}
		p.add("navigate", map[string]any{"url": agent.CompleteURL(p.URL)})
	case ActReveal:
		return p.addOnRef("scrollIntoView", nil)
	case ActFill:
		if len(p.Text) > maxTyped {
			return fmt.Errorf("fill: the text is longer than %d bytes", maxTyped)
		}
		return p.addOnRef("type", map[string]any{"text": p.Text})
	case ActBack:
		p.add("back", nil)
	case ActForward:
		p.add("forward", nil)
	case ActUnknown:
		return fmt.Errorf("there is no action %q", agent.Truncate(p.Text, 60))
	default:
		return fmt.Errorf("there is no action %q", agent.Truncate(string(p.Kind), 60))
	}
	return nil
}

func (p *plannedAction) add(kind string, args map[string]any) {
	if args == nil {
		args = map[string]any{}
	}
	p.moves = append(p.moves, screenMove{kind, args})
}

// addOnRef adds a move with the element Ref.
func (p *plannedAction) addOnRef(kind string, args map[string]any) error {
	if p.Ref == "" {
		return fmt.Errorf("%s: the ref is missing", p.Kind)
	}
	if args == nil {
		args = map[string]any{}
	}
	args["ref"] = p.Ref
	p.add(kind, args)
	return nil
}

// planPointer plans what the mouse does.
func (p *plannedAction) planPointer(g ScreenGeometry) error {
	if !g.Known() && p.Ref == "" {
		return fmt.Errorf("%s: the screen could not be seen, so that points mean nothing: take a screenshot first", p.Kind)
	}
	held, err := ParseModifiers(p.Held)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Kind, err)
	}
	switch p.Button {
	case "", ButtonLeft, ButtonRight, ButtonMiddle:
	case ButtonBack, ButtonForward:
		if p.Kind != ActUp { // a press and its release are one step through the history
			p.add(string(p.Button), nil)
		}
		return nil
	default:
		return fmt.Errorf("%s: unknown button %q", p.Kind, agent.Truncate(string(p.Button), 20))
	}
	if p.Ref != "" {
		return p.planOnRef(g, held)
	}
	return p.planAtPoint(g, held)
}

// planOnRef plans what the mouse does with Ref.
func (p *plannedAction) planOnRef(g ScreenGeometry, held []string) error {
	switch p.Kind {
	case ActClick:
		if p.Clicks < 0 || p.Clicks > 2 {
			return fmt.Errorf("click: %d clicks take a point, not a ref", p.Clicks)
		}
		args := map[string]any{"button": p.button(), "doubleClick": p.Clicks == 2}
		if len(held) > 0 {
			args["modifiers"] = held
		}
		return p.addOnRef("click", args)
	case ActMove:
		return p.addOnRef("hover", nil)
	case ActScroll:
		by := p.Scroll
		if g.Known() {
			scaled := g.ScaleDistance(by)
			by = image.Pt(int(scaled.X), int(scaled.Y))
		}
		if (by.X == 0) == (by.Y == 0) {
			return errors.New("scroll: what has a ref scrolls in one direction at a time")
		}
		pixels := max(by.X, -by.X, by.Y, -by.Y)
		return p.addOnRef("scroll", map[string]any{"direction": directionText(by), "pixels": pixels})
	default:
		return fmt.Errorf("%s takes a point, not a ref", p.Kind)
	}
}

// toPixels brings points from the grid to the picture, for people and records, and returns where exactly the points
// lie.
func (p *plannedAction) toPixels(g ScreenGeometry) (at CSSPoint, path []CSSPoint) {
	fine := g
	if p.Grid.X > 0 && p.Grid.Y > 0 {
		fine.Picture = p.Grid
	}
	p.Grid = image.Point{}
	if p.At != nil {
		at = fine.ToViewport(*p.At)
		pixel := g.ToPicture(at)
		p.At = &pixel
	}
	pixels := slices.Clone(p.Path)
	for i, point := range pixels {
		path = append(path, fine.ToViewport(point))
		pixels[i] = g.ToPicture(path[i])
	}
	p.Path = pixels
	return at, path
}

// planAtPoint plans what the mouse does at points.
func (p *plannedAction) planAtPoint(g ScreenGeometry, held []string) error {
	at, path := p.toPixels(g)
	if p.Kind == ActDrag {
		return p.planDrag(path, held)
	}
	switch {
	case p.At != nil:
		p.mouse = at
	case p.Kind == ActMove:
		return errors.New("move: the point is missing")
	case p.Kind == ActScroll:
		p.mouse = g.Center()
	}
	args := map[string]any{"x": p.mouse.X, "y": p.mouse.Y}
	if len(held) > 0 {
		args["modifiers"] = held
	}
	switch p.Kind {
	case ActClick:
		if p.Clicks < 0 || p.Clicks > 3 {
			return fmt.Errorf("click: %d clicks are not possible", p.Clicks)
		}
		args["button"], args["clickCount"] = p.button(), max(1, p.Clicks)
		p.add("clickCoords", args)
	case ActMove:
		p.add("pointerMove", args)
	case ActDown, ActUp:
		args["button"] = p.button()
		p.add(map[ActionKind]string{ActDown: "pointerDown", ActUp: "pointerUp"}[p.Kind], args)
	case ActScroll:
		by := g.ScaleDistance(p.Scroll)
		if by == (CSSPoint{}) {
			return errors.New("scroll: the distance is missing")
		}
		args["deltaX"], args["deltaY"] = by.X, by.Y
		p.add("wheel", args)
	default: // the others are not the mouse's
	}
	return nil
}

func (p *plannedAction) planDrag(path []CSSPoint, held []string) error {
	if len(path) < 2 || len(path) > maxPath {
		return fmt.Errorf("drag: the path needs 2 to %d points, and has %d", maxPath, len(path))
	}
	words := make([]string, len(path))
	for i, at := range path {
		p.mouse, words[i] = at, at.String()
	}
	args := map[string]any{"path": words, "button": p.button()}
	if len(held) > 0 {
		args["modifiers"] = held
	}
	p.add("dragCoords", args)
	return nil
}

func (p *plannedAction) button() string {
	if p.Button == "" {
		return string(ButtonLeft)
	}
	return string(p.Button)
}

// planKeys plans presses.
func (p *plannedAction) planKeys() error {
	chords, err := ParseChords(p.Keys)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Kind, err)
	}
	if len(chords) > maxRepeat {
		return fmt.Errorf("%s: at most %d keys are possible at once", p.Kind, maxRepeat)
	}
	if p.Kind != ActKeys {
		kind := map[ActionKind]string{ActKeyDown: "keyDown", ActKeyUp: "keyUp"}[p.Kind]
		for _, c := range chords {
			for _, key := range splitChord(c) {
				p.add(kind, map[string]any{"key": key})
			}
		}
		return nil
	}
	if p.Repeat < 0 || p.Repeat > maxRepeat || len(chords)*max(1, p.Repeat) > maxRepeat {
		return fmt.Errorf("keys: at most %d presses are possible at once", maxRepeat)
	}
	p.wait = min(max(0, p.For), maxHold)
	for _, c := range chords {
		args := map[string]any{"key": c}
		if p.Repeat > 1 {
			args["count"] = p.Repeat
		}
		if p.wait > 0 {
			args["delayMs"] = int(p.wait.Milliseconds())
		}
		p.add("press", args)
	}
	p.wait *= time.Duration(len(chords) * max(1, p.Repeat))
	if p.wait > 2*maxHold {
		return fmt.Errorf("keys: they would be held for %s in all, more than %s", p.wait, 2*maxHold)
	}
	return nil
}

// planTyping plans text at the focus.
func (p *plannedAction) planTyping() error {
	switch {
	case p.Text == "" && !p.Clear && !p.Enter:
		return errors.New("type: the text is missing")
	case len(p.Text) > maxTyped:
		return fmt.Errorf("type: the text is longer than %d bytes", maxTyped)
	}
	if p.Text != "" || p.Clear {
		args := map[string]any{"text": p.Text}
		if p.Clear {
			args["clear"] = true
		}
		p.add("insertText", args)
	}
	if p.Enter {
		p.add("press", map[string]any{"key": "Enter"})
	}
	return nil
}
