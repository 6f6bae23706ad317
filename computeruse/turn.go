package computeruse

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/cancel"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

const (
	maxCalls       = 30   // in one turn
	maxShown       = 8    // pictures with one answer
	maxNote        = 2000 // characters of a note or an error of the page
	captureTimeout = 10 * time.Second
)

// What a model is told about calls that were not executed.
const (
	skippedText = "Not executed: an earlier computer action in this turn failed."
	tooManyText = "Not executed: there are too many calls in this turn."
)

// runTurn executes the calls of one turn in order, and then takes one screenshot. An error ends the task; failures on
// the page are returned to the model. refused is set if the task ends because a person did not agree.
func (r *run) runTurn(ctx context.Context, t Turn) (refused *agent.Outcome, err error) {
	next := &r.state.memory.Next
	r.emptyReplies++
	if len(t.Calls)+len(t.Tools) == 0 {
		next.addUserText("You said nothing. Act, or answer the person.")
		return nil, nil
	}
	end, err := r.agent.Steps.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	done := sha256.New()
	left := len(t.Calls) + len(t.Tools)
	failed := false
	for i, c := range t.Calls {
		left--
		switch {
		case failed:
			next.answerCall(CallResult{CallID: c.ID, Err: skippedText, Skipped: true})
			continue
		case i >= maxCalls:
			next.answerCall(CallResult{CallID: c.ID, Err: tooManyText, Skipped: true})
			continue
		}
		o, refused, err := r.runBatch(ctx, c, left == 0)
		if err != nil {
			return nil, err
		}
		next.answerCall(o)
		if refused != nil {
			next.answerOpen(skippedText)
			return refused, nil
		}
		failed = o.Err != ""
		for _, a := range c.Actions {
			fmt.Fprintf(done, "%s%s\x00", a.Kind, a.input(actionTarget{}))
		}
		fmt.Fprintf(done, "%q\x00", o.Err)
	}
	for i, c := range t.Tools {
		left--
		switch {
		case failed:
			next.answerTool(llm.ToolResult{ID: c.ID, Text: skippedText, IsError: true})
			continue
		case len(t.Calls)+i >= maxCalls:
			next.answerTool(llm.ToolResult{ID: c.ID, Text: tooManyText, IsError: true})
			continue
		}
		res, err := r.runToolCall(ctx, c, left == 0)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(done, "%s%s%t\x00", c.Name, c.Input, res.IsError)
	}
	return nil, r.captureAfter(ctx, hex.EncodeToString(done.Sum(nil)))
}

// captureAfter takes a screenshot if none was taken since the last action, and counts repetitions.
func (r *run) captureAfter(ctx context.Context, done string) error {
	if !r.screenshotCurrent {
		s, err := r.open(ctx)
		if err != nil {
			return err
		}
		r.capture(ctx, s)
	}
	r.repeatCount = r.repeats.Add(done + hex.EncodeToString(r.screenshot.sum[:]))
	if r.repeatCount >= agent.WarnRepeats {
		r.state.memory.Next.addUserText(fmt.Sprintf("You have done this %d times now, and the screen is the same. Try "+
			"something else, or answer.", r.repeatCount))
	}
	return agent.ContextError(ctx, nil)
}

// runBatch does one batch of actions.
func (r *run) runBatch(ctx context.Context, c Call, last bool) (o CallResult, refused *agent.Outcome, err error) {
	o = CallResult{CallID: c.ID}
	if len(c.Safety) > 0 {
		acknowledged, no, err := r.approveSafety(ctx, c)
		switch {
		case err != nil:
			return o, nil, err
		case no != "":
			o.Err = "Not done: a person had to look at this first, and did not agree. " + no
			return o, &agent.Outcome{Text: "I stopped before an action that a person must look at first, and nobody " +
				"agreed to it. " + no, Failed: true}, nil
		}
		o.Acknowledged = acknowledged
	}
	all, wrong := planActions(c.Actions, r.screenshot.ScreenGeometry, r.pointerPosition())
	if wrong != nil {
		o.Err = agent.Sentence(wrong.Error())
		var a Action
		if len(c.Actions) > 0 {
			a = c.Actions[0]
		}
		on := r.previewTarget(ctx, a)
		step := r.newStep(a.redacted(on), on, c.Intent)
		return o, nil, r.recordStep(ctx, step, func() error {
			step.Text, step.Failed = o.Err, true
			return nil
		})
	}
	r.emptyReplies = 0
	s, err := r.open(ctx)
	if err != nil {
		return o, nil, err
	}
	for i, p := range all {
		if err := r.runAction(ctx, s, p, c.Intent, &o, last && i == len(all)-1); err != nil {
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

// newStep returns the act of an action, about to begin.
func (r *run) newStep(a Action, on actionTarget, intent string) *sessions.Step {
	kind := cmp.Or(a.Kind, ActUnknown)
	return &sessions.Step{Kind: sessions.StepAct, Tool: string(kind), Input: a.input(on), Label: a.label(on, intent)}
}

// recordStep emits the step before and after do.
func (r *run) recordStep(ctx context.Context, step *sessions.Step, do func() error) error {
	r.n++
	step.N, step.Phase = r.n, sessions.PhaseBegun
	if err := r.emit(ctx, *step); err != nil {
		return err
	}
	if err := do(); err != nil {
		return err
	}
	step.Phase, step.URL, step.Title = sessions.PhaseDone, r.state.url, r.state.title
	return r.emit(ctx, *step)
}

// runAction does one action of a batch and adds to its outcome.
func (r *run) runAction(ctx context.Context, s sessions.Page, p plannedAction, intent string, o *CallResult,
	last bool,
) error {
	on := r.identifyTarget(ctx, s, p)
	if on.secret {
		r.state.memory.secrets.Learn(p.Text)
	}
	step := r.newStep(p.redacted(on), on, intent)
	if on.password {
		step.Secrets = p.typedSecrets()
	}
	return r.recordStep(ctx, step, func() error {
		d := actionResult{refused: agent.TookOverText}
		if !r.task.Inbox.TookOver() {
			d = r.perform(ctx, s, p, o)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.state.pointer = p.mouse
		step.Text, step.Failed = d.summary(), d.failed()
		if text := d.text(); d.failed() {
			o.Err = text
		} else if text != "" {
			o.Text = strings.TrimSpace(o.Text + "\n" + text)
		}
		if last || d.failed() || p.Kind == ActScreenshot {
			step.View = r.capture(ctx, s)
		}
		if p.Kind == ActScreenshot {
			r.showScreenshot()
		}
		return agent.ContextError(ctx, nil)
	})
}

// perform performs an action.
func (r *run) perform(ctx context.Context, s sessions.Page, p plannedAction, o *CallResult) (d actionResult) {
	switch p.Kind {
	case ActScreenshot:
		r.screenshotCurrent = false // pages change on their own
		return d
	case ActCursor:
		if !r.screenshot.Known() {
			d.err = errNoScreenshot
			return d
		}
		at := r.screenshot.ToPicture(r.pointerPosition())
		d.remark = fmt.Sprintf("The mouse is at x=%d, y=%d.", at.X, at.Y)
		return d
	case ActWait:
		r.screenshotCurrent = false
		_ = cancel.Sleep(ctx, p.wait)
		return d
	case ActZoom:
		r.screenshotCurrent = false
		if r.capture(ctx, s) == nil {
			d.err = errNoScreenshot
			return d
		}
		part, err := CropImage(r.screenshot.raw, p.Region, r.screenshot.Picture)
		if err != nil {
			d.err = err
			return d
		}
		o.Image = &part
		return d
	default:
	}
	for i, m := range p.moves {
		r.screenshotCurrent = false
		given := r.coveringApproval(m, i > 0 && p.Kind == ActType)
		down := slices.Clone(r.state.releases)
		r.trackHeld(m)
		one := r.performApproved(ctx, s, m, given, r.set.StepTimeout+p.wait)
		if one.refused != "" { // it was not done
			r.state.releases = down
		}
		d.add(one)
		if d.failed() {
			break
		}
	}
	return d
}

var errNoScreenshot = errors.New("the screen could not be seen")
