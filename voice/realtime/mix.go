package realtime

import (
	"slices"
	"sync"
	"time"

	"clank/voice"
)

const (
	beat    = 40 * time.Millisecond // between two pieces of sound that are sent
	perBeat = voice.RateRealtime / 25
	backlog = 5 * voice.RateRealtime // samples of one person that wait, at most
	lag     = 4 * perBeat            // that may wait; what is more is sent faster than it was said
	hurry   = 10                     // pieces at once then
	ending  = 120 * time.Millisecond // without more, and what is left is sent
	after   = 3 * time.Second        // of silence is sent after the last sound, so that the server notices an end
)

// mixer makes one stream of what several people say. The server tells speech from silence by the stream's own time, so it must
// go on while nobody sends anything.
type mixer struct {
	mu    sync.Mutex
	from  map[string]*input
	quiet time.Duration // since the last sound
}

// input is what one person says.
type input struct {
	samples []int16
	flowing bool // there was enough to begin with
	last    time.Time
}

// take returns the next beat of it, less at its end. Pieces come unevenly: only whole beats are taken while more may come.
func (i *input) take(now time.Time) []int16 {
	ended := now.Sub(i.last) >= ending
	if !ended && (len(i.samples) < perBeat || !i.flowing && len(i.samples) < 2*perBeat) {
		return nil
	}
	i.flowing = true
	n := min(len(i.samples), perBeat)
	out := i.samples[:n]
	i.samples = i.samples[n:]
	return out
}

func (m *mixer) add(from string, samples []int16) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == nil {
		m.from = map[string]*input{}
	}
	i := m.from[from]
	if i == nil {
		i = &input{}
		m.from[from] = i
	}
	i.samples, i.last = append(i.samples, samples...), time.Now()
	if n := len(i.samples) - backlog; n > 0 {
		i.samples = slices.Delete(i.samples, 0, n)
	}
	m.quiet = 0
}

// next returns the sound of one beat; nil if nobody has said anything for some time.
func (m *mixer) next() []int16 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.from == nil || m.quiet >= after {
		return nil
	}
	m.quiet += beat
	sum := make([]int, perBeat)
	now := time.Now()
	for id, in := range m.from {
		for i, s := range in.take(now) {
			sum[i] += int(s)
			m.quiet = 0
		}
		if len(in.samples) == 0 && now.Sub(in.last) >= ending {
			delete(m.from, id)
		}
	}
	out := make([]int16, perBeat)
	for i, s := range sum {
		out[i] = int16(max(-32768, min(32767, s)))
	}
	return out
}

// behind reports whether more waits than the unevenness of a network makes.
func (m *mixer) behind() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, in := range m.from {
		if len(in.samples) > lag {
			return true
		}
	}
	return false
}
