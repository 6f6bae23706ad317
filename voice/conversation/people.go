package conversation

import (
	"cmp"
	"context"
	"errors"
	"time"

	"clank/sessions"
	"clank/voice"
)

// maxPeople bounds what is remembered of people; a call has fewer.
const maxPeople = 500

// person is somebody in the call, and what we know of their talk.
type person struct {
	voice.Person

	present   bool
	optedOut  bool // does not want to be heard
	optingOut bool // has just said that to us, and it is being noted
	notified  bool // has been told that we listen

	spotting      *BufferedSpotterStream // to spot words; nil until they speak
	spotterRate   *voice.Resampler
	toNative      *voice.Resampler
	namedAt       time.Time // when they last said our name to the spotter
	addressedAt   time.Time // when they last spoke to us, by name or not
	prioritizedAt time.Time // when the spotter was last told what claim they have
	stoppedAt     time.Time // when they last said stop to the spotter, and it did
	openUntil     time.Time // until then what they say is said to us

	speaking bool
	onset    time.Time // when they began to speak
	lastLoud time.Time // when they spoke last
	echoes   int       // how often their sound ended when we fell silent

	// the last utterance that seemed not to be for us, until it is clear that our name was not in it
	unaddressed         *pendingUtterance
	checkedAt           time.Time               // when it was asked whether a native model may hear them
	refused             bool                    // it may not
	early               *earlyTranscript        // what they have said until now, being put into words; nil: nothing
	earlyTries          int                     // how often that was done in this utterance
	pending             []pendingUtterance      // utterances that wait to be put into words
	transcribing        bool                    // one is being put into words
	cancelTranscription context.CancelCauseFunc // drops what is being put into words; nil: nothing is
}

// room is who is in the call.
type room struct {
	selfID string
	people map[string]*person
}

// findOrAdd returns the person with id, made up if they are not known yet: sound may come before names.
func (r *room) findOrAdd(id string) *person {
	p := r.people[id]
	if p != nil {
		return p
	}
	p = &person{Person: voice.Person{ID: id}}
	if len(r.people) >= maxPeople {
		for id, old := range r.people {
			if !old.present {
				delete(r.people, id)
				break
			}
		}
	}
	if len(r.people) < maxPeople {
		r.people[id] = p
	}
	return p
}

// humans counts the people who are here, ourselves and other bots left out.
func (r *room) humans() (n int) {
	for _, p := range r.people {
		if p.present && !p.Bot && p.ID != r.selfID {
			n++
		}
	}
	return n
}

// onlyHuman reports whether p is the only human in the call.
func (r *room) onlyHuman(p *person) bool {
	return p.present && !p.Bot && r.humans() == 1
}

// quiet reports whether nobody has made a sound lately.
func (r *room) quiet(now time.Time, span time.Duration) bool {
	for _, p := range r.people {
		if now.Sub(p.lastLoud) < span {
			return false
		}
	}
	return true
}

// name returns p's name as people read it.
func (p *person) name() string {
	if p.Name == "" {
		return "somebody"
	}
	return p.Name
}

// handleJoined handles everybody who is in or joins the call, again when more is known about them.
func (c *call) handleJoined(who voice.Person) {
	p := c.room.findOrAdd(who.ID)
	who.Name = cmp.Or(who.Name, p.Name)
	who.Bot = who.Bot || c.Host.IsOwnAccount(who.ID)
	p.Person = who
	fresh := !p.present
	p.present = true
	if fresh && !who.Bot && who.ID != c.Location.SelfID {
		c.welcome(p)
	}
}

func (c *call) handleLeft(id string) {
	p := c.room.people[id]
	if p == nil {
		return
	}
	p.present = false
	c.forget(p)
}

// errOptedOut ends what is done with the speech of somebody who does not want to be heard.
var errOptedOut = errors.New("they do not want to be heard")

// applyPrivacy looks whether p wants to be left out, and drops what was heard of them then. It answers for this moment:
// they may say so elsewhere at any time, and need not make a sound for it to count.
func (c *call) applyPrivacy(p *person) (out bool) {
	out = p.optingOut || c.Privacy != nil && c.Privacy.OptedOut(c.Location.Guild, p.ID)
	if out && !p.optedOut {
		if p.cancelTranscription != nil {
			p.cancelTranscription(errOptedOut)
		}
		c.forget(p)
	}
	p.optedOut = out
	return out
}

// forget drops what was heard of p, and is no longer to be listened to.
func (c *call) forget(p *person) {
	c.Detector.Forget(p.ID)
	c.stopSpotting(p)
	p.early.Cancel(errOptedOut)
	p.early = nil
	p.unaddressed, p.pending, p.speaking, p.namedAt, p.openUntil = nil, nil, false, time.Time{}, time.Time{}
	if c.speech.pausedBy == p {
		c.resume()
	}
	if c.native != nil {
		c.native.forget(p.ID)
	}
}

// origin returns who p is to those who do what they ask.
func (c *call) origin(p *person) sessions.Origin {
	o := c.Host.Origin(p.Person)
	o.Guild, o.Channel = c.Location.Guild, c.Location.Channel
	return o
}
