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
	forgetAfter      = 60 * time.Second // without a packet, and what is kept of a person is freed
	maxPacketSize    = 1500             // bytes of a packet that a network carries
)

// Listener is told what a [Detector] hears. Its methods are called from Run's goroutine, one at a time, and must not
// block.
type Listener interface {
	Sound(s voice.Sound)     // what each person sends, 20 ms or so at a time, speech or not
	Ended(u voice.Utterance) // somebody has ended, or has spoken for MaxUtterance

	// Paused tells what somebody has said until now, when they have been silent for half a pause. Speaking is called if
	// they go on, and Ended with all of it when they have ended.
	Paused(u voice.Utterance)

	// Speaking tells that somebody begins, continues (about every 100 ms of speech) or has ended. voiced is how much of it
	// was speech until now.
	Speaking(from string, voiced time.Duration, ended bool)
}

// Detector listens to the people of one call. Set the fields, then Run; Write and Forget may be called from anywhere,
// at any time.
type Detector struct {
	// Rate of the live sound: 48, 24 or 16 kHz; [voice.RateSpeech] when zero.
	Rate int

	// Ignore says who wants to be left out. It is asked for every packet, so it holds from the moment it changes, also
	// for what somebody has begun to say. It must be quick, and safe for concurrent use.
	Ignore func(id string) bool

	MaxUtterance time.Duration // after which an utterance is cut; 30 s when zero
	MaxPeople    int           // to whom is listened at the same time, at most; 64 when zero
	Logger       *slog.Logger

	queue  voice.Queue[queueItem]
	on     Listener
	people map[string]*speaker
}

// queueItem is a packet, or the news that somebody has left.
type queueItem struct {
	packet voice.Packet
	left   bool
}

// Write takes a packet. It never blocks; if Run falls far behind, the oldest packets are lost. The packet's bytes are
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

// Forget tells that somebody has left the call: what they were saying is over, and they are forgotten.
func (e *Detector) Forget(id string) {
	e.queue.Put(queueItem{packet: voice.Packet{From: id}, left: true}, maxQueuedPackets)
}

func (e *Detector) ignored(id string) bool { return e.Ignore != nil && e.Ignore(id) }

// Run listens until ctx ends, which is no error, and tells what it hears. What somebody is saying then is dropped.
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

// processQueue takes in what is queued.
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

// processDue does what is due at a time, and says when to look again.
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

// person finds or makes the one with an id; nil if there are too many who speak.
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

// evictPerson forgets the one who was not heard for the longest time among those who send nothing.
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
