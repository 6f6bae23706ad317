package ear

import (
	"math/bits"
	"slices"
	"time"

	"clank/voice"
	"clank/voice/audio"
)

// What counts as speech. Levels are parts of full scale. They are those of clients that send what a microphone of a headset
// hears: a still room stays below 0.003, a quiet voice is above 0.008.
const (
	quietest  = 0.008 // root mean square of a frame in which somebody speaks
	overFloor = 2.5   // times louder than the steady noise around it
	rise      = 1.01  // of that noise with each frame, where it is taken too low
	softest   = 0.001 // noise that is taken for none

	onset     = 3               // of the last five frames, and somebody speaks
	lastFive  = uint8(1<<5 - 1) // of those, as bits
	every     = 100 * time.Millisecond
	lead      = 400 * time.Millisecond // before the onset that belongs to what is said
	loudPeak  = 0.016                  // of an utterance that is Loud
	loudFor   = 120 * time.Millisecond // of it above quietest
	loudWhole = 280 * time.Millisecond // and its length
	loudPart  = 0.02                   // and the part of it that is above quietest
	fullest   = 512 << 10              // bytes of one utterance
)

// held is a packet of what somebody says.
type held struct {
	voice.Packet
	span time.Duration // that it sounds, with the gap before it
}

// speech follows what one person says.
type speech struct {
	floor  float64 // loudness of the steady noise around them
	recent uint8   // which of the last frames were active, the latest lowest

	speaking bool
	held     []held        // what they say, or the moment before they may begin
	size     int           // bytes of it
	long     time.Duration // how long it sounds, with its gaps
	voiced   time.Duration // of it active
	told     time.Duration // voiced when Speaking was last called
	quiet    time.Duration // since it was last active
	pausing  bool          // that it may have ended is told
	peak     float64
}

// hear takes a packet and what is in it.
func (s *speech) hear(e *Ear, p voice.Packet, samples []int16, gap, long time.Duration) {
	peak, rms := audio.Level(samples)
	active := s.active(rms)
	s.recent <<= 1
	if gap > 0 {
		s.recent = 0
	}
	if active {
		s.recent |= 1
	}
	s.quiet += gap + long
	if !s.speaking && gap >= lead {
		s.clear()
	}
	if s.speaking && s.quiet-long >= e.pause() { // a gap that the clock has not seen
		s.over(e, p.From)
	}
	s.held = append(s.held, held{p, gap + long})
	s.size, s.long = s.size+len(p.Opus), s.long+gap+long
	if active {
		s.voiced, s.quiet, s.peak = s.voiced+long, 0, max(s.peak, peak)
	}
	if active && s.pausing {
		s.pausing = false
		s.tell(e, p.From, false)
	}
	if !s.speaking {
		s.wait()
		if bits.OnesCount8(s.recent&lastFive) < onset {
			return
		}
		s.speaking, s.told = true, 0
		s.tell(e, p.From, false)
	}
	if s.voiced-s.told >= every {
		s.told = s.voiced
		s.tell(e, p.From, false)
	}
	switch {
	case s.quiet >= e.pause():
		s.over(e, p.From)
	case s.quiet >= e.pause()/2:
		s.mayEnd(e, p.From)
	case s.long >= positive(e.Longest, 30*time.Second) || s.size >= fullest:
		s.give(e, p.From)
		s.clear()
		s.told = 0
	}
}

// active reports whether a frame is louder than a still room and than the steady noise around, which it follows.
func (s *speech) active(rms float64) bool {
	floor := max(s.floor, softest)
	s.floor = min(max(rms, softest), floor*rise)
	return rms >= quietest && rms >= overFloor*floor
}

// wait keeps no more than the moment before somebody may begin.
func (s *speech) wait() {
	for s.long > lead && len(s.held) > 1 {
		s.size -= len(s.held[0].Opus)
		s.long -= s.held[0].span
		s.held = slices.Delete(s.held, 0, 1)
	}
	if bits.OnesCount8(s.recent) == 0 {
		s.voiced, s.peak = 0, 0
	}
}

func (s *speech) clear() {
	s.held, s.size, s.long, s.voiced, s.peak, s.pausing = nil, 0, 0, 0, 0, false
}

// over ends what somebody says, if they say something.
func (s *speech) over(e *Ear, id string) {
	if s.speaking && !e.ignored(id) {
		s.tell(e, id, true)
		s.give(e, id)
	}
	s.clear()
	s.speaking, s.recent, s.quiet = false, 0, 0
}

// mayEnd tells what was said until now, once for each pause.
func (s *speech) mayEnd(e *Ear, id string) {
	if s.pausing || e.Pausing == nil || e.ignored(id) || len(s.held) == 0 {
		return
	}
	s.pausing = true
	e.Pausing(s.utterance(id))
}

func (s *speech) tell(e *Ear, id string, over bool) {
	if e.Speaking != nil && !e.ignored(id) {
		began := time.Time{}
		if len(s.held) > 0 {
			began = s.held[0].At
		}
		e.Speaking(Speech{From: id, Began: began, Voiced: s.voiced, Peak: s.peak, Over: over})
	}
}

// give hands on what was said until now.
func (s *speech) give(e *Ear, id string) {
	if e.Said == nil || e.ignored(id) || len(s.held) == 0 {
		return
	}
	e.Said(s.utterance(id))
}

// utterance is what was said until now.
func (s *speech) utterance(id string) voice.Utterance {
	loud := s.peak >= loudPeak && s.voiced >= loudFor && s.long >= loudWhole && float64(s.voiced) >= loudPart*float64(s.long)
	packets := make([]voice.Packet, len(s.held))
	for i, h := range s.held {
		packets[i] = h.Packet
	}
	return voice.Utterance{From: id, Packets: packets, Loud: loud, Began: packets[0].At, Ended: packets[len(packets)-1].At}
}
