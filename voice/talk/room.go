package talk

import (
	"context"
	"errors"
	"time"

	"clank/sessions"
	"clank/voice"
	"clank/voice/audio"
	"clank/voice/talk/queue"
)

// maxPeople bounds what is remembered of people; a call has fewer.
const maxPeople = 500

// person is somebody in the call, and what we know of their talk.
type person struct {
	voice.Person

	here bool
	out  bool // does not want to be heard
	says bool // has just said that to us, and it is being noted
	told bool // has been told that we listen

	ears      *queue.Listening // to spot words; nil until they speak
	toSpot    *audio.Resampler
	toNative  *audio.Resampler
	woken     time.Time // when they last said our name to the spotter
	called    time.Time // when they last spoke to us, by name or not
	claimed   time.Time // when the spotter was last told what claim they have
	stopped   time.Time // when they last said stop to the spotter, and it did
	openUntil time.Time // until then what they say is said to us

	speaking bool
	onset    time.Time // when they began to speak
	lastLoud time.Time // when they spoke last
	echoes   int       // how often their sound ended when we fell silent

	late    *heard                  // the last utterance that seemed not to be for us, until it is clear that our name was not in it
	judged  time.Time               // when it was asked whether a native model may hear them
	refused bool                    // it may not
	early   *queue.Early            // what they have said until now, being put into words; nil: nothing
	tries   int                     // how often that was done in this utterance
	unheard []heard                 // utterances that wait to be put into words
	busy    bool                    // one is being put into words
	unhear  context.CancelCauseFunc // drops what is being put into words; nil: nothing is
}

// room is who is in the call.
type room struct {
	me     string
	people map[string]*person
}

// get is the person with id, made up if they are not known yet: sound may come before names.
func (r *room) get(id string) *person {
	p := r.people[id]
	if p != nil {
		return p
	}
	p = &person{Person: voice.Person{ID: id}}
	if len(r.people) >= maxPeople {
		for id, old := range r.people {
			if !old.here {
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
		if p.here && !p.Bot && p.ID != r.me {
			n++
		}
	}
	return n
}

// alone reports whether p is the only human in the call.
func (r *room) alone(p *person) bool {
	return p.here && !p.Bot && r.humans() == 1
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

// name is p as people read it.
func (p *person) name() string {
	if p.Name == "" {
		return "somebody"
	}
	return p.Name
}

// joined is told of everybody who is or comes into the call, and again when they are known better.
func (c *call) joined(who voice.Person) {
	p := c.room.get(who.ID)
	if who.Name == "" {
		who.Name = p.Name
	}
	who.Bot = who.Bot || c.Ours != nil && c.Ours(who.ID)
	p.Person = who
	fresh := !p.here
	p.here = true
	if fresh && !who.Bot && who.ID != c.Place.Me {
		c.welcome(p)
	}
}

func (c *call) left(id string) {
	p := c.room.people[id]
	if p == nil {
		return
	}
	p.here = false
	c.forget(p)
}

// errLeftOut ends what is done with the speech of somebody who does not want to be heard.
var errLeftOut = errors.New("they do not want to be heard")

// heed looks whether p wants to be left out, and drops what was heard of them then. It answers for this moment: they may say so
// elsewhere at any time, and need not make a sound for it to count.
func (c *call) heed(p *person) (out bool) {
	out = p.says || c.Privacy != nil && c.Privacy.LeftOut(c.Place.Guild, p.ID)
	if out && !p.out {
		if p.unhear != nil {
			p.unhear(errLeftOut)
		}
		c.forget(p)
	}
	p.out = out
	return out
}

// forget drops what was heard of p, and is no longer to be listened to.
func (c *call) forget(p *person) {
	c.ear.Left(p.ID)
	c.endListening(p)
	p.early.Drop(errLeftOut)
	p.early = nil
	p.late, p.unheard, p.speaking, p.woken, p.openUntil = nil, nil, false, time.Time{}, time.Time{}
	if c.speech.pausedBy == p {
		c.resume()
	}
	if c.native != nil {
		c.native.forget(p.ID)
	}
}

// origin is who p is to those who do what they ask.
func (c *call) origin(p *person) sessions.Origin {
	if c.Origin != nil {
		o := c.Origin(p.Person)
		o.Guild, o.Channel = c.Place.Guild, c.Place.Channel
		return o
	}
	return sessions.Origin{Kind: c.Place.Kind, Guild: c.Place.Guild, Channel: c.Place.Channel, User: p.ID, UserName: p.name()}
}
