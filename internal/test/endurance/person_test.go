package endurance_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"clank/internal/test/discordtest/voicetest"
	"clank/voice"
)

const (
	tooLong  = 200 * time.Millisecond // of a gap in what somebody says
	settling = 3 * time.Second        // after somebody has come, until everybody has keys for them
	ring     = 64                     // sequence numbers that are of one stream; farther ones begin another
)

// person is one of the others in a call. They say things, and notice what is wrong with what they hear.
type person struct {
	town *testGuild
	room string
	user string
	m    *voicetest.Member
	came time.Time
	wg   sync.WaitGroup

	mu      sync.Mutex
	burst   int // number of what they say, odd while they say it
	streams map[string]*stream
	heard   heard
}

// heard is what came of others.
type heard struct {
	frames int
	unread int // that could not be decrypted
	holes  int // numbers that never came
	ours   int // frames of ours
}

// stream follows the sequence numbers of one source.
type stream struct {
	began          bool
	first, highest int
	distinct       int
	seen           [ring]int

	speech, index int // of ours, that came last
	at            time.Time
}

// enter brings somebody into a room.
func (t *testGuild) enter(ctx context.Context, room, user string) (*person, error) {
	p := &person{town: t, room: room, user: user, streams: map[string]*stream{}}
	m, err := voicetest.JoinCall(ctx, voicetest.MemberOptions{
		Endpoint: t.world.hall.gateway(t.guild), Credentials: t.world.hall.ticket(t.guild, room, user),
		Privacy: voicetest.NewDAVESession, Dial: t.world.net.Dial,
	})
	if err != nil {
		return nil, err
	}
	p.m, p.came = m, time.Now()
	t.world.hall.person(t.guild, room, user)
	return p, nil
}

// live speaks and listens until ctx ends, then leaves.
func (p *person) live(ctx context.Context) {
	p.wg.Go(func() { p.listen(ctx) })
	p.speak(ctx)
	p.wg.Wait()
	_ = p.m.Close() // it has left already
	hall := p.town.world.hall
	hall.voice.Revoke(seatOf(p.town.guild, p.user), 0, "")
	hall.person(p.town.guild, "", p.user)
}

// speak says something for a few seconds, falls silent for a while, and so on.
func (p *person) speak(ctx context.Context) {
	tick := time.NewTicker(voice.FrameTime)
	defer tick.Stop()
	for n := 0; ; {
		long, pause := 100+rand.IntN(200), 50+rand.IntN(250)
		p.m.Speak(1)
		p.mark()
		for range long {
			if !step(ctx, tick) {
				return
			}
			if p.m.Send(spoken[n%len(spoken)]) == nil {
				n++
			}
		}
		p.mark()
		for range 5 {
			_ = p.m.Send(voicetest.OpusSilence) // what cannot be sent is silence, too
		}
		p.m.Speak(0)
		p.m.Pause(pause)
		for range pause {
			if !step(ctx, tick) {
				return
			}
		}
	}
}

func step(ctx context.Context, tick *time.Ticker) bool {
	select {
	case <-tick.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *person) mark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.burst++
}

func (p *person) saying() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.burst
}

func (p *person) listen(ctx context.Context) {
	for {
		f, err := p.m.Next(ctx)
		if err != nil {
			return
		}
		p.hear(f, time.Now())
	}
}

func (p *person) hear(f voicetest.ReceivedFrame, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard.frames++
	// to whom others still speak with the keys of before
	stranger := now.Sub(p.came) < settling
	if f.Err != nil && !stranger && !strings.Contains(f.Err.Error(), "came before") { // copies are the network's
		p.heard.unread++
		p.town.world.note("%s cannot read %s: %v", p.user, f.From, f.Err)
	}
	s := p.streams[f.From]
	if s == nil {
		s = &stream{}
		p.streams[f.From] = s
	}
	p.heard.holes += s.count(int(f.Sequence))
	if f.From == us && f.Err == nil {
		p.heard.ours++
		p.follow(s, f.Data, now)
	}
}

// count takes a sequence number, and returns how many holes a stream had that ended before it.
func (s *stream) count(seq int) (holes int) {
	at := s.highest + int(int16(seq-s.highest))
	if !s.began || at > s.highest+ring || at < s.highest-ring {
		holes = s.holes()
		s.began, s.first, s.highest, s.distinct = true, seq, seq, 0
		s.seen = [ring]int{}
		at = seq
	}
	if at < s.first {
		return holes // it overtook the first one that came
	}
	s.highest = max(s.highest, at)
	if slot := &s.seen[((at%ring)+ring)%ring]; *slot != at+1 {
		*slot = at + 1
		s.distinct++
	}
	return holes
}

func (s *stream) holes() int {
	if !s.began {
		return 0
	}
	return s.highest - s.first + 1 - s.distinct
}

// follow looks for gaps in what we say.
func (p *person) follow(s *stream, data []byte, now time.Time) {
	speech, index, ok := readMark(data)
	if !ok {
		return
	}
	if s.speech == speech && index > s.index && now.Sub(s.at) > tooLong {
		p.town.gap(gap{who: p.user, of: us, from: s.at, to: now, packets: index - s.index - 1})
	}
	if speech != s.speech || index > s.index {
		s.speech, s.index, s.at = speech, index, now
	}
}

// forget forgets somebody who has left.
func (p *person) forget(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.streams[user]; s != nil {
		p.heard.holes += s.holes()
		delete(p.streams, user)
	}
}

// total returns what came in all, with the holes of streams that go on.
func (p *person) total() heard {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := p.heard
	for _, s := range p.streams {
		sum.holes += s.holes()
	}
	return sum
}

// A packet of ours in these tests says of which speech it is, and its place there.
func mark(speech, index int) []byte {
	p := make([]byte, 80)
	p[0] = 'E'
	binary.BigEndian.PutUint32(p[1:], uint32(speech))
	binary.BigEndian.PutUint32(p[5:], uint32(index))
	return p
}

func readMark(p []byte) (speech, index int, ok bool) {
	if len(p) != 80 || p[0] != 'E' {
		return 0, 0, false
	}
	return int(binary.BigEndian.Uint32(p[1:])), int(binary.BigEndian.Uint32(p[5:])), true
}

var errOver = errors.New("the test is over")
