package browseagent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/internal/untrusted"
	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

// maxEmptyReplies is how many replies in a row without text or calls end the task.
const maxEmptyReplies = 3

// run is one running task. It is confined to one goroutine.
type run struct {
	agent   *Agent
	state   *sessionState
	opening *sync.Mutex // held while the session's page is opened
	session sessions.Session
	task    sessions.Task
	yield   func(sessions.Step, error) bool
	log     *slog.Logger

	earlierAnswers []string                // answers that were followed by further notes
	handOver       *sessions.HandOverError // set when the model hands the task over

	set          Settings
	model        llm.Model
	caps         llm.Caps
	system       string
	logins       []Login
	n            int // number of the latest step
	shown        []llm.Image
	seen         map[[sha256.Size]byte]bool // hashes of the pictures in shown
	repeats      agent.RepeatDetector
	repeatCount  int    // how often the latest call has been repeated
	emptyReplies int    // replies in a row without text or calls
	closed       bool   // the model closed the browser
	lastText     string // text beside the latest calls
	lastRead     string // the text or links read last, for people

	viewDue time.Time     // when the next screenshot for people may be taken
	unseen  sessions.Page // page without a screenshot since the latest step; nil if there is one
}

// work is the agent loop: ask, act, record, check the limits. unread is why the stored conversation could not be
// read.
func (r *run) work(ctx context.Context, unread error) error {
	if err := r.prepare(ctx, unread); err != nil {
		return err
	}
	defer func() { r.finishConversation(ctx) }()
	for range r.set.MaxSteps {
		if err := r.deliverNotes(ctx); err != nil {
			return err
		}
		reply, err := r.ask(ctx, r.offeredTools())
		if err != nil {
			return err
		}
		calls := reply.Calls()
		if end := agent.NewOutcome(reply.Text(), reply.Stop); len(calls) == 0 && end.Text != "" {
			more, err := r.continueAfterAnswer(ctx, end)
			switch {
			case err != nil:
				return err
			case more:
				continue
			}
			return r.answer(ctx, end)
		}
		if err := r.runCalls(ctx, calls); err != nil {
			return err
		}
		switch {
		case r.handOver != nil:
			return r.handOver
		case r.closed:
			return r.wrapUp(ctx, "The browser is closed. Answer the person now.", "")
		case r.repeatCount >= agent.MaxRepeats:
			return r.wrapUp(ctx, "You have done the same again and again without effect. Answer the person now, without "+
				"using tools: what you have found so far, and what is left to do.",
				fmt.Sprintf("the same %d times without effect", agent.MaxRepeats))
		case r.emptyReplies >= maxEmptyReplies:
			return fmt.Errorf("model %s: %d replies in a row without an answer or a usable tool call (try another model)",
				r.model.Name(), maxEmptyReplies)
		}
	}
	limit := sessions.StepLimit(r.set.MaxSteps)
	return r.wrapUp(ctx, agent.LimitText(limit), limit)
}

// prepare sets up the loop and adds the task to the conversation.
func (r *run) prepare(ctx context.Context, unread error) error {
	r.set = r.agent.settings()
	if r.task.MaxSteps > 0 {
		r.set.MaxSteps = r.task.MaxSteps
	}
	model, err := r.agent.Model(ctx, r.task.Model)
	if err != nil {
		return agent.ContextError(ctx, err) // the error names the model
	}
	r.model, r.caps = model, model.Caps()
	if !r.caps.Tools {
		return fmt.Errorf("model %s cannot use tools: choose another model for browsing", model.Name())
	}
	if r.agent.Logins != nil {
		if r.logins, err = r.agent.Logins.List(ctx, r.task); err != nil {
			r.log.Warn("logins cannot be used", "err", err)
		}
	}
	r.system = agent.SystemPrompt(instructions, r.agent.now(), r.agent.Places, r.set.Instructions) + loginPrompt(r.logins)
	r.seen = make(map[[sha256.Size]byte]bool)
	r.state.album.Begin()
	if unread != nil {
		r.log.Warn("conversation is not readable", "err", unread)
		if err := r.notice(ctx, "what was said before in this session could not be read and is left out"); err != nil {
			return err
		}
	}
	prompt := r.task.Prompt
	if !r.caps.Literal { // a literal model refers to files as the person does
		prompt = agent.TaskText(r.task)
	}
	h := &r.state.history
	h.addPrompt(prompt, r.task.Typed)
	if h.size() > r.set.HistoryChars/2 { // make room for this task, whose basis must not be dropped while it runs
		h.condense(1)
	}
	return nil
}

// finishConversation makes the conversation ready to be continued, however the task ended.
func (r *run) finishConversation(ctx context.Context) {
	why := "interrupted"
	if ctx.Err() != nil {
		why += ": " + context.Cause(ctx).Error()
		r.state.view.reset() // the interrupted action may have changed the page
	}
	r.state.history.answerOpenCalls(why)
}

// ask calls the model once.
func (r *run) ask(ctx context.Context, tools []llm.Tool) (llm.Reply, error) {
	r.n++
	step := sessions.Step{N: r.n, Kind: sessions.StepThink, Phase: sessions.PhaseBegun, Label: "think"}
	if err := r.emit(ctx, step); err != nil {
		return llm.Reply{}, err
	}
	h := &r.state.history
	if !h.trim(r.set.HistorySnapshots, r.set.HistoryChars) {
		r.state.view.reset()
	}
	late := fmt.Errorf("model %s gave no answer within %s (allow more time for one step in the settings, or choose a "+
		"faster model)", r.model.Name(), sessions.DurationText(r.set.StepTimeout))
	asking, cancel := agent.LimitSilence(ctx, r.set.StepTimeout, late)
	defer cancel()
	reply, err := r.model.Generate(asking, llm.Request{
		System: r.system, Messages: h.messages(r.caps), Tools: tools, MaxTokens: maxTokens,
		EndUser: agent.EndUserID(r.task.Origin),
	}, nil)
	if err != nil {
		if asking.Err() != nil {
			err = context.Cause(asking)
		}
		return llm.Reply{}, err
	}
	reply.Message = normalizeReply(reply.Message)
	if len(tools) == 0 {
		reply.Message = withoutCalls(reply.Message)
	}
	h.addReply(reply.Message)
	for _, c := range reply.Calls() { // before anything is stored
		r.maskStoredPassword(c)
	}
	step.Phase, step.Usage = sessions.PhaseDone, reply.Usage
	if len(reply.Calls()) > 0 {
		step.Text = reply.Text()
	}
	r.lastText = step.Text
	return reply, r.emit(ctx, step)
}

// wrapUp asks the model for a final answer, without tools. limit is the limit that ended the work, if any.
func (r *run) wrapUp(ctx context.Context, why, limit string) error {
	earlier := r.lastText
	if err := r.deliverNotes(ctx); err != nil {
		return err
	}
	r.state.history.addUserText(why)
	reply, err := r.ask(ctx, nil)
	if err != nil {
		return err
	}
	end := agent.NewOutcome(reply.Text(), reply.Stop)
	if end.Limit = ""; limit != "" { // the prompt already says why
		end = end.WithLimit(limit, reply.Stop, r.caps.Literal)
	}
	switch {
	case end.Text != "":
	case earlier != "":
		end.Text = earlier
	case r.closed:
		end.Text = "The browser is closed."
	default:
		end.Text = "There is no answer: the work ended before one was found."
	}
	return r.answer(ctx, end)
}

// answer ends the task.
func (r *run) answer(ctx context.Context, end agent.Outcome) error {
	r.n++
	v := &r.state.view
	var view *llm.Image
	if r.unseen != nil && !r.closed {
		r.viewDue = time.Time{}
		view = r.captureForPeople(ctx, r.unseen)
	}
	err := r.emit(ctx, sessions.Step{
		View: view,
		N:    r.n, Kind: sessions.StepAnswer, Phase: sessions.PhaseDone, Label: "answer",
		Text: r.fullAnswer(end.Text), Images: r.state.album.Chosen(r.shown), Failed: end.Failed, Limit: end.Limit,
		Closed: r.closed, URL: v.url, Title: v.title,
	})
	if err == nil && r.closed {
		r.agent.cache.Drop(r.session.ID)
	}
	return err
}

// notice emits a notice for people.
func (r *run) notice(ctx context.Context, text string) error {
	r.n++
	return r.emit(ctx, sessions.Step{
		N: r.n, Kind: sessions.StepNotice, Phase: sessions.PhaseDone, Label: text,
		Text: text,
	})
}

// emit yields a step to the consumer. Once ctx has ended it yields nothing and returns the cause.
func (r *run) emit(ctx context.Context, s sessions.Step) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s.Phase == sessions.PhaseDone && s.Kind != sessions.StepNotice {
		var err error
		if s.Memory, err = r.state.history.marshal(); err != nil {
			return err
		}
	}
	if !r.yield(s, nil) {
		return agent.ErrConsumerStopped
	}
	return nil
}

// withoutCalls removes tool calls that a model made although it had no tools, along with the opaque parts that may
// belong to them.
func withoutCalls(m llm.Message) llm.Message {
	if len((llm.Reply{Message: m}).Calls()) == 0 {
		return m
	}
	kept := llm.Message{Role: m.Role}
	for _, p := range m.Parts {
		if p.Text != "" {
			kept.Parts = append(kept.Parts, p)
		}
	}
	return kept
}

const instructions = `You work a real web browser for a person, with the tools given to you.

How to work
- Each action answers with where the page is and what changed on it: "page:" is the whole page state, "page changes:" a unified diff of the last one. Do not ask for a snapshot after an action; use browser_snapshot only when you have lost track.
- Elements are named by the refs of the newest state, such as e12. A ref that is refused is out of date: look again.
- browser_type replaces what the field contains. browser_select chooses from a closed list.
- browser_upload hands over files that came with the request, or files of the uploads folder. What a page offers is saved by itself; a note says where.
- Where a state was cut or folded, browser_snapshot with after shows what follows. Where there is no ref, as on a canvas, browser_click_at and browser_drag_at take points of a screenshot.
- Use browser_extract for longer texts and browser_links for addresses. Take a screenshot when looks matter. With show=true the person gets to see it; with show_pictures you choose at the end what they get.
- If something does not work twice, try another way. If you cannot go on (a login, a captcha, a payment you were not asked to make), stop and say what is in the way.
- The person may say more while you work, in a message that begins with their name in square brackets: it adds to the task or changes it.
- Do exactly what the person asked for. Do not buy, send, delete or publish anything unless they asked for it.
- Leave the browser open, so that the person can go on with it, unless they ask you to close it.
- When you know enough, answer without calling a tool: short, in the person's language, with the facts they asked for and the addresses they need. Say honestly what you did not find.

What pages say
` + untrusted.Instruction
