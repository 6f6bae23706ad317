package realtime

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"clank/voice"
)

// answerSound is the sound of one item of the model, as it arrives.
type answerSound struct {
	id           string
	playing      PlaybackPosition
	packer       *voice.OpusPacker
	sampleCount  int  // samples
	disconnected bool // with the connection that it came over

	mu      sync.Mutex
	packets [][]byte
	ended   bool
	changed chan struct{} // closed and replaced
}

func newAnswerSound(id string) (*answerSound, error) {
	p, err := voice.NewOpusPacker(voice.RateRealtime)
	if err != nil {
		return nil, err
	}
	return &answerSound{id: id, packer: p, changed: make(chan struct{})}, nil
}

// add appends samples.
func (a *answerSound) add(samples []int16) error {
	a.sampleCount += len(samples)
	packets, err := a.packer.Write(samples)
	a.change(packets, false)
	return err
}

// end marks the sound as complete.
func (a *answerSound) end() error {
	last, err := a.packer.Flush()
	var packets [][]byte
	if last != nil {
		packets = append(packets, last)
	}
	a.change(packets, true)
	return err
}

func (a *answerSound) change(packets [][]byte, ended bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ended {
		return
	}
	a.packets, a.ended = append(a.packets, packets...), ended
	close(a.changed)
	a.changed = make(chan struct{})
}

// packetSeq gives the packets as they come, once.
func (a *answerSound) packetSeq(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for {
			a.mu.Lock()
			packets, ended, changed := a.packets, a.ended, a.changed
			a.packets = nil
			a.mu.Unlock()
			for _, p := range packets {
				if !yield(p, nil) {
					return
				}
			}
			if ended {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}

// length returns the duration of the sound so far.
func (a *answerSound) length() time.Duration {
	return time.Duration(a.sampleCount) * time.Second / voice.RateRealtime
}

// playedLength returns how much of it was played.
func (a *answerSound) playedLength() time.Duration {
	return min(a.playing.Played(), a.length())
}

const (
	sendEvery       = 40 * time.Millisecond // between two pieces of sound that are sent
	samplesPerSend  = voice.RateRealtime / 25
	maxBacklog      = 5 * voice.RateRealtime // samples of one person that wait, at most
	maxLag          = 4 * samplesPerSend     // that may wait; more is sent faster than real time
	catchUpSends    = 10                     // pieces at once in that case
	flushAfter      = 120 * time.Millisecond // without new sound, after which the rest is sent
	trailingSilence = 3 * time.Second        // of silence is sent after the last sound, so that the server notices an end
)

// mixer mixes the speech of several people into one stream. The server detects silence by the stream's own time, so the
// stream continues while nobody sends anything.
type mixer struct {
	mu    sync.Mutex
	from  map[string]*mixerInput
	quiet time.Duration // since the last sound
	sent  time.Duration // on this connection
	spans []voiceSpan   // who could be heard when, the latest last
}

// voiceSpan is a part of the stream in which a person could be heard.
type voiceSpan struct {
	who        string
	begin, end time.Duration
}

const (
	audible       = 250 // samples beyond it are no mere noise of a microphone
	maxVoiceSpans = 1000
)

// mixerInput is the speech of one person.
type mixerInput struct {
	samples []int16
	flowing bool // there was enough to begin with
	last    time.Time
}

// takeSamples removes and returns the next frame, which is shorter at the end. Pieces arrive irregularly: while more
// may follow, only whole frames are returned.
func (i *mixerInput) takeSamples(now time.Time) []int16 {
	ended := now.Sub(i.last) >= flushAfter
	if !ended && (len(i.samples) < samplesPerSend || !i.flowing && len(i.samples) < 2*samplesPerSend) {
		return nil
	}
	i.flowing = true
	n := min(len(i.samples), samplesPerSend)
	out := i.samples[:n]
	i.samples = i.samples[n:]
	return out
}

func (m *mixer) add(from string, samples []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == nil {
		m.from = map[string]*mixerInput{}
	}
	i := m.from[from]
	if i == nil {
		i = &mixerInput{}
		m.from[from] = i
	}
	i.samples, i.last = append(i.samples, samples...), time.Now()
	if n := len(i.samples) - maxBacklog; n > 0 {
		i.samples = slices.Delete(i.samples, 0, n)
	}
	m.quiet = 0
}

// next returns the sound of one frame; nil if nobody has spoken for some time.
func (m *mixer) next() []int16 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == nil || m.quiet >= trailingSilence {
		return nil
	}
	m.quiet += sendEvery
	sum := make([]int, samplesPerSend)
	now := time.Now()
	for id, in := range m.from {
		loud := false
		for i, s := range in.takeSamples(now) {
			sum[i] += int(s)
			m.quiet = 0
			loud = loud || s > audible || s < -audible
		}
		if loud {
			m.addSpan(id)
		}
		if len(in.samples) == 0 && now.Sub(in.last) >= flushAfter {
			delete(m.from, id)
		}
	}
	m.sent += sendEvery
	out := make([]int16, samplesPerSend)
	for i, s := range sum {
		out[i] = int16(max(-32768, min(32767, s)))
	}
	return out
}

// addSpan records that a person can be heard in the frame that begins. The caller holds the lock.
func (m *mixer) addSpan(who string) {
	for i := len(m.spans) - 1; i >= 0 && m.spans[i].end >= m.sent-sendEvery; i-- {
		if m.spans[i].who == who {
			m.spans[i].end = m.sent + sendEvery
			return
		}
	}
	m.spans = append(m.spans, voiceSpan{who, m.sent, m.sent + sendEvery})
	if len(m.spans) > maxVoiceSpans {
		m.spans = slices.Delete(m.spans, 0, 1)
	}
}

// speakersBetween could be heard in a part of the stream, by id.
func (m *mixer) speakersBetween(begin, end time.Duration) (ids []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.spans {
		if s.begin < end && begin < s.end && !slices.Contains(ids, s.who) {
			ids = append(ids, s.who)
		}
	}
	slices.Sort(ids)
	return ids
}

// reset begins the stream for another connection.
func (m *mixer) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent, m.spans = 0, nil
}

// behind reports whether more sound waits than network jitter explains.
func (m *mixer) behind() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, in := range m.from {
		if len(in.samples) > maxLag {
			return true
		}
	}
	return false
}
