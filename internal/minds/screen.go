package minds

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"strings"
	"sync"

	"clank/internal/tasks"
	"clank/llm/llmtest"
)

// patience is how often a mind looks again for what is not there yet.
const patience = 25

// watcher does the steps of a task as a model does that sees the screen. Where things are it looks up in the page as it is
// at that moment, and says in its vendor's unit.
type watcher struct {
	task tasks.Task
	url  string
	page func() tasks.Page
	says func(deeds []deed, size image.Point) llmtest.Reply

	mu     sync.Mutex
	opened bool
	step   int // of the task, the next one
	waited int
}

// turn answers requests. ctx is that of the whole task.
func (w *watcher) turn(ctx context.Context) llmtest.Turn {
	return func(r llmtest.Request) llmtest.Reply {
		w.mu.Lock()
		defer w.mu.Unlock()
		deeds, err := w.next(ctx)
		size := image.Pt(1, 1)
		if err == nil && points(deeds) {
			size, err = sizeOf(r)
		}
		switch {
		case err != nil:
			return llmtest.Reply{Text: "I give up: " + err.Error(), Usage: usage()}
		case deeds == nil:
			return llmtest.Reply{Text: "done", Usage: usage()}
		}
		return w.says(deeds, size)
	}
}

func points(deeds []deed) bool {
	for _, d := range deeds {
		if len(d.at) > 0 {
			return true
		}
	}
	return false
}

// next is what is to be done now; nil if all is.
func (w *watcher) next(ctx context.Context) ([]deed, error) {
	if !w.opened {
		w.opened = true
		return []deed{{kind: deedNavigate, text: w.url}}, nil
	}
	for w.step < len(w.task.Steps) {
		s := w.task.Steps[w.step]
		deeds, err := w.deeds(ctx, s)
		switch {
		case err != nil && w.waited < patience:
			w.waited++
			return []deed{{kind: deedWait}}, nil
		case err != nil:
			return nil, fmt.Errorf("step %d, %+v: %w", w.step+1, s, err)
		case len(deeds) == 1 && deeds[0].kind == deedScroll && s.Verb != tasks.Wheel && s.Verb != tasks.Bottom && w.waited < patience:
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

// deeds are what a step takes; none if it is done already. An error may pass with time.
func (w *watcher) deeds(ctx context.Context, s tasks.Step) ([]deed, error) {
	switch s.Verb {
	case tasks.Press:
		return []deed{{kind: deedKeys, text: s.Text}}, nil
	case tasks.Accept:
		return []deed{{kind: deedDialog, text: s.Text}}, nil
	case tasks.Back:
		return []deed{{kind: deedBack, text: w.url}}, nil
	case tasks.CloseTab:
		return []deed{{kind: deedCloseTab}}, nil
	case tasks.Bottom:
		return []deed{{kind: deedScroll, at: []Place{{0.5, 0.5}}, by: image.Pt(0, 5000)}}, nil
	case tasks.WaitFor:
		text, err := w.page().Snapshot(ctx, false, 0)
		if err == nil && !strings.Contains(text, s.Text) {
			err = fmt.Errorf("%q is not on the page", s.Text)
		}
		return nil, err
	default:
		return w.pointed(ctx, s)
	}
}

// pointed are the deeds of a step on an element.
func (w *watcher) pointed(ctx context.Context, s tasks.Step) ([]deed, error) {
	from, err := tasks.Look(ctx, w.page(), s.Name)
	if err != nil {
		return nil, err
	}
	middle := share(from, from.Width/2, from.Height/2)
	if middle.Y < 0 || middle.Y >= 1 {
		return []deed{{kind: deedScroll, at: []Place{{0.5, 0.5}}, by: image.Pt(0, int(math.Round((middle.Y-0.5)*from.View[1])))}}, nil
	}
	click := deed{kind: deedClick, at: []Place{middle}, held: s.Held}
	switch s.Verb {
	case tasks.Click:
		return []deed{click}, nil
	case tasks.DoubleClick:
		click.times = 2
		return []deed{click}, nil
	case tasks.RightClick:
		click.button = "right"
		return []deed{click}, nil
	case tasks.Hover:
		return []deed{{kind: deedMove, at: click.at}}, nil
	case tasks.Type:
		return []deed{click, {kind: deedKeys, text: "Control+a"}, {kind: deedType, text: s.Text}}, nil
	case tasks.Choose:
		return []deed{click, {kind: deedType, text: s.Text}, {kind: deedKeys, text: "Enter"}}, nil
	case tasks.Drag:
		to, err := tasks.Look(ctx, w.page(), s.To)
		return []deed{{kind: deedDrag, at: []Place{middle, share(to, to.Width/2, to.Height/2)}}}, err
	case tasks.ClickAt:
		click.at = []Place{share(from, s.Points[0][0], s.Points[0][1])}
		return []deed{click}, nil
	case tasks.DragAt:
		d := deed{kind: deedDrag}
		for i, p := range s.Points {
			if i > 0 && len(s.Points) > 2 { // a hand does not jump
				d.at = append(d.at, share(from, (p[0]+s.Points[i-1][0])/2, (p[1]+s.Points[i-1][1])/2))
			}
			d.at = append(d.at, share(from, p[0], p[1]))
		}
		return []deed{d}, nil
	case tasks.Wheel:
		return []deed{{kind: deedScroll, at: click.at, by: image.Pt(int(s.Points[0][0]), int(s.Points[0][1]))}}, nil
	default:
		return nil, errors.New("nobody knows how")
	}
}

// share is a point of an element on the picture of the viewport.
func share(s tasks.Sight, x, y float64) Place {
	return Place{X: (s.X + x) / s.View[0], Y: (s.Y + y) / s.View[1]}
}
