package vad

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"clank/voice"
)

const (
	maxQueuedPackets = 2048             // packets that wait for Run at most; the oldest are dropped
	forgetAfter      = 60 * time.Second // without a packet, after which a person's state is freed
	maxPacketSize    = 1500             // bytes of a packet that a network carries
)

// Listener receives what a [Detector] detects. Its methods are called from Run's goroutine, one at a time, and must not
// block.
type Listener interface {
	Sound(s voice.Sound)     // what each person sends, 20 ms or so at a time, speech or not
	Ended(u voice.Utterance) // a person has finished, or has spoken for MaxUtterance

	// Paused passes what a person has said so far when they have been silent for half a pause. If they continue, Speaking
	// is called, and later Ended with everything.
	Paused(u voice.Utterance)

	// Speaking reports that a person begins, continues (about every 100 ms of speech) or has ended. voiced is how much of
	// it was speech so far.
	Speaking(from string, voiced time.Duration, ended bool)
}

// Detector detects the speech of the people in one call. Set the fields, then Run; Write and Forget may be called at
// any time from any goroutine.
type Detector struct {
	// Rate of the live sound: 48, 24 or 16 kHz; [voice.RateSpeech] when zero.
	Rate int

	// Ignore reports whether a person has opted out. It is called for every packet, so a change applies immediately, also
	// to unfinished speech. It must be quick, and safe for concurrent use.
	Ignore func(id string) bool

	MaxUtterance time.Duration // after which an utterance is cut; 30 s when zero
	MaxPeople    int           // the maximum number of people listened to at once; 64 when zero
	Logger       *slog.Logger

	queue  voice.Queue[queueItem]
	on     Listener
	people map[string]*speaker
}

// queueItem is a packet, or the event that a person has left.
type queueItem struct {
	packet voice.Packet
	left   bool
}

// Write adds a packet. It never blocks; if Run falls far behind, the oldest packets are lost. The packet's bytes are
// kept.
func (e *Detector) Write(p voice.Packet) {
	if p.From == "" || len(p.Opus) > maxPacketSize || e.ignored(p.From) {
		return
	}
	if p.At.IsZero() {
		p.At = time.Now()
	}
	e.queue.Put(queueItem{packet: p}, maxQueuedPackets)
}

// Forget removes a person who left the call and ends their utterance.
func (e *Detector) Forget(id string) {
	e.queue.Put(queueItem{packet: voice.Packet{From: id}, left: true}, maxQueuedPackets)
}

func (e *Detector) ignored(id string) bool { return e.Ignore != nil && e.Ignore(id) }

// Run detects speech and calls on until ctx ends, which is no error. Unfinished utterances are dropped then.
func (e *Detector) Run(ctx context.Context, on Listener) error {
	if _, err := voice.NewOpusDecoder(e.sampleRate()); err != nil {
		return fmt.Errorf("listen to a call: %w", err)
	}
	e.on, e.people = on, map[string]*speaker{}
	timer := time.NewTimer(forgetAfter)
	defer timer.Stop()
	for {
		e.processQueue()
		timer.Reset(e.processDue(time.Now()))
		select {
		case <-e.queue.Wake():
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// processQueue processes the queued items.
func (e *Detector) processQueue() {
	for _, i := range e.queue.Drain() {
		id := i.packet.From
		switch {
		case i.left:
			if p := e.people[id]; p != nil {
				p.endSpeech()
				delete(e.people, id)
			}
		case e.ignored(id):
			delete(e.people, id)
		default:
			if p := e.person(id, i.packet.At); p != nil {
				p.addPacket(i.packet)
			}
		}
	}
}

// processDue does what is due at a time, and returns when to call it again.
func (e *Detector) processDue(now time.Time) time.Duration {
	next := forgetAfter
	for id, p := range e.people {
		if e.ignored(id) || now.Sub(p.lastPacket) >= forgetAfter {
			delete(e.people, id)
			continue
		}
		next = min(next, p.processDue(now))
	}
	return max(next, time.Millisecond)
}

// person returns or creates the speaker with an id; nil if too many people speak.
func (e *Detector) person(id string, at time.Time) *speaker {
	if p := e.people[id]; p != nil {
		return p
	}
	if len(e.people) >= cmp.Or(max(0, e.MaxPeople), 64) && !e.evictPerson(at) {
		return nil
	}
	d, err := voice.NewOpusDecoder(e.sampleRate())
	if err != nil {
		return nil // Run has tried this
	}
	p := &speaker{detector: e, id: id, decoder: d, lastPacket: at}
	e.people[id] = p
	return p
}

// evictPerson removes the speaker who has been silent longest, of those who send nothing.
func (e *Detector) evictPerson(now time.Time) bool {
	var idle *speaker
	for _, p := range e.people {
		if !p.speaking && now.Sub(p.lastPacket) >= restartSilence && (idle == nil || p.lastPacket.Before(idle.lastPacket)) {
			idle = p
		}
	}
	if idle == nil {
		return false
	}
	delete(e.people, idle.id)
	return true
}

// pauseTime is how long nothing is said until an utterance is over.
const pauseTime = 700 * time.Millisecond

func (e *Detector) sampleRate() int { return cmp.Or(max(0, e.Rate), voice.RateSpeech) }

func (e *Detector) logger() *slog.Logger { return cmp.Or(e.Logger, slog.New(slog.DiscardHandler)) }
