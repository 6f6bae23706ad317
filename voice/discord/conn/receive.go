package conn

import (
	"strconv"
	"time"

	"clank/voice"
	"clank/voice/discord/dave"
)

// assignSource stores the user of a source (ops 5 and 12), and delivers the packets that it received before.
func (c *Conn) assignSource(ssrc uint32, user string) {
	id, err := strconv.ParseUint(user, 10, 64)
	if ssrc == 0 || err != nil {
		return
	}
	c.receiveMu.Lock()
	defer c.receiveMu.Unlock()
	c.mu.Lock()
	s := c.session
	if s == nil {
		c.mu.Unlock()
		return
	}
	who := Sender{User: user, ID: id}
	waiting := s.senders.Assign(ssrc, who, time.Now())
	c.mu.Unlock()
	for _, p := range waiting {
		c.receiveSound(s, who, p)
	}
}

func (c *Conn) handlePacket(s *session, data []byte) {
	if isRTCP(data) {
		c.handleRTCP(s, data)
		return
	}
	p, err := ParseRTP(data)
	if err != nil {
		c.updateStats(func(s *Stats) { s.Malformed++ })
		return
	}
	if p.Type != typeOpus || len(p.Payload) == 0 {
		return // pictures of others, and probes
	}
	c.receiveMu.Lock()
	defer c.receiveMu.Unlock()
	got := ReceivedPacket{RTPPacket: p, At: time.Now()}
	c.mu.Lock()
	from, known, waiting := s.senders.SenderOf(got)
	c.mu.Unlock()
	switch {
	case known:
		c.receiveSound(s, from, got)
	case len(waiting) > 0:
		c.guessSender(s, p.SSRC, waiting)
	}
}

// guessSender determines the sender of an unannounced source: the user whose key fits.
func (c *Conn) guessSender(s *session, ssrc uint32, waiting []ReceivedPacket) {
	last := waiting[len(waiting)-1]
	who, _, found := c.findSender(s, last, "")
	if !found {
		c.updateStats(func(s *Stats) { s.Unknown += uint64(len(waiting)) })
		return
	}
	c.locked(func() { s.senders.SetSender(ssrc, who) })
	for _, p := range waiting[:len(waiting)-1] { // a frame can be decrypted once
		c.receiveSound(s, who, p)
	}
}

// findSender returns the user in the call whose key fits a packet, except not, whose key is known not to fit.
func (c *Conn) findSender(s *session, p ReceivedPacket, not string) (who Sender, opus []byte, found bool) {
	if s.dave.Unencrypted() || voice.IsOpusSilence(p.Payload) {
		return Sender{}, nil, false
	}
	c.mu.Lock()
	may, users := s.senders.AllowSearch(p.At), s.senders.Users()
	c.mu.Unlock()
	for _, user := range users {
		id, err := strconv.ParseUint(user, 10, 64)
		if !may || err != nil || user == not {
			continue
		}
		if opus, err := s.dave.Decrypt(id, dave.Opus, p.Payload); err == nil {
			return Sender{User: user, ID: id}, opus, true
		}
	}
	return Sender{}, nil, false
}

func (c *Conn) receiveSound(s *session, from Sender, p ReceivedPacket) {
	if from.User == c.Target.UserID {
		return
	}
	c.mu.Lock()
	allowed := s.senders.Allow(from.User, p.At)
	c.mu.Unlock()
	if !allowed {
		c.updateStats(func(s *Stats) { s.Unread++ })
		return
	}
	opus, err := s.dave.Decrypt(from.ID, dave.Opus, p.Payload)
	c.locked(func() { s.senders.RecordDecrypt(from.User, err != nil) })
	if err != nil {
		from, opus, err = c.recheckSender(s, from, p, err)
	}
	if err != nil {
		c.updateStats(func(s *Stats) { s.Unread++ })
		return
	}
	if !voice.IsOpusSilence(p.Payload) { // which anybody can send
		c.locked(func() { s.senders.MarkHeard(p.SSRC, p.At) })
	}
	c.updateStats(func(s *Stats) { s.Received++ })
	c.emit(Event{Kind: PacketReceived, Packet: voice.Packet{
		From: from.User, Sequence: p.Sequence, Timestamp: p.Timestamp, Opus: opus, At: p.At,
	}})
}

// recheckSender records that not cannot have sent a packet, for the reason err. After several such packets it
// determines the sender by key: keys are more reliable than announcements.
func (c *Conn) recheckSender(s *session, not Sender, p ReceivedPacket,
	why error,
) (sender Sender, opus []byte, err error) {
	c.mu.Lock()
	look := s.senders.AddDoubt(p.SSRC)
	c.mu.Unlock()
	if !look {
		return Sender{}, nil, why
	}
	sender, opus, found := c.findSender(s, p, not.User)
	if !found {
		return Sender{}, nil, why
	}
	c.locked(func() { s.senders.Correct(p.SSRC, sender) })
	return sender, opus, nil
}
