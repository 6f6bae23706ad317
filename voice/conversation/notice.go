package conversation

import (
	"time"

	"clank/sessions"
)

const (
	noticeGrace      = 3 * time.Second // who is told to be here so soon after the notice was here before us
	reportAgainAfter = 5 * time.Minute // after this a failure is told anew
)

// capabilities returns what is available in the call.
func (c *call) capabilities() Capabilities {
	return Capabilities{
		Native: c.NewNative != nil, Transcribes: c.Transcriber != nil, TranscribesAll: c.Options.TranscribeAll, Spots: c.Spotter != nil,
		OptOut: c.Privacy != nil, Records: c.RecordLine != nil, OnPage: c.Location.Kind == sessions.FromDashboard,
	}
}

// announceListening says that we listen, once we can be heard.
func (c *call) announceListening() {
	if !c.noticedAt.IsZero() {
		return
	}
	c.noticedAt = time.Now()
	for _, p := range c.room.people {
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
		c.reportOnce("spot", noWakeWordText)
	}
}

// welcome tells somebody who comes later that we listen, once.
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

// reportOnce writes of a failure, once for each kind until it has worked again or much time has gone.
func (c *call) reportOnce(kind, text string) {
	now := time.Now()
	if at, told := c.reportedAt[kind]; told && now.Sub(at) < reportAgainAfter {
		return
	}
	c.reportedAt[kind] = now
	c.write(Message{Text: text})
}
