package talk

import (
	"time"

	"clank/cancel"
	"clank/voice/talk/words"
)

// sameStop is how long after a stop another one that finds nothing to stop is the same stop, said twice or by two at once.
const sameStop = 2 * time.Second

// stop stops what p may stop, and reports whether what they said was about that: it was not if nothing runs that is theirs to
// stop, and then it is talk like any other. Everything may be stopped by somebody who called us by name, and by the only human here;
// others stop what they asked for. It is done when stop returns.
func (c *call) stop(p *person, named bool) bool {
	if named && p.out {
		return false
	}
	all := named || c.room.alone(p)
	by := cancel.Actor{ID: p.ID, Name: p.name()}
	cause := &cancel.Cause{Reason: cancel.Stopped, By: p.name()}
	stopped := c.reach.Stop(by, all, func(person string) bool {
		owner := c.room.people[person]
		return owner != nil && owner.here
	})
	theirs := func(x *part) bool { return !x.short && (all || x.to == p) }
	said := c.dropWhere(theirs, cause)
	kept := c.waiting[:0]
	for _, r := range c.waiting {
		if all || r.by == p {
			r.held.handle.End()
			stopped++
			continue
		}
		kept = append(kept, r)
	}
	c.waiting = kept
	c.native.stop(p, all, cause)
	now := time.Now()
	if stopped == 0 && !said {
		return now.Sub(c.lastStop) < sameStop
	}
	c.log.Info("stopped by voice", "by", p.ID, "named", named, "alone", c.room.alone(p), "stopped", stopped, "speech", said)
	again := now.Sub(c.lastStop) < sameStop
	c.lastStop = now
	if again {
		return true
	}
	if c.Mouth != nil {
		c.say(&part{sentences: []string{"Stopped."}, short: true})
	}
	if stopped > 0 {
		c.write(Message{Text: "Stopped, as " + words.Name(p.name()) + " said."})
	}
	return true
}
