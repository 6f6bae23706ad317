package media

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"clank/voice/discord/dave"
	"clank/voice/discord/media/senders"
)

// handleText handles one JSON message. An error ends the socket.
func (c *Conn) handleText(ctx context.Context, l *link, data []byte) error {
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		c.malformed("message of the voice gateway could not be read", -1, err)
		return nil
	}
	if p.Seq != nil && !l.advance(*p.Seq) {
		return nil
	}
	err := c.handle(ctx, l, p)
	if bad, ok := errors.AsType[*unreadableError](err); ok {
		c.malformed("message of the voice gateway could not be read", p.Op, bad)
		return nil
	}
	c.settle()
	return err
}

// handleBinary handles one binary message: its number, its opcode, its payload.
func (c *Conn) handleBinary(l *link, data []byte) {
	if len(data) < 3 {
		c.malformed("message of the voice gateway is too short", -1, nil)
		return
	}
	if !l.advance(int(binary.BigEndian.Uint16(data))) {
		return
	}
	s := c.encryption()
	if s == nil {
		return
	}
	if err := s.HandleBinary(data[2], data[3:]); err != nil {
		c.logger().Warn("message of the end-to-end encryption was not accepted", "op", data[2], "error", err)
	}
	c.settle()
}

// advance notes the number of a message, and reports whether it is new: after a resume some may come again.
func (l *link) advance(seq int) bool {
	last := l.seq.Load()
	if l.resumed && int64(seq) <= last && last-int64(seq) < 1<<15 { // numbers of binary messages wrap
		return false
	}
	l.seq.Store(int64(seq))
	return true
}

// unreadableError is a message that we cannot read. It is passed over.
type unreadableError struct{ err error }

func (e *unreadableError) Error() string { return e.err.Error() }

func read[T any](data json.RawMessage) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return v, &unreadableError{err}
	}
	return v, nil
}

// malformed counts what cannot be read and tells the first of each kind.
func (c *Conn) malformed(text string, op int, err error) {
	c.note(func(s *Stats) { s.Malformed++ })
	if c.firstOf(op) {
		c.logger().Warn("voice gateway: "+text, "op", op, "error", err) //nolint:sloglint // one of two constants
	}
}

// maxStrange is how many kinds of message that we cannot read are told of.
const maxStrange = 64

// firstOf reports whether op is strange for the first time.
func (c *Conn) firstOf(op int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.strange == nil {
		c.strange = map[int]bool{}
	}
	first := !c.strange[op] && len(c.strange) < maxStrange
	if first {
		c.strange[op] = true
	}
	return first
}

func (c *Conn) handle(ctx context.Context, l *link, p payload) error {
	switch p.Op {
	case opHello:
		return c.hello(l, p.Data)
	case opReady:
		return c.ready(ctx, p.Data)
	case opDescription:
		return c.describe(ctx, l, p.Data)
	case opResumed:
		if l.resumed {
			c.settled(l)
			c.restate()
		}
		return nil
	case opHeartbeatAck:
		return c.heartbeatAck(l, p.Data)
	case opPrepare, opExecute, opPrepareEpoch:
		if s := c.encryption(); s != nil {
			if err := s.HandleJSON(p.Op, p.Data); err != nil {
				c.logger().Warn("message of the end-to-end encryption was not accepted", "op", p.Op, "error", err)
			}
		}
		return nil
	case opVersion, opFlags, opPlatform:
		return nil
	}
	return c.handleOthers(p)
}

// handleOthers handles what tells of the other people in the call.
func (c *Conn) handleOthers(p payload) error {
	switch p.Op {
	case opSpeaking:
		m, err := read[speaking](p.Data)
		if err != nil {
			return err
		}
		c.assign(m.SSRC, m.UserID)
	case opVideo:
		m, err := read[video](p.Data)
		if err != nil {
			return err
		}
		c.assign(m.AudioSSRC, m.UserID)
	case opConnected:
		m, err := read[struct {
			Users []string `json:"user_ids"`
		}](p.Data)
		if err != nil {
			return err
		}
		c.connected(m.Users)
	case opDisconnected:
		m, err := read[struct {
			User string `json:"user_id"`
		}](p.Data)
		if err != nil {
			return err
		}
		c.disconnected(m.User)
	case opSessionUpdate:
		m, err := read[Description](p.Data)
		if err != nil {
			return err
		}
		c.tellCodec(m.VideoCodec)
	case opWants:
		return c.wants(p.Data)
	default:
		if c.firstOf(p.Op) {
			c.logger().Info("voice gateway sent an operation that clank does not know", "op", p.Op)
		}
	}
	return nil
}

// hello starts the heartbeat, and resumes or identifies.
func (c *Conn) hello(l *link, data json.RawMessage) error {
	m, err := read[struct {
		Interval float64 `json:"heartbeat_interval"`
	}](data)
	if err != nil || m.Interval <= 0 {
		return errors.New("the voice gateway gave no interval for heartbeats")
	}
	l.beat(time.Duration(m.Interval * float64(time.Millisecond)))
	t := c.Target
	c.mu.Lock()
	resumable := c.session != nil && c.session.described
	c.mu.Unlock()
	if resumable {
		l.resumed = true
		c.sendJSON(opResume, resume{ServerID: t.ServerID, SessionID: t.SessionID, Token: t.Token, SeqAck: int(l.seq.Load())})
		return nil
	}
	c.drop()
	l.seq.Store(-1)
	s, err := dave.New(dave.Options{
		UserID: c.self, GroupID: t.GroupID, Key: c.Key, Logger: c.logger(),
		SendBinary: c.sendBinary, SendJSON: c.sendJSON,
	})
	if err != nil {
		return &setupError{fmt.Errorf("set up the end-to-end encryption: %w", err)}
	}
	s.Connected(c.self)
	c.mu.Lock()
	c.session = &session{dave: s, in: senders.New()}
	c.mu.Unlock()
	id := identify{ServerID: t.ServerID, UserID: t.UserID, SessionID: t.SessionID, Token: t.Token, Dave: dave.MaxVersion}
	if c.Video {
		id.Video, id.Streams = true, []stream{{Type: "screen", RID: "100", Quality: 100}}
	}
	c.sendJSON(opIdentify, id)
	return nil
}

// ready chooses the transport. Messages that come meanwhile wait, as they must.
func (c *Conn) ready(ctx context.Context, data json.RawMessage) error {
	r, err := read[Ready](data)
	if err != nil {
		return &setupError{fmt.Errorf("read what the voice gateway offers: %w", err)}
	}
	make := c.Transport
	if make == nil {
		make = UDP
	}
	c.mu.Lock()
	s, l := c.session, c.link
	c.mu.Unlock()
	if s == nil || s.transport != nil {
		return &setupError{errors.New("the voice gateway said it is ready out of order")}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, errSilent)
	defer cancel()
	t := make(func(packet []byte) { c.received(s, packet) }, func(err error) { l.end(&setupError{err}) })
	protocol, choice, err := t.Select(ctx, r)
	if err != nil {
		_ = t.Close() // it is not used
		return &setupError{err}
	}
	c.mu.Lock()
	s.ready, s.transport = r, t
	c.mu.Unlock()
	m := selectProtocol{Protocol: protocol, Data: choice}
	if c.Video {
		m.Codecs = codecs
	}
	c.sendJSON(opSelect, m)
	return nil
}

// describe starts the transport and the end-to-end encryption.
func (c *Conn) describe(ctx context.Context, l *link, data json.RawMessage) error {
	d, err := read[Description](data)
	if err != nil {
		return &setupError{err}
	}
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s == nil || s.transport == nil || s.described {
		return &setupError{errors.New("the voice gateway described the session out of order")}
	}
	if err := s.transport.Start(ctx, d); err != nil {
		return &setupError{err}
	}
	if err := s.dave.Select(d.Dave); err != nil {
		return &setupError{fmt.Errorf("set up the end-to-end encryption: %w", err)}
	}
	c.mu.Lock()
	if t, ok := s.transport.(Sourcer); ok {
		s.ready = s.ready.with(t.Sources())
	}
	s.described = true
	c.mu.Unlock()
	c.tellCodec(d.VideoCodec)
	c.settled(l)
	c.announceVideo()
	return nil
}

// settled lets media go.
func (c *Conn) settled(l *link) {
	l.timer.Stop()
	c.mu.Lock()
	l.usable = true
	c.mu.Unlock()
	l.settled()
}

func (c *Conn) heartbeatAck(l *link, data json.RawMessage) error {
	l.acked.Store(true)
	m, err := read[struct {
		Time int64 `json:"t"`
	}](data)
	if err == nil && m.Time > 0 {
		c.note(func(s *Stats) { s.RoundTrip = max(0, time.Since(time.UnixMilli(m.Time))) })
	}
	return nil // an answer of any shape is one
}

func (c *Conn) tellCodec(name string) {
	if c.Video && name != "" {
		c.tell(Event{Kind: Codec, Text: name})
	}
}

// settle tells once that what we send goes out, and whether it is encrypted from end to end.
func (c *Conn) settle() {
	c.reveal()
	c.mu.Lock()
	s, told := c.usable(), c.announced
	c.mu.Unlock()
	if s == nil || told || !s.dave.Ready() {
		return
	}
	c.mu.Lock()
	c.announced = true
	c.mu.Unlock()
	c.tell(Event{Kind: Up})
}

// restate tells a session that is resumed what may have changed while nobody could be told.
func (c *Conn) restate() {
	c.sending.Lock()
	if s := c.attended(); s != nil && c.out.told {
		mask := 0
		if c.out.speaking {
			mask = c.mask()
		}
		c.speak(s, mask)
	}
	c.sending.Unlock()
	c.announceVideo()
}

// usable is the session with a gateway that listens; nil while there is none. It is called with mu held.
func (c *Conn) usable() *session {
	if c.link == nil || !c.link.usable || c.session == nil {
		return nil
	}
	return c.session
}

// reveal tells when those who carry the call can hear it, and when they cannot any more.
func (c *Conn) reveal() {
	c.mu.Lock()
	s, told := c.session, c.exposed
	c.mu.Unlock()
	if s == nil || !s.described || s.dave.Exposed() == told {
		return
	}
	c.mu.Lock()
	c.exposed = !told
	c.mu.Unlock()
	kind := Exposed
	if told {
		kind = Sealed
	}
	c.tell(Event{Kind: kind})
}

func (c *Conn) connected(users []string) {
	s := c.encryption()
	others := make([]string, 0, len(users))
	for _, user := range users {
		if id, err := strconv.ParseUint(user, 10, 64); err == nil && s != nil {
			s.Connected(id)
		}
		if user != c.Target.UserID {
			others = append(others, user)
		}
	}
	if len(others) > 0 {
		c.remember(others)
		c.tell(Event{Kind: Connected, Users: others})
	}
}

func (c *Conn) disconnected(user string) {
	if user == c.Target.UserID || user == "" {
		return
	}
	if id, err := strconv.ParseUint(user, 10, 64); err == nil {
		if s := c.encryption(); s != nil {
			s.Disconnected(id)
		}
	}
	c.forget(user)
	c.tell(Event{Kind: Gone, Users: []string{user}})
}

// wants reads which quality of our pictures is wanted (op 15): by their source, or else of any.
func (c *Conn) wants(data json.RawMessage) error {
	m, err := read[map[string]json.RawMessage](data)
	if err != nil {
		return err
	}
	c.mu.Lock()
	var ssrc uint32
	if c.session != nil {
		ssrc, _ = c.session.ready.VideoSSRCs()
	}
	c.mu.Unlock()
	raw, ok := m[strconv.FormatUint(uint64(ssrc), 10)]
	if !ok || ssrc == 0 {
		raw, ok = m["any"]
	}
	if !ok {
		return nil
	}
	quality, err := read[float64](raw)
	if err != nil {
		return err
	}
	if c.Video {
		c.tell(Event{Kind: Wanted, Quality: int(min(max(quality, 0), 100))})
	}
	return nil
}
