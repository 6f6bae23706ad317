package conversation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/cancel"
	"clank/internal/assistant"
	"clank/internal/i18n"
	"clank/llm"
)

const (
	maxJobs            = 4 // concurrent replies in a call
	maxBrowsing        = 2 // of them, of one person, that work a browser
	maxWaiting         = 8
	maxProgressReports = 3 // reports about one browse that takes long
)

// request is what a person asks of us.
type request struct {
	by   *person
	text string
	wait waitHandle // while it waits
}

// job is a reply in the making.
type job struct {
	request

	handle        *cancel.Handle
	entry         *HistoryEntry // the request in the history
	replaced      bool          // a newer request of the same person took its place
	draft         *draft        // the text being written; nil: none yet, or none since tools were used
	answered      bool          // something was written before tools were used
	browsing      bool
	progressCount int // words said about the browse
	nextProgress  time.Time
}

// handleRequest handles a request that p has made.
func (c *call) handleRequest(ctx context.Context, p *person, text string) {
	c.dropInterrupted(p)
	p.openUntil, p.addressedAt = time.Time{}, time.Now()
	if text == "" {
		c.acknowledge("Yes?")
		p.openUntil = time.Now().Add(answerWindow)
		return
	}
	if why := c.Host.DisabledReason(ctx, c.origin(p)); why != "" {
		c.answerText(p, why)
		return
	}
	r := request{by: p, text: text}
	browsing := 0
	for _, j := range c.jobs {
		switch {
		case j.by != p || j.replaced:
		case j.browsing:
			browsing++
		default:
			r.text = c.supersede(j, r.text)
		}
	}
	if browsing >= maxBrowsing || c.runningJobs() >= maxJobs {
		c.queueRequest(ctx, r)
		return
	}
	c.startReply(ctx, r)
}

// supersede ends a reply for which a person did not wait, and returns their request: as long as they have heard nothing
// of the reply, both requests belong together.
func (c *call) supersede(j *job, text string) string {
	cause := &cancel.Cause{Reason: cancel.Superseded}
	j.replaced = true
	j.handle.Stop(cause)
	c.dropProgress(j)
	if j.answered || j.draft.hasSpeech() && j.draft.item.saidCount > 0 {
		c.cutDraft(j.draft, cause)
		return text
	}
	c.discardDraft(j.draft, cause)
	c.history.Remove(j.entry)
	return j.text + "\n" + text
}

// runningJobs counts the replies in the making.
func (c *call) runningJobs() (n int) {
	for _, j := range c.jobs {
		if !j.replaced {
			n++
		}
	}
	return n
}

// queueRequest queues r, together with other waiting requests of the same person.
func (c *call) queueRequest(ctx context.Context, r request) {
	c.dropStopped()
	for i, w := range c.waiting {
		if w.by == r.by {
			c.waiting[i].text += "\n" + r.text
			return
		}
	}
	if len(c.waiting) == maxWaiting {
		c.answerText(r.by, "I have too much to do at the moment. Please ask again in a while.")
		return
	}
	r.wait = c.newWaitHandle(ctx, r)
	c.waiting = append(c.waiting, r)
	c.acknowledge("One after the other. I come to that next.")
}

// startReply begins a reply.
func (c *call) startReply(ctx context.Context, r request) {
	now := time.Now()
	j := &job{request: r}
	from := c.origin(r.by)
	j.entry = c.history.Add(assistant.ChatLine{Speaker: r.by.name(), SpeakerID: from.User, Text: r.text}, now)
	turn := assistant.Turn{Origin: from, Lines: c.history.LinesUntil(j.entry, now), Style: replyStyle, CanAsk: true}
	ctx, j.handle = c.beginWork(ctx, r)
	c.jobs = append(c.jobs, j)
	if c.Player != nil {
		turn.OnText = func(p assistant.TextChunk) {
			c.post(func(context.Context) {
				if cancel.CauseOf(ctx, nil) == nil { // what comes after a stop is not spoken
					c.handlePiece(j, p)
				}
			})
		}
	}
	c.work.Go(func() {
		answer, err := c.Assistant.Reply(ctx, turn, func(assistant.Progress) {
			c.post(func(context.Context) { c.beginBrowsing(j) })
		})
		c.post(func(life context.Context) {
			j.handle.End() // until now it could be stopped, which also drops what was not spoken yet
			c.handleReply(life, j, answer, err, cmp.Or(cancel.CauseOf(ctx, nil), causeOf(err)))
		})
	})
}

// beginBrowsing records that a reply uses a browser, and tells people when it begins.
func (c *call) beginBrowsing(j *job) {
	if j.browsing || j.replaced {
		return
	}
	j.browsing = true
	j.nextProgress = time.Now().Add(progressEvery)
	if !j.answered {
		c.sayFor(j, "I am looking.")
	}
}

// reportProgress tells people that a browse still runs.
func (c *call) reportProgress(now time.Time) {
	for _, j := range c.jobs {
		if !j.browsing || j.replaced || j.draft != nil || j.progressCount >= maxProgressReports ||
			now.Before(j.nextProgress) {
			continue
		}
		j.nextProgress = now.Add(progressEvery)
		if c.speech.idle() {
			c.sayFor(j, []string{
				"Still looking.", "This takes a while.",
				"I am still at it, and tell you when I have it.",
			}[j.progressCount])
			j.progressCount++
		}
	}
}

// handleReply handles the outcome of a reply.
func (c *call) handleReply(ctx context.Context, j *job, a assistant.Answer, err error, why *cancel.Cause) {
	c.jobs = slices.DeleteFunc(c.jobs, func(x *job) bool { return x == j })
	defer c.startNextWaiting(ctx)
	if j.replaced || ctx.Err() != nil {
		return
	}
	c.dropProgress(j)
	switch {
	case why != nil && why.Reason == cancel.Stopped: // the person who stopped it was told
		c.cutDraft(j.draft, why)
		c.history.Add(assistant.ChatLine{FromAssistant: true, Text: "(" + why.Error() + ")"}, time.Now())
	case why != nil:
		c.answerFailure(j, why.Error(), why.Error())
	case err != nil:
		c.log.Error("reply in a call failed", "error", err)
		c.answerFailure(j, answerCutText, failureText(err))
	case j.draft == nil:
		if len(a.Choices) > 0 {
			a.Text += "\n" + c.own().T("You can say: %s.", strings.Join(a.Choices, "; "))
		}
		c.answer(j.by, a)
	default:
		if a.Truncated {
			j.draft.reader.DropRest()
		}
		c.appendToDraft(j.draft, a.Remainder)
		c.finishDraft(j.draft, a)
	}
}

// failureText returns the text about a failed reply.
func failureText(err error) string {
	if e := new(llm.Error); errors.As(err, &e) {
		return fmt.Sprintf("I could not think of an answer. %v", i18n.Locale("").Sentence(e.Error()))
	}
	return fmt.Sprintf("That did not work. %v", i18n.Locale("").Sentence(err.Error()))
}

// startNextWaiting begins the next reply that waits and may run.
func (c *call) startNextWaiting(ctx context.Context) {
	c.dropStopped()
	for i, r := range c.waiting {
		if c.runningJobs() >= maxJobs {
			return
		}
		busy := 0
		for _, j := range c.jobs {
			if j.by == r.by && !j.replaced {
				busy++
			}
		}
		if busy < maxBrowsing {
			c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
			if r.wait.handle.End(); r.wait.stopped() {
				c.startNextWaiting(ctx)
				return
			}
			c.startReply(ctx, r)
			return
		}
	}
}
