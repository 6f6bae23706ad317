package corpus

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"strings"
	"sync"

	"clank/internal/test/llmtest"
)

// patience is how often a mind looks again for what is not there yet.
const patience = 25

// screenModel does the steps of a task as a model does that sees the screen. Where things are it looks up in the page as it is
// at that moment, and says in its vendor's unit.
type screenModel struct {
	task        Task
	url         string
	page        func() TaskPage
	encodeReply func(deeds []modelAction, size image.Point) llmtest.Reply

	mu     sync.Mutex
	opened bool
	step   int // of the task, the next one
	waited int
}

// turn answers requests. ctx is that of the whole task.
func (w *screenModel) turn(ctx context.Context) llmtest.Turn {
	return func(r llmtest.Request) llmtest.Reply {
		w.mu.Lock()
		defer w.mu.Unlock()
		deeds, err := w.nextActions(ctx)
		size := image.Pt(1, 1)
		if err == nil && pointsSomewhere(deeds) {
			size, err = pictureSize(r)
		}
		switch {
		case err != nil:
			return llmtest.Reply{Text: "I give up: " + err.Error(), Usage: fixedUsage()}
		case deeds == nil:
			return llmtest.Reply{Text: "done", Usage: fixedUsage()}
		}
		return w.encodeReply(deeds, size)
	}
}

func pointsSomewhere(deeds []modelAction) bool {
	for _, d := range deeds {
		if len(d.at) > 0 {
			return true
		}
	}
	return false
}

// nextActions returns what is to be done now, or nil if all is done.
func (w *screenModel) nextActions(ctx context.Context) ([]modelAction, error) {
	if !w.opened {
		w.opened = true
		return []modelAction{{kind: actionNavigate, text: w.url}}, nil
	}
	for w.step < len(w.task.Steps) {
		s := w.task.Steps[w.step]
		deeds, err := w.actionsOf(ctx, s)
		switch {
		case err != nil && w.waited < patience:
			w.waited++
			return []modelAction{{kind: actionWait}}, nil
		case err != nil:
			return nil, fmt.Errorf("step %d, %+v: %w", w.step+1, s, err)
		case len(deeds) == 1 && deeds[0].kind == actionScroll && s.Verb != Wheel && s.Verb != Bottom && w.waited < patience:
			w.waited++ // it is not in view yet
			return deeds, nil
		}
		w.step, w.waited = w.step+1, 0
		if deeds != nil {
			return deeds, nil
		}
	}
	return nil, nil
}

// actionsOf returns the actions that a step takes, none if it is done already. An error may pass with time.
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
		text, err := w.page().Snapshot(ctx, false, 0)
		if err == nil && !strings.Contains(text, s.Text) {
			err = fmt.Errorf("%q is not on the page", s.Text)
		}
		return nil, err
	default:
		return w.actionsOnElement(ctx, s)
	}
}

// actionsOnElement returns the deeds of a step on an element.
func (w *screenModel) actionsOnElement(ctx context.Context, s Step) ([]modelAction, error) {
	from, err := FindBox(ctx, w.page(), s.Name)
	if err != nil {
		return nil, err
	}
	middle := pointOnPicture(from, from.Width/2, from.Height/2)
	if middle.Y < 0 || middle.Y >= 1 {
		return []modelAction{{kind: actionScroll, at: []PicturePoint{{0.5, 0.5}}, scrollBy: image.Pt(0, int(math.Round((middle.Y-0.5)*from.View[1])))}}, nil
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
		d := modelAction{kind: actionDrag}
		for i, p := range s.Points {
			if i > 0 && len(s.Points) > 2 { // a hand does not jump
				d.at = append(d.at, pointOnPicture(from, (p[0]+s.Points[i-1][0])/2, (p[1]+s.Points[i-1][1])/2))
			}
			d.at = append(d.at, pointOnPicture(from, p[0], p[1]))
		}
		return []modelAction{d}, nil
	case Wheel:
		return []modelAction{{kind: actionScroll, at: click.at, scrollBy: image.Pt(int(s.Points[0][0]), int(s.Points[0][1]))}}, nil
	default:
		return nil, errors.New("nobody knows how")
	}
}

// pointOnPicture returns a point of an element on the picture of the viewport.
func pointOnPicture(s ElementBox, x, y float64) PicturePoint {
	return PicturePoint{X: (s.X + x) / s.View[0], Y: (s.Y + y) / s.View[1]}
}
