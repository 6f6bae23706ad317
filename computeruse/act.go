package computeruse

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/computeruse/picture"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/working"
)

const (
	maxCalls    = 30   // in one turn
	maxShown    = 8    // pictures with one answer
	maxNote     = 2000 // characters of a note or an error of the page
	lookTimeout = 10 * time.Second
)

// What a model is told about calls that were not tried.
const (
	notTried = "Not executed: an earlier computer action in this turn failed."
	tooMany  = "Not executed: there are too many calls in this turn."
)

// act does what one turn asks for, in order, and takes one picture after it. An
// error ends the task; what went wrong on the page goes back to the model. refused
// is set if the task ends because a person did not agree.
func (r *run) act(ctx context.Context, t Turn) (refused *working.Ending, err error) {
	next := &r.held.memory.Next
	r.useless++
	if len(t.Calls)+len(t.Tools) == 0 {
		next.say("You said nothing. Act, or answer the person.")
		return nil, nil
	}
	done := sha256.New()
	left := len(t.Calls) + len(t.Tools)
	failed := false
	for i, c := range t.Calls {
		left--
		switch {
		case failed:
			next.outcome(Outcome{CallID: c.ID, Err: notTried, Skipped: true})
			continue
		case i >= maxCalls:
			next.outcome(Outcome{CallID: c.ID, Err: tooMany, Skipped: true})
			continue
		}
		o, refused, err := r.call(ctx, c, left == 0)
		if err != nil {
			return nil, err
		}
		next.outcome(o)
		if refused != nil {
			next.settle(notTried)
			return refused, nil
		}
		failed = o.Err != ""
		for _, a := range c.Actions {
			fmt.Fprintf(done, "%s%s\x00", a.Kind, a.input(target{}))
		}
		fmt.Fprintf(done, "%q\x00", o.Err)
	}
	for i, c := range t.Tools {
		left--
		switch {
		case failed:
			next.result(llm.ToolResult{ID: c.ID, Text: notTried, IsError: true})
			continue
		case len(t.Calls)+i >= maxCalls:
			next.result(llm.ToolResult{ID: c.ID, Text: tooMany, IsError: true})
			continue
		}
		res, err := r.use(ctx, c, left == 0)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(done, "%s%s%t\x00", c.Name, c.Input, res.IsError)
	}
	return nil, r.after(ctx, hex.EncodeToString(done.Sum(nil)))
}

// after takes the picture if none was taken since the last act, and counts how
// often the model repeats itself.
func (r *run) after(ctx context.Context, done string) error {
	if !r.fresh {
		s, err := r.open(ctx)
		if err != nil {
			return err
		}
		r.look(ctx, s)
	}
	r.repeat = r.repeats.Add(done + hex.EncodeToString(r.photo.sum[:]))
	if r.repeat >= working.WarnRepeats {
		r.held.memory.Next.say(fmt.Sprintf("You have done this %d times now, and the screen is the same. Try something else, or answer.", r.repeat))
	}
	return working.Ended(ctx, nil)
}

// call does one batch of actions.
func (r *run) call(ctx context.Context, c Call, last bool) (o Outcome, refused *working.Ending, err error) {
	o = Outcome{CallID: c.ID}
	if len(c.Safety) > 0 {
		acknowledged, no, err := r.safety(ctx, c)
		switch {
		case err != nil:
			return o, nil, err
		case no != "":
			o.Err = "Not done: a person had to look at this first, and did not agree. " + no
			return o, &working.Ending{Text: "I stopped before an action that a person must look at first, and nobody agreed to it. " + no, Failed: true}, nil
		}
		o.Acknowledged = acknowledged
	}
	all, wrong := plan(c.Actions, r.photo.Geometry, r.mouse())
	if wrong != nil {
		o.Err = working.Sentence(wrong.Error())
		var a Action
		if len(c.Actions) > 0 {
			a = c.Actions[0]
		}
		on := r.foresee(ctx, a)
		step := r.step(a.as(on), on, c.Intent)
		return o, nil, r.around(ctx, step, func() error {
			step.Text, step.Failed = o.Err, true
			return nil
		})
	}
	r.useless = 0
	s, err := r.open(ctx)
	if err != nil {
		return o, nil, err
	}
	for i, p := range all {
		if err := r.action(ctx, s, p, c.Intent, &o, last && i == len(all)-1); err != nil {
			return o, nil, err
		}
		if o.Err != "" {
			if i+1 < len(all) {
				o.Err += fmt.Sprintf(" The %d actions after it were not done.", len(all)-i-1)
			}
			break
		}
	}
	return o, nil, nil
}

// step is the act of an action, about to begin.
func (r *run) step(a Action, on target, intent string) *sessions.Step {
	kind := a.Kind
	if kind == "" {
		kind = ActUnknown
	}
	return &sessions.Step{Kind: sessions.StepAct, Tool: string(kind), Input: a.input(on), Label: a.label(on, intent)}
}

// around tells people of an act before and after it.
func (r *run) around(ctx context.Context, step *sessions.Step, do func() error) error {
	r.n++
	step.N, step.Phase = r.n, sessions.Begun
	if err := r.emit(ctx, *step); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	step.Phase, step.URL, step.Title = sessions.Done, r.held.url, r.held.title
	return r.emit(ctx, *step)
}

// action does one action of a batch and adds to its outcome.
func (r *run) action(ctx context.Context, s Screen, p planned, intent string, o *Outcome, last bool) error {
	on := r.meets(ctx, s, p)
	if on.secret {
		r.held.memory.secrets.Learn(p.Text)
	}
	step := r.step(p.as(on), on, intent)
	return r.around(ctx, step, func() error {
		d := r.do(ctx, s, p, o)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.held.mouse = p.mouse
		step.Text, step.Failed = d.brief(), d.failed()
		if text := d.text(); d.failed() {
			o.Err = text
		} else if text != "" {
			o.Text = strings.TrimSpace(o.Text + "\n" + text)
		}
		if last || d.failed() || p.Kind == ActScreenshot {
			step.View = r.look(ctx, s)
		}
		if p.Kind == ActScreenshot {
			r.show()
		}
		return working.Ended(ctx, nil)
	})
}

// do performs an action.
func (r *run) do(ctx context.Context, s Screen, p planned, o *Outcome) (d deed) {
	switch p.Kind {
	case ActScreenshot:
		r.fresh = false // pages change on their own
		return d
	case ActCursor:
		if !r.photo.Known() {
			d.err = errUnseen
			return d
		}
		at := r.photo.Back(r.mouse())
		d.remark = fmt.Sprintf("The mouse is at x=%d, y=%d.", at.X, at.Y)
		return d
	case ActWait:
		r.fresh = false
		sleep(ctx, p.wait)
		return d
	case ActZoom:
		r.fresh = false
		if r.look(ctx, s) == nil {
			d.err = errUnseen
			return d
		}
		part, err := picture.Part(r.photo.raw, p.Region, r.photo.Picture)
		if err != nil {
			d.err = err
			return d
		}
		o.Image = &part
		return d
	default:
	}
	for i, m := range p.moves {
		r.fresh = false
		given := r.given(m, i > 0 && p.Kind == ActType)
		down := slices.Clone(r.held.down)
		r.note(m)
		one := r.attempt(ctx, s, m, given, r.set.StepTimeout+p.wait)
		if one.refused != "" { // it was not done
			r.held.down = down
		}
		d.add(one)
		if d.failed() {
			break
		}
	}
	return d
}

// sleep waits; it ends with ctx.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

var errUnseen = errors.New("the screen could not be seen")
