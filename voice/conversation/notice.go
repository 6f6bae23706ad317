package conversation

import (
	"context"
	"errors"
	"time"

	"clank/llm"
	"clank/sessions"
	"clank/sessions/agent"
)

const (
	noticeGrace      = 3 * time.Second // a person announced so soon after the notice was here before us
	reportAgainAfter = 5 * time.Minute // after which a failure is reported again
)

// capabilities returns what is available in the call.
func (c *call) capabilities() Capabilities {
	return Capabilities{
		Native: c.Native != nil, Transcribes: c.Transcriber != nil, TranscribesAll: c.Options.TranscribeAll,
		Spots:  c.Spotter != nil,
		OptOut: c.Privacy != nil, Records: c.Recorder != nil, OnPage: c.Location.Kind == sessions.FromDashboard,
		Locale: c.Locale, Voice: c.own(),
	}
}

// announceListening gives the notice that we listen, once we can be heard.
func (c *call) announceListening() {
	if !c.noticedAt.IsZero() {
		return
	}
	c.noticedAt = time.Now()
	for _, p := range c.participants.people {
		p.notified = true
	}
	able := c.capabilities()
	written, spoken := able.ListeningNotice()
	c.write(Message{Text: written, IsNotice: true})
	if c.Player != nil {
		c.say(&speechItem{sentences: spoken})
	}
	switch {
	case able.Native:
	case !able.Transcribes:
		c.reportOnce("hear", able.NoTranscriptionText())
	case !able.Spots && !able.TranscribesAll:
		c.reportOnce("spot", c.Locale.T(noWakeWordText))
	}
}

// welcome tells a person who joins later that we listen, once.
func (c *call) welcome(p *person) {
	if p.notified || c.noticedAt.IsZero() {
		return
	}
	p.notified = true
	if time.Since(c.noticedAt) < noticeGrace || c.Privacy != nil && c.Privacy.OptedOut(c.Location.Guild, p.ID) {
		return
	}
	c.write(Message{Text: c.capabilities().WelcomeText(p.name())})
}

// reason returns an error as a sentence for people.
func (c *call) reason(err error) string { return c.capabilities().reason(err) }

// reportOnce writes of a failure, once for each kind until it has worked again or much time has gone.
func (c *call) reportOnce(kind, text string) {
	now := time.Now()
	if at, told := c.reportedAt[kind]; told && now.Sub(at) < reportAgainAfter {
		return
	}
	c.reportedAt[kind] = now
	c.write(Message{Text: text})
}

// withAccount charges what is done with ctx to p, or to no person of the call if p is nil.
func (c *call) withAccount(ctx context.Context, p *person, purpose string) context.Context {
	o := sessions.Origin{Kind: c.Location.Kind, Guild: c.Location.Guild, Channel: c.Location.Channel}
	if p != nil {
		o = c.origin(p)
	}
	return llm.WithAccount(ctx, agent.PersonAccount(o, purpose))
}

// spentKey returns the key of the warning that the budget of p, or of the call, is spent.
func spentKey(p *person) string {
	if p == nil {
		return "spent"
	}
	return "spent " + p.ID
}

// reportSpent reports whether err means that a budget is spent, for p or the call. People are told once, until it works
// again.
func (c *call) reportSpent(p *person, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.ErrBudgetSpent {
		return false
	}
	if c.warned[spentKey(p)] {
		return true
	}
	c.warned[spentKey(p)] = true
	c.log.Info("budget spent in a call", "error", err)
	written, spoken := c.capabilities().BudgetSpentTexts(e)
	c.write(Message{Text: written})
	c.say(&speechItem{to: p, sentences: []string{spoken}})
	return true
}
