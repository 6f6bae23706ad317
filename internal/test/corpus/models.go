package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"clank/internal/test/llmtest"
	"clank/llm"
	"clank/sessions"
)

// elementModel performs the steps of a task like a model that reads pages. It knows only what it was sent: it finds
// elements by name in snapshots and in their changes.
type elementModel struct {
	task Task
	url  string

	mu     sync.Mutex
	opened bool
	step   int  // index of the next step of the task
	looked bool // it has taken a snapshot of the whole page for the current step
	waited int
	listed bool // it has listed the tabs
}

// nextReply answers a request with one tool call or, at the end, with text.
func (m *elementModel) nextReply(r llmtest.Request) llmtest.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.opened {
		m.opened = true
		return toolReply("browser_open", map[string]any{"url": m.url})
	}
	if m.step == len(m.task.Steps) {
		return llmtest.Reply{Text: "done", Usage: fixedUsage()}
	}
	s := m.task.Steps[m.step]
	ref := ""
	if s.Name != "" {
		if ref = refOf(r.Messages, s.Name); ref == "" {
			return m.search(s)
		}
	}
	if s.Verb == CloseTab && !m.listed {
		m.listed = true
		return toolReply("browser_tabs", map[string]any{"action": "list"})
	}
	m.step, m.looked, m.waited, m.listed = m.step+1, false, 0, false
	return m.call(s, ref, r)
}

// search looks for an unknown element in a snapshot of the whole page, repeatedly.
func (m *elementModel) search(s Step) llmtest.Reply {
	switch {
	case !m.looked:
		m.looked = true
		return toolReply("browser_snapshot", map[string]any{})
	case m.waited < patience:
		m.waited++
		m.looked = false
		return toolReply("browser_wait", map[string]any{"timeMs": 200})
	}
	return llmtest.Reply{Text: fmt.Sprintf("I give up: nothing is called %q", s.Name), Usage: fixedUsage()}
}

// call returns the tool call for a step.
func (m *elementModel) call(s Step, ref string, r llmtest.Request) llmtest.Reply {
	on := map[string]any{"ref": ref}
	switch s.Verb {
	case Click:
		return toolReply("browser_click", on)
	case DoubleClick:
		on["doubleClick"] = true
		return toolReply("browser_click", on)
	case RightClick:
		on["button"] = "right"
		return toolReply("browser_click", on)
	case Hover:
		return toolReply("browser_hover", on)
	case Type:
		on["text"] = s.Text
		return toolReply("browser_type", on)
	case Choose:
		on["values"] = []string{s.Text}
		return toolReply("browser_select", on)
	case Press:
		return toolReply("browser_press", map[string]any{"key": s.Text})
	case Bottom:
		return toolReply("browser_scroll", map[string]any{"direction": "down", "pixels": 20000})
	case WaitFor:
		return toolReply("browser_wait", map[string]any{"text": s.Text})
	case Accept:
		in := map[string]any{"accept": true}
		if s.Text != "" {
			in["promptText"] = s.Text
		}
		return toolReply("browser_dialog", in)
	case Back:
		return toolReply("browser_back", map[string]any{})
	case CloseTab:
		return toolReply("browser_tabs", map[string]any{"action": "close", "tab": currentTab(r.LastText())})
	default:
		return llmtest.Reply{Text: fmt.Sprintf("I give up: there is no tool to %s", s.Verb), Usage: fixedUsage()}
	}
}

func toolReply(tool string, in map[string]any) llmtest.Reply {
	return llmtest.Reply{Calls: []llmtest.Call{{Name: tool, Arguments: mustJSON(in)}}, Usage: fixedUsage()}
}

var (
	refNamePattern    = regexp.MustCompile(`^([+ -]?)\s*- \S+ ("(?:[^"\\]|\\.)*").*?\[ref=([^\]]+)\]`)
	currentTabPattern = regexp.MustCompile(`(?m)^\s*\* (\S+)`)
)

// refOf returns the newest ref of the named element; "" if it is unknown or gone.
func refOf(messages []llm.Message, name string) string {
	quoted, err := json.Marshal(name)
	if err != nil {
		return ""
	}
	for _, m := range slices.Backward(messages) {
		for _, p := range slices.Backward(m.Parts) {
			text := p.Text
			if p.Result != nil {
				text = p.Result.Text
			}
			ref, gone := "", false
			for line := range strings.Lines(text) {
				found := refNamePattern.FindStringSubmatch(line)
				if found == nil || found[2] != string(quoted) {
					continue
				}
				if found[1] == "-" {
					gone = true
				} else {
					ref = found[3]
				}
			}
			if ref != "" || gone || strings.Contains(text, "\npage:") {
				return ref
			}
		}
	}
	return ""
}

// currentTab returns the id of the current tab in a list of tabs.
func currentTab(list string) string {
	if found := currentTabPattern.FindStringSubmatch(list); found != nil {
		return found[1]
	}
	return ""
}

// patience is how often a model looks again for something that is not there yet.
const patience = 25

// screenModel performs the steps of a task like a model that sees screenshots. It looks positions up in the current
// page and gives them in its vendor's unit.
type screenModel struct {
	task        Task
	url         string
	page        func() TaskPage
	encodeReply func(actions []modelAction, size image.Point) llmtest.Reply

	mu     sync.Mutex
	opened bool
	step   int // index of the next step of the task
	waited int
}

// turn answers requests. ctx is that of the whole task.
func (w *screenModel) turn(ctx context.Context) llmtest.Turn {
	return func(r llmtest.Request) llmtest.Reply {
		w.mu.Lock()
		defer w.mu.Unlock()
		actions, err := w.nextActions(ctx)
		size := image.Pt(1, 1)
		if err == nil && pointsSomewhere(actions) {
			size, err = pictureSize(r)
		}
		switch {
		case err != nil:
			return llmtest.Reply{Text: "I give up: " + err.Error(), Usage: fixedUsage()}
		case actions == nil:
			return llmtest.Reply{Text: "done", Usage: fixedUsage()}
		}
		return w.encodeReply(actions, size)
	}
}

func pointsSomewhere(actions []modelAction) bool {
	for _, a := range actions {
		if len(a.at) > 0 {
			return true
		}
	}
	return false
}

// nextActions returns the next actions, or nil if the task is done.
func (w *screenModel) nextActions(ctx context.Context) ([]modelAction, error) {
	if !w.opened {
		w.opened = true
		return []modelAction{{kind: actionNavigate, text: w.url}}, nil
	}
	for w.step < len(w.task.Steps) {
		s := w.task.Steps[w.step]
		actions, err := w.actionsOf(ctx, s)
		switch {
		case err != nil && w.waited < patience:
			w.waited++
			return []modelAction{{kind: actionWait}}, nil
		case err != nil:
			return nil, fmt.Errorf("step %d, %+v: %w", w.step+1, s, err)
		case len(actions) == 1 && actions[0].kind == actionScroll && s.Verb != Wheel && s.Verb != Bottom &&
			w.waited < patience:
			w.waited++ // not in view yet
			return actions, nil
		}
		w.step, w.waited = w.step+1, 0
		if actions != nil {
			return actions, nil
		}
	}
	return nil, nil
}

// actionsOf returns the actions for a step, or none if it is done already. An error may be temporary.
func (w *screenModel) actionsOf(ctx context.Context, s Step) ([]modelAction, error) {
	switch s.Verb {
	case Press:
		return []modelAction{{kind: actionKeys, text: s.Text}}, nil
	case Accept:
		return []modelAction{{kind: actionDialog, text: s.Text}}, nil
	case Back:
		return []modelAction{{kind: actionBack, text: w.url}}, nil
	case CloseTab:
		return []modelAction{{kind: actionCloseTab}}, nil
	case Bottom:
		return []modelAction{{kind: actionScroll, at: []PicturePoint{{0.5, 0.5}}, scrollBy: image.Pt(0, 5000)}}, nil
	case WaitFor:
		text, err := w.page().Snapshot(ctx, sessions.SnapshotOptions{})
		if err == nil && !strings.Contains(text, s.Text) {
			err = fmt.Errorf("%q is not on the page", s.Text)
		}
		return nil, err
	default:
		return w.actionsOnElement(ctx, s)
	}
}

// actionsOnElement returns the actions of a step on an element.
func (w *screenModel) actionsOnElement(ctx context.Context, s Step) ([]modelAction, error) {
	from, err := FindBox(ctx, w.page(), s.Name)
	if err != nil {
		return nil, err
	}
	middle := pointOnPicture(from, from.Width/2, from.Height/2)
	if middle.Y < 0 || middle.Y >= 1 {
		return []modelAction{{
			kind: actionScroll, at: []PicturePoint{{0.5, 0.5}},
			scrollBy: image.Pt(0, int(math.Round((middle.Y-0.5)*from.View[1]))),
		}}, nil
	}
	click := modelAction{kind: actionClick, at: []PicturePoint{middle}, held: s.Held}
	switch s.Verb {
	case Click:
		return []modelAction{click}, nil
	case DoubleClick:
		click.times = 2
		return []modelAction{click}, nil
	case RightClick:
		click.button = "right"
		return []modelAction{click}, nil
	case Hover:
		return []modelAction{{kind: actionMove, at: click.at}}, nil
	case Type:
		return []modelAction{click, {kind: actionKeys, text: "Control+a"}, {kind: actionType, text: s.Text}}, nil
	case Choose:
		return []modelAction{click, {kind: actionType, text: s.Text}, {kind: actionKeys, text: "Enter"}}, nil
	case Drag:
		to, err := FindBox(ctx, w.page(), s.To)
		return []modelAction{{kind: actionDrag, at: []PicturePoint{middle, pointOnPicture(to, to.Width/2, to.Height/2)}}}, err
	case ClickAt:
		click.at = []PicturePoint{pointOnPicture(from, s.Points[0][0], s.Points[0][1])}
		return []modelAction{click}, nil
	case DragAt:
		a := modelAction{kind: actionDrag}
		for i, p := range s.Points {
			if i > 0 && len(s.Points) > 2 { // move the mouse gradually
				a.at = append(a.at, pointOnPicture(from, (p[0]+s.Points[i-1][0])/2, (p[1]+s.Points[i-1][1])/2))
			}
			a.at = append(a.at, pointOnPicture(from, p[0], p[1]))
		}
		return []modelAction{a}, nil
	case Wheel:
		return []modelAction{{
			kind: actionScroll, at: click.at,
			scrollBy: image.Pt(int(s.Points[0][0]), int(s.Points[0][1])),
		}}, nil
	default:
		return nil, errors.New("nobody knows how")
	}
}

// pointOnPicture returns the position in the viewport image of a point of an element.
func pointOnPicture(s ElementBox, x, y float64) PicturePoint {
	return PicturePoint{X: (s.X + x) / s.View[0], Y: (s.Y + y) / s.View[1]}
}

// PicturePoint is a position in an image as a share of its width and height: 0, 0 is the upper left corner, 1, 1 the
// lower right.
type PicturePoint struct{ X, Y float64 }

// actionKind is the kind of an action.
type actionKind string

const (
	actionClick    actionKind = "click"     // at[0], button, times, held
	actionMove     actionKind = "move"      // at[0]
	actionDrag     actionKind = "drag"      // at
	actionScroll   actionKind = "scroll"    // at[0], by
	actionKeys     actionKind = "keys"      // text: "Control+a", "ArrowDown"
	actionType     actionKind = "type"      // text
	actionWait     actionKind = "wait"      // a moment
	actionNavigate actionKind = "navigate"  // text: the address
	actionBack     actionKind = "back"      // text: the address to return to
	actionCloseTab actionKind = "close tab" //
	actionDialog   actionKind = "dialog"    // text: for a prompt
)

// modelAction is an action that a model requests, independent of the vendor.
type modelAction struct {
	kind     actionKind
	at       []PicturePoint
	button   string // "right"; "" for the left one
	times    int    // of a click; 0 = 1
	held     string // a key to hold down
	text     string
	scrollBy image.Point // pixels of the picture
}

// pixel returns the pixel at a position in an image.
func (p PicturePoint) pixel(size image.Point) image.Point {
	return image.Pt(gridCell(p.X, size.X), gridCell(p.Y, size.Y))
}

// gridCell returns the index of the cell that contains a share, for a number of equal cells.
func gridCell(share float64, cells int) int { return min(max(int(share*float64(cells)), 0), cells-1) }

// mustJSON returns v as JSON. Its values are made here and always marshal.
func mustJSON(v map[string]any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(data)
}

// function returns a call of one of the loop's own tools, for actions other than mouse and keyboard. ok is false for
// the others.
func (a modelAction) function() (call llmtest.Call, ok bool) {
	switch a.kind {
	case actionNavigate:
		return llmtest.Call{Name: "navigate", Arguments: mustJSON(map[string]any{"url": a.text})}, true
	case actionCloseTab:
		return llmtest.Call{Name: "close_tab", Arguments: "{}"}, true
	case actionDialog:
		return llmtest.Call{Name: "answer_dialog", Arguments: mustJSON(map[string]any{"accept": true, "text": a.text})}, true
	default:
		return llmtest.Call{}, false
	}
}

// NewestPicture returns the newest image in a request; nil if there is none.
func NewestPicture(r llmtest.Request) []byte {
	for _, m := range slices.Backward(r.Messages) {
		for _, p := range slices.Backward(m.Parts) {
			if p.Image != nil {
				return p.Image.Data
			}
			if p.Result != nil && len(p.Result.Images) > 0 {
				return p.Result.Images[len(p.Result.Images)-1].Data
			}
		}
	}
	return nil
}

// pictureSize returns the size of the newest image in a request.
func pictureSize(r llmtest.Request) (image.Point, error) {
	data := NewestPicture(r)
	if data == nil {
		return image.Point{}, errors.New("the model was sent no picture")
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return image.Point{}, fmt.Errorf("read the picture: %w", err)
	}
	return image.Pt(c.Width, c.Height), nil
}

// fixedUsage returns the usage of every answer.
func fixedUsage() *llm.Usage { return &llm.Usage{InputTokens: 10, OutputTokens: 5} }
