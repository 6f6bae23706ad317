package corpus

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"clank/sessions"
)

// Sentences returns the steps as instructions for the built-in model, starting with opening the address. ok is false
// if a step needs a mouse and cannot be expressed.
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

// FindRef returns the ref of the named element in a snapshot.
func FindRef(ctx context.Context, p TaskPage, name string) (string, error) {
	text, err := p.Snapshot(ctx, sessions.SnapshotOptions{})
	if err != nil {
		return "", err
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if m := refLinePattern.FindStringSubmatch(line); m != nil && m[1] == string(quoted) {
			return m[2], nil
		}
	}
	return "", fmt.Errorf("nothing is called %q on the page:\n%s", name, text)
}

var refLinePattern = regexp.MustCompile(`^\s*- \S+ ("(?:[^"\\]|\\.)*").*?\[ref=([^\]]+)\]`)

// boxScript returns an element's position in its frame and the size of the viewport. The positions of enclosing
// frames are added to it; a cross-site frame cannot see them.
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

// farScript returns the position of the cross-site frame and the size of the viewport.
const farScript = `() => {
	const f = document.querySelector('iframe[data-far]'), b = f.getBoundingClientRect(), s = getComputedStyle(f);
	return {x: b.x + parseFloat(s.borderLeftWidth) + parseFloat(s.paddingLeft), y: b.y + parseFloat(s.borderTopWidth) + parseFloat(s.paddingTop),
		view: [innerWidth, innerHeight]};
}`

// ElementBox is the position of an element, in view or not, and the size of the viewport, in CSS pixels.
type ElementBox struct {
	X, Y, Width, Height float64
	View                [2]float64
}

// FindBox returns the current position of the named element. It does not scroll.
func FindBox(ctx context.Context, p TaskPage, name string) (ElementBox, error) {
	ref, err := FindRef(ctx, p, name)
	if err != nil {
		return ElementBox{}, err
	}
	return boxOfRef(ctx, p, name, ref)
}

func boxOfRef(ctx context.Context, p TaskPage, name, ref string) (ElementBox, error) {
	var in struct {
		ElementBox
		Far bool
	}
	if err := evaluateInto(ctx, p, map[string]any{"fn": boxScript, "ref": ref}, &in); err != nil {
		return ElementBox{}, fmt.Errorf("find %q: %w", name, err)
	}
	if in.Far {
		var frame ElementBox
		if err := evaluateInto(ctx, p, map[string]any{"fn": farScript}, &frame); err != nil {
			return ElementBox{}, fmt.Errorf("find the frame of %q: %w", name, err)
		}
		in.X, in.Y, in.View = in.X+frame.X, in.Y+frame.Y, frame.View
	}
	return in.ElementBox, nil
}

func evaluateInto(ctx context.Context, p TaskPage, args map[string]any, v any) error {
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
