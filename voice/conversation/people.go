package conversation

import (
	"cmp"
	"context"
	"errors"
	"time"

	"clank/sessions"
	"clank/voice"
)

// maxPeople limits how many people are remembered; a call has fewer.
const maxPeople = 500

// person is the state of a person in the call.
type person struct {
	voice.Person

	present   bool
	optedOut  bool // does not want to be heard
	optingOut bool // has just said that to us, and it is being noted
	notified  bool // was told that we listen

	spotting      *BufferedSpotterStream // to spot words; nil until they speak
	spotterRate   *voice.Resampler
	toNative      *voice.Resampler
	namedAt       time.Time // when they last said our name to the spotter
	addressedAt   time.Time // when they last spoke to us, by name or not
	prioritizedAt time.Time // when the spotter's priority was last set
	stoppedAt     time.Time // when they last said stop to the spotter, and it did
	openUntil     time.Time // until then their speech counts as said to us

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
	cancelTranscription context.CancelCauseFunc // cancels the running transcription; nil: none
}

// participants are the people in the call.
type participants struct {
	selfID string
	people map[string]*person
}

// findOrAdd returns the person with id, made up if they are not known yet: sound may come before names.
func (r *participants) findOrAdd(id string) *person {
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

// humans returns the number of people who are here, without ourselves and other bots.
func (r *participants) humans() (n int) {
	for _, p := range r.people {
		if p.present && !p.Bot && p.ID != r.selfID {
			n++
		}
	}
	return n
}

// onlyHuman reports whether p is the only human in the call.
func (r *participants) onlyHuman(p *person) bool {
	return p.present && !p.Bot && r.humans() == 1
}

// quiet reports whether nobody has spoken lately.
func (r *participants) quiet(now time.Time, span time.Duration) bool {
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

// handleJoined handles a person who is in or joins the call, and again when more is known about them.
func (c *call) handleJoined(who voice.Person) {
	p := c.participants.findOrAdd(who.ID)
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
	p := c.participants.people[id]
	if p == nil {
		return
	}
	p.present = false
	c.forget(p)
}

// errOptedOut ends the processing of the speech of someone who opted out.
var errOptedOut = errors.New("they do not want to be heard")

// applyPrivacy reports whether p has opted out, and drops what was heard of them if so. The result is valid only now:
// they may opt out elsewhere at any time, without speaking.
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

// forget drops what was heard of p, who is no longer listened to.
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

// origin returns the origin of p's requests.
func (c *call) origin(p *person) sessions.Origin {
	o := c.Host.Origin(p.Person)
	o.Guild, o.Channel = c.Location.Guild, c.Location.Channel
	return o
}
