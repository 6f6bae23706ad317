package computeruse

import (
	"context"
	"strings"
	"unicode/utf8"

	"clank/computeruse/keys"
	"clank/computeruse/secret"
	"clank/untrusted"
)

// guide is a [Screen] that can tell what mouse and keyboard meet: role and name
// of what is at a point in CSS pixels, or of the element with a ref, or, without
// one, of what takes the keys; secret says that what it holds must not be told.
// Names are a page's.
type guide interface {
	Under(ctx context.Context, x, y float64) (role, name string, err error)
	Field(ctx context.Context, ref string) (role, name string, secret bool, err error)
}

// maxName is how long, in characters, a name may be by which something is to be
// found again. A longer one is left out.
const maxName = 200

// target is what an action is done to, as far as the screen can tell.
type target struct {
	role, name string
	secret     bool // what is typed there must not be told
}

// meets finds out what an action is done to.
func (r *run) meets(ctx context.Context, s Screen, p planned) (t target) {
	g, guides := s.(guide)
	if !guides {
		return target{}
	}
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	var err error
	switch {
	case p.Kind == ActType || p.writes():
		t.role, t.name, t.secret, err = g.Field(looking, "")
		t.secret = t.secret || err != nil || p.movesOn() // rather too careful than not
	case p.Kind == ActFill:
		t.role, t.name, t.secret, err = g.Field(looking, p.Ref)
		t.secret = t.secret || err != nil
	case p.Kind != ActClick && p.Kind != ActDown && p.Kind != ActUp:
		return target{}
	case p.Ref != "":
		t.role, t.name, _, err = g.Field(looking, p.Ref)
	default:
		t.role, t.name, err = g.Under(looking, p.mouse.X, p.mouse.Y)
	}
	t.name = untrusted.Line(t.name, maxName+1)
	if err != nil || utf8.RuneCountInString(t.name) > maxName {
		t.name = ""
	}
	return t
}

// foresee is meets for an action that is only talked about.
func (r *run) foresee(ctx context.Context, a Action) (t target) {
	if r.screen == nil {
		return target{secret: a.Kind == ActType || a.Kind == ActFill}
	}
	p := planned{Action: a, mouse: r.mouse()}
	if a.At != nil && r.photo.Known() {
		p.mouse = r.photo.At(*a.At)
	}
	if t = r.meets(ctx, r.screen, p); t.secret {
		r.held.memory.secrets.Learn(a.Text)
	}
	return t
}

// forewarned learns which of the texts that a turn speaks of is a password, as far
// as that can be known before the turn is acted on.
func (r *run) forewarned(ctx context.Context, t Turn) {
	for _, c := range t.Calls {
		for _, a := range c.Actions {
			switch {
			case a.Kind == ActClick: // which may lead to another field
				return
			case a.Text == "" || a.Kind != ActType && a.Kind != ActFill:
			case strings.Contains(t.Text+t.Reasoning, a.Text):
				r.foresee(ctx, a)
			}
		}
	}
}

// writes reports whether single keys are pressed that write something.
func (p *planned) writes() bool {
	if p.Kind != ActKeys && p.Kind != ActKeyDown {
		return false
	}
	chords, err := keys.Chords(p.Keys)
	for _, c := range chords {
		if utf8.RuneCountInString(c) == 1 {
			return true
		}
	}
	return err != nil
}

// movesOn reports whether a text goes on after a tab, and so in another field.
func (p *planned) movesOn() bool {
	return strings.Contains(strings.TrimRight(p.Text, "\t\r\n"), "\t")
}

// as is the action as people may read it.
func (a Action) as(t target) Action {
	switch {
	case !t.secret:
	case a.Kind == ActKeys || a.Kind == ActKeyDown:
		a.Keys = []string{secret.Mask}
	default:
		a.Text = secret.Mask
	}
	return a
}

// named is what is meant, in words that stand behind a verb.
func (t target) named() string {
	if t.name == "" {
		return ""
	}
	return ` "` + strings.ReplaceAll(untrusted.Line(t.name, 60), `"`, "'") + `"`
}

// into says into what something is typed.
func (t target) into() string {
	if t.name == "" {
		return ""
	}
	return " into" + t.named()
}

// over says what the mouse is over.
func (t target) over() string {
	if t.name == "" {
		return ""
	}
	return ", over" + t.named()
}
