package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Sentences are the steps as the built-in model understands them, after opening the site's address. ok is false where a
// step has no words: those need a mouse.
func (t Task) Sentences(address string) (text string, ok bool) {
	lines := []string{"open " + address}
	for _, s := range t.Steps {
		line := s.sentence()
		if line == "" {
			return "", false
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), true
}

func (s Step) sentence() string {
	if s.Held != "" {
		return ""
	}
	switch s.Verb {
	case Click:
		return fmt.Sprintf("click %q", s.Name)
	case DoubleClick:
		return fmt.Sprintf("double-click %q", s.Name)
	case RightClick:
		return fmt.Sprintf("right-click %q", s.Name)
	case Hover:
		return fmt.Sprintf("hover %q", s.Name)
	case Type:
		return fmt.Sprintf("type %q into %q", s.Text, s.Name)
	case Press:
		return "press " + s.Text
	case Choose:
		return fmt.Sprintf("select %q in %q", s.Text, s.Name)
	case Bottom:
		return "scroll to the bottom"
	case WaitFor:
		return fmt.Sprintf("wait for %q", s.Text)
	case Accept:
		if s.Text != "" {
			return fmt.Sprintf("answer the prompt with %q", s.Text)
		}
		return "accept the dialog"
	case Back:
		return "back"
	case CloseTab:
		return "close the tab"
	default: // drags, wheels and points
		return ""
	}
}

// Ref finds the element of that name in a snapshot.
func Ref(ctx context.Context, p Page, name string) (string, error) {
	text, err := p.Snapshot(ctx, false, 0)
	if err != nil {
		return "", err
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if m := named.FindStringSubmatch(line); m != nil && m[1] == string(quoted) {
			return m[2], nil
		}
	}
	return "", fmt.Errorf("nothing is called %q on the page:\n%s", name, text)
}

var named = regexp.MustCompile(`^\s*- \S+ ("(?:[^"\\]|\\.)*").*?\[ref=([^\]]+)\]`)

// ByRef does a step on the elements that snapshots name. What needs a point is done at one.
func ByRef(ctx context.Context, p Page, s Step) error {
	ref, to := "", ""
	var err error
	if s.Name != "" {
		if ref, err = Ref(ctx, p, s.Name); err != nil {
			return err
		}
	}
	if s.To != "" {
		if to, err = Ref(ctx, p, s.To); err != nil {
			return err
		}
	}
	switch s.Verb {
	case Click, DoubleClick, RightClick:
		args := map[string]any{"ref": ref, "doubleClick": s.Verb == DoubleClick}
		if s.Verb == RightClick {
			args["button"] = "right"
		}
		if s.Held != "" {
			args["modifiers"] = s.Held
		}
		return do(ctx, p, "click", args)
	case Hover:
		return do(ctx, p, "hover", map[string]any{"ref": ref})
	case Type:
		return do(ctx, p, "type", map[string]any{"ref": ref, "text": s.Text})
	case Choose:
		return do(ctx, p, "select", map[string]any{"ref": ref, "values": []string{s.Text}})
	case Drag:
		return do(ctx, p, "drag", map[string]any{"startRef": ref, "endRef": to})
	case Bottom:
		return do(ctx, p, "scroll", map[string]any{"direction": "down", "pixels": 20000})
	default:
		return ByPoint(ctx, p, s)
	}
}

// ByPoint does a step as somebody does who only sees the screen: at points, which are looked up in the page as it is, and
// with keys. A native list is the exception: its options are not part of the page.
func ByPoint(ctx context.Context, p Page, s Step) error {
	var at, to Box
	var err error
	if s.Name != "" {
		if at, err = Find(ctx, p, s.Name); err != nil {
			return err
		}
	}
	if s.To != "" {
		if to, err = Find(ctx, p, s.To); err != nil {
			return err
		}
		if at, err = Find(ctx, p, s.Name); err != nil { // that may have scrolled the page
			return err
		}
	}
	middle := map[string]any{"x": at.X + at.Width/2, "y": at.Y + at.Height/2}
	switch s.Verb {
	case Click, DoubleClick, RightClick:
		return pressed(ctx, p, s, middle)
	case Hover:
		return do(ctx, p, "pointerMove", middle)
	case Type:
		if err := do(ctx, p, "clickCoords", middle); err != nil {
			return err
		}
		return do(ctx, p, "insertText", map[string]any{"text": s.Text, "clear": true})
	case Press:
		return do(ctx, p, "press", map[string]any{"key": s.Text})
	case Choose:
		return ByRef(ctx, p, s)
	case Drag:
		return do(ctx, p, "dragCoords", map[string]any{"path": []string{at.at(at.Width/2, at.Height/2), to.at(to.Width/2, to.Height/2)}})
	case ClickAt:
		return do(ctx, p, "clickCoords", map[string]any{"x": at.X + s.Points[0][0], "y": at.Y + s.Points[0][1]})
	case DragAt:
		var path []string
		for _, point := range s.Points {
			path = append(path, at.at(point[0], point[1]))
		}
		return do(ctx, p, "dragCoords", map[string]any{"path": path})
	case Wheel:
		middle["deltaX"], middle["deltaY"] = s.Points[0][0], s.Points[0][1]
		return do(ctx, p, "wheel", middle)
	case Bottom:
		return do(ctx, p, "wheel", map[string]any{"x": 200, "y": 200, "deltaY": 20000})
	case WaitFor:
		return do(ctx, p, "wait", map[string]any{"text": s.Text})
	case Accept:
		return do(ctx, p, "dialog", map[string]any{"accept": true, "promptText": s.Text})
	case Back:
		return do(ctx, p, "back", nil)
	case CloseTab:
		return do(ctx, p, "tabClose", nil)
	}
	return fmt.Errorf("no such verb: %q", s.Verb)
}

// pressed clicks at a point, with a key held meanwhile.
func pressed(ctx context.Context, p Page, s Step, at map[string]any) (err error) {
	switch s.Verb {
	case DoubleClick:
		at["clickCount"] = 2
	case RightClick:
		at["button"] = "right"
	default: // one click
	}
	if s.Held != "" {
		if err := do(ctx, p, "keyDown", map[string]any{"key": s.Held}); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, do(ctx, p, "keyUp", map[string]any{"key": s.Held})) }()
	}
	return do(ctx, p, "clickCoords", at)
}

func do(ctx context.Context, p Page, kind string, args map[string]any) error {
	if _, err := p.Act(ctx, kind, args); err != nil {
		return fmt.Errorf("%s %v: %w", kind, args, err)
	}
	return nil
}

// Box is where an element is in the viewport, in CSS pixels.
type Box struct{ X, Y, Width, Height float64 }

// at is a point of the box as paths have them.
func (b Box) at(x, y float64) string { return fmt.Sprintf("%g,%g", b.X+x, b.Y+y) }

// boxScript is where an element is in its frame, and how large the viewport is. What embeds its frame adds to that; a frame
// of another site cannot see what does.
const boxScript = `(el) => {
	const b = el.getBoundingClientRect();
	let x = b.x, y = b.y, w = el.ownerDocument.defaultView;
	for (; w.frameElement; w = w.parent) {
		const f = w.frameElement.getBoundingClientRect(), s = w.parent.getComputedStyle(w.frameElement);
		x += f.x + parseFloat(s.borderLeftWidth) + parseFloat(s.paddingLeft);
		y += f.y + parseFloat(s.borderTopWidth) + parseFloat(s.paddingTop);
	}
	return {x, y, width: b.width, height: b.height, far: w !== w.parent, view: [w.innerWidth, w.innerHeight]};
}`

// revealScript brings an element into view.
const revealScript = `(el) => { el.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'}) }`

// farScript is where the frame of another site begins, and how large the viewport is.
const farScript = `() => {
	const f = document.querySelector('iframe[data-far]'), b = f.getBoundingClientRect(), s = getComputedStyle(f);
	return {x: b.x + parseFloat(s.borderLeftWidth) + parseFloat(s.paddingLeft), y: b.y + parseFloat(s.borderTopWidth) + parseFloat(s.paddingTop),
		view: [innerWidth, innerHeight]};
}`

// Find is where the element of that name is in the page as it is, scrolled into view.
func Find(ctx context.Context, p Page, name string) (Box, error) {
	ref, err := Ref(ctx, p, name)
	if err != nil {
		return Box{}, err
	}
	if err := do(ctx, p, "evaluate", map[string]any{"fn": revealScript, "ref": ref}); err != nil {
		return Box{}, fmt.Errorf("find %q: %w", name, err)
	}
	in, err := look(ctx, p, name, ref)
	return in.Box, err
}

// Sight is where an element is, be it in view or not, and the width and height of the viewport in CSS pixels.
type Sight struct {
	Box
	View [2]float64
}

// Look is where the element of that name is in the page as it is. It moves nothing.
func Look(ctx context.Context, p Page, name string) (Sight, error) {
	ref, err := Ref(ctx, p, name)
	if err != nil {
		return Sight{}, err
	}
	return look(ctx, p, name, ref)
}

func look(ctx context.Context, p Page, name, ref string) (Sight, error) {
	var in struct {
		Sight
		Far bool
	}
	if err := evaluate(ctx, p, map[string]any{"fn": boxScript, "ref": ref}, &in); err != nil {
		return Sight{}, fmt.Errorf("find %q: %w", name, err)
	}
	if in.Far {
		var frame Sight
		if err := evaluate(ctx, p, map[string]any{"fn": farScript}, &frame); err != nil {
			return Sight{}, fmt.Errorf("find the frame of %q: %w", name, err)
		}
		in.X, in.Y, in.View = in.X+frame.X, in.Y+frame.Y, frame.View
	}
	return in.Sight, nil
}

func evaluate(ctx context.Context, p Page, args map[string]any, v any) error {
	notes, err := p.Act(ctx, "evaluate", args)
	if err != nil {
		return err
	}
	for _, note := range notes {
		if text, ok := strings.CutPrefix(note, "result: "); ok {
			return json.Unmarshal([]byte(text), v)
		}
	}
	return fmt.Errorf("the script returned nothing: %q", notes)
}
