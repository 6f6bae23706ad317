package keyword

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"clank/voice"
)

const (
	// maxQueuedSounds is how many pieces of sound wait to be looked at, some five seconds of them.
	maxQueuedSounds = 256
	// silentAfter is how long nothing must arrive to count as silence: a sender that hears nothing sends nothing.
	silentAfter = 300 * time.Millisecond
	// maxStall is how late continuous sound may arrive. A word that breaks off stays open for that long.
	maxStall = 2 * time.Second
	// segmentPause is the gap in the sound that separates segments which stand alone.
	segmentPause = 160 * time.Millisecond
	// leadSamples is how much sound before a segment goes to the process with it.
	leadSamples = 25 * frameSize
	// yieldAfter is how long a hit may come after the segment that it is in.
	yieldAfter = 3 * time.Second
	// restartAfter limits how often a process that exits immediately is started again.
	restartAfter = 2 * time.Second
)

// stream follows one person. Its fields from gate on belong to run alone.
type stream struct {
	spotter  *Spotter
	from     string
	found    func(voice.SpottedPhrase)
	sounds   chan voice.Sound
	cancel   context.CancelCauseFunc
	ended    chan struct{}
	lost     sync.Once
	priority atomic.Pointer[voice.SpotterPriority]

	crowdedOut atomic.Bool // others have all places

	gate       *speechGate
	part       []int16         // of a frame
	tail       []int16         // the latest sound before speech
	head       []int16         // the first sound of a segment
	lead       int             // frames of head before the segment
	pending    []int16         // for the process
	recognizer *recognizer     // nil while none runs
	pieces     []segmentResult // the last one may be open
	started    time.Time
	refused    bool      // for this segment
	crowded    sync.Once // logs once that nobody listens
	waited     bool      // nothing arrived, which was taken for silence
	still      int       // quiet frames before that
	last       time.Time // when sound came
	now        time.Time
}

// segmentResult is a segment for which the process may still report hits, in seconds of its input.
type segmentResult struct {
	start, end float64
	open       bool
	alone      bool
	asStop     bool // it begins as with "st"
	reported   bool
	closedAt   time.Time
	endedAt    time.Time // when the last loud sound came
	hits       []phraseHit
}

func newStream(s *Spotter, from string, found func(voice.SpottedPhrase), cancel context.CancelCauseFunc) *stream {
	l := &stream{
		spotter: s, from: from, found: found, sounds: make(chan voice.Sound, maxQueuedSounds), cancel: cancel,
		ended: make(chan struct{}), gate: newSpeechGate(),
	}
	l.priority.Store(&voice.SpotterPriority{})
	return l
}

var errClosed = errors.New("listening closed")

// Write implements [voice.SpotterStream]. Sound that cannot be looked at in time is dropped.
func (l *stream) Write(s voice.Sound) {
	if s.Rate != voice.RateSpeech {
		return
	}
	select {
	case l.sounds <- s:
	default:
		l.lost.Do(func() { l.spotter.log.Warn("listening for stop words is too slow, sound is dropped", "from", l.from) })
	}
}

func (l *stream) SetPriority(c voice.SpotterPriority) {
	l.priority.Store(&c)
}

// Crowded reports whether the person speaks, or spoke last, without being listened to, as others have a better claim.
func (l *stream) Crowded() bool { return l.crowdedOut.Load() }

// Close implements [voice.SpotterStream]. It waits until the process is gone; found is not called after it.
func (l *stream) Close() error {
	l.cancel(errClosed)
	<-l.ended
	return nil
}

func (l *stream) run(ctx context.Context) {
	defer close(l.ended)
	defer l.spotter.removeStream(l)
	defer l.stopRecognizer()
	silent := time.NewTimer(silentAfter)
	defer silent.Stop()
	idle := time.NewTimer(l.spotter.idle)
	defer idle.Stop()
	for {
		var heard chan []phraseHit
		if l.recognizer != nil {
			heard = l.recognizer.results
		}
		select {
		case <-ctx.Done():
			return
		case s := <-l.sounds:
			l.now = s.At
			l.handleSound(ctx, s)
			silent.Reset(silentAfter)
			if l.gate.inside {
				idle.Reset(l.spotter.idle)
			}
		case <-silent.C:
			if len(l.sounds) > 0 { // we are late, not the sender
				silent.Reset(silentAfter)
				continue
			}
			if left := maxStall - time.Since(l.last); l.gate.inside && !l.gate.trails() && left > 0 {
				silent.Reset(left)
				continue
			}
			l.handleSilence()
		case <-idle.C:
			l.stopRecognizer()
		case hits, ok := <-heard:
			if !ok {
				l.handleCrash()
				continue
			}
			l.assign(hits)
		}
	}
}

// handleSilence ends the segment, if any, because nothing arrives any more.
func (l *stream) handleSilence() {
	trails := l.gate.trails()
	l.waited, l.still = true, l.gate.still
	if l.gate.silence() {
		l.gate.current.alone = l.gate.current.alone && trails
		l.close()
	}
}

// handleSound passes sound through the gate, and what passes it to the process.
func (l *stream) handleSound(ctx context.Context, s voice.Sound) {
	switch {
	case s.Gap >= segmentPause:
		if l.gate.silence() {
			l.close()
		}
	case l.waited && time.Since(l.last) < maxStall: // the sound is continuous; it only arrived late
		l.gate.still = l.still
	}
	l.waited, l.last = false, time.Now()
	samples := append(l.part, s.Samples...)
	for len(samples) >= frameSize {
		l.frame(ctx, samples[:frameSize])
		samples = samples[frameSize:]
	}
	l.part = append(l.part[:0:0], samples...)
	l.sendSegment()
}

func (l *stream) frame(ctx context.Context, f []int16) {
	wasInside := l.gate.inside
	began, ended := l.gate.frame(f)
	if wasInside {
		l.pending = append(l.pending, f...)
		if len(l.head) < (l.lead+framesHead)*frameSize {
			l.head = append(l.head, f...)
		}
	} else {
		l.tail = append(l.tail, f...)
		if over := len(l.tail) - leadSamples; over > 0 {
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

// open begins a segment: the process receives the sound from shortly before it.
func (l *stream) open(ctx context.Context) {
	l.refused = !l.ensureRecognizer(ctx)
	if l.refused {
		l.tail = nil
		return
	}
	l.pending = append(l.pending, l.tail...)
	inside := int(l.gate.frames - l.gate.current.began)
	l.lead = min(framesLead, len(l.tail)/frameSize-inside)
	l.head = append(l.head[:0], l.tail[len(l.tail)-(l.lead+inside)*frameSize:]...)
	l.tail = nil
	at := l.recognizer.fed + int64(len(l.pending)) - int64(inside)*frameSize
	l.pieces = append(l.openSegments(), segmentResult{
		start: float64(at) / voice.RateSpeech, open: true, alone: l.gate.current.alone, endedAt: l.now,
	})
}

// close ends a segment: the process receives room noise, which makes it report its hits.
func (l *stream) close() {
	l.sendSegment()
	if l.refused || l.recognizer == nil || len(l.pieces) == 0 {
		return
	}
	p := &l.pieces[len(l.pieces)-1]
	if !p.open {
		return
	}
	seg := l.gate.current
	p.open, p.alone, p.closedAt = false, seg.alone, time.Now()
	l.spotter.slots.update(l, *l.priority.Load(), true)
	said := l.head[:min(len(l.head), (l.lead+int(seg.ended-seg.began))*frameSize)]
	p.asStop = beginsAsStop(said, l.lead)
	p.end = p.start + float64(seg.ended-seg.began)*frameSize/voice.RateSpeech
	if err := l.recognizer.flush(l.gate.floor.now()); err != nil {
		l.stopWith(err)
		return
	}
	l.reportPhrase(p)
}

// sendSegment gives the process what has passed the gate.
func (l *stream) sendSegment() {
	if len(l.pending) == 0 {
		return
	}
	if l.recognizer != nil && !l.refused {
		if err := l.recognizer.writeSamples(l.pending); err != nil {
			l.stopWith(err)
		}
	}
	l.pending = l.pending[:0]
}

// openSegments returns the segments that may still be reported.
func (l *stream) openSegments() []segmentResult {
	for i, p := range l.pieces {
		if p.open || time.Since(p.closedAt) < yieldAfter {
			return l.pieces[i:]
		}
	}
	return nil
}

// assign assigns hits to their segments; those of an unfinished segment wait for its end.
func (l *stream) assign(hits []phraseHit) {
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
			l.reportPhrase(p)
		}
	}
}

// reportPhrase calls found if a segment that has ended holds a phrase, once.
func (l *stream) reportPhrase(p *segmentResult) {
	if p.reported {
		return
	}
	said, ok := pickPhrase(p.hits, segmentSpan{p.start, p.end, p.alone, p.asStop})
	if len(p.hits) > 0 {
		l.spotter.log.Debug("sounds like a phrase", "from", l.from, "hits", p.hits, "start", p.start, "end", p.end, "alone",
			p.alone, "as_stop", p.asStop, "counts", ok)
	}
	if ok {
		p.reported = true
		l.found(voice.SpottedPhrase{From: l.from, Phrase: said.spokenForm(), At: p.endedAt})
	}
}

// ensureRecognizer starts the process if none runs. It may not: too many others have a better claim to be listened to,
// or it has just failed.
func (l *stream) ensureRecognizer(ctx context.Context) bool {
	claim := *l.priority.Load()
	if l.recognizer != nil {
		l.spotter.slots.update(l, claim, false)
		return true
	}
	if time.Since(l.started) < restartAfter {
		return false
	}
	ok, instead := l.spotter.slots.acquire(l, claim)
	l.crowdedOut.Store(!ok)
	if !ok {
		l.crowded.Do(func() {
			l.spotter.log.Warn("too many people speak to listen to all for stop words", "from", l.from, "most",
				l.spotter.slots.limit)
		})
		return false
	}
	if instead != nil {
		instead.stop()
	}
	l.started = time.Now()
	e, err := l.spotter.startRecognizer(ctx)
	if err != nil {
		l.spotter.slots.release(l)
		l.spotter.log.Error("cannot listen for stop words", "from", l.from, "error", err)
		return false
	}
	l.recognizer = e
	l.spotter.slots.setRecognizer(l, e)
	return true
}

// stopRecognizer ends the process, and reports whether it still had its place.
func (l *stream) stopRecognizer() (had bool) {
	if l.recognizer == nil {
		return false
	}
	l.recognizer.stop()
	l.recognizer = nil
	l.pieces = nil
	l.started = time.Time{}
	return l.spotter.slots.release(l)
}

// handleCrash handles a process that ended by itself or gave way to a person with higher priority.
func (l *stream) handleCrash() {
	began, err := l.started, l.recognizer.err
	l.refused = true
	if !l.stopRecognizer() {
		l.spotter.log.Info("listening for stop words ended in favour of somebody else", "from", l.from)
		return
	}
	l.started = began
	l.spotter.log.Warn("listening for stop words broke off, it goes on with the next words", "from", l.from, "error", err)
}

// stopWith ends a process that no longer accepts sound.
func (l *stream) stopWith(err error) {
	began := l.started
	l.refused = true
	if !l.stopRecognizer() { // that is why
		return
	}
	l.started = began
	l.spotter.log.Warn("listening for stop words hangs, it is started again", "from", l.from, "error", err)
}
