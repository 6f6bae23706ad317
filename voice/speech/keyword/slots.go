package keyword

import (
	"sync"
	"time"

	"clank/voice"
)

// recognizerSlots are what is shared by all who are listened to: each needs one for its process, and there are only so many.
type recognizerSlots struct {
	limit int

	mu    sync.Mutex
	slots map[*stream]*recognizerSlot
}

// recognizerSlot is held by one listening.
type recognizerSlot struct {
	priority   voice.SpotterPriority
	recognizer *recognizer // nil while it is being started, and nobody else may have the place then
	idle       bool        // they say nothing
	since      time.Time   // that they rest, or that they began to speak
}

// acquire gives l, who has begun to speak, a place if one is free, or if somebody with a lesser claim holds one, or somebody with the same who has
// said nothing for a while. Who held it has lost it then, and the caller ends their process.
func (p *recognizerSlots) acquire(l *stream, c voice.SpotterPriority) (ok bool, instead *recognizer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := &recognizerSlot{priority: c, since: time.Now()}
	if len(p.slots) < p.limit {
		p.slots[l] = mine
		return true, nil
	}
	var least *stream
	for other, have := range p.slots {
		if have.recognizer != nil && (least == nil || have.lessThan(p.slots[least])) {
			least = other
		}
	}
	if least == nil || !p.slots[least].yieldsTo(c) {
		return false, nil
	}
	instead = p.slots[least].recognizer
	delete(p.slots, least)
	p.slots[l] = mine
	return true, instead
}

// lessThan reports whether p is given up sooner than o.
func (p *recognizerSlot) lessThan(o *recognizerSlot) bool {
	switch {
	case p.priority != o.priority:
		return p.priority.Less(o.priority)
	case p.idle != o.idle:
		return p.idle
	default:
		return p.since.Before(o.since)
	}
}

// yieldsTo reports whether p is given up for somebody with that claim.
func (p *recognizerSlot) yieldsTo(to voice.SpotterPriority) bool {
	return p.priority.Less(to) || !to.Less(p.priority) && p.idle && time.Since(p.since) >= yieldAfter
}

// setRecognizer puts the process of l into its place.
func (p *recognizerSlots) setRecognizer(l *stream, e *recognizer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slots[l].recognizer = e
}

// update records that l begins to speak with a priority, or has ended.
func (p *recognizerSlots) update(l *stream, c voice.SpotterPriority, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.slots[l]; have != nil {
		have.priority, have.idle, have.since = c, ended, time.Now()
	}
}

// release frees the place of l. It reports whether they had one: they may have lost it.
func (p *recognizerSlots) release(l *stream) (had bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, had = p.slots[l]
	delete(p.slots, l)
	return had
}
