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
	sent  time.Duration // on this connection
	spans []span        // who could be heard when, the latest last
}

// span is a part of the stream in which somebody could be heard.
type span struct {
	who        string
	begin, end time.Duration
}

const (
	audible   = 250 // samples beyond it are no mere noise of a microphone
	mostSpans = 1000
)

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
		loud := false
		for i, s := range in.take(now) {
			sum[i] += int(s)
			m.quiet = 0
			loud = loud || s > audible || s < -audible
		}
		if loud {
			m.note(id)
		}
		if len(in.samples) == 0 && now.Sub(in.last) >= ending {
			delete(m.from, id)
		}
	}
	m.sent += beat
	out := make([]int16, perBeat)
	for i, s := range sum {
		out[i] = int16(max(-32768, min(32767, s)))
	}
	return out
}

// note notes that somebody can be heard in the beat that begins. The lock is held.
func (m *mixer) note(who string) {
	for i := len(m.spans) - 1; i >= 0 && m.spans[i].end >= m.sent-beat; i-- {
		if m.spans[i].who == who {
			m.spans[i].end = m.sent + beat
			return
		}
	}
	m.spans = append(m.spans, span{who, m.sent, m.sent + beat})
	if len(m.spans) > mostSpans {
		m.spans = slices.Delete(m.spans, 0, 1)
	}
}

// who could be heard in a part of the stream, by id.
func (m *mixer) who(begin, end time.Duration) (ids []string) {
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

// anew begins the stream for another connection.
func (m *mixer) anew() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent, m.spans = 0, nil
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
