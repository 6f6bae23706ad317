package media

import (
	"strconv"
	"time"

	"clank/voice"
	"clank/voice/discord/dave"
	"clank/voice/discord/media/rtpsize"
	"clank/voice/discord/media/senders"
)

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
	if s == nil {
		c.mu.Unlock()
		return
	}
	who := senders.Person{User: user, ID: id}
	waiting := s.in.Assign(ssrc, who, time.Now())
	c.mu.Unlock()
	for _, p := range waiting {
		c.hear(s, who, p)
	}
}

func (c *Conn) remember(users []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		c.session.in.Enter(users)
	}
}

func (c *Conn) forget(user string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		c.session.in.Leave(user)
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
	got := senders.Packet{Packet: p, At: time.Now()}
	c.mu.Lock()
	from, known, waiting := s.in.Take(got)
	c.mu.Unlock()
	switch {
	case known:
		c.hear(s, from, got)
	case len(waiting) > 0:
		c.guess(s, p.SSRC, waiting)
	}
}

// guess finds out who sends what nobody has announced: the one whose key fits.
func (c *Conn) guess(s *session, ssrc uint32, waiting []senders.Packet) {
	last := waiting[len(waiting)-1]
	who, _, found := c.whose(s, last, "")
	if !found {
		c.note(func(s *Stats) { s.Unknown += uint64(len(waiting)) })
		return
	}
	c.mu.Lock()
	s.in.Settle(ssrc, who)
	c.mu.Unlock()
	for _, p := range waiting[:len(waiting)-1] { // a frame can be decrypted once
		c.hear(s, who, p)
	}
}

// whose finds the one in the call whose key fits a packet, other than somebody of whom that is known not to be so.
func (c *Conn) whose(s *session, p senders.Packet, not string) (who senders.Person, opus []byte, found bool) {
	if s.dave.Exposed() || isSilence(p.Payload) {
		return senders.Person{}, nil, false
	}
	c.mu.Lock()
	may, users := s.in.Search(p.At), s.in.Users()
	c.mu.Unlock()
	for _, user := range users {
		id, err := strconv.ParseUint(user, 10, 64)
		if !may || err != nil || user == not {
			continue
		}
		if opus, err := s.dave.Decrypt(id, dave.Opus, p.Payload); err == nil {
			return senders.Person{User: user, ID: id}, opus, true
		}
	}
	return senders.Person{}, nil, false
}

// hear decrypts a packet and hands it on.
func (c *Conn) hear(s *session, from senders.Person, p senders.Packet) {
	if from.User == c.Target.UserID {
		return
	}
	c.mu.Lock()
	allowed := s.in.Allow(from.User, p.At)
	c.mu.Unlock()
	if !allowed {
		c.note(func(s *Stats) { s.Unread++ })
		return
	}
	opus, err := s.dave.Decrypt(from.ID, dave.Opus, p.Payload)
	c.mu.Lock()
	s.in.Fault(from.User, err != nil)
	c.mu.Unlock()
	if err != nil {
		from, opus, err = c.doubt(s, from, p, err)
	}
	if err != nil {
		c.note(func(s *Stats) { s.Unread++ })
		return
	}
	if !isSilence(p.Payload) { // which anybody can send
		c.mu.Lock()
		s.in.Heard(p.SSRC, p.At)
		c.mu.Unlock()
	}
	c.note(func(s *Stats) { s.Received++ })
	c.tell(Event{Kind: Sound, Packet: voice.Packet{
		From: from.User, Sequence: p.Sequence, Timestamp: p.Timestamp, Opus: opus, At: p.At,
	}})
}

// doubt notes that somebody cannot have sent a packet, for a reason. After some of them it looks for who does: the keys know it better than
// those who say whose a source is.
func (c *Conn) doubt(s *session, not senders.Person, p senders.Packet, why error) (sender senders.Person, opus []byte, err error) {
	c.mu.Lock()
	look := s.in.Doubt(p.SSRC)
	c.mu.Unlock()
	if !look {
		return senders.Person{}, nil, why
	}
	sender, opus, found := c.whose(s, p, not.User)
	if !found {
		return senders.Person{}, nil, why
	}
	c.mu.Lock()
	s.in.Correct(p.SSRC, sender)
	c.mu.Unlock()
	return sender, opus, nil
}
