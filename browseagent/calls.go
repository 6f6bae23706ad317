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
	maxCalls    = 10              // per reply
	viewTimeout = 3 * time.Second // for the screenshot for people after a step
)

// runCalls executes the calls of one reply one after the other and records the results. An error ends the task; tool
// failures are returned to the model.
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

// tookOver reports whether a person has controlled the page and the model has not seen the result yet. A literal
// model continues nevertheless.
func (r *run) tookOver() bool { return !r.caps.Literal && r.task.Inbox.TookOver() }

func (r *run) skipCall(c llm.ToolCall, why string) {
	r.state.history.addResult(llm.ToolResult{ID: c.ID, Text: why, IsError: true}, "", "")
}

// runCall executes one call and reports it to the model and to people.
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
		r.maskStoredPassword(c) // the page may have turned the field into a password field since the call was made
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
	brief := o.summary() // without the advice for the model
	if !o.failed() && (o.section == sectionText || o.section == sectionLinks) {
		r.lastRead = brief
	}
	r.checkRepeat(c, &o)
	full, short := o.text(step.N)
	r.state.history.addResult(llm.ToolResult{ID: c.ID, Text: full, Images: o.images, IsError: o.failed()}, short,
		o.section)
	step.Phase, step.Text, step.Failed = sessions.PhaseDone, brief, o.failed()
	step.View, step.URL, step.Title = o.view, r.state.view.url, r.state.view.title
	if wrong == nil && len(step.Secrets) == 0 { // the page may have turned the field into a password field during the call
		if step.Secrets = r.typedSecrets(t, a); len(step.Secrets) > 0 {
			step.Label, step.Input = t.label(a, r.state.view.names), r.publicInput(t, a, c.Input)
		}
	}
	return r.emit(ctx, step)
}

// typedSecrets returns the text that a call types into a password field, according to the newest page state, or the
// password in the URL that it opens.
func (r *run) typedSecrets(t *tool, a toolArgs) []string {
	if t.kind == "type" && r.state.view.names.isPassword(a.str("ref")) {
		return []string{a.str("text")}
	}
	if _, password, found := strings.Cut(strings.TrimSuffix(agent.URLCredentials(a.str("url")), "@"), ":"); found {
		return []string{password}
	}
	return nil
}

// performTool executes one well-formed call on the page and reads the page afterwards.
func (r *run) performTool(ctx context.Context, t *tool, a toolArgs) (callOutcome, error) {
	var page sessions.Page
	var notes []string
	if !t.noPage {
		end, err := r.agent.Steps.Begin(ctx)
		if err != nil {
			return callOutcome{}, err
		}
		defer end()
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

// openSessionPage returns the session's page. If it had to be reopened, it returns notes and emits a notice.
func (r *run) openSessionPage(ctx context.Context) (sessions.Page, []string, error) {
	v := &r.state.view
	before := v.url
	page, reopened, lost, err := r.openPage(ctx, before)
	if err != nil {
		return nil, nil, err
	}
	if reopened == "" || before == "" {
		return page, nil, nil
	}
	v.reset()
	if lost {
		v.url, v.title = "", ""
	}
	return page, []string{reopened}, r.notice(ctx, reopened)
}

func (r *run) openPage(ctx context.Context, at string) (p sessions.Page, reopened string, lost bool, err error) {
	r.opening.Lock()
	defer r.opening.Unlock()
	want := sessions.PageRequest{Key: r.session.ID, Profile: r.session.Profile, URL: at, Headed: r.task.Headed}
	return agent.OpenPage(ctx, openTimeout, r.agent.Browser, want, r.notice)
}

// viewShare limits the time spent on screenshots for people: after one, the next is postponed for viewShare times as
// long as it took, which spares a busy machine.
const viewShare = 20

// captureForPeople takes the screenshot that people see after a step; it returns nil if that fails. If the last one
// took too long, it is postponed, at most until the answer.
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

// addScreenshot passes a screenshot to the model if it can see, to viewers, and into the answer if show is set.
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
		o.remarks = append(o.remarks, "You cannot see pictures: use the page state, browser_extract for texts and "+
			"browser_links for addresses.")
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

// checkRepeat counts how often the model repeats itself, and warns it.
func (r *run) checkRepeat(c llm.ToolCall, o *callOutcome) {
	var input bytes.Buffer
	if json.Compact(&input, c.Input) != nil {
		input.WriteString(c.Malformed)
	}
	r.repeatCount = r.repeats.Add(c.Name + "\x00" + input.String() + "\x00" + o.fingerprint())
	if r.repeatCount >= agent.WarnRepeats {
		o.remarks = append(o.remarks, fmt.Sprintf("You have done this %d times now with the same result. Try something "+
			"else, or answer.", r.repeatCount))
	}
}

// publicInput returns the input for people: without passwords.
func (r *run) publicInput(t *tool, a toolArgs, raw json.RawMessage) json.RawMessage {
	return r.inputWithout(t, a, raw, passwordMask)
}

// passwordPlaceholder replaces a typed password in the stored conversation.
const passwordPlaceholder = "[password]"

// maskStoredPassword removes a password that the model types, or puts into a URL, from the stored conversation.
func (r *run) maskStoredPassword(c llm.ToolCall) {
	t, a, wrong := findTool(c)
	if wrong != nil {
		return
	}
	if kept := r.inputWithout(t, a, nil, passwordPlaceholder); kept != nil {
		r.state.history.maskInput(c.ID, kept)
	}
}

// inputWithout returns the input of a call with its password replaced by placeholder; raw if there is none.
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
			return nil // cannot happen: strings, ints and bools always marshal
		}
		return data
	}
	return raw
}

// inputWithText returns the input of a type call with another text.
func inputWithText(a toolArgs, text string) json.RawMessage {
	masked, err := json.Marshal(map[string]any{"ref": a.str("ref"), "text": text, "submit": a.flag("submit")})
	if err != nil {
		return nil // cannot happen: strings and bools always marshal
	}
	return masked
}
