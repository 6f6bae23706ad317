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

	"clank/llm"
	"clank/sessions"
	"clank/untrusted"
)

const (
	maxShown    = 8    // pictures with one answer
	maxNote     = 2000 // characters of a note or an error of the page
	lookTimeout = 10 * time.Second
)

// What a model is told about calls that were not tried.
const notTried = "Not executed: an earlier computer action in this turn failed."

// act does what one turn asks for, in order, and takes one picture after it. An
// error ends the task; what went wrong on the page goes back to the model. refused
// is set if the task ends because a person did not agree.
func (r *run) act(ctx context.Context, t Turn) (refused *ending, err error) {
	next := &r.held.memory.Next
	r.useless++
	if len(t.Calls)+len(t.Tools) == 0 {
		next.say("You said nothing. Act, or answer the person.")
		return nil, nil
	}
	done := sha256.New()
	left := len(t.Calls) + len(t.Tools)
	failed := false
	for _, c := range t.Calls {
		left--
		if failed {
			next.outcome(Outcome{CallID: c.ID, Err: notTried, Skipped: true})
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
			fmt.Fprintf(done, "%s%s\x00", a.Kind, a.input())
		}
		fmt.Fprintf(done, "%q\x00", o.Err)
	}
	for _, c := range t.Tools {
		left--
		if failed {
			next.result(llm.ToolResult{ID: c.ID, Text: notTried, IsError: true})
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
	r.repeat = r.repeats.add(done + hex.EncodeToString(r.photo.sum[:]))
	if r.repeat >= warnRepeats {
		r.held.memory.Next.say(fmt.Sprintf("You have done this %d times now, and the screen is the same. Try something else, or answer.", r.repeat))
	}
	return ended(ctx, nil)
}

// call does one batch of actions.
func (r *run) call(ctx context.Context, c Call, last bool) (o Outcome, refused *ending, err error) {
	o = Outcome{CallID: c.ID}
	if len(c.Safety) > 0 {
		acknowledged, no, err := r.safety(ctx, c)
		switch {
		case err != nil:
			return o, nil, err
		case no != "":
			o.Err = "Not done: a person had to look at this first, and did not agree. " + no
			return o, &ending{text: "I stopped before an action that a person must look at first, and nobody agreed to it. " + no, failed: true}, nil
		}
		o.Acknowledged = acknowledged
	}
	all, wrong := plan(c.Actions, r.photo.geometry, r.mouse())
	if wrong != nil {
		o.Err = sentence(wrong.Error())
		var a Action
		if len(c.Actions) > 0 {
			a = c.Actions[0]
		}
		step := r.step(a, c.Intent)
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
func (r *run) step(a Action, intent string) *sessions.Step {
	kind := a.Kind
	if kind == "" {
		kind = ActUnknown
	}
	return &sessions.Step{Kind: sessions.StepAct, Tool: string(kind), Input: a.input(), Label: a.label(intent)}
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
	shown := p.Action
	if r.secret(ctx, s, p) {
		shown.Text = mask
	}
	step := r.step(shown, intent)
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
		return ended(ctx, nil)
	})
}

// do performs an action.
func (r *run) do(ctx context.Context, s Screen, p planned, o *Outcome) (d deed) {
	switch p.Kind {
	case ActScreenshot:
		r.fresh = false // pages change on their own
		return d
	case ActCursor:
		at := r.photo.back(r.mouse())
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
		part, err := r.photo.enlarge(p.Region)
		if err != nil {
			d.err = err
			return d
		}
		o.Image = &part
		return d
	default:
	}
	for _, m := range p.moves {
		r.fresh = false
		r.note(m)
		one := r.attempt(ctx, s, m, r.set.StepTimeout+p.wait)
		d.add(one)
		if d.failed() {
			break
		}
	}
	return d
}

// note remembers what is held down.
func (r *run) note(m move) {
	h := r.held
	var up move
	switch m.kind {
	case "keyDown":
		up = move{"keyUp", map[string]any{"key": m.args["key"]}}
	case "pointerDown":
		up = move{"pointerUp", map[string]any{"x": m.args["x"], "y": m.args["y"], "button": m.args["button"]}}
	case "keyUp", "pointerUp":
		h.down = slices.DeleteFunc(h.down, func(d move) bool {
			return d.kind == m.kind && d.args["key"] == m.args["key"] && d.args["button"] == m.args["button"]
		})
		return
	default:
		return
	}
	h.down = append(h.down, up)
}

// letGo lets go of what is still held down, the newest first.
func (r *run) letGo(ctx context.Context, s Screen) {
	for _, up := range slices.Backward(r.held.down) {
		if ctx.Err() != nil {
			return
		}
		if up.kind == "pointerUp" {
			at := r.mouse()
			up.args["x"], up.args["y"] = at.x, at.y
		}
		r.fresh = false
		if err := timed(ctx, r.set.StepTimeout, func(ctx context.Context) error {
			_, err := s.Act(ctx, up.kind, up.args)
			return err
		}); err != nil {
			r.log.Debug("a key or button stays down", "err", err)
		}
	}
	r.held.down = nil
}

// mouse is where the mouse was last seen.
func (r *run) mouse() point {
	if r.held.mouse == (point{}) {
		return r.photo.middle()
	}
	return r.held.mouse
}

// look takes the picture of the screen and finds out where the page is. It returns
// the picture for people; nil if the screen cannot be seen, of which the model is
// told.
func (r *run) look(ctx context.Context, s Screen) *sessions.Image {
	if r.fresh {
		return r.view()
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if at, title, _, err := s.State(ctx); err == nil {
		r.held.url, r.held.title = at, title
	}
	data, _, width, height, err := s.Shot(ctx)
	if err == nil {
		r.photo, err = develop(data, width, height, r.mind.Fit, r.photo)
	}
	r.fresh = true
	if err != nil {
		r.photo = photo{}
		r.log.Debug("no picture of the screen", "err", err)
		r.held.memory.Next.say("The screen could not be seen. If the page shows a dialog, answer it with " + ToolDialog + ".\n" + untrusted.Wrap("error: "+untrusted.Line(err.Error(), maxNote)))
		return nil
	}
	return r.view()
}

// view is the picture as people see it.
func (r *run) view() *sessions.Image {
	if !r.photo.known() {
		return nil
	}
	return &sessions.Image{MediaType: r.photo.image.MediaType, Data: r.photo.image.Data}
}

// show puts the picture into the answer.
func (r *run) show() {
	if view := r.view(); view != nil && !r.seen[r.photo.sum] && len(r.shown) < maxShown {
		r.seen[r.photo.sum] = true
		r.shown = append(r.shown, *view)
	}
}

// use does one tool call and answers it.
func (r *run) use(ctx context.Context, c llm.ToolCall, last bool) (res llm.ToolResult, err error) {
	res.ID = c.ID
	in, wrong := understand(c, r.set)
	step := &sessions.Step{Kind: sessions.StepAct, Tool: orText(c.Name, "unknown"), Input: c.Input, Label: in.label(c.Name)}
	if len(c.Input) == 0 || c.Malformed != "" {
		step.Input = []byte("{}")
	}
	next := &r.held.memory.Next
	if wrong != "" {
		step.Label = "use " + quote(c.Name)
		res.Text, res.IsError = "Not done: "+wrong+".", true
		next.result(res)
		return res, r.around(ctx, step, func() error {
			step.Text, step.Failed = res.Text, true
			return nil
		})
	}
	r.useless = 0
	if c.Name == ToolHandOver {
		next.result(llm.ToolResult{ID: c.ID, Text: "Handed over."})
		if err := r.around(ctx, step, func() error { step.Text = in.Brief; return nil }); err != nil {
			return res, err
		}
		return res, &sessions.HandOverError{Runtime: in.Runtime, Brief: in.Brief}
	}
	s, err := r.open(ctx)
	if err != nil {
		return res, err
	}
	err = r.around(ctx, step, func() error {
		d := r.tool(ctx, s, in, c.Name)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		res.Text, res.IsError = orText(d.text(), "Done."), d.failed()
		next.result(res)
		step.Text, step.Failed = d.brief(), d.failed()
		if last {
			step.View = r.look(ctx, s)
		}
		return ended(ctx, nil)
	})
	return res, err
}

// tool does what a tool is there for.
func (r *run) tool(ctx context.Context, s Screen, in toolInput, name string) (d deed) {
	if m := in.move(name); m != nil {
		r.fresh = false
		return r.attempt(ctx, s, *m, r.set.StepTimeout)
	}
	looking, cancel := context.WithTimeout(ctx, r.set.StepTimeout)
	defer cancel()
	d.body, d.err = in.look(looking, s, name, r.set.TextChars)
	return d
}

// open returns the session's screen. If it had to be opened again, the model and
// the person are told.
func (r *run) open(ctx context.Context) (Screen, error) {
	before := r.held.url
	s, restored, lost, err := r.openAt(ctx, before)
	if err != nil {
		return nil, err
	}
	r.screen = s
	if !restored || before == "" {
		return s, nil
	}
	r.fresh, r.held.mouse, r.held.down = false, point{}, nil
	note := fmt.Sprintf("the page had been closed and was opened again at %s; what was entered on it may be lost", before)
	if lost != nil {
		note = fmt.Sprintf("the page had been closed and could not be opened again at %s (%v); the browser starts empty", before, lost)
		r.held.url, r.held.title = "", ""
	}
	r.held.memory.Next.say("About the browser:\n" + untrusted.Wrap(untrusted.Line(note, maxNote)))
	return s, r.notice(ctx, note)
}

// openAt opens the page at the URL, or empty if that cannot be opened any more;
// lost says why not.
func (r *run) openAt(ctx context.Context, at string) (s Screen, restored bool, lost, err error) {
	r.held.page.Lock()
	defer r.held.page.Unlock()
	if ctx.Err() != nil {
		return nil, false, nil, context.Cause(ctx)
	}
	opening, cancel := context.WithTimeoutCause(ctx, r.set.OpenTimeout, errLateOpen)
	defer cancel()
	want := sessions.Opening{Key: r.session.ID, Profile: r.session.Profile, URL: at, Headed: r.task.Headed}
	s, restored, err = r.agent.Browser.Open(opening, want)
	if err != nil && at != "" && opening.Err() == nil {
		lost = err
		want.URL = ""
		s, restored, err = r.agent.Browser.Open(opening, want)
	}
	if err != nil {
		return nil, false, nil, ended(ctx, fmt.Errorf("open the browser: %w", ended(opening, err)))
	}
	return s, restored || lost != nil, lost, nil
}

// discreet is a [Screen] that can tell whether what is typed now goes into a
// password field.
type discreet interface {
	Secret(ctx context.Context) (bool, error)
}

// secret reports whether an action types a password, as far as the screen can tell.
func (r *run) secret(ctx context.Context, s Screen, p planned) bool {
	d, ok := s.(discreet)
	if !ok || p.Kind != ActType {
		return false
	}
	looking, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	secret, err := d.Secret(looking)
	return secret || err != nil // rather too careful than not
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

var errTwoMinds = errors.New("the page changed what this does while it was being looked at: look again")
