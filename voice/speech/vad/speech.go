package vad

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"clank/voice"
)

// What counts as speech. Levels are fractions of full scale, for clients that send the sound of a headset's microphone:
// a quiet room stays below 0.003, a quiet voice is above 0.008.
const (
	minSpeechLevel  = 0.008 // root mean square of a frame with speech
	speechOverNoise = 2.5   // times louder than the steady noise around it
	noiseRise       = 1.01  // factor per frame by which too low an estimate of the noise rises
	minNoise        = 0.001 // noise that is taken for none

	onsetFrames       = 3               // active frames of the last five at which speech begins
	lastFiveFrames    = uint8(1<<5 - 1) // these frames as bits
	reportEvery       = 100 * time.Millisecond
	leadTime          = 400 * time.Millisecond // before the begin of speech that belongs to it
	minLoudPeak       = 0.016                  // of an utterance that is Loud
	minLoudTime       = 120 * time.Millisecond // of an utterance above quietest
	minLoudLength     = 280 * time.Millisecond // and its length
	minLoudShare      = 0.02                   // fraction of the utterance above quietest
	maxUtteranceBytes = 512 << 10              // bytes of one utterance
)

// heldPacket is a packet of an utterance.
type heldPacket struct {
	voice.Packet
	duration time.Duration // that it sounds, with the gap before it
}

// speechState tracks the speech of one person.
type speechState struct {
	floor  float64 // loudness of the steady noise around them
	recent uint8   // which of the last frames were active, the latest lowest

	speaking       bool
	held           []heldPacket  // what they say, or the moment before they may begin
	size           int           // bytes of it
	length         time.Duration // how long it sounds, with its gaps
	voiced         time.Duration // of it active
	reportedVoiced time.Duration // voiced when Speaking was last called
	quiet          time.Duration // since it was last active
	pausing        bool          // the pause was reported
	peak           float64
}

// addFrame adds a packet and its samples.
func (s *speechState) addFrame(e *Detector, p voice.Packet, samples []int16, gap, long time.Duration) {
	peak, rms := voice.Level(samples)
	active := s.isActive(rms)
	s.recent <<= 1
	if gap > 0 {
		s.recent = 0
	}
	if active {
		s.recent |= 1
	}
	s.quiet += gap + long
	if !s.speaking && gap >= leadTime {
		s.clear()
	}
	if s.speaking && s.quiet-long >= pauseTime { // a gap that the clock has not seen
		s.endUtterance(e, p.From)
	}
	s.held = append(s.held, heldPacket{p, gap + long})
	s.size, s.length = s.size+len(p.Opus), s.length+gap+long
	if active {
		s.voiced, s.quiet, s.peak = s.voiced+long, 0, max(s.peak, peak)
	}
	if active && s.pausing {
		s.pausing = false
		s.reportProgress(e, p.From, false)
	}
	if !s.speaking {
		s.trimLead()
		if bits.OnesCount8(s.recent&lastFiveFrames) < onsetFrames {
			return
		}
		s.speaking, s.reportedVoiced = true, 0
		s.reportProgress(e, p.From, false)
	}
	if s.voiced-s.reportedVoiced >= reportEvery {
		s.reportedVoiced = s.voiced
		s.reportProgress(e, p.From, false)
	}
	switch {
	case s.quiet >= pauseTime:
		s.endUtterance(e, p.From)
	case s.quiet >= pauseTime/2:
		s.reportPause(e, p.From)
	case s.length >= cmp.Or(max(0, e.MaxUtterance), 30*time.Second) || s.size >= maxUtteranceBytes:
		s.emitUtterance(e, p.From)
		s.clear()
		s.reportedVoiced = 0
	}
}

// isActive reports whether a frame is louder than a still room and than the steady noise around, which it follows.
func (s *speechState) isActive(rms float64) bool {
	floor := max(s.floor, minNoise)
	s.floor = min(max(rms, minNoise), floor*noiseRise)
	return rms >= minSpeechLevel && rms >= speechOverNoise*floor
}

// trimLead keeps only the moment before a possible begin of speech.
func (s *speechState) trimLead() {
	for s.length > leadTime && len(s.held) > 1 {
		s.size -= len(s.held[0].Opus)
		s.length -= s.held[0].duration
		s.held = slices.Delete(s.held, 0, 1)
	}
	if bits.OnesCount8(s.recent) == 0 {
		s.voiced, s.peak = 0, 0
	}
}

func (s *speechState) clear() {
	s.held, s.size, s.length, s.voiced, s.peak, s.pausing = nil, 0, 0, 0, 0, false
}

// endUtterance ends the utterance, if any.
func (s *speechState) endUtterance(e *Detector, id string) {
	if s.speaking && !e.ignored(id) {
		s.reportProgress(e, id, true)
		s.emitUtterance(e, id)
	}
	s.clear()
	s.speaking, s.recent, s.quiet = false, 0, 0
}

// reportPause reports what was said so far, once in each pause.
func (s *speechState) reportPause(e *Detector, id string) {
	if s.pausing || e.ignored(id) || len(s.held) == 0 {
		return
	}
	s.pausing = true
	e.on.Paused(s.utterance(id))
}

func (s *speechState) reportProgress(e *Detector, id string, over bool) {
	if !e.ignored(id) {
		e.on.Speaking(id, s.voiced, over)
	}
}

// emitUtterance passes on what was said so far.
func (s *speechState) emitUtterance(e *Detector, id string) {
	if e.ignored(id) || len(s.held) == 0 {
		return
	}
	e.on.Ended(s.utterance(id))
}

// utterance returns what was said so far.
func (s *speechState) utterance(id string) voice.Utterance {
	loud := s.peak >= minLoudPeak && s.voiced >= minLoudTime && s.length >= minLoudLength &&
		float64(s.voiced) >= minLoudShare*float64(s.length)
	packets := make([]voice.Packet, len(s.held))
	for i, h := range s.held {
		packets[i] = h.Packet
	}
	return voice.Utterance{From: id, Packets: packets, Loud: loud, Began: packets[0].At, Ended: packets[len(packets)-1].At}
}
