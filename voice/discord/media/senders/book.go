package senders

import (
	"slices"
	"time"

	"clank/voice/discord/media/rtpsize"
)

const (
	earlyWait    = 200 * time.Millisecond // how long packets of somebody unknown are kept
	maxEarly     = 16                     // of one source
	maxStrangers = 64                     // sources that are kept at once
	maxSources   = 4096
	maxOwn       = 8 // of one person; they have one
	maxUsers     = 4096

	holds      = 10 * time.Second       // a source that was heard so lately does not change hands
	maxDoubts  = 10                     // packets in a row that whoever a source is said to be of cannot have sent
	doubtPause = 250 * time.Millisecond // between two searches for who sends something
)

// Person is somebody in the call.
type Person struct {
	User string
	ID   uint64 // the same as a number
}

// Packet is one that came, and when.
type Packet struct {
	rtpsize.Packet

	At time.Time
}

// Book is who sends what. Its methods must not be called at once.
type Book struct {
	sources   map[uint32]*source
	users     []string // in the call, without us
	strangers map[uint32][]Packet
	searched  time.Time // when somebody's keys were tried last
	pace      map[string]*pace
}

// source is one stream of sound.
type source struct {
	Person

	quality reception
	heard   time.Time // when a packet of theirs was read last
	doubts  int       // packets in a row that could not be
}

// New makes an empty book.
func New() *Book {
	return &Book{sources: map[uint32]*source{}, strangers: map[uint32][]Packet{}, pace: map[string]*pace{}}
}

// Enter notes who is in the call.
func (b *Book) Enter(users []string) {
	for _, user := range users {
		if len(b.users) < maxUsers && !slices.Contains(b.users, user) {
			b.users = append(b.users, user)
		}
	}
}

// Leave forgets somebody who is not in the call any more, and what was theirs.
func (b *Book) Leave(user string) {
	delete(b.pace, user)
	b.users = slices.DeleteFunc(b.users, func(u string) bool { return u == user })
	for ssrc, s := range b.sources {
		if s.User == user {
			delete(b.sources, ssrc)
		}
	}
}

// Users are those in the call. They are the caller's.
func (b *Book) Users() []string { return slices.Clone(b.users) }

// Assign notes whose a source is, as others say, and returns what came from it before: it is theirs. A source that was just heard is
// left to whom it was of.
func (b *Book) Assign(ssrc uint32, to Person, now time.Time) []Packet {
	if len(b.sources) >= maxSources {
		return nil
	}
	have := b.sources[ssrc]
	if have != nil && have.User != to.User && now.Sub(have.heard) < holds && slices.Contains(b.users, have.User) {
		return nil // whoever says so may be wrong, or lie
	}
	if have == nil || have.User != to.User {
		b.makeRoom(to.User)
		b.sources[ssrc] = &source{Person: to}
	}
	waiting := b.strangers[ssrc]
	delete(b.strangers, ssrc)
	for _, p := range waiting {
		b.sources[ssrc].quality.count(p.Packet, p.At)
	}
	return waiting
}

// Settle notes whose a source is that nobody has announced.
func (b *Book) Settle(ssrc uint32, on Person) { b.sources[ssrc] = &source{Person: on} }

// makeRoom forgets the source of user that was heard least lately, if they have as many as one may have.
func (b *Book) makeRoom(user string) {
	n, oldest, at := 0, uint32(0), time.Time{}
	for ssrc, s := range b.sources {
		if s.User != user {
			continue
		}
		if n++; n == 1 || s.heard.Before(at) {
			oldest, at = ssrc, s.heard
		}
	}
	if n >= maxOwn {
		delete(b.sources, oldest)
	}
}

// Take notes a packet. If its source is known, so is who sends it. Else the packet is kept; once the first one of the source has waited
// long enough, all of them are returned.
func (b *Book) Take(p Packet) (from Person, known bool, waiting []Packet) {
	if s := b.sources[p.SSRC]; s != nil {
		s.quality.count(p.Packet, p.At)
		return s.Person, true, nil
	}
	return Person{}, false, b.wait(p)
}

// wait keeps a packet of an unknown source. Once the first of them has waited long enough it returns them all.
func (b *Book) wait(p Packet) []Packet {
	have := b.strangers[p.SSRC]
	if have == nil && len(b.strangers) >= maxStrangers {
		for other, kept := range b.strangers {
			if p.At.Sub(kept[len(kept)-1].At) > earlyWait {
				delete(b.strangers, other)
			}
		}
		if len(b.strangers) >= maxStrangers {
			return nil
		}
	}
	have = append(have, p)
	if len(have) > maxEarly {
		have = have[1:]
	}
	if len(have) < maxEarly && p.At.Sub(have[0].At) < earlyWait {
		b.strangers[p.SSRC] = have
		return nil
	}
	delete(b.strangers, p.SSRC)
	return have
}

// Heard notes that a packet of a source could be read.
func (b *Book) Heard(ssrc uint32, at time.Time) {
	if s := b.sources[ssrc]; s != nil {
		s.heard, s.doubts = at, 0
	}
}

// Doubt notes that whoever a source is said to be of cannot have sent a packet, and reports whether that was so often enough to look for
// who does.
func (b *Book) Doubt(ssrc uint32) bool {
	s := b.sources[ssrc]
	if s == nil {
		return false
	}
	s.doubts++
	return s.doubts >= maxDoubts
}

// Correct notes whose a source really is.
func (b *Book) Correct(ssrc uint32, to Person) {
	if s := b.sources[ssrc]; s != nil {
		s.Person = to
	}
}

// Search reports whether keys may be tried now: each try of a frame that was made for it is work.
func (b *Book) Search(now time.Time) bool {
	if now.Sub(b.searched) < doubtPause {
		return false
	}
	b.searched = now
	return true
}
