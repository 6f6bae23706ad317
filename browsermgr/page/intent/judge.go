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
	"unicode/utf8"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/internal/untrusted"
	"clank/sessions"
)

// Classes of effects, named as in the settings.
const (
	ClassSubmit     = "submit"
	ClassBuy        = "buy"
	ClassSend       = "send"
	ClassDelete     = "delete"
	ClassExecutable = "executable"
	ClassLeave      = "leave"
	ClassUnclear    = "unclear"
)

//go:embed intent.js
var intentScript string

// describeLimit bounds the description of a target.
const describeLimit = 5 * time.Second

// inspectLimit bounds an inspection of the page for an action, as finding its element is bounded: on a busy machine
// both wait for the same page.
func inspectLimit(a page.Action, f *frame.Frame) time.Duration { return a.StepLimit() + f.Timeout() }

// stoppedInspectLimit bounds the last inspection after a stop: people are notified after 50 ms, whatever the page does.
const stoppedInspectLimit = 20 * time.Millisecond

// scriptQuery is the argument of the script.
type scriptQuery struct {
	Mode        string            `json:"mode"`
	How         string            `json:"how,omitempty"`
	Fingerprint string            `json:"mark"`
	Point       *frame.Point      `json:"point,omitempty"`
	Values      []string          `json:"values"`
	Key         string            `json:"key"`
	Times       int               `json:"times"`   // number of key presses
	Listens     bool              `json:"listens"` // scripts of the page listen for hover events on the element
	Words       map[string]string `json:"words,omitempty"`
}

// scriptVerdict is the result of the script.
type scriptVerdict struct {
	Classes     []string `json:"classes"`
	Kinds       []string `json:"kinds"`
	Names       []string `json:"names"`
	Terms       []string `json:"terms"` // amounts and recipients
	To          string   `json:"to"`
	At          string   `json:"at"`
	Fingerprint string   `json:"mark"`
	Remote      bool     `json:"remote"`  // the target is in an out-of-process frame
	Focused     bool     `json:"focused"` // the document has the focus
	Changed     bool     `json:"changed"`
	Swallowed   bool     `json:"swallowed"`
	Wordless    bool     `json:"wordless"` // not judged, since the script needs the word patterns first
}

// judgeMode returns how the script judges an action; "" for one that has no effects itself.
func judgeMode(a page.Action) string {
	switch a.Kind {
	case actiontable.KindClick:
		return "click"
	case actiontable.KindDrag:
		return "drop"
	case actiontable.KindSelect:
		return "select"
	case actiontable.KindHover:
		return "hover"
	case actiontable.KindDragCoords:
		return "droppoint" // a drag that ends where it began is a click
	case actiontable.KindClickCoords, actiontable.KindPointerDown, actiontable.KindPointerUp:
		return "point"
	case actiontable.KindType:
		if a.Submit || strings.Contains(a.Text, "\n") && a.Slowly {
			return "type"
		}
		return "cell" // a cell is clicked to open its field
	case actiontable.KindInsertText:
		if strings.ContainsAny(a.Text, "\r\n") {
			return "insert"
		}
	case actiontable.KindPress, actiontable.KindKeyDown:
		return judgeModeOfKeys(a.Key)
	case actiontable.KindKeyUp: // activates a button pressed with keyDown; Enter activates it on keyDown
		if how := judgeModeOfKeys(a.Key); how == "space" {
			return how
		}
	default: // scrolling and filling have no effects
	}
	return ""
}

// judgedKeys are the named keys that may have effects: they delete, or select in a list.
var judgedKeys = []string{
	"delete", "backspace", "arrowup", "arrowdown", "arrowleft", "arrowright", "up", "down", "left", "right", "home",
	"end", "pageup", "pagedown",
}

// judgeModeOfKeys returns the judge mode of a chord.
func judgeModeOfKeys(text string) string {
	chord := strings.Split(text, "+")
	switch key := chord[len(chord)-1]; {
	case !slices.Contains([]string{"enter", "return", "numpadenter", "\r", "\n"}, strings.ToLower(key)):
		if key == " " || strings.EqualFold(key, "Space") || strings.EqualFold(key, "spacebar") {
			return "space"
		}
		if slices.Contains(judgedKeys, strings.ToLower(key)) || utf8.RuneCountInString(key) == 1 {
			return "strike"
		}
		return ""
	case len(chord) > 1 && !strings.EqualFold(chord[0], "Shift"):
		return "chord"
	default:
		return "key"
	}
}

// JudgeAction judges the effects of an action. An element that does not exist has none. The error says why the page
// could not be inspected.
func JudgeAction(ctx context.Context, tab *page.Tab, a page.Action) (sessions.Assessment, error) {
	how := judgeMode(a)
	if how == "" {
		return sessions.Assessment{}, nil
	}
	v, _, err := runIntentScript(ctx, tab, a, scriptQuery{Mode: "judge", How: how})
	if err != nil {
		return sessions.Assessment{}, fmt.Errorf("see what %s would do: %w", a.Kind, err)
	}
	return v.toJudgement(), nil
}

// runIntentScript runs the script in the frame of the action's target.
func runIntentScript(ctx context.Context, tab *page.Tab, a page.Action,
	q scriptQuery,
) (v scriptVerdict, at *frame.Frame, err error) {
	q.Values, q.Key, q.Times = slices.Concat([]string{}, a.Values), a.Key, max(a.Count, 1)
	if q.How == "point" || q.How == "droppoint" {
		at := actionPoint(a)
		q.Point = &at
	}
	if a.Kind == actiontable.KindDrag {
		a.Ref, a.Selector = a.EndRef, a.EndSelector
	}
	e, err := tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return scriptVerdict{}, tab.MainFrame(), nil //nolint:nilerr // the action reports what is wrong with a ref
	}
	var targets []frame.Locator
	if a.Ref != "" || a.Selector != "" {
		targets = []frame.Locator{{Ref: e.LocalRef, Selector: a.Selector}}
	}
	at = e.Frame
	err = tab.RunExclusive(ctx, inspectLimit(a, e.Frame), func(ctx context.Context) (err error) {
		if shift, _ := frame.ModifierBits([]string{"Shift"}); q.How == "key" && tab.HeldModifiers()&^shift != 0 {
			q.How = "chord"
		}
		if q.How == "hover" && len(targets) > 0 {
			q.Listens, _ = e.Frame.HasHoverListener(ctx, targets[0]) // on error, the script judges without it
		}
		if v, err = callScript(ctx, e.Frame, targets, q); err == nil && v.Remote {
			v, at, err = runInFrames(ctx, tab, q, v)
		}
		return err
	})
	return v, at, err
}

// callScript runs the script in a frame. The word patterns, which are long, are sent once per document.
func callScript(ctx context.Context, f *frame.Frame, targets []frame.Locator, q scriptQuery) (scriptVerdict, error) {
	v, err := frame.CallFunction[scriptVerdict](ctx, f, intentScript, targets, q)
	if err == nil && v.Wordless {
		q.Words = wordPatterns()
		v, err = frame.CallFunction[scriptVerdict](ctx, f, intentScript, targets, q)
	}
	return v, err
}

// runInFrames queries the out-of-process frame at the point or with the focus.
func runInFrames(ctx context.Context, tab *page.Tab, q scriptQuery,
	v scriptVerdict,
) (scriptVerdict, *frame.Frame, error) {
	var f *frame.Frame
	var err error
	if q.Point != nil {
		var at frame.Point
		f, at, err = action.FrameAtPoint(ctx, tab.Frames(), *q.Point)
		q.Point = &at
	} else {
		f, err = action.FocusedFrame(ctx, tab.Frames())
	}
	if err != nil || f == tab.MainFrame() {
		return v, tab.MainFrame(), err
	}
	inner, err := callScript(ctx, f, nil, q)
	if errors.Is(err, cdp.ErrDocumentGone) {
		return v, tab.MainFrame(), nil
	}
	return inner, f, err
}

// actionPoint returns the point where an action has effects: for a drag, its end.
func actionPoint(a page.Action) frame.Point {
	if a.Kind != actiontable.KindDragCoords {
		return frame.Point{X: a.X, Y: a.Y}
	}
	return action.DragEnd(a)
}

// classOrder lists the classes from most to least serious.
var classOrder = []string{ClassBuy, ClassDelete, ClassSend, ClassExecutable, ClassSubmit, ClassUnclear, ClassLeave}

func (v scriptVerdict) toJudgement() sessions.Assessment {
	j := sessions.Assessment{Question: sessions.Question{Classes: v.Classes}, Mark: v.Fingerprint}
	here, there := hostOf(v.At), hostOf(v.To)
	if u, err := url.Parse(v.At); err == nil && u.Host != "" {
		j.Origin = u.Scheme + "://" + u.Host
	}
	if there != "" && there != here {
		j.TargetHost = there
		j.Classes = append(slices.Clip(j.Classes), ClassLeave)
	}
	slices.SortFunc(j.Classes, func(a, b string) int { return slices.Index(classOrder, a) - slices.Index(classOrder, b) })
	j.Detail = untrusted.Shorten(strings.Join(v.Names, " / "), 200)
	if len(v.Terms) > 0 {
		j.Detail += " (" + untrusted.Shorten(strings.Join(v.Terms, ", "), 200) + ")"
	}
	j.Text = describeClasses(j.Question, v.Kinds, here)
	return j
}

// describeClasses describes the effects in our own words. Of the page's text it includes only host names, in
// unambiguous form.
func describeClasses(q sessions.Question, kinds []string, here string) string {
	if here == "" {
		here = "a page without an address"
	}
	formats := map[string]string{
		ClassBuy: "buy, order or pay something at %s", ClassDelete: "delete or cancel something at %s",
		ClassSend: "send or publish something at %s", ClassExecutable: "download a program from %s",
		ClassUnclear: "do something at %s whose meaning clank cannot tell",
	}
	var parts []string
	for _, c := range q.Classes {
		switch {
		case formats[c] != "":
			parts = append(parts, fmt.Sprintf(formats[c], here))
		case c == ClassSubmit:
			parts = append(parts, fmt.Sprintf("hand over personal data (%v) at %s", strings.Join(kinds, ", "), here))
		case c == ClassLeave:
			parts = append(parts, fmt.Sprintf("go to %s", //nolint:perfsprint // translations use the format string
				q.TargetHost))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, ", and ")
	return strings.ToUpper(text[:1]) + text[1:]
}

var hostName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9._:\[\]-]{1,253}$`) })

// hostOf returns the host and port of a URL in the form browsers use; "" if it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || !hostName().MatchString(u.Host) {
		return ""
	}
	return u.Host
}

var dialogPatterns = sync.OnceValue(func() map[string]*regexp.Regexp {
	m := map[string]*regexp.Regexp{}
	for _, kind := range []string{ClassBuy, ClassDelete, ClassSend, "remove", "sure"} {
		m[kind] = regexp.MustCompile(wordPatterns()[kind])
	}
	return m
})

// JudgeDialog judges accepting a dialog by its text: "Delete all messages?" deletes. A beforeunload dialog has no
// effects.
func JudgeDialog(d page.Dialog, at string) sessions.Assessment {
	if d.Type != "confirm" && d.Type != "prompt" {
		return sessions.Assessment{}
	}
	text := foldText(d.Message)
	v := scriptVerdict{At: at, Names: []string{untrusted.Shorten(cleanLine(d.Message), 200)}}
	for _, class := range []string{ClassBuy, ClassDelete, ClassSend} {
		if dialogPatterns()[class].MatchString(text) || class == ClassDelete && dialogPatterns()["remove"].MatchString(text) {
			v.Classes = append(v.Classes, class)
		}
	}
	if len(v.Classes) == 0 && dialogPatterns()["sure"].MatchString(text) {
		v.Classes = []string{ClassUnclear}
	}
	if len(v.Classes) > 0 {
		v.Fingerprint = d.ID + "\x00" + d.Message
	}
	return v.toJudgement()
}

// JudgeAddress judges a navigation to an address from the page at.
func JudgeAddress(address, at string) sessions.Assessment {
	to := hostOf(address)
	if to == "" || to == hostOf(at) {
		return sessions.Assessment{}
	}
	q := sessions.Question{Classes: []string{ClassLeave}, TargetHost: to, Origin: "https://" + to}
	q.Text = describeClasses(q, nil, to)
	return sessions.Assessment{Question: q, Mark: address}
}

// cleanLine removes characters that text shown on one line must not contain.
func cleanLine(s string) string {
	return invisibleRunes().ReplaceAllString(s, " ")
}

var invisibleRunes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{C}\p{Zl}\p{Zp}\s]+`) })

// uploadMark is the prefix of the mark of an upload, which always needs approval; the rest is the mark of the click.
const uploadMark = "upload\x00"
