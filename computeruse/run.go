package computeruse

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"clank/computeruse/secret"
	"clank/sessions"
	"clank/sessions/working"
)

// maxUseless is after how many replies in a row with which nothing can be done
// the task ends.
const maxUseless = 3

// run is one task being worked. It lives in one goroutine.
type run struct {
	agent   *Agent
	held    *held
	opening *sync.Mutex // held while the session's page is opened
	session sessions.Session
	task    sessions.Task
	yield   func(sessions.Step, error) bool
	log     *slog.Logger

	set     Settings
	mind    Mind
	talk    Talk
	n       int // number of the newest step
	screen  Screen
	photo   photo // the screen as the model has last seen it
	fresh   bool  // nothing was done since the photo was taken
	shown   []sessions.Image
	seen    map[[sha256.Size]byte]bool // pictures in shown
	agreed  agreed
	repeats working.Repeats
	repeat  int    // how often the newest turn has been repeated
	useless int    // replies in a row with which nothing could be done
	beside  string // what the model last said beside its calls
}

// work is the loop: see, ask, act, check what is left.
func (r *run) work(ctx context.Context, unread error) error {
	if err := r.prepare(ctx, unread); err != nil {
		return err
	}
	defer func() { r.settle(ctx) }()
	if err := r.begin(ctx); err != nil {
		return err
	}
	for step := 0; ; step++ {
		turn, err := r.ask(ctx, false)
		if err != nil {
			return r.spent(ctx, err)
		}
		idle := len(turn.Calls)+len(turn.Tools) == 0
		if end := working.FinalText(turn.Text, turn.Stop); idle && end.Text != "" {
			heard, err := r.listen(ctx)
			if err != nil {
				return err
			}
			if !heard || step == r.set.MaxSteps {
				return r.answer(ctx, end)
			}
			r.beside = end.Text
			continue // somebody spoke while it was answering
		}
		if step == r.set.MaxSteps {
			limit := fmt.Sprintf("step limit of %d", r.set.MaxSteps)
			r.held.memory.Next.settle("not executed: the " + limit + " is reached")
			return r.wrapUp(ctx, "You have reached the "+limit+".", limit)
		}
		refused, err := r.act(ctx, turn)
		switch {
		case err != nil:
			return err
		case refused != nil:
			return r.answer(ctx, *refused)
		case r.repeat >= working.MaxRepeats:
			return r.wrapUp(ctx, "You have done the same again and again without effect.", fmt.Sprintf("the same %d times without effect", working.MaxRepeats))
		case r.useless >= maxUseless:
			return fmt.Errorf("model %s: %d replies in a row without an answer or a usable action (try another model)", r.mind.Name(), maxUseless)
		}
	}
}

// prepare makes ready what the loop needs and takes in the task.
func (r *run) prepare(ctx context.Context, unread error) error {
	r.set = r.agent.settings()
	if r.task.MaxSteps > 0 {
		r.set.MaxSteps = r.task.MaxSteps
	}
	r.set.HandOver = slices.DeleteFunc(slices.Clone(r.set.HandOver), func(runtime string) bool {
		return runtime == r.session.Runtime || runtime == r.task.Runtime // to itself
	})
	mind, err := r.agent.Mind(ctx, r.task.Model)
	if err != nil {
		return working.Ended(ctx, err) // it names the model
	}
	r.mind = mind
	r.seen = make(map[[sha256.Size]byte]bool)
	m := &r.held.memory
	notice := ""
	if unread != nil {
		r.log.Warn("conversation is not readable", "err", unread)
		notice = "what was said before in this session could not be read and is left out"
	}
	if m.Mind != "" && m.Mind != mind.Name() {
		m.anew()
		notice = fmt.Sprintf("%s goes on where %s was: it knows what was asked and answered, not what was seen", mind.Name(), m.Mind)
	}
	brief := Brief{
		System: working.Prompt(instructions, r.agent.now(), r.agent.Places, r.set.Instructions), Tools: tools(r.set),
		MaxTokens: r.set.MaxTokens, EndUser: working.EndUser(r.task.Origin), Memory: m.Talk,
	}
	if r.talk, err = mind.Begin(brief); err != nil && len(m.Talk) > 0 {
		r.log.Warn("conversation cannot go on", "err", err)
		m.anew()
		notice, brief.Memory = "the conversation of this session could not be gone on with; what was asked and answered is kept", nil
		r.talk, err = mind.Begin(brief)
	}
	if err != nil {
		return fmt.Errorf("begin with model %s: %w", mind.Name(), err)
	}
	m.Mind = mind.Name()
	m.prompt(r.task.Prompt)
	m.Next.say(r.task.Prompt)
	if notice == "" {
		return nil
	}
	return r.notice(ctx, notice)
}

// begin looks at the screen before the first question.
func (r *run) begin(ctx context.Context) error {
	s, err := r.open(ctx)
	if err != nil {
		return err
	}
	r.letGo(ctx, s) // of what a task that was stopped has left down
	r.look(ctx, s)
	return working.Ended(ctx, nil)
}

// settle leaves the conversation in a state in which it can go on, however the
// task ended.
func (r *run) settle(ctx context.Context) {
	why := "interrupted"
	if ctx.Err() != nil {
		why += ": " + context.Cause(ctx).Error()
	}
	m := &r.held.memory
	m.Next.settle(why + "; it may have been done in part")
	talk, err := r.talk.Memory()
	if err != nil {
		r.log.Warn("conversation cannot be kept", "err", err)
		m.anew()
		return
	}
	m.keep(talk)
}

// ask asks the model once.
func (r *run) ask(ctx context.Context, final bool) (Turn, error) {
	if _, err := r.listen(ctx); err != nil {
		return Turn{}, err
	}
	r.n++
	step := sessions.Step{N: r.n, Kind: sessions.StepThink, Phase: sessions.Begun, Label: "think"}
	if err := r.emit(ctx, step); err != nil {
		return Turn{}, err
	}
	next := &r.held.memory.Next
	in := next.take()
	in.Final = final
	if r.photo.Known() {
		in.Shot = &Shot{Image: r.photo.image, Size: r.photo.Picture, URL: r.held.url}
	}
	late := fmt.Errorf("model %s gave no answer within %s (allow more time for one answer in the settings, or choose a faster model)", r.mind.Name(), r.set.ModelTimeout)
	asking, cancel := context.WithTimeoutCause(ctx, r.set.ModelTimeout, late)
	defer cancel()
	turn, err := r.talk.Next(asking, in)
	if err != nil {
		if _, spent := working.Spent(err); spent { // it was told nothing
			next.Says, next.Outcomes, next.Results = in.Says, in.Outcomes, in.Results
		}
		if asking.Err() != nil {
			err = context.Cause(asking)
		}
		return Turn{}, err
	}
	r.fresh = false // it took its time
	r.held.memory.beware(turn)
	next.expect(turn)
	if final {
		next.settle("not executed: the work has ended")
	}
	if len(turn.Calls)+len(turn.Tools) > 0 {
		r.forewarned(ctx, turn)
		step.Text = cmp.Or(strings.TrimSpace(turn.Text), strings.TrimSpace(turn.Reasoning))
		r.beside = cmp.Or(strings.TrimSpace(turn.Text), r.beside)
	}
	step.Phase, step.Usage = sessions.Done, working.Usage(turn.Usage)
	if err := r.emit(ctx, step); err != nil {
		return Turn{}, err
	}
	for _, text := range turn.Notices {
		if err := r.notice(ctx, text); err != nil {
			return Turn{}, err
		}
	}
	return turn, nil
}

// listen takes what people say to the running task, and reports whether anybody
// did.
func (r *run) listen(ctx context.Context) (heard bool, err error) {
	for _, note := range r.task.Inbox.Take() {
		heard = true
		r.held.memory.Next.say("[" + working.Speaker(note.By) + "] " + note.Text)
		if err := r.notice(ctx, note.String()); err != nil {
			return true, err
		}
	}
	return heard, nil
}

// spent ends the task with what was found so far if err says that the budget
// allows no further call; else it returns err.
func (r *run) spent(ctx context.Context, err error) error {
	limit, spent := working.Spent(err)
	if !spent {
		return err
	}
	return r.answer(ctx, working.Ending{Text: cmp.Or(r.beside, noAnswer), Limit: limit})
}

const noAnswer = "There is no answer: the work ended before one was found."

// wrapUp asks the model for an answer, without acting. limit is what ended the
// work.
func (r *run) wrapUp(ctx context.Context, why, limit string) error {
	beside := r.beside
	r.held.memory.Next.say(why + " Answer the person now, without acting: what you have found so far, and what is left to do.")
	turn, err := r.ask(ctx, true)
	if err != nil {
		return r.spent(ctx, err)
	}
	end := working.FinalText(turn.Text, turn.Stop)
	end.Text = cmp.Or(cmp.Or(end.Text, beside), noAnswer)
	end.Limit = limit
	return r.answer(ctx, end)
}

// answer ends the task.
func (r *run) answer(ctx context.Context, end working.Ending) error {
	if r.screen != nil {
		r.letGo(ctx, r.screen)
	}
	r.n++
	r.held.memory.answer(end.Text)
	return r.emit(ctx, sessions.Step{
		N: r.n, Kind: sessions.StepAnswer, Phase: sessions.Done, Label: "answer",
		Text: end.Text, Images: r.shown, Failed: end.Failed, Limit: end.Limit, URL: r.held.url, Title: r.held.title,
	})
}

// notice tells the person something beside the work.
func (r *run) notice(ctx context.Context, text string) error {
	r.n++
	return r.emit(ctx, sessions.Step{N: r.n, Kind: sessions.StepNotice, Phase: sessions.Done, Label: text, Text: text})
}

// emit hands a step to the consumer. Nothing is handed over once ctx has ended.
func (r *run) emit(ctx context.Context, s sessions.Step) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m := &r.held.memory
	s.Label, s.Text, s.Input = m.secrets.Clean(s.Label, secret.Mask), m.secrets.Clean(s.Text, secret.Mask), m.secrets.CleanJSON(s.Input, secret.Mask)
	if s.Phase == sessions.Done && s.Kind != sessions.StepNotice {
		talk, err := r.talk.Memory()
		if err != nil {
			return fmt.Errorf("store the conversation: %w", err)
		}
		m.keep(talk)
		if s.Memory, err = m.store(); err != nil {
			return err
		}
	}
	if !r.yield(s, nil) {
		return errGone
	}
	return nil
}
