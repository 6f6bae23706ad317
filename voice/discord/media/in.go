package media

import (
	"slices"
	"strconv"
	"time"

	"clank/voice"
	"clank/voice/discord/dave"
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

	maxRate    = 1000  // packets of one person in a second; they have 50
	maxBurst   = 20000 // of them at once
	maxFaults  = 100   // packets in a row of one person that cannot be decrypted: after that few are tried
	faultPause = 50 * time.Millisecond
)

// input knows who sends what. It is guarded by Conn.mu.
type input struct {
	sources   map[uint32]*source
	users     []string // in the call, without us
	strangers map[uint32][]early
	searched  time.Time // when somebody's keys were tried last
	pace      map[string]*pace
}

// pace bounds how much one person can have us do, over however many sources.
type pace struct {
	left   float64 // packets that may come now
	at     time.Time
	faults int       // in a row
	tried  time.Time // when a packet was let through last
}

// allow reports whether a packet of user is one too many.
func (in *input) allow(user string, now time.Time) bool {
	p := in.pace[user]
	if p == nil {
		if len(in.pace) >= maxUsers {
			return false
		}
		p = &pace{left: maxBurst, at: now}
		in.pace[user] = p
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

// fault notes whether a packet of user could not be decrypted: to find that out is more work than to read one that can.
func (in *input) fault(user string, failed bool) {
	switch p := in.pace[user]; {
	case p == nil:
	case failed:
		p.faults++
	default:
		p.faults = 0
	}
}

// makeRoom forgets the source of user that was heard least lately, if they have as many as one may have.
func (in *input) makeRoom(user string) {
	n, oldest, at := 0, uint32(0), time.Time{}
	for ssrc, s := range in.sources {
		if s.user != user {
			continue
		}
		if n++; n == 1 || s.heard.Before(at) {
			oldest, at = ssrc, s.heard
		}
	}
	if n >= maxOwn {
		delete(in.sources, oldest)
	}
}

// search reports whether keys may be tried now: each try of a frame that was made for it is work.
func (in *input) search(now time.Time) bool {
	if now.Sub(in.searched) < doubtPause {
		return false
	}
	in.searched = now
	return true
}

// source is one stream of sound.
type source struct {
	user    string
	id      uint64
	quality reception
	heard   time.Time // when a packet of theirs was read last
	doubts  int       // packets in a row that could not be
}

// early is a packet that came before we knew who sent it.
type early struct {
	packet rtpsize.Packet
	at     time.Time
}

func newInput() *input {
	return &input{sources: map[uint32]*source{}, strangers: map[uint32][]early{}, pace: map[string]*pace{}}
}

// assign notes whose a source is (ops 5 and 12), and hands on what came from it before.
func (c *Conn) assign(ssrc uint32, user string) {
	id, err := strconv.ParseUint(user, 10, 64)
	if ssrc == 0 || err != nil {
		return
	}
	c.hearing.Lock()
	defer c.hearing.Unlock()
	c.mu.Lock()
	s := c.session
	if s == nil || len(s.in.sources) >= maxSources {
		c.mu.Unlock()
		return
	}
	have := s.in.sources[ssrc]
	if have != nil && have.user != user && time.Since(have.heard) < holds && slices.Contains(s.in.users, have.user) {
		c.mu.Unlock()
		return // whoever says so may be wrong, or lie
	}
	if have == nil || have.user != user {
		s.in.makeRoom(user)
		s.in.sources[ssrc] = &source{user: user, id: id}
	}
	waiting := s.in.strangers[ssrc]
	delete(s.in.strangers, ssrc)
	for _, e := range waiting {
		s.in.sources[ssrc].quality.count(e.packet, e.at)
	}
	c.mu.Unlock()
	for _, e := range waiting {
		c.hear(s, user, id, e)
	}
}

func (c *Conn) remember(users []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return
	}
	for _, user := range users {
		if len(c.session.in.users) < maxUsers && !slices.Contains(c.session.in.users, user) {
			c.session.in.users = append(c.session.in.users, user)
		}
	}
}

func (c *Conn) forget(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == nil {
		return
	}
	in := c.session.in
	delete(in.pace, user)
	in.users = slices.DeleteFunc(in.users, func(u string) bool { return u == user })
	for ssrc, s := range in.sources {
		if s.user == user {
			delete(in.sources, ssrc)
		}
	}
}

// received handles one packet of the transport.
func (c *Conn) received(s *session, data []byte) {
	if rtpsize.IsRTCP(data) {
		c.receivedControl(s, data)
		return
	}
	p, err := rtpsize.Strip(data)
	if err != nil {
		c.note(func(s *Stats) { s.Malformed++ })
		return
	}
	if p.Type != typeOpus || len(p.Payload) == 0 {
		return // pictures of others, and probes
	}
	c.hearing.Lock()
	defer c.hearing.Unlock()
	e := early{packet: p, at: time.Now()}
	c.mu.Lock()
	from := s.in.sources[p.SSRC]
	var user string
	var id uint64
	var waiting []early
	if from != nil {
		user, id = from.user, from.id
		from.quality.count(p, e.at)
	} else {
		waiting = s.in.wait(e)
	}
	c.mu.Unlock()
	switch {
	case from != nil:
		c.hear(s, user, id, e)
	case len(waiting) > 0:
		c.guess(s, p.SSRC, waiting)
	}
}

// wait keeps a packet of an unknown source. Once the first of them has waited long enough it returns them all.
func (in *input) wait(e early) []early {
	ssrc := e.packet.SSRC
	have := in.strangers[ssrc]
	if have == nil && len(in.strangers) >= maxStrangers {
		for other, kept := range in.strangers {
			if e.at.Sub(kept[len(kept)-1].at) > earlyWait {
				delete(in.strangers, other)
			}
		}
		if len(in.strangers) >= maxStrangers {
			return nil
		}
	}
	have = append(have, e)
	if len(have) > maxEarly {
		have = have[1:]
	}
	if len(have) < maxEarly && e.at.Sub(have[0].at) < earlyWait {
		in.strangers[ssrc] = have
		return nil
	}
	delete(in.strangers, ssrc)
	return have
}

// guess finds out who sends what nobody has announced: the one whose key fits.
func (c *Conn) guess(s *session, ssrc uint32, waiting []early) {
	last := waiting[len(waiting)-1]
	user, id, _, found := c.whose(s, last, "")
	if !found {
		c.note(func(s *Stats) { s.Unknown += uint64(len(waiting)) })
		return
	}
	c.mu.Lock()
	s.in.sources[ssrc] = &source{user: user, id: id}
	c.mu.Unlock()
	for _, e := range waiting[:len(waiting)-1] { // a frame can be decrypted once
		c.hear(s, user, id, e)
	}
}

// whose finds the one in the call whose key fits a packet, other than somebody of whom that is known not to be so.
func (c *Conn) whose(s *session, e early, not string) (user string, id uint64, opus []byte, found bool) {
	if s.dave.Exposed() || isSilence(e.packet.Payload) {
		return "", 0, nil, false
	}
	c.mu.Lock()
	may, users := s.in.search(e.at), slices.Clone(s.in.users)
	c.mu.Unlock()
	for _, user := range users {
		id, err := strconv.ParseUint(user, 10, 64)
		if !may || err != nil || user == not {
			continue
		}
		if opus, err := s.dave.Decrypt(id, dave.Opus, e.packet.Payload); err == nil {
			return user, id, opus, true
		}
	}
	return "", 0, nil, false
}

// hear decrypts a packet and hands it on.
func (c *Conn) hear(s *session, user string, id uint64, e early) {
	if user == c.Target.UserID {
		return
	}
	c.mu.Lock()
	allowed := s.in.allow(user, e.at)
	c.mu.Unlock()
	if !allowed {
		c.note(func(s *Stats) { s.Unread++ })
		return
	}
	opus, err := s.dave.Decrypt(id, dave.Opus, e.packet.Payload)
	c.mu.Lock()
	s.in.fault(user, err != nil)
	c.mu.Unlock()
	if err != nil {
		user, opus, err = c.doubt(s, user, e, err)
	}
	if err != nil {
		c.note(func(s *Stats) { s.Unread++ })
		return
	}
	c.mu.Lock()
	if from := s.in.sources[e.packet.SSRC]; from != nil && !isSilence(e.packet.Payload) { // which anybody can send
		from.heard, from.doubts = e.at, 0
	}
	c.mu.Unlock()
	c.note(func(s *Stats) { s.Received++ })
	c.tell(Event{Kind: Sound, Packet: voice.Packet{
		From: user, Sequence: e.packet.Sequence, Timestamp: e.packet.Timestamp, Opus: opus, At: e.at,
	}})
}

// doubt notes that user cannot have sent a packet, for a reason. After some of them it looks for who does: the keys know it better than
// those who say whose a source is.
func (c *Conn) doubt(s *session, user string, e early, why error) (sender string, opus []byte, err error) {
	c.mu.Lock()
	from := s.in.sources[e.packet.SSRC]
	sure := true
	if from != nil {
		from.doubts++
		sure = from.doubts < maxDoubts
	}
	c.mu.Unlock()
	if sure {
		return "", nil, why
	}
	sender, id, opus, found := c.whose(s, e, user)
	if !found {
		return "", nil, why
	}
	c.mu.Lock()
	from.user, from.id = sender, id
	c.mu.Unlock()
	return sender, opus, nil
}
