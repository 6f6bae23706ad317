package action

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

const (
	// maxStepKeys bounds the keys pressed to reach a value.
	maxStepKeys = 1000
	// manySteps is from how many steps on larger ones are tried.
	manySteps = 20
)

// stepRange is what a slider or the like says of itself.
type stepRange struct {
	Role string   `json:"role"`
	Name string   `json:"name"`
	Now  float64  `json:"now"`
	Min  *float64 `json:"min"`
	Max  *float64 `json:"max"`
}

// stepper presses keys on a slider, spinbutton or the like, which takes no text, until it has a value.
type stepper struct {
	*performer
	element frame.Element
	arg     fieldArg
	limit   time.Duration // for finding it
	want    float64
	at      stepRange
	pressed int
}

// stepTo sets a value with the keys of the ARIA Authoring Practices.
func (d *performer) stepTo(ctx context.Context, e frame.Element, arg fieldArg, limit time.Duration) error {
	s := stepper{performer: d, element: e, arg: arg, limit: limit}
	if err := s.read(ctx, nil); err != nil {
		return err
	}
	text := strings.TrimSpace(arg.Text.(string))
	var err error
	if s.want, err = strconv.ParseFloat(text, 64); err != nil || s.at.excludes(s.want) {
		return s.fail("takes a number%s, not %q", s.at.limits(), text)
	}
	for _, keys := range [][2]string{{"ArrowDown", "ArrowUp"}, {"ArrowLeft", "ArrowRight"}, {"ArrowUp", "ArrowDown"}} {
		step, err := s.press(ctx, keys, 0)
		if err != nil {
			return err
		}
		if step == 0 {
			continue
		}
		if s.steps(step) > manySteps {
			if err := s.leap(ctx); err != nil {
				return err
			}
		}
		for before := math.Inf(1); s.steps(step) >= 1 && s.gap() != before; {
			before = s.gap()
			if _, err := s.press(ctx, keys, step); err != nil {
				return err
			}
		}
		if s.reached() {
			return nil
		}
		return s.fail("stopped at %s: its keys move it by %s%s; drag it to set another value", number(s.at.Now),
			number(math.Abs(step)), s.at.limits())
	}
	if s.reached() {
		return nil
	}
	return s.fail("does not react to arrow keys, and stays at %s: drag it", number(s.at.Now))
}

// leap goes to the nearest end, and on by pages.
func (s *stepper) leap(ctx context.Context) error {
	gap := math.Abs(s.gap())
	switch {
	case s.at.Max != nil && *s.at.Max-s.want < gap:
		if _, err := s.press(ctx, [2]string{"End", "End"}, 0); err != nil {
			return err
		}
	case s.at.Min != nil && s.want-*s.at.Min < gap:
		if _, err := s.press(ctx, [2]string{"Home", "Home"}, 0); err != nil {
			return err
		}
	}
	pages := [2]string{"PageDown", "PageUp"}
	page, err := s.press(ctx, pages, 0)
	if err == nil && page != 0 {
		_, err = s.press(ctx, pages, page)
	}
	return err
}

// press presses the key that leads to the value, down or up, as often as steps of this size fit in, once if it is 0. A
// negative step says that down leads up. It returns the step that it saw for one key.
func (s *stepper) press(ctx context.Context, keys [2]string, step float64) (float64, error) {
	gap, count := s.gap(), 1
	if step != 0 {
		count = min(int(s.steps(step)), maxStepKeys-s.pressed)
	}
	if s.reached() || count <= 0 {
		return 0, nil
	}
	key, signed := keys[0], -1.0
	if (gap > 0) == (step >= 0) {
		key, signed = keys[1], 1
	}
	chord, err := frame.ParseChord(key)
	if err != nil {
		return 0, err
	}
	var events []proto.Request
	for range count {
		events = append(events, chord.Events()...)
	}
	s.pressed += count
	before := s.at.Now
	if _, err := s.sendAndWait(ctx, s.element.Frame, events...); err != nil {
		return 0, err
	}
	err = s.read(ctx, map[string]float64{"from": before, "to": before + signed*float64(count)*step})
	return (s.at.Now - before) * signed, err
}

// read focuses the element and reads its range, once the value is as expected after keys or does not come to that.
func (s *stepper) read(ctx context.Context, moved map[string]float64) error {
	s.arg.Moved = moved
	var err error
	s.at, err = runFieldScript[stepRange](ctx, s.element, "range", s.arg, s.limit)
	return err
}

func (s *stepper) gap() float64 { return s.want - s.at.Now }

// steps returns how many whole steps of this size lead to the value.
func (s *stepper) steps(step float64) float64 {
	return math.Floor(math.Abs(s.gap()/step) + 1e-6)
}

func (s *stepper) reached() bool { return math.Abs(s.gap()) <= 1e-9*math.Max(1, math.Abs(s.want)) }

func (s *stepper) fail(format string, args ...any) error {
	failed := frame.ScriptError{Code: "steps", Role: s.at.Role, Name: s.at.Name, Text: fmt.Sprintf(format, args...)}
	return failed.Explain(s.element.GivenRef)
}

func (r stepRange) excludes(v float64) bool {
	return math.IsNaN(v) || r.Min != nil && v < *r.Min || r.Max != nil && v > *r.Max
}

// limits returns the range as the end of a sentence.
func (r stepRange) limits() string {
	switch {
	case r.Min != nil && r.Max != nil:
		return " from " + number(*r.Min) + " to " + number(*r.Max)
	case r.Min != nil:
		return " from " + number(*r.Min)
	case r.Max != nil:
		return " up to " + number(*r.Max)
	}
	return ""
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', 10, 64) }
