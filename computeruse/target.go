package computeruse

import (
	"context"
	"strings"
	"unicode/utf8"

	"clank/internal/untrusted"
	"clank/sessions"
)

// targetInspector is a [sessions.Page] that can tell what mouse and keyboard meet: role and name of what is at a point
// in CSS pixels, or of the element with a ref, or, without one, of what takes the keys; secret says that what it holds
// must not be told. Names are a page's.
type targetInspector interface {
	ElementAt(ctx context.Context, x, y float64) (role, name string, err error)
	InputField(ctx context.Context, ref string) (role, name string, secret bool, err error)
}

// maxName is how long, in characters, a name may be by which something is to be found again. A longer one is left out.
const maxName = 200

// actionTarget is what an action is done to, as far as the screen can tell.
type actionTarget struct {
	role, name string
	secret     bool // what is typed there must not be told
}

// identifyTarget finds out what an action is done to.
func (r *run) identifyTarget(ctx context.Context, s sessions.Page, p plannedAction) (t actionTarget) {
	g, guides := s.(targetInspector)
	if !guides {
		return actionTarget{}
	}
	looking, cancel := context.WithTimeout(ctx, captureTimeout)
	defer cancel()
	var err error
	switch {
	case p.Kind == ActType || p.typesText():
		t.role, t.name, t.secret, err = g.InputField(looking, "")
		t.secret = t.secret || err != nil || p.crossesFields() // rather too careful than not
	case p.Kind == ActFill:
		t.role, t.name, t.secret, err = g.InputField(looking, p.Ref)
		t.secret = t.secret || err != nil
	case p.Kind != ActClick && p.Kind != ActDown && p.Kind != ActUp:
		return actionTarget{}
	case p.Ref != "":
		t.role, t.name, _, err = g.InputField(looking, p.Ref)
	default:
		t.role, t.name, err = g.ElementAt(looking, p.mouse.X, p.mouse.Y)
	}
	t.name = untrusted.CleanLine(t.name, maxName+1)
	if err != nil || utf8.RuneCountInString(t.name) > maxName {
		t.name = ""
	}
	return t
}

// previewTarget is like identifyTarget for an action that is only described, not done.
func (r *run) previewTarget(ctx context.Context, a Action) (t actionTarget) {
	if r.screen == nil {
		return actionTarget{secret: a.Kind == ActType || a.Kind == ActFill}
	}
	p := plannedAction{Action: a, mouse: r.pointerPosition()}
	if a.At != nil && r.screenshot.Known() {
		p.mouse = r.screenshot.ToViewport(*a.At)
	}
	if t = r.identifyTarget(ctx, r.screen, p); t.secret {
		r.state.memory.secrets.Learn(a.Text)
	}
	return t
}

// learnPasswords learns which of the texts that a turn speaks of is a password, as far as that can be known before the
// turn is acted on.
func (r *run) learnPasswords(ctx context.Context, t Turn) {
	for _, c := range t.Calls {
		for _, a := range c.Actions {
			switch {
			case a.Kind == ActClick: // which may lead to another field
				return
			case a.Text == "" || a.Kind != ActType && a.Kind != ActFill:
			case strings.Contains(t.Text+t.Reasoning, a.Text):
				r.previewTarget(ctx, a)
			}
		}
	}
}

// typesText reports whether single keys are pressed that write something.
func (p *plannedAction) typesText() bool {
	if p.Kind != ActKeys && p.Kind != ActKeyDown {
		return false
	}
	chords, err := ParseChords(p.Keys)
	for _, c := range chords {
		if utf8.RuneCountInString(c) == 1 {
			return true
		}
	}
	return err != nil
}

// crossesFields reports whether a text goes on after a tab, and so in another field.
func (p *plannedAction) crossesFields() bool {
	return strings.Contains(strings.TrimRight(p.Text, "\t\r\n"), "\t")
}

// redacted returns the action as people may read it.
func (a Action) redacted(t actionTarget) Action {
	switch {
	case !t.secret:
	case a.Kind == ActKeys || a.Kind == ActKeyDown:
		a.Keys = []string{maskForPeople}
	default:
		a.Text = maskForPeople
	}
	return a
}

// description returns the target in words that follow a verb.
func (t actionTarget) description() string {
	if t.name == "" {
		return ""
	}
	return ` "` + strings.ReplaceAll(untrusted.CleanLine(t.name, 60), `"`, "'") + `"`
}

// intoPhrase says into what something is typed.
func (t actionTarget) intoPhrase() string {
	if t.name == "" {
		return ""
	}
	return " into" + t.description()
}

// overPhrase says what the mouse is over.
func (t actionTarget) overPhrase() string {
	if t.name == "" {
		return ""
	}
	return ", over" + t.description()
}
