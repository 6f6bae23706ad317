package browseagent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

const (
	maxCalls    = 10              // in one reply
	viewTimeout = 3 * time.Second // for the picture that people see after a step
)

// runCalls does what the calls of one reply ask for, one after the other, and records the results. An error ends the
// task; what a tool got wrong goes back to the model.
func (r *run) runCalls(ctx context.Context, calls []llm.ToolCall) error {
	r.emptyReplies++
	if len(calls) == 0 {
		r.state.history.addUserText("You said nothing. Use a tool, or answer the person.")
		return nil
	}
	for i, c := range calls {
		switch {
		case r.handOver != nil:
			r.skipCall(c, "not executed: the task was handed over")
			continue
		case r.closed:
			r.skipCall(c, "not executed: the browser was closed")
			continue
		case r.tookOver():
			r.skipCall(c, agent.TookOverText)
			continue
		case i >= maxCalls:
			r.skipCall(c, fmt.Sprintf("not executed: more than %d calls in one reply", maxCalls))
			continue
		}
		if err := r.runCall(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// tookOver reports whether the model has not seen yet what a person has made of the page. One that does what is written
// word for word goes on.
func (r *run) tookOver() bool { return !r.caps.Literal && r.task.Inbox.TookOver() }

func (r *run) skipCall(c llm.ToolCall, why string) {
	r.state.history.addResult(llm.ToolResult{ID: c.ID, Text: why, IsError: true}, "", "")
}

// runCall does one call and tells both the model and the person.
func (r *run) runCall(ctx context.Context, c llm.ToolCall) error {
	r.n++
	step := sessions.Step{N: r.n, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Tool: c.Name, Input: c.Input}
	t, a, wrong := findTool(c)
	if wrong != nil {
		step.Label = "use " + agent.Quote(c.Name)
	} else {
		step.Label = t.label(a, r.state.view.names)
		step.Input = r.publicInput(t, a, c.Input)
		step.Secrets = r.typedSecrets(t, a)
		r.maskStoredPassword(c) // what is a password field may have shown since the call was made
		r.emptyReplies = 0
	}
	if err := r.emit(ctx, step); err != nil {
		return err
	}
	var o callOutcome
	switch {
	case wrong != nil:
		o = *wrong
	case r.tookOver():
		o = *invalidCall(agent.TookOverText)
	default:
		var err error
		if o, err = r.performTool(ctx, t, a); err != nil {
			return err
		}
	}
	o.redact(agent.URLCredentials(a.str("url")))
	brief := o.summary() // without what is for the model alone
	if !o.failed() && (o.section == sectionText || o.section == sectionLinks) {
		r.lastRead = brief
	}
	r.checkRepeat(c, &o)
	full, short := o.text(step.N)
	r.state.history.addResult(llm.ToolResult{ID: c.ID, Text: full, Images: o.images, IsError: o.failed()}, short, o.section)
	step.Phase, step.Text, step.Failed = sessions.PhaseDone, brief, o.failed()
	step.View, step.URL, step.Title = o.view, r.state.view.url, r.state.view.title
	if wrong == nil && len(step.Secrets) == 0 { // the page may have shown only meanwhile what the field is for
		if step.Secrets = r.typedSecrets(t, a); len(step.Secrets) > 0 {
			step.Label, step.Input = t.label(a, r.state.view.names), r.publicInput(t, a, c.Input)
		}
	}
	return r.emit(ctx, step)
}

// typedSecrets returns what a call types into a password field, as the newest page state has it, or the password of the
// address that it opens.
func (r *run) typedSecrets(t *tool, a toolArgs) []string {
	if t.kind == "type" && r.state.view.names.isPassword(a.str("ref")) {
		return []string{a.str("text")}
	}
	if _, password, found := strings.Cut(strings.TrimSuffix(agent.URLCredentials(a.str("url")), "@"), ":"); found {
		return []string{password}
	}
	return nil
}

// performTool performs one understood call on the page and sees what has become of it.
func (r *run) performTool(ctx context.Context, t *tool, a toolArgs) (callOutcome, error) {
	var page sessions.Page
	var notes []string
	if !t.noPage {
		var err error
		if page, notes, err = r.openSessionPage(ctx); err != nil {
			return callOutcome{}, err
		}
	}
	o := r.performApproved(ctx, t, page, a)
	o.notes = append(notes, o.notes...)
	if page == nil || ctx.Err() != nil {
		return o, agent.ContextError(ctx, nil)
	}
	if !t.reads && (t.kind != "" || o.section == "") {
		r.observe(ctx, page, &o)
	}
	if o.view != nil {
		r.unseen = nil
	} else if ctx.Err() == nil {
		o.view = r.captureForPeople(ctx, page)
	}
	return o, agent.ContextError(ctx, nil)
}

// openSessionPage returns the session's page. Notes are set if it had to be opened again, and then the person is told
// too.
func (r *run) openSessionPage(ctx context.Context) (sessions.Page, []string, error) {
	v := &r.state.view
	before := v.url
	page, restored, lost, err := r.openPage(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	if !restored || before == "" {
		return page, nil, nil
	}
	v.reset()
	if lost != nil {
		v.url, v.title = "", ""
	}
	note := agent.ReopenedNotice(before, lost)
	return page, []string{note}, r.notice(ctx, note)
}

func (r *run) openPage(ctx context.Context, at string) (p sessions.Page, restored bool, lost, err error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	want := sessions.PageRequest{Key: r.session.ID, Profile: r.session.Profile, URL: at, Headed: r.task.Headed}
	return agent.OpenPage(ctx, openTimeout, r.agent.Browser, want)
}

// viewShare bounds what pictures for people may take of a task's time, to one part in so many: a machine that is busy
// has better things to do.
const viewShare = 20

// captureForPeople takes the picture that people see after a step; nil if there is none to be had. It is put off where
// the last ones took too much time, at most until the answer.
func (r *run) captureForPeople(ctx context.Context, p sessions.Page) *llm.Image {
	begun := r.agent.now()
	if begun.Before(r.viewDue) {
		r.unseen = p
		return nil
	}
	r.unseen = nil
	defer func() {
		ended := r.agent.now()
		r.viewDue = ended.Add(viewShare * ended.Sub(begun))
	}()
	ctx, cancel := context.WithTimeout(ctx, viewTimeout)
	defer cancel()
	shot, err := p.Screenshot(ctx, "")
	if err != nil {
		r.log.Debug("no picture of the page", "err", err)
		return nil
	}
	return &shot.Image
}

// addScreenshot puts a screenshot where it is wanted: before the model if it can see, before those who watch, and into
// the answer if show is set.
func (r *run) addScreenshot(o *callOutcome, img llm.Image, show bool) {
	o.view = &img
	o.images = []llm.Image{img}
	if !r.caps.Literal {
		o.remarks = append(o.remarks, fmt.Sprintf("This is picture %d.", r.state.album.Add(img)))
	}
	switch {
	case r.caps.Described:
		o.remarks = append(o.remarks, "Another model describes the picture.")
	case r.caps.ToolImages:
	case r.caps.Vision:
		o.remarks = append(o.remarks, "The picture follows the results.")
	default:
		o.images = nil
		o.remarks = append(o.remarks, "You cannot see pictures: use the page state, browser_extract for texts and browser_links for addresses.")
	}
	if !show {
		return
	}
	sum := sha256.Sum256(img.Data)
	switch {
	case r.seen[sum]:
		o.remarks = append(o.remarks, "The same picture is already shown with the answer.")
	case len(r.shown) == agent.MaxPictures:
		o.remarks = append(o.remarks, fmt.Sprintf("It is not shown: the answer has %d pictures already.", agent.MaxPictures))
	default:
		r.seen[sum] = true
		r.shown = append(r.shown, *o.view)
		o.remarks = append(o.remarks, "It will be shown with the answer.")
	}
}

// checkRepeat counts how often the model repeats itself, and tells it so.
func (r *run) checkRepeat(c llm.ToolCall, o *callOutcome) {
	var input bytes.Buffer
	if json.Compact(&input, c.Input) != nil {
		input.WriteString(c.Malformed)
	}
	r.repeatCount = r.repeats.Add(c.Name + "\x00" + input.String() + "\x00" + o.fingerprint())
	if r.repeatCount >= agent.WarnRepeats {
		o.remarks = append(o.remarks, fmt.Sprintf("You have done this %d times now with the same result. Try something else, or answer.", r.repeatCount))
	}
}

// publicInput returns the input as people may read it: without a password.
func (r *run) publicInput(t *tool, a toolArgs, raw json.RawMessage) json.RawMessage {
	return r.inputWithout(t, a, raw, passwordMask)
}

// passwordPlaceholder stands for a password that a model typed, in the stored conversation.
const passwordPlaceholder = "[password]"

// maskStoredPassword keeps a password that the model types, or puts into an address, out of the stored conversation.
func (r *run) maskStoredPassword(c llm.ToolCall) {
	t, a, wrong := findTool(c)
	if wrong != nil {
		return
	}
	if kept := r.inputWithout(t, a, nil, passwordPlaceholder); kept != nil {
		r.state.history.maskInput(c.ID, kept)
	}
}

// inputWithout returns the input of a call without the password in it, for which placeholder stands; raw if there is
// none.
func (r *run) inputWithout(t *tool, a toolArgs, raw json.RawMessage, placeholder string) json.RawMessage {
	at := a.str("url")
	switch {
	case t.kind == "type" && r.state.view.names.isPassword(a.str("ref")):
		return inputWithText(a, placeholder)
	case agent.URLCredentials(at) != "":
		clean := maps.Clone(a)
		clean["url"] = agent.WithoutCredentials(at)
		data, err := json.Marshal(clean)
		if err != nil {
			return nil // strings, ints and bools always marshal
		}
		return data
	}
	return raw
}

// inputWithText returns the input of a type with other text.
func inputWithText(a toolArgs, text string) json.RawMessage {
	masked, err := json.Marshal(map[string]any{"ref": a.str("ref"), "text": text, "submit": a.flag("submit")})
	if err != nil {
		return nil // strings and bools always marshal
	}
	return masked
}
