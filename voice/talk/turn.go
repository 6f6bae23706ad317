package talk

import (
	"cmp"
	"context"
	"errors"
	"time"

	"clank/brain"
	"clank/cancel"
	"clank/llm"
	"clank/voice/talk/memory"
	"clank/voice/talk/phrases"
	"clank/voice/talk/words"
)

const (
	maxJobs     = 4 // replies at once in a call
	maxBrowsing = 2 // of them, of one person, that work a browser
	maxWaiting  = 8
	maxNews     = 3 // words about one browse that takes long
)

// request is something that somebody asks of us.
type request struct {
	by   *person
	text string
	held hold // while it waits
}

// job is a reply in the making.
type job struct {
	request

	handle   *cancel.Handle
	line     *memory.Entry // the request in the history
	replaced bool          // a newer request of the same person took its place
	draft    *draft        // what is being written; nil: nothing yet, or nothing since tools were used
	spoke    bool          // something was written before tools were used
	browsing bool
	news     int // words said about the browse
	nextNews time.Time
}

// ask takes up something that p has said to us.
func (c *call) ask(ctx context.Context, p *person, text string) {
	c.giveUp(p)
	p.openUntil, p.called = time.Time{}, time.Now()
	if text == "" {
		c.sayShort("Yes?")
		p.openUntil = time.Now().Add(c.awaited())
		return
	}
	if c.Disabled != nil {
		if why := c.Disabled(ctx, c.origin(p)); why != "" {
			c.answerShort(p, words.Sentence(why))
			return
		}
	}
	r := request{by: p, text: text}
	browsing := 0
	for _, j := range c.jobs {
		switch {
		case j.by != p || j.replaced:
		case j.browsing:
			browsing++
		default:
			r.text = c.replace(j, r.text)
		}
	}
	if browsing >= maxBrowsing || c.running() >= maxJobs {
		c.wait(ctx, r)
		return
	}
	c.start(ctx, r)
}

// replace ends a reply for which somebody has not waited, and returns what they want now: as long as they have heard nothing of it,
// the two requests belong together.
func (c *call) replace(j *job, text string) string {
	cause := &cancel.Cause{Reason: cancel.Superseded}
	j.replaced = true
	j.handle.Stop(cause)
	c.dropFor(j)
	if j.spoke || j.draft.spoken() && j.draft.part.said > 0 {
		c.breakOff(j.draft, cause)
		return text
	}
	c.takeBack(j.draft, cause)
	c.lines.Remove(j.line)
	return j.text + "\n" + text
}

// running counts the replies in the making.
func (c *call) running() (n int) {
	for _, j := range c.jobs {
		if !j.replaced {
			n++
		}
	}
	return n
}

// wait lets r wait for its turn, together with what the same person has waiting.
func (c *call) wait(ctx context.Context, r request) {
	c.dropStopped()
	for i, w := range c.waiting {
		if w.by == r.by {
			c.waiting[i].text += "\n" + r.text
			return
		}
	}
	if len(c.waiting) == maxWaiting {
		c.answerShort(r.by, "I have too much to do at the moment. Please ask again in a while.")
		return
	}
	r.held = c.hold(ctx, r)
	c.waiting = append(c.waiting, r)
	c.sayShort("One after the other. I come to that next.")
}

// start begins a reply.
func (c *call) start(ctx context.Context, r request) {
	now := time.Now()
	j := &job{request: r}
	j.line = c.lines.Add(brain.Line{Who: r.by.name(), Text: r.text}, now)
	turn := brain.Turn{Origin: c.origin(r.by), Lines: c.lines.Until(j.line, now), Style: phrases.Style}
	ctx, j.handle = c.begin(ctx, r)
	c.jobs = append(c.jobs, j)
	if c.Mouth != nil {
		turn.Writes = func(p brain.Piece) {
			c.post(func(context.Context) {
				if cancel.CauseOf(ctx, nil) == nil { // what comes after a stop is not said
					c.wrote(j, p)
				}
			})
		}
	}
	c.work.Go(func() {
		answer, err := c.Brain.Reply(ctx, turn, func(brain.Progress) {
			c.post(func(context.Context) { c.browses(j) })
		})
		c.post(func(life context.Context) {
			j.handle.End() // until now it could be stopped, and a stop takes back what was not told yet
			c.replied(life, j, answer, err, cmp.Or(cancel.CauseOf(ctx, nil), causeOf(err)))
		})
	})
}

// browses notes that a reply works a browser, and says so when it begins.
func (c *call) browses(j *job) {
	if j.browsing || j.replaced {
		return
	}
	j.browsing = true
	j.nextNews = time.Now().Add(c.newsEvery())
	if !j.spoke {
		c.sayFor(j, "I am looking.")
	}
}

// news says that a browse is still under way.
func (c *call) news(now time.Time) {
	for _, j := range c.jobs {
		if !j.browsing || j.replaced || j.draft != nil || j.news >= maxNews || now.Before(j.nextNews) {
			continue
		}
		j.nextNews = now.Add(c.newsEvery())
		if c.speech.idle() {
			c.sayFor(j, []string{"Still looking.", "This takes a while.", "I am still at it, and tell you when I have it."}[j.news])
			j.news++
		}
	}
}

// replied is told how a reply has come out.
func (c *call) replied(ctx context.Context, j *job, a brain.Answer, err error, why *cancel.Cause) {
	for i, x := range c.jobs {
		if x == j {
			c.jobs = append(c.jobs[:i:i], c.jobs[i+1:]...)
			break
		}
	}
	defer c.startWaiting(ctx)
	if j.replaced || ctx.Err() != nil {
		return
	}
	c.dropFor(j)
	switch {
	case why != nil && why.Reason == cancel.Stopped: // whoever stopped it was told
		c.breakOff(j.draft, why)
		c.lines.Add(brain.Line{Mine: true, Text: "(" + why.Error() + ")"}, time.Now())
	case why != nil:
		c.fails(j, words.Sentence(why.Error()), words.Sentence(why.Error()))
	case err != nil:
		c.log.Error("reply in a call failed", "error", err)
		c.fails(j, brokenOff, failure(err))
	case j.draft == nil:
		c.answer(j.by, a)
	default:
		if a.Cut {
			j.draft.reader.Drop()
		}
		c.writes(j.draft, a.Rest)
		c.ends(j.draft, a)
	}
}

// failure is what is said of a reply that failed.
func failure(err error) string {
	if e := new(llm.Error); errors.As(err, &e) {
		return "I could not think of an answer. " + words.Sentence(e.Error())
	}
	return "That did not work. " + words.Sentence(err.Error())
}

// startWaiting begins the next reply that waits and may run.
func (c *call) startWaiting(ctx context.Context) {
	c.dropStopped()
	for i, r := range c.waiting {
		if c.running() >= maxJobs {
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
			if r.held.handle.End(); r.held.gone() {
				c.startWaiting(ctx)
				return
			}
			c.start(ctx, r)
			return
		}
	}
}
