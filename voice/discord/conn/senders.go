package conn

import (
	"slices"
	"time"
)

const (
	unknownWait       = 200 * time.Millisecond // how long packets of unknown senders are kept
	maxUnknownPackets = 16                     // of one source
	maxUnknownSources = 64                     // unknown sources kept at once
	maxSources        = 4096
	maxUserSources    = 8 // of one person; they have one
	maxUsers          = 4096

	sourceHold = 10 * time.Second       // a source that was heard so lately does not change hands
	maxDoubts  = 10                     // packets in a row that the assigned sender cannot have sent
	doubtPause = 250 * time.Millisecond // between two searches for the sender of a source
)

// Sender is a user in the call.
type Sender struct {
	User string
	ID   uint64 // the same as a number
}

// ReceivedPacket is one that came, and when.
type ReceivedPacket struct {
	RTPPacket

	At time.Time
}

// SenderTable maps sources to senders. Its methods must not be called concurrently.
type SenderTable struct {
	sources  map[uint32]*source
	users    []string // in the call, without us
	unknown  map[uint32][]ReceivedPacket
	searched time.Time // when a user's keys were last tried
	limits   map[string]*rateLimit
}

type source struct {
	Sender

	quality reception
	heardAt time.Time // when a packet of theirs was read last
	doubts  int       // packets in a row that could not be
}

// NewSenderTable returns an empty table.
func NewSenderTable() *SenderTable {
	return &SenderTable{
		sources: map[uint32]*source{}, unknown: map[uint32][]ReceivedPacket{},
		limits: map[string]*rateLimit{},
	}
}

// AddUsers adds users to the call.
func (b *SenderTable) AddUsers(users []string) {
	for _, user := range users {
		if len(b.users) < maxUsers && !slices.Contains(b.users, user) {
			b.users = append(b.users, user)
		}
	}
}

// RemoveUser removes a user who left the call, and their sources.
func (b *SenderTable) RemoveUser(user string) {
	delete(b.limits, user)
	b.users = slices.DeleteFunc(b.users, func(u string) bool { return u == user })
	for ssrc, s := range b.sources {
		if s.User == user {
			delete(b.sources, ssrc)
		}
	}
}

// Users returns the users in the call. The caller owns the slice.
func (b *SenderTable) Users() []string { return slices.Clone(b.users) }

// Assign stores the announced sender of a source and returns its earlier packets, which are theirs. A source heard
// recently keeps its sender.
func (b *SenderTable) Assign(ssrc uint32, to Sender, now time.Time) []ReceivedPacket {
	if len(b.sources) >= maxSources {
		return nil
	}
	have := b.sources[ssrc]
	if have != nil && have.User != to.User && now.Sub(have.heardAt) < sourceHold && slices.Contains(b.users, have.User) {
		return nil // the announcement may be wrong or forged
	}
	if have == nil || have.User != to.User {
		b.evictSource(to.User)
		b.sources[ssrc] = &source{Sender: to}
	}
	waiting := b.unknown[ssrc]
	delete(b.unknown, ssrc)
	for _, p := range waiting {
		b.sources[ssrc].quality.count(p.RTPPacket, p.At)
	}
	return waiting
}

// SetSender sets the sender of an unannounced source.
func (b *SenderTable) SetSender(ssrc uint32, on Sender) { b.sources[ssrc] = &source{Sender: on} }

// evictSource forgets the source of user that was heard least lately, if they have as many as one may have.
func (b *SenderTable) evictSource(user string) {
	n, oldest, at := 0, uint32(0), time.Time{}
	for ssrc, s := range b.sources {
		if s.User != user {
			continue
		}
		if n++; n == 1 || s.heardAt.Before(at) {
			oldest, at = ssrc, s.heardAt
		}
	}
	if n >= maxUserSources {
		delete(b.sources, oldest)
	}
}

// SenderOf records a packet. If its source is known, so is its sender. Otherwise the packet is kept; once the first
// packet of the source has waited long enough, all of them are returned.
func (b *SenderTable) SenderOf(p ReceivedPacket) (from Sender, known bool, waiting []ReceivedPacket) {
	if s := b.sources[p.SSRC]; s != nil {
		s.quality.count(p.RTPPacket, p.At)
		return s.Sender, true, nil
	}
	return Sender{}, false, b.bufferUnknown(p)
}

// bufferUnknown keeps a packet of an unknown source. Once the first of them has waited long enough it returns them all.
func (b *SenderTable) bufferUnknown(p ReceivedPacket) []ReceivedPacket {
	have := b.unknown[p.SSRC]
	if have == nil && len(b.unknown) >= maxUnknownSources {
		for other, kept := range b.unknown {
			if p.At.Sub(kept[len(kept)-1].At) > unknownWait {
				delete(b.unknown, other)
			}
		}
		if len(b.unknown) >= maxUnknownSources {
			return nil
		}
	}
	have = append(have, p)
	if len(have) > maxUnknownPackets {
		have = have[1:]
	}
	if len(have) < maxUnknownPackets && p.At.Sub(have[0].At) < unknownWait {
		b.unknown[p.SSRC] = have
		return nil
	}
	delete(b.unknown, p.SSRC)
	return have
}

// MarkHeard notes that a packet of a source could be read.
func (b *SenderTable) MarkHeard(ssrc uint32, at time.Time) {
	if s := b.sources[ssrc]; s != nil {
		s.heardAt, s.doubts = at, 0
	}
}

// AddDoubt records that the assigned sender of a source cannot have sent a packet, and reports whether that happened
// often enough to search for the sender.
func (b *SenderTable) AddDoubt(ssrc uint32) bool {
	s := b.sources[ssrc]
	if s == nil {
		return false
	}
	s.doubts++
	return s.doubts >= maxDoubts
}

// Correct notes whose a source really is.
func (b *SenderTable) Correct(ssrc uint32, to Sender) {
	if s := b.sources[ssrc]; s != nil {
		s.Sender = to
	}
}

// AllowSearch reports whether keys may be tried now. Trying all keys costs time.
func (b *SenderTable) AllowSearch(now time.Time) bool {
	if now.Sub(b.searched) < doubtPause {
		return false
	}
	b.searched = now
	return true
}

const (
	maxRate    = 1000  // packets of one person in a second; they have 50
	maxBurst   = 20000 // of them in a burst
	maxFaults  = 100   // packets in a row of one person that cannot be decrypted: after that few are tried
	faultPause = 50 * time.Millisecond
)

// rateLimit bounds how much one person can have us do, over however many sources.
type rateLimit struct {
	left   float64 // packets that may come now
	at     time.Time
	faults int       // in a row
	tried  time.Time // when a packet was last allowed
}

// Allow reports whether a packet of user may be decrypted now; if not, the user exceeds the rate limit.
func (b *SenderTable) Allow(user string, now time.Time) bool {
	p := b.limits[user]
	if p == nil {
		if len(b.limits) >= maxUsers {
			return false
		}
		p = &rateLimit{left: maxBurst, at: now}
		b.limits[user] = p
	}
	p.left = min(maxBurst, p.left+now.Sub(p.at).Seconds()*maxRate)
	p.at = now
	if p.left < 1 || p.faults >= maxFaults && now.Sub(p.tried) < faultPause {
		return false
	}
	p.left--
	p.tried = now
	return true
}

// RecordDecrypt notes whether a packet of user could not be decrypted: to find that out is more work than to read one
// that can.
func (b *SenderTable) RecordDecrypt(user string, failed bool) {
	switch p := b.limits[user]; {
	case p == nil:
	case failed:
		p.faults++
	default:
		p.faults = 0
	}
}
