// Package intent judges what an action on a page would set off, just before it is
// done: whether it buys, sends or deletes something, or hands over personal data.
//
// It reads the element, its form and what was filled in, and knows the words of
// fourteen languages. It is a judgement, not a proof: a page decides itself
// what its buttons do. The package asks nobody; see [Hold] for how an answer is
// bound to what was judged.
package intent

import (
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/act"
	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/input"
	"clank/browsermgr/page"
)

// The classes of what an action sets off. The words are those of the settings.
const (
	Submit     = "submit"
	Buy        = "buy"
	Send       = "send"
	Delete     = "delete"
	Executable = "executable"
	Leave      = "leave"
)

// Judgement is what an action would set off.
type Judgement struct {
	Classes []string // the weightiest first; none: nothing that people would want to decide
	Text    string   // what is to be done, in our words
	Detail  string   // what the page calls it; untrusted
	Origin  string   // of the document in which it is done
	To      string   // host that it leads to, where that is another one and known
	Mark    string   // changes with everything that was judged; "" where there are no classes
}

//go:embed intent.js
var script string

// limit bounds one look at the page.
const limit = 5 * time.Second

// query is the argument of the script.
type query struct {
	Mode  string            `json:"mode"`
	How   string            `json:"how,omitempty"`
	Mark  string            `json:"mark"`
	Point *input.Point      `json:"point,omitempty"`
	Words map[string]string `json:"words,omitempty"`
}

// verdict is what the script answers.
type verdict struct {
	Classes   []string `json:"classes"`
	Kinds     []string `json:"kinds"`
	Names     []string `json:"names"`
	To        string   `json:"to"`
	At        string   `json:"at"`
	Mark      string   `json:"mark"`
	Remote    bool     `json:"remote"`  // it happens in a frame of another process
	Focused   bool     `json:"focused"` // the document has the focus
	Changed   bool     `json:"changed"`
	Swallowed bool     `json:"swallowed"`
}

var patterns = sync.OnceValue(func() map[string]string {
	m := make(map[string]string, len(words))
	for kind, entry := range words {
		m[kind] = pattern(entry)
	}
	return m
})

// manner is how the script has to look at an action; "" for one that sets nothing
// off by itself.
func manner(a page.Action) string {
	switch a.Kind {
	case page.KindClick:
		return "click"
	case page.KindClickCoords, page.KindDragCoords, page.KindPointerDown, page.KindPointerUp:
		return "point" // a drag that ends where it began is a click there
	case page.KindType:
		if a.Submit || strings.Contains(a.Text, "\n") && a.Slowly {
			return "type"
		}
	case page.KindInsertText:
		if strings.ContainsAny(a.Text, "\r\n") {
			return "insert"
		}
	case page.KindPress, page.KindKeyDown:
		return mannerOfKeys(a.Key)
	case page.KindKeyUp: // which presses a button, where Enter had done so with keyDown
		if how := mannerOfKeys(a.Key); how == "space" {
			return how
		}
	default: // hovering, scrolling, filling: none of it sets anything off
	}
	return ""
}

// mannerOfKeys is manner for a chord.
func mannerOfKeys(text string) string {
	chord := strings.Split(text, "+")
	switch key := chord[len(chord)-1]; {
	case !slices.Contains([]string{"enter", "return", "numpadenter", "\r", "\n"}, strings.ToLower(key)):
		if key == " " || strings.EqualFold(key, "Space") || strings.EqualFold(key, "spacebar") {
			return "space"
		}
		return ""
	case len(chord) > 1 && !strings.EqualFold(chord[0], "Shift"):
		return "chord"
	default:
		return "key"
	}
}

// Of judges an action. Its error is one of looking at the page; an element that is
// not there sets nothing off.
func Of(ctx context.Context, tab *page.Tab, a page.Action) (Judgement, error) {
	how := manner(a)
	if how == "" {
		return Judgement{}, nil
	}
	v, _, err := look(ctx, tab, a, query{Mode: "judge", How: how})
	if err != nil {
		return Judgement{}, fmt.Errorf("see what %s would do: %w", a.Kind, err)
	}
	return v.judgement(), nil
}

// Guard holds an action to what was judged of it.
type Guard struct {
	frame *frame.Frame
	token string
}

// Hold makes the page refuse the input of an action that has come to mean something
// else than mark, the [Judgement.Mark] that people know of. same is false if it has
// already. The caller does the action and then calls [Guard.End]. The Guard is nil
// where nothing has to be held.
func Hold(ctx context.Context, tab *page.Tab, a page.Action, mark string) (g *Guard, same bool, err error) {
	how := manner(a)
	if how == "" {
		return nil, true, nil
	}
	v, f, err := look(ctx, tab, a, query{Mode: "hold", How: how, Mark: mark})
	if err != nil {
		return nil, false, fmt.Errorf("see again what %s would do: %w", a.Kind, err)
	}
	if v.Changed || v.Mark != mark {
		return nil, false, end(ctx, tab, f)
	}
	return &Guard{frame: f, token: f.Token()}, true, nil
}

// End stops holding and reports whether the input was refused, which is to say that
// nothing was done.
func (g *Guard) End(ctx context.Context, tab *page.Tab) (refused bool, err error) {
	if g == nil || g.frame.Token() != g.token {
		return false, nil // another document is shown: the input arrived
	}
	if len(tab.Dialogs().Pending) > 0 {
		return false, nil // it arrived; the guard goes by itself when the dialog does
	}
	err = tab.Within(ctx, limit, func(ctx context.Context) error {
		v, err := frame.Apply[verdict](ctx, g.frame, script, nil, query{Mode: "end"})
		refused = v.Swallowed
		return err
	})
	if errors.Is(err, cdp.ErrDocumentGone) || errors.Is(err, page.ErrTabGone) {
		return false, nil
	}
	if err != nil && len(tab.Dialogs().Pending) > 0 {
		return false, nil
	}
	return refused, err
}

func end(ctx context.Context, tab *page.Tab, f *frame.Frame) error {
	_, err := (&Guard{frame: f, token: f.Token()}).End(ctx, tab)
	return err
}

// look runs the script where the action happens.
func look(ctx context.Context, tab *page.Tab, a page.Action, q query) (v verdict, at *frame.Frame, err error) {
	q.Words = patterns()
	if q.How == "point" {
		at := pointOf(a)
		q.Point = &at
	}
	e, err := tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return verdict{}, tab.Main(), ignoreLost(err, q)
	}
	var targets []frame.Locator
	if a.Ref != "" || a.Selector != "" {
		targets = []frame.Locator{{Ref: e.Local, Selector: a.Selector}}
	}
	at = e.Frame
	err = tab.Exclusive(ctx, limit, func(ctx context.Context) (err error) {
		if shift, _ := input.Modifiers([]string{"Shift"}); q.How == "key" && tab.Held()&^shift != 0 {
			q.How = "chord"
		}
		if v, err = frame.Apply[verdict](ctx, e.Frame, script, targets, q); err == nil && v.Remote {
			v, at, err = inFrames(ctx, tab, q, v)
		}
		return err
	})
	return v, at, err
}

// inFrames asks the frame of another process that shows the point, or has the focus.
func inFrames(ctx context.Context, tab *page.Tab, q query, v verdict) (verdict, *frame.Frame, error) {
	var f *frame.Frame
	var err error
	if q.Point != nil {
		var at input.Point
		f, at, err = act.UnderPoint(ctx, tab.Frames(), *q.Point)
		q.Point = &at
	} else {
		f, err = act.Focused(ctx, tab.Frames())
	}
	if err != nil || f == tab.Main() {
		return v, tab.Main(), err
	}
	inner, err := frame.Apply[verdict](ctx, f, script, nil, q)
	if errors.Is(err, cdp.ErrDocumentGone) {
		return v, tab.Main(), nil
	}
	return inner, f, err
}

// pointOf is where an action at a point does something: a drag, where it lets go.
func pointOf(a page.Action) input.Point {
	if a.Kind != page.KindDragCoords {
		return input.Point{X: a.X, Y: a.Y}
	}
	return a.End()
}

// ignoreLost leaves it to the action to say what is wrong with a ref.
func ignoreLost(err error, q query) error {
	if q.Mode == "judge" {
		return nil
	}
	return err
}

// weight is the order of classes.
var weight = []string{Buy, Delete, Send, Executable, Submit, Leave}

func (v verdict) judgement() Judgement {
	j := Judgement{Mark: v.Mark, Classes: v.Classes}
	here, there := hostOf(v.At), hostOf(v.To)
	if u, err := url.Parse(v.At); err == nil && u.Host != "" {
		j.Origin = u.Scheme + "://" + u.Host
	}
	if there != "" && there != here {
		j.To = there
		j.Classes = append(slices.Clip(j.Classes), Leave)
	}
	slices.SortFunc(j.Classes, func(a, b string) int { return slices.Index(weight, a) - slices.Index(weight, b) })
	j.Detail = clip(strings.Join(v.Names, " / "), 200)
	j.Text = sentence(j, v.Kinds, here)
	return j
}

// sentence says in our words what is to be done. Of the page it has the names of
// hosts alone, in the form in which they cannot be mistaken.
func sentence(j Judgement, kinds []string, here string) string {
	if here == "" {
		here = "a page without an address"
	}
	data := strings.Join(kinds, ", ")
	var parts []string
	for _, c := range j.Classes {
		switch c {
		case Buy:
			parts = append(parts, "buy, order or pay something at "+here)
		case Delete:
			parts = append(parts, "delete or cancel something at "+here)
		case Send:
			parts = append(parts, "send or publish something at "+here)
		case Executable:
			parts = append(parts, "download a program from "+here)
		case Submit:
			parts = append(parts, "hand over personal data ("+data+") at "+here)
		case Leave:
			parts = append(parts, "go to "+j.To)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", and ")
	return strings.ToUpper(text[:1]) + text[1:]
}

var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9._:\[\]-]{1,253}$`) })

// hostOf is the host of an address as a browser writes it, with its port; "" if it
// has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !hostName().MatchString(u.Host) {
		return ""
	}
	return u.Host
}

func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
