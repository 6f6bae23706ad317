package conversation

import (
	"time"

	"clank/cancel"
)

// sameStopWindow is how long after a stop another one that finds nothing to stop is the same stop, said twice or by two at once.
const sameStopWindow = 2 * time.Second

// stop stops what p may stop, and reports whether what they said was about that: it was not if nothing runs that is theirs to
// stop, and then it is talk like any other. Everything may be stopped by somebody who called us by name, and by the only human here;
// others stop what they asked for. It is done when stop returns.
func (c *call) stop(p *person, named bool) bool {
	if named && p.optedOut {
		return false
	}
	all := named || c.room.onlyHuman(p)
	by := cancel.Actor{ID: p.ID, Name: p.name()}
	cause := &cancel.Cause{Reason: cancel.Stopped, By: p.name()}
	stopped := c.workScopes.Stop(by, all, func(person string) bool {
		owner := c.room.people[person]
		return owner != nil && owner.present
	})
	theirs := func(x *speechItem) bool { return !x.acknowledgement && (all || x.to == p) }
	said := c.dropWhere(theirs, cause)
	kept := c.waiting[:0]
	for _, r := range c.waiting {
		if all || r.by == p {
			r.wait.handle.End()
			stopped++
			continue
		}
		kept = append(kept, r)
	}
	c.waiting = kept
	c.native.stop(p, all, cause)
	now := time.Now()
	if stopped == 0 && !said {
		return now.Sub(c.lastStop) < sameStopWindow
	}
	c.log.Info("stopped by voice", "by", p.ID, "named", named, "alone", c.room.onlyHuman(p), "stopped", stopped, "speech", said)
	again := now.Sub(c.lastStop) < sameStopWindow
	c.lastStop = now
	if again {
		return true
	}
	if c.Player != nil {
		c.say(&speechItem{sentences: []string{"Stopped."}, acknowledgement: true})
	}
	if stopped > 0 {
		c.write(Message{Text: "Stopped, as " + escapeName(p.name()) + " said."})
	}
	return true
}
