package spot

import (
	"sync"
	"time"

	"clank/voice"
)

// places are what is shared by all who are listened to: each needs one for its process, and there are only so many.
type places struct {
	most int

	mu   sync.Mutex
	held map[*listening]*place
}

// place is held by one listening.
type place struct {
	claim  voice.Claim
	engine *engine   // nil while it is being started, and nobody else may have the place then
	rests  bool      // they say nothing
	since  time.Time // that they rest, or that they began to speak
}

// take gives l, who has begun to speak, a place if one is free, or if somebody with a lesser claim holds one, or somebody with the same who has
// said nothing for a while. Who held it has lost it then, and the caller ends their process.
func (p *places) take(l *listening, c voice.Claim) (ok bool, instead *engine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	mine := &place{claim: c, since: time.Now()}
	if len(p.held) < p.most {
		p.held[l] = mine
		return true, nil
	}
	var least *listening
	for other, have := range p.held {
		if have.engine != nil && (least == nil || have.before(p.held[least])) {
			least = other
		}
	}
	if least == nil || !p.held[least].yields(c) {
		return false, nil
	}
	instead = p.held[least].engine
	delete(p.held, least)
	p.held[l] = mine
	return true, instead
}

// before reports whether p is given up sooner than o.
func (p *place) before(o *place) bool {
	switch {
	case p.claim != o.claim:
		return p.claim.Less(o.claim)
	case p.rests != o.rests:
		return p.rests
	default:
		return p.since.Before(o.since)
	}
}

// yields reports whether p is given up for somebody with that claim.
func (p *place) yields(to voice.Claim) bool {
	return p.claim.Less(to) || !to.Less(p.claim) && p.rests && time.Since(p.since) >= patience
}

// started puts the process of l into its place.
func (p *places) started(l *listening, e *engine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held[l].engine = e
}

// speaks is told that l begins to speak with a claim, or has ended.
func (p *places) speaks(l *listening, c voice.Claim, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if have := p.held[l]; have != nil {
		have.claim, have.rests, have.since = c, ended, time.Now()
	}
}

// leave frees the place of l. It reports whether they had one: they may have lost it.
func (p *places) leave(l *listening) (had bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, had = p.held[l]
	delete(p.held, l)
	return had
}
