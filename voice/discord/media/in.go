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
)

// input knows who sends what. It is guarded by Conn.mu.
type input struct {
	sources   map[uint32]*source
	users     []string // in the call, without us
	strangers map[uint32][]early
}

// source is one stream of sound.
type source struct {
	user    string
	id      uint64
	quality reception
}

// early is a packet that came before we knew who sent it.
type early struct {
	packet rtpsize.Packet
	at     time.Time
}

func newInput() *input {
	return &input{sources: map[uint32]*source{}, strangers: map[uint32][]early{}}
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
	if have := s.in.sources[ssrc]; have == nil || have.user != user {
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
		if !slices.Contains(c.session.in.users, user) {
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
	c.mu.Lock()
	users := slices.Clone(s.in.users)
	c.mu.Unlock()
	probe := waiting[len(waiting)-1].packet.Payload
	if s.dave.Version() > 0 && !isSilence(probe) {
		for _, user := range users {
			id, err := strconv.ParseUint(user, 10, 64)
			if err != nil {
				continue
			}
			if _, err := s.dave.Decrypt(id, dave.Opus, probe); err != nil {
				continue
			}
			c.mu.Lock()
			s.in.sources[ssrc] = &source{user: user, id: id}
			c.mu.Unlock()
			for _, e := range waiting[:len(waiting)-1] { // a frame can be decrypted once
				c.hear(s, user, id, e)
			}
			return
		}
	}
	c.note(func(s *Stats) { s.Unknown += uint64(len(waiting)) })
}

// hear decrypts a packet and hands it on.
func (c *Conn) hear(s *session, user string, id uint64, e early) {
	if user == c.Target.UserID {
		return
	}
	opus, err := s.dave.Decrypt(id, dave.Opus, e.packet.Payload)
	if err != nil {
		c.note(func(s *Stats) { s.Unread++ })
		return
	}
	c.note(func(s *Stats) { s.Received++ })
	c.tell(Event{Kind: Sound, Packet: voice.Packet{
		From: user, Sequence: e.packet.Sequence, Timestamp: e.packet.Timestamp, Opus: opus, At: e.at,
	}})
}
