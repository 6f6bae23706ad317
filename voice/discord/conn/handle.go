package conn

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"clank/voice/discord/dave"
)

// handleText handles one JSON message. An error ends the socket.
func (c *Conn) handleText(ctx context.Context, l *link, data []byte) error {
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		c.reportMalformed("message of the voice gateway could not be read", -1, err)
		return nil
	}
	if p.Seq != nil && !l.advance(*p.Seq) {
		return nil
	}
	err := c.handlePayload(ctx, l, p)
	if bad, ok := errors.AsType[*unreadableError](err); ok {
		c.reportMalformed("message of the voice gateway could not be read", p.Op, bad)
		return nil
	}
	c.reportUp()
	return err
}

// handleBinary handles one binary message: its number, its opcode, its payload.
func (c *Conn) handleBinary(l *link, data []byte) {
	if len(data) < 3 {
		c.reportMalformed("message of the voice gateway is too short", -1, nil)
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
	c.reportUp()
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

func decodeData[T any](data json.RawMessage) (T, error) {
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		return v, &unreadableError{err}
	}
	return v, nil
}

func withData[T any](data json.RawMessage, do func(T)) error {
	v, err := decodeData[T](data)
	if err == nil {
		do(v)
	}
	return err
}

// reportMalformed counts unreadable messages and reports the first of each kind.
func (c *Conn) reportMalformed(text string, op int, err error) {
	c.updateStats(func(s *Stats) { s.Malformed++ })
	if c.firstOf(op) {
		c.logger().Warn("voice gateway: "+text, "op", op, "error", err) //nolint:sloglint // one of two constants
	}
}

// maxReportedOps is how many kinds of unreadable messages are reported.
const maxReportedOps = 64

// firstOf reports whether op is strange for the first time.
func (c *Conn) firstOf(op int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reportedOps == nil {
		c.reportedOps = map[int]bool{}
	}
	first := !c.reportedOps[op] && len(c.reportedOps) < maxReportedOps
	if first {
		c.reportedOps[op] = true
	}
	return first
}

func (c *Conn) handlePayload(ctx context.Context, l *link, p payload) error {
	switch p.Op {
	case opHello:
		return c.handleHello(l, p.Data)
	case opReady:
		return c.handleReady(ctx, p.Data)
	case opDescription:
		return c.handleDescription(ctx, l, p.Data)
	case opResumed:
		if l.resumed {
			c.markUsable(l)
			c.resendState()
		}
		return nil
	case opHeartbeatAck:
		return c.handleHeartbeatAck(l, p.Data)
	case dave.OpPrepareTransition, dave.OpExecuteTransition, dave.OpPrepareEpoch:
		if s := c.encryption(); s != nil {
			if err := s.HandleJSON(p.Op, p.Data); err != nil {
				c.logger().Warn("message of the end-to-end encryption was not accepted", "op", p.Op, "error", err)
			}
		}
		return nil
	case opVersion, opFlags, opPlatform:
		return nil
	}
	return c.handleUsers(p)
}

func (c *Conn) handleUsers(p payload) error {
	switch p.Op {
	case opSpeaking:
		return withData(p.Data, func(m speaking) { c.assignSource(m.SSRC, m.UserID) })
	case opVideo:
		return withData(p.Data, func(m videoState) { c.assignSource(m.AudioSSRC, m.UserID) })
	case opConnected:
		return withData(p.Data, func(m struct {
			Users []string `json:"user_ids"`
		},
		) {
			c.handleConnected(m.Users)
		})
	case opDisconnected:
		return withData(p.Data, func(m struct {
			User string `json:"user_id"`
		},
		) {
			c.handleDisconnected(m.User)
		})
	case opSessionUpdate:
		return withData(p.Data, func(m Description) { c.reportCodec(m.VideoCodec) })
	case opMediaSinkWants:
		return c.handleSinkWants(p.Data)
	default:
		if c.firstOf(p.Op) {
			c.logger().Info("voice gateway sent an operation that clank does not know", "op", p.Op)
		}
	}
	return nil
}

func (c *Conn) handleHello(l *link, data json.RawMessage) error {
	m, err := decodeData[struct {
		Interval float64 `json:"heartbeat_interval"`
	}](data)
	if err != nil || m.Interval <= 0 {
		return errors.New("the voice gateway gave no interval for heartbeats")
	}
	l.startHeartbeat(time.Duration(m.Interval * float64(time.Millisecond)))
	t := c.Target
	c.mu.Lock()
	resumable := c.session != nil && c.session.described
	c.mu.Unlock()
	if resumable {
		l.resumed = true
		c.sendJSON(opResume, resume{ServerID: t.ServerID, SessionID: t.SessionID, Token: t.Token, SeqAck: int(l.seq.Load())})
		return nil
	}
	c.dropSession()
	l.seq.Store(-1)
	s, err := dave.New(dave.Options{
		UserID: c.self, GroupID: t.GroupID, Key: c.Key, Logger: c.logger(),
		SendBinary: c.sendBinary, SendJSON: c.sendJSON, RequireEncryption: c.RequireEncryption,
	})
	if err != nil {
		return &setupError{fmt.Errorf("set up the end-to-end encryption: %w", err)}
	}
	s.Connected(c.self)
	c.mu.Lock()
	c.session = &session{dave: s, senders: NewSenderTable()}
	c.mu.Unlock()
	id := identify{ServerID: t.ServerID, UserID: t.UserID, SessionID: t.SessionID, Token: t.Token, Dave: dave.MaxVersion}
	if c.Video {
		id.Video, id.Streams = true, []stream{{Type: "screen", RID: "100", Quality: 100}}
	}
	c.sendJSON(opIdentify, id)
	return nil
}

// handleReady chooses the transport. Messages that arrive meanwhile must wait.
func (c *Conn) handleReady(ctx context.Context, data json.RawMessage) error {
	r, err := decodeData[Ready](data)
	if err != nil {
		return &setupError{fmt.Errorf("read what the voice gateway offers: %w", err)}
	}
	make := c.Transport
	if make == nil {
		make = NewUDP
	}
	c.mu.Lock()
	s, l := c.session, c.link
	c.mu.Unlock()
	if s == nil || s.transport != nil {
		return &setupError{errors.New("the voice gateway said it is ready out of order")}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, settleTimeout, errSilent)
	defer cancel()
	t := make(func(packet []byte) { c.handlePacket(s, packet) }, func(err error) { l.end(&setupError{err}) })
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

func (c *Conn) handleDescription(ctx context.Context, l *link, data json.RawMessage) error {
	d, err := decodeData[Description](data)
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
	if t, ok := s.transport.(SourceTransport); ok {
		s.ready = s.ready.with(t.Sources())
	}
	s.described = true
	c.mu.Unlock()
	c.reportCodec(d.VideoCodec)
	c.markUsable(l)
	c.announceVideo()
	return nil
}

func (c *Conn) markUsable(l *link) {
	l.timer.Stop()
	c.mu.Lock()
	l.usable = true
	c.mu.Unlock()
	l.onUsable()
}

func (c *Conn) handleHeartbeatAck(l *link, data json.RawMessage) error {
	l.acked.Store(true)
	m, err := decodeData[struct {
		Time int64 `json:"t"`
	}](data)
	if err == nil && m.Time > 0 {
		c.updateStats(func(s *Stats) { s.RoundTrip = max(0, time.Since(time.UnixMilli(m.Time))) })
	}
	return nil // an answer of any shape is one
}

func (c *Conn) reportCodec(name string) {
	if c.Video && name != "" {
		c.emit(Event{Kind: CodecChosen, Text: name})
	}
}

// reportUp reports once that what we send is transmitted, and whether it is end-to-end encrypted.
func (c *Conn) reportUp() {
	c.reportEncryption()
	c.mu.Lock()
	s, told := c.usableSession(), c.announced
	c.mu.Unlock()
	if s == nil || told || !s.dave.Ready() {
		return
	}
	c.mu.Lock()
	c.announced = true
	c.mu.Unlock()
	c.emit(Event{Kind: Up})
}

// resendState sends a resumed session the state that may have changed while it was disconnected.
func (c *Conn) resendState() {
	c.sendMu.Lock()
	if s := c.attended(); s != nil && c.out.speakingSent {
		mask := 0
		if c.out.speaking {
			mask = c.speakingFlags()
		}
		c.sendSpeaking(s, mask)
	}
	c.sendMu.Unlock()
	c.announceVideo()
}

// usableSession returns the session if its gateway is connected; nil otherwise. The caller holds mu.
func (c *Conn) usableSession() *session {
	if c.link == nil || !c.link.usable || c.session == nil {
		return nil
	}
	return c.session
}

// reportEncryption reports when the servers that carry the call begin or cease to be able to hear it.
func (c *Conn) reportEncryption() {
	c.mu.Lock()
	s, told := c.session, c.exposed
	c.mu.Unlock()
	if s == nil || !s.described || s.dave.Unencrypted() == told {
		return
	}
	c.mu.Lock()
	c.exposed = !told
	c.mu.Unlock()
	kind := EncryptionOff
	if told {
		kind = EncryptionOn
	}
	c.emit(Event{Kind: kind})
}

func (c *Conn) handleConnected(users []string) {
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
		c.locked(func() {
			if c.session != nil {
				c.session.senders.AddUsers(others)
			}
		})
		c.emit(Event{Kind: UsersJoined, Users: others})
	}
}

func (c *Conn) handleDisconnected(user string) {
	if user == c.Target.UserID || user == "" {
		return
	}
	if id, err := strconv.ParseUint(user, 10, 64); err == nil {
		if s := c.encryption(); s != nil {
			s.Disconnected(id)
		}
	}
	c.locked(func() {
		if c.session != nil {
			c.session.senders.RemoveUser(user)
		}
	})
	c.emit(Event{Kind: UsersLeft, Users: []string{user}})
}

// handleSinkWants reads which quality of our pictures is wanted (op 15): by their source, or else of any.
func (c *Conn) handleSinkWants(data json.RawMessage) error {
	m, err := decodeData[map[string]json.RawMessage](data)
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
	quality, err := decodeData[float64](raw)
	if err != nil {
		return err
	}
	if c.Video {
		c.emit(Event{Kind: QualityWanted, Quality: int(min(max(quality, 0), 100))})
	}
	return nil
}
