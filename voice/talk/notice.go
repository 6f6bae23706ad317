package talk

import (
	"time"

	"clank/sessions"
	"clank/voice/talk/phrases"
)

const (
	noticeGrace = 3 * time.Second // who is told to be here so soon after the notice was here before us
	tellAgain   = 5 * time.Minute // after this a failure is told anew
)

// able is what there is in the call.
func (c *call) able() phrases.Able {
	return phrases.Able{
		Native: c.NewNative != nil, Transcribes: c.Transcriber != nil, All: c.Manners.TranscribeAll, Spots: c.Spotter != nil,
		Excludes: c.Privacy != nil, Keeps: c.Keep != nil, OnPage: c.Place.Kind == sessions.FromDashboard,
	}
}

// notice says that we listen, once we can be heard.
func (c *call) notice() {
	if !c.noticed.IsZero() {
		return
	}
	c.noticed = time.Now()
	for _, p := range c.room.people {
		p.told = true
	}
	able := c.able()
	written, spoken := able.Notice()
	c.write(Message{Text: written, Notice: true})
	if c.Mouth != nil {
		c.say(&part{sentences: spoken})
	}
	switch {
	case able.Native:
	case !able.Transcribes:
		c.tell("hear", able.NoWords())
	case !able.Spots && !able.All:
		c.tell("spot", phrases.NoName)
	}
}

// welcome tells somebody who comes later that we listen, once.
func (c *call) welcome(p *person) {
	if p.told || c.noticed.IsZero() {
		return
	}
	p.told = true
	if time.Since(c.noticed) < noticeGrace || c.Privacy != nil && c.Privacy.LeftOut(c.Place.Guild, p.ID) {
		return
	}
	c.write(Message{Text: c.able().Welcome(p.name())})
}

// tell writes of a failure, once for each kind until it has worked again or much time has gone.
func (c *call) tell(kind, text string) {
	now := time.Now()
	if at, told := c.told[kind]; told && now.Sub(at) < tellAgain {
		return
	}
	c.told[kind] = now
	c.write(Message{Text: text})
}
