package conn

import "time"

const (
	maxRate    = 1000  // packets of one person in a second; they have 50
	maxBurst   = 20000 // of them at once
	maxFaults  = 100   // packets in a row of one person that cannot be decrypted: after that few are tried
	faultPause = 50 * time.Millisecond
)

// rateLimit bounds how much one person can have us do, over however many sources.
type rateLimit struct {
	left   float64 // packets that may come now
	at     time.Time
	faults int       // in a row
	tried  time.Time // when a packet was let through last
}

// Allow reports whether a packet of user may be read now; if not it is one too many.
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

// RecordDecrypt notes whether a packet of user could not be decrypted: to find that out is more work than to read one that can.
func (b *SenderTable) RecordDecrypt(user string, failed bool) {
	switch p := b.limits[user]; {
	case p == nil:
	case failed:
		p.faults++
	default:
		p.faults = 0
	}
}
