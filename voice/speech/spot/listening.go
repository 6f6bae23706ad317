package spot

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"clank/voice"
)

const (
	// queue is how many pieces of sound wait to be looked at, some five seconds of them.
	queue = 256
	// silentAfter is how long no sound comes until that is silence: a sender that hears nothing sends nothing. A shorter one may
	// be the network's.
	silentAfter = 300 * time.Millisecond
	// longestStall is how late sound may come that has no gap.
	longestStall = 2 * time.Second
	// pause is how long a gap in the sound is for what comes before and after it to stand alone.
	pause = 160 * time.Millisecond
	// before is how much sound before a segment goes to the process with it.
	before = 25 * frameSize
	// patience is how long a hit may come after the segment that it is in.
	patience = 3 * time.Second
	// restartAfter keeps a process that ends at once from being started over and over.
	restartAfter = 2 * time.Second
)

// listening follows one person. Its fields from gate on belong to run alone.
type listening struct {
	s      *Spotter
	from   string
	found  func(voice.Spotted)
	in     chan voice.Sound
	cancel context.CancelCauseFunc
	ended  chan struct{}
	lost   sync.Once
	claim  atomic.Pointer[voice.Claim]

	without atomic.Bool // others have all places

	gate    *gate
	part    []int16 // of a frame
	tail    []int16 // the latest sound, while nobody speaks
	head    []int16 // the first sound of a segment
	lead    int     // frames of head before the segment
	out     []int16 // for the process
	engine  *engine // nil while none runs
	pieces  []piece // the last one may be open
	started time.Time
	refused bool      // for this segment
	crowded sync.Once // that it was told
	waited  bool      // no sound came for silentAfter
	last    time.Time // when sound came
	now     time.Time
}

// piece is a segment that the process may still tell hits of, in seconds of its input.
type piece struct {
	start, end float64
	open       bool
	alone      bool
	asStop     bool // it begins as with "st"
	told       bool
	closedAt   time.Time
	endedAt    time.Time // when the last loud sound came
	hits       []hit
}

func newListening(s *Spotter, from string, found func(voice.Spotted), cancel context.CancelCauseFunc) *listening {
	l := &listening{
		s: s, from: from, found: found, in: make(chan voice.Sound, queue), cancel: cancel, ended: make(chan struct{}), gate: newGate(),
	}
	l.claim.Store(&voice.Claim{})
	return l
}

var errClosed = errors.New("listening closed")

// Write implements [voice.Listening]. Sound that cannot be looked at in time is dropped.
func (l *listening) Write(s voice.Sound) {
	if s.Rate != voice.RateSpeech {
		return
	}
	select {
	case l.in <- s:
	default:
		l.lost.Do(func() { l.s.log.Warn("listening for stop words is too slow, sound is dropped", "from", l.from) })
	}
}

// Prefer implements [voice.Listening].
func (l *listening) Prefer(c voice.Claim) {
	l.claim.Store(&c)
}

// Crowded reports whether the person speaks, or spoke last, without being listened to, as others have a better claim.
func (l *listening) Crowded() bool { return l.without.Load() }

// Close implements [voice.Listening]. It waits until the process is gone; found is not called after it.
func (l *listening) Close() error {
	l.cancel(errClosed)
	<-l.ended
	return nil
}

func (l *listening) run(ctx context.Context) {
	defer close(l.ended)
	defer l.s.forget(l)
	defer l.stopEngine()
	silent := time.NewTimer(silentAfter)
	defer silent.Stop()
	idle := time.NewTimer(l.s.idle)
	defer idle.Stop()
	for {
		var heard chan []hit
		if l.engine != nil {
			heard = l.engine.heard
		}
		select {
		case <-ctx.Done():
			return
		case s := <-l.in:
			l.now = s.At
			l.take(ctx, s)
			silent.Reset(silentAfter)
			if l.gate.inside {
				idle.Reset(l.s.idle)
			}
		case <-silent.C:
			if len(l.in) > 0 { // it is we who are late
				silent.Reset(silentAfter)
				continue
			}
			l.waited = true
			trails := l.gate.still >= framesTrail
			if l.gate.silence() {
				l.gate.current.alone = l.gate.current.alone && trails
				l.close()
			}
		case <-idle.C:
			l.stopEngine()
		case hits, ok := <-heard:
			if !ok {
				l.crashed()
				continue
			}
			l.assign(hits)
		}
	}
}

// take puts sound through the gate, and what it lets through into the process.
func (l *listening) take(ctx context.Context, s voice.Sound) {
	switch {
	case s.Gap >= pause:
		if l.gate.silence() {
			l.close()
		}
	case l.waited && time.Since(l.last) < longestStall: // the sound goes on where it was; it only came late
		l.gate.still = 0
	}
	l.waited, l.last = false, time.Now()
	samples := append(l.part, s.Samples...)
	for len(samples) >= frameSize {
		l.frame(ctx, samples[:frameSize])
		samples = samples[frameSize:]
	}
	l.part = append(l.part[:0:0], samples...)
	l.hand()
}

func (l *listening) frame(ctx context.Context, f []int16) {
	wasInside := l.gate.inside
	began, ended := l.gate.frame(f)
	if wasInside {
		l.out = append(l.out, f...)
		if len(l.head) < (l.lead+framesHead)*frameSize {
			l.head = append(l.head, f...)
		}
	} else {
		l.tail = append(l.tail, f...)
		if over := len(l.tail) - before; over > 0 {
			l.tail = append(l.tail[:0:0], l.tail[over:]...)
		}
	}
	switch {
	case began:
		l.open(ctx)
	case ended:
		l.close()
	case l.gate.inside && l.gate.still == 0 && !l.refused && len(l.pieces) > 0:
		l.pieces[len(l.pieces)-1].endedAt = l.now
	}
}

// open begins a segment: the process gets the sound since shortly before it.
func (l *listening) open(ctx context.Context) {
	l.refused = !l.haveEngine(ctx)
	if l.refused {
		l.tail = nil
		return
	}
	l.out = append(l.out, l.tail...)
	inside := int(l.gate.frames - l.gate.current.began)
	l.lead = min(framesLead, len(l.tail)/frameSize-inside)
	l.head = append(l.head[:0], l.tail[len(l.tail)-(l.lead+inside)*frameSize:]...)
	l.tail = nil
	at := l.engine.fed + int64(len(l.out)) - int64(inside)*frameSize
	l.pieces = append(l.recent(), piece{
		start: float64(at) / voice.RateSpeech, open: true, alone: l.gate.current.alone, endedAt: l.now,
	})
}

// close ends a segment: the process gets the sound of a still room, which makes it tell what it has heard.
func (l *listening) close() {
	l.hand()
	if l.refused || l.engine == nil || len(l.pieces) == 0 {
		return
	}
	p := &l.pieces[len(l.pieces)-1]
	if !p.open {
		return
	}
	seg := l.gate.current
	p.open, p.alone, p.closedAt = false, seg.alone, time.Now()
	l.s.places.speaks(l, *l.claim.Load(), true)
	said := l.head[:min(len(l.head), (l.lead+int(seg.ended-seg.began))*frameSize)]
	p.asStop = beginsAsStop(said, l.lead)
	p.end = p.start + float64(seg.ended-seg.began)*frameSize/voice.RateSpeech
	if err := l.engine.flush(l.gate.floor.now()); err != nil {
		l.giveUp(err)
		return
	}
	l.tell(p)
}

// hand gives the process what has passed the gate.
func (l *listening) hand() {
	if len(l.out) == 0 {
		return
	}
	if l.engine != nil && !l.refused {
		if err := l.engine.put(l.out); err != nil {
			l.giveUp(err)
		}
	}
	l.out = l.out[:0]
}

// recent are the segments that may still be told of.
func (l *listening) recent() []piece {
	for i, p := range l.pieces {
		if p.open || time.Since(p.closedAt) < patience {
			return l.pieces[i:]
		}
	}
	return nil
}

// assign brings hits to the segment that they are in; those of a segment that goes on wait for its end.
func (l *listening) assign(hits []hit) {
	for i := range l.pieces {
		p := &l.pieces[i]
		had := len(p.hits)
		for _, h := range hits {
			middle := (h.start + h.end) / 2
			if middle >= p.start-slackStart && (p.open || middle <= p.end+slackEnd) {
				p.hits = append(p.hits, h)
			}
		}
		if !p.open && len(p.hits) > had {
			l.tell(p)
		}
	}
}

// tell calls found if a segment that has ended holds a phrase, once.
func (l *listening) tell(p *piece) {
	if p.told {
		return
	}
	said, ok := judge(p.hits, utterance{p.start, p.end, p.alone, p.asStop})
	if len(p.hits) > 0 {
		l.s.log.Debug("sounds like a phrase", "from", l.from, "hits", p.hits, "start", p.start, "end", p.end, "alone", p.alone, "as_stop", p.asStop, "counts", ok)
	}
	if ok {
		p.told = true
		l.found(voice.Spotted{From: l.from, Phrase: said.said(), At: p.endedAt})
	}
}
