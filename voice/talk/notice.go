package talk

import (
	"time"

	"clank/voice/talk/words"
)

const (
	noticeGrace = 3 * time.Second // who is told to be here so soon after the notice was here before us
	tellAgain   = 5 * time.Minute // after this a failure is told anew
)

// howOut is how to be left out. Saying so helps only where something hears it.
func (c *call) howOut() string {
	if c.Privacy == nil {
		return "mute your microphone not to be heard"
	}
	if c.Spotter == nil && c.Transcriber == nil && c.NewNative == nil {
		return "use `/clank privacy` to be left out"
	}
	return "say “clank privacy” or use `/clank privacy` to be left out"
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
	kept := "Nothing that is said is stored"
	if c.Keep != nil {
		kept = "What is said to me is stored as text, and no sound"
	}
	text := "I have joined the call and listen: call me by name (“clank, …”) to ask for something, and say “clank, stop” to stop it. " +
		words.Sentence(c.howOut()) + " " + kept + "."
	c.write(Message{Text: text, Notice: true})
	aloud := "Hello, I am clank, and I am listening. Nothing is stored."
	if c.Keep != nil {
		aloud = "Hello, I am clank, and I am listening. What is said to me is stored as text."
	}
	if c.Mouth != nil {
		out := "Say: clank privacy, to be left out."
		switch {
		case c.Privacy == nil:
			out = "Mute your microphone, and I do not hear you."
		case c.Spotter == nil && c.Transcriber == nil && c.NewNative == nil:
			out = "The chat says how to be left out."
		}
		c.say(&part{sentences: []string{aloud, out}})
	}
	switch {
	case c.NewNative != nil:
	case c.Transcriber == nil:
		c.tell("hear", "I cannot understand words, as no transcription is configured: set one up in the settings under Calls."+c.stillStops())
	case c.Spotter == nil && !c.Manners.TranscribeAll:
		c.tell("spot", "Without the Debian package pocketsphinx I do not hear my name while several people are here, only answers to what I "+
			"say and somebody who is here alone. Install it, or have everything put into words (in the settings under Calls).")
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
	c.write(Message{Text: "Hello, " + words.Name(p.name()) + ". I am in this call and listen; " + c.howOut() + "."})
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
