package voicetest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/rtp/codecs"
)

// sendTimeout bounds one message to the gateway.
const sendTimeout = 10 * time.Second

func (m *Member) sendJSON(op int, d any) {
	data, err := json.Marshal(map[string]any{"op": op, "d": d})
	if err != nil {
		m.end(fmt.Errorf("send op %d: %w", op, err))
		return
	}
	m.write(websocket.MessageText, data)
}

func (m *Member) sendBinary(op byte, payload []byte) {
	m.write(websocket.MessageBinary, append([]byte{op}, payload...))
}

// memberMessage is one message to the gateway.
type memberMessage struct {
	kind websocket.MessageType
	data []byte
}

// write queues one message.
func (m *Member) write(kind websocket.MessageType, data []byte) {
	select {
	case m.queue <- memberMessage{kind, data}:
	case <-m.gone:
	}
}

// writeGateway sends what is queued until the member ends. A line that is broken ends it by its reader.
func (m *Member) writeGateway(ctx context.Context) {
	for {
		select {
		case o := <-m.queue:
			send, cancel := context.WithTimeout(ctx, sendTimeout)
			_ = m.ws.Write(send, o.kind, o.data) // see above
			cancel()
		case <-ctx.Done():
			return
		}
	}
}

// readGateway deals with the messages of the gateway, one at a time, until it ends.
func (m *Member) readGateway(ctx context.Context) error {
	for {
		kind, data, err := m.ws.Read(ctx)
		if err != nil {
			return fmt.Errorf("the gateway has closed: %w", err)
		}
		if kind == websocket.MessageBinary {
			err = m.handleBinary(data)
		} else {
			err = m.handleText(ctx, data)
		}
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.notify()
		m.mu.Unlock()
	}
}

func (m *Member) handleBinary(data []byte) error {
	if len(data) < 3 {
		return errors.New("a binary message without an opcode")
	}
	m.mu.Lock()
	m.session.seq = int(binary.BigEndian.Uint16(data))
	m.mu.Unlock()
	if m.private == nil {
		return nil
	}
	m.recordPrivacyError(m.private.HandleBinary(data[2], data[3:]))
	return nil
}

// recordPrivacyError keeps an error of the end-to-end encryption.
func (m *Member) recordPrivacyError(err error) {
	if err == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wrong = append(m.wrong, err)
}

func (m *Member) handleText(ctx context.Context, data []byte) error {
	var msg struct {
		Op   int             `json:"op"`
		Data json.RawMessage `json:"d"`
		Seq  *int            `json:"seq"`
	}
	if err := json.Unmarshal(data, &msg); err != nil {
		return fmt.Errorf("read a message of the gateway: %w", err)
	}
	if msg.Seq != nil {
		m.mu.Lock()
		m.session.seq = *msg.Seq
		m.mu.Unlock()
	}
	switch msg.Op {
	case OpHello:
		return m.handleHello(ctx, msg.Data)
	case OpReady:
		return m.handleReady(ctx, msg.Data)
	case OpDescription:
		return m.handleDescription(ctx, msg.Data)
	case OpConnected, OpDisconnected, OpSpeaking, OpVideo:
		return m.handleUsers(msg.Op, msg.Data)
	case OpPrepareTransition, OpExecuteTransition, OpPrepareEpoch:
		if m.private != nil {
			m.recordPrivacyError(m.private.HandleJSON(msg.Op, msg.Data))
		}
	}
	return nil
}

func (m *Member) handleHello(ctx context.Context, data json.RawMessage) error {
	var d struct {
		Interval float64 `json:"heartbeat_interval"`
	}
	if err := json.Unmarshal(data, &d); err != nil || d.Interval <= 0 {
		return fmt.Errorf("read hello: %s", data)
	}
	m.tasks.Go(func() { m.heartbeat(ctx, time.Duration(d.Interval*float64(time.Millisecond))) })
	t := m.options.Credentials
	identify := map[string]any{"server_id": t.Server, "user_id": t.User, "session_id": t.Session, "token": t.Token}
	if m.private != nil {
		identify["max_dave_protocol_version"] = 1
	}
	if m.options.Video {
		identify["video"] = true
		identify["streams"] = []map[string]any{{"type": "screen", "rid": "100", "quality": 100}}
	}
	m.sendJSON(OpIdentify, identify)
	return nil
}

func (m *Member) handleReady(ctx context.Context, data json.RawMessage) error {
	var d struct {
		SSRC    uint32   `json:"ssrc"`
		IP      string   `json:"ip"`
		Port    int      `json:"port"`
		Modes   []string `json:"modes"`
		Streams []struct {
			SSRC uint32 `json:"ssrc"`
			RTX  uint32 `json:"rtx_ssrc"`
		} `json:"streams"`
	}
	if err := json.Unmarshal(data, &d); err != nil || len(d.Modes) == 0 {
		return fmt.Errorf("read ready: %s", data)
	}
	dial := m.options.Dial
	if dial == nil {
		dial = (&net.Dialer{}).DialContext
	}
	udp, err := dial(ctx, "udp", net.JoinHostPort(d.IP, strconv.Itoa(d.Port)))
	if err != nil {
		return fmt.Errorf("open the media port: %w", err)
	}
	m.mu.Lock()
	m.udp, m.session.audio, m.session.mode = udp, d.SSRC, d.Modes[0]
	if len(d.Streams) > 0 {
		m.session.video, m.session.rtx = d.Streams[0].SSRC, d.Streams[0].RTX
	}
	mode, ended := m.session.mode, m.err
	m.mu.Unlock()
	if ended != nil {
		return errors.Join(ended, udp.Close())
	}
	host, port, err := discover(udp, d.SSRC)
	if err != nil {
		return err
	}
	m.sendJSON(OpSelectProtocol, map[string]any{
		"protocol": "udp", "data": map[string]any{"address": host, "port": port, "mode": mode},
	})
	return nil
}

// handleDescription handles op 4, which brings the keys.
func (m *Member) handleDescription(ctx context.Context, data json.RawMessage) error {
	var d struct {
		Mode    string `json:"mode"`
		Key     []int  `json:"secret_key"`
		Version int    `json:"dave_protocol_version"`
	}
	if err := json.Unmarshal(data, &d); err != nil || len(d.Key) != KeySize {
		return fmt.Errorf("read the session description: %s", data)
	}
	key := make([]byte, len(d.Key))
	for i, n := range d.Key {
		key[i] = byte(n)
	}
	in, err := NewPacketCipher(d.Mode, key)
	if err != nil {
		return err
	}
	out, err := NewPacketCipher(d.Mode, key)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.session.in, m.session.out = in, out
	m.mu.Unlock()
	if m.private != nil {
		if err := m.private.Select(d.Version); err != nil {
			return err
		}
	}
	select {
	case <-m.settled:
	default:
		m.tasks.Go(func() { m.readMedia(ctx) })
		if m.options.RequestLost {
			m.tasks.Go(func() { m.requestLost(ctx) })
		}
		close(m.settled)
	}
	return nil
}

// handleUsers takes what the gateway says about the others and about what they want.
func (m *Member) handleUsers(op int, data json.RawMessage) error {
	var d struct {
		User  string   `json:"user_id"`
		Users []string `json:"user_ids"`
		SSRC  uint32   `json:"ssrc"`
		Audio uint32   `json:"audio_ssrc"`
		Video uint32   `json:"video_ssrc"`
		RTX   uint32   `json:"rtx_ssrc"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return fmt.Errorf("read op %d: %w", op, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch op {
	case OpConnected:
		for _, user := range d.Users {
			m.people[user] = true
		}
		if m.private != nil {
			m.private.Connected(parseIDs(d.Users)...)
		}
	case OpDisconnected:
		delete(m.people, d.User)
		if m.private != nil {
			for _, user := range parseIDs([]string{d.User}) {
				m.private.Disconnected(user)
			}
		}
	case OpSpeaking:
		m.assignSource(d.SSRC, mediaSource{user: d.User})
	case OpVideo:
		m.assignSource(d.Audio, mediaSource{user: d.User})
		if m.assignSource(d.Video, mediaSource{user: d.User, video: true}); d.RTX != 0 {
			m.repeats[d.RTX] = d.Video
		}
	}
	return nil
}

func parseIDs(ids []string) []uint64 {
	var list []uint64
	for _, id := range ids {
		if n, err := strconv.ParseUint(id, 10, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// discover asks the server under which address it sees the socket (74 bytes: type, length, SSRC, address, port).
func discover(udp net.Conn, ssrc uint32) (string, int, error) {
	const size, tries = 74, 5
	ask := make([]byte, size)
	binary.BigEndian.PutUint16(ask, 1)
	binary.BigEndian.PutUint16(ask[2:], size-4)
	binary.BigEndian.PutUint32(ask[4:], ssrc)
	answer := make([]byte, 1500)
	var last error
	for range tries {
		if _, last = udp.Write(ask); last != nil {
			continue
		}
		if last = udp.SetReadDeadline(time.Now().Add(time.Second)); last != nil {
			break
		}
		n, err := udp.Read(answer)
		if last = err; err != nil || n != size || binary.BigEndian.Uint16(answer) != 2 {
			continue
		}
		end := 8
		for end < 72 && answer[end] != 0 {
			end++
		}
		return string(answer[8:end]), int(binary.BigEndian.Uint16(answer[72:])), udp.SetReadDeadline(time.Time{})
	}
	return "", 0, errors.Join(errors.New("ask for the own address: no answer"), last)
}

// Payload types and clocks of what a member sends.
const (
	payloadOpus = 120
	payloadVP8  = 105
	opusTicks   = 960 // of 20 ms at 48 kHz
)

// sentStream counts what the member sends of one kind.
type sentStream struct {
	sequence  uint16
	timestamp uint32
}

// Speak says that the member speaks (mask 1), shares sound (2) or is silent (0). It must come before the first packet.
func (m *Member) Speak(mask int) {
	m.mu.Lock()
	ssrc := m.session.audio
	m.mu.Unlock()
	m.sendJSON(OpSpeaking, map[string]any{"speaking": mask, "delay": 0, "ssrc": ssrc})
}

// OpusSilence is a packet of Opus without sound. It is never encrypted end to end.
var OpusSilence = []byte{0xf8, 0xff, 0xfe}

// Send sends one packet of Opus, 20 ms after the one before it by its timestamp.
func (m *Member) Send(opus []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.private != nil {
		sealed, err := m.private.Encrypt("opus", opus)
		if err != nil {
			return fmt.Errorf("%s sends sound: %w", m.User, err)
		}
		opus = sealed
	}
	m.audio.sequence++
	m.audio.timestamp += opusTicks
	return m.sendRTP(&rtp.Packet{Header: rtp.Header{
		Version: 2, PayloadType: payloadOpus, SequenceNumber: m.audio.sequence, Timestamp: m.audio.timestamp, SSRC: m.session.audio,
	}, Payload: opus})
}

// Pause lets the timestamps of sound run on, as when nothing is sent for that many packets.
func (m *Member) Pause(packets int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.audio.timestamp += uint32(packets) * opusTicks
}

// RequestQuality says by op 15 how much the member wants to have any video, 0 to 100.
func (m *Member) RequestQuality(much int) { m.sendJSON(OpWants, map[string]any{"any": much}) }

func (m *Member) sendRTP(p *rtp.Packet) error {
	data, err := p.Marshal()
	if err != nil {
		return fmt.Errorf("%s sends a packet: %w", m.User, err)
	}
	clear, err := ClearRTP(data)
	if err != nil {
		return fmt.Errorf("%s sends a packet: %w", m.User, err)
	}
	if _, err := m.udp.Write(m.session.out.Seal(data, clear)); err != nil {
		return fmt.Errorf("%s sends a packet: %w", m.User, err)
	}
	return nil
}

// SendRTCP sends a control packet.
func (m *Member) SendRTCP(packet []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, err := m.udp.Write(m.session.out.Seal(packet, 8)); err != nil {
		return fmt.Errorf("%s sends a control packet: %w", m.User, err)
	}
	return nil
}

// readMedia takes packets until the socket is closed.
func (m *Member) readMedia(ctx context.Context) {
	buf := make([]byte, 64<<10)
	for {
		n, err := m.udp.Read(buf)
		if err != nil {
			if ctx.Err() == nil {
				m.end(fmt.Errorf("read media: %w", err))
			}
			return
		}
		if IsRTCP(buf[:n]) {
			continue // feedback, which members have no use for
		}
		clear, err := ClearRTP(buf[:n])
		if err != nil {
			continue // a ping's answer, or no packet of RTP
		}
		m.mu.Lock()
		plain, _, err := m.session.in.Open(buf[:n], clear)
		var p rtp.Packet
		if err == nil && p.Unmarshal(plain) == nil {
			m.handleRTP(p)
		}
		m.mu.Unlock()
	}
}

// earlyPackets is how many packets of a source wait until the gateway says whose they are.
const earlyPackets = 64

// handleRTP deals with one packet. The lock is held.
func (m *Member) handleRTP(p rtp.Packet) {
	if video, again := m.repeats[p.SSRC]; again {
		if p, again = restoreRTX(p, video); !again {
			return
		}
	}
	from, known := m.sources[p.SSRC]
	switch {
	case !known:
		if len(m.early[p.SSRC]) < earlyPackets {
			m.early[p.SSRC] = append(m.early[p.SSRC], p)
		}
	case from.video:
		m.assemble(from, p)
	default:
		m.deliverFrame(from, "opus", p, p.Payload)
	}
}

// assignSource learns whose a source is.
func (m *Member) assignSource(ssrc uint32, from mediaSource) {
	if ssrc == 0 {
		return
	}
	m.sources[ssrc] = from
	for _, p := range m.early[ssrc] {
		m.handleRTP(p)
	}
	delete(m.early, ssrc)
}

// deliverFrame decrypts a frame and hands it out.
func (m *Member) deliverFrame(from mediaSource, codec string, p rtp.Packet, data []byte) {
	f := ReceivedFrame{
		From: from.user, Video: from.video, Payload: p.PayloadType, Sequence: p.SequenceNumber, Timestamp: p.Timestamp,
		Data: data, Encrypted: data,
	}
	if m.private != nil {
		user, err := strconv.ParseUint(from.user, 10, 64)
		if err == nil {
			f.Data, err = m.private.Decrypt(user, codec, data)
		}
		f.Err = err
	}
	select {
	case m.frames <- f:
	default: // nobody takes them
	}
}

const (
	maxPendingFrames  = 8    // pictures that are not whole yet
	maxMissing        = 4096 // packets; a larger gap is another beginning
	requestAfter      = 10 * time.Millisecond
	requestAgainAfter = 40 * time.Millisecond
	maxRequests       = 10 // times that one packet is asked for
	requestEvery      = 20 * time.Millisecond
)

// frameAssembler puts the packets of one source of video together.
type frameAssembler struct {
	ssrc    uint32
	begun   bool
	highest uint16 // sequence number
	given   uint16 // the last packet of the picture that was given out last
	any     bool   // given is set
	pending []*pendingFrame
	missing map[uint16]*missingPacket
}

// pendingFrame is a frame of which packets have come.
type pendingFrame struct {
	timestamp uint32
	parts     map[uint16]framePart
	last      rtp.Packet // with the marker
	whole     bool       // last is set
}

type framePart struct {
	first   bool
	payload []byte
}

// missingPacket is a packet that has not come.
type missingPacket struct {
	noticed, asked time.Time
	times          int
}

// assemble takes a packet of a picture. It is given out once all of it is there, in whichever order that came.
func (m *Member) assemble(from mediaSource, p rtp.Packet) {
	var vp8 codecs.VP8Packet
	payload, err := vp8.Unmarshal(p.Payload)
	if err != nil {
		return
	}
	s := m.pending[p.SSRC]
	if s == nil {
		s = &frameAssembler{ssrc: p.SSRC, missing: map[uint16]*missingPacket{}}
		m.pending[p.SSRC] = s
	}
	s.came(p.SequenceNumber, time.Now())
	if s.any && int16(p.SequenceNumber-s.given) <= 0 {
		return // of a picture that was given out, or is older
	}
	pic := s.picture(p.Timestamp)
	pic.parts[p.SequenceNumber] = framePart{vp8.S == 1 && vp8.PID == 0, payload}
	if p.Marker {
		pic.last, pic.whole = p, true
	}
	if data, ok := pic.data(); ok {
		if lost := s.done(pic); lost && m.options.RequestLost {
			pli := rtcp.PictureLossIndication{SenderSSRC: m.session.audio, MediaSSRC: s.ssrc}
			if report, err := pli.Marshal(); err == nil {
				_, _ = m.udp.Write(m.session.out.Seal(report, 8)) // what is lost is asked for again
			}
		}
		m.deliverFrame(from, "VP8", pic.last, data)
	}
}

// came notes which packets before this one are missing.
func (s *frameAssembler) came(sequence uint16, now time.Time) {
	step := int16(sequence - s.highest)
	if !s.begun || step > maxMissing || step < -maxMissing {
		s.begun, s.highest = true, sequence
		clear(s.missing)
		return
	}
	delete(s.missing, sequence)
	for ; step > 0; step-- {
		if s.highest++; s.highest != sequence {
			s.missing[s.highest] = &missingPacket{noticed: now}
		}
	}
}

func (s *frameAssembler) picture(timestamp uint32) *pendingFrame {
	for _, pic := range s.pending {
		if pic.timestamp == timestamp {
			return pic
		}
	}
	pic := &pendingFrame{timestamp: timestamp, parts: map[uint16]framePart{}}
	if s.pending = append(s.pending, pic); len(s.pending) > maxPendingFrames {
		s.pending = s.pending[1:]
	}
	return pic
}

// data returns the picture, if all of it is there.
func (p *pendingFrame) data() ([]byte, bool) {
	if !p.whole {
		return nil, false
	}
	var payloads [][]byte
	for n := p.last.SequenceNumber; ; n-- {
		part, there := p.parts[n]
		if !there {
			return nil, false
		}
		payloads = append(payloads, part.payload)
		if part.first {
			slices.Reverse(payloads)
			return slices.Concat(payloads...), true
		}
	}
}

// done forgets a picture that is given out, and all before it, and reports whether one of those was not whole.
func (s *frameAssembler) done(pic *pendingFrame) (lost bool) {
	s.given, s.any = pic.last.SequenceNumber, true
	s.pending = slices.DeleteFunc(s.pending, func(p *pendingFrame) bool { return int32(p.timestamp-pic.timestamp) <= 0 })
	for n := range s.missing {
		if int16(n-s.given) <= 0 {
			delete(s.missing, n)
			lost = true
		}
	}
	return lost
}

// restoreRTX makes of a packet of RFC 4588 the one that was lost.
func restoreRTX(p rtp.Packet, video uint32) (rtp.Packet, bool) {
	if len(p.Payload) < 2 {
		return p, false
	}
	p.SequenceNumber, p.SSRC, p.PayloadType, p.Payload = binary.BigEndian.Uint16(p.Payload), video, payloadVP8, p.Payload[2:]
	return p, true
}

// requestLost asks for packets of pictures that do not come, until ctx ends.
func (m *Member) requestLost(ctx context.Context) {
	tick := time.NewTicker(requestEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			m.mu.Lock()
			for _, s := range m.pending {
				m.requestMissing(s, now)
			}
			m.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// requestMissing sends a generic NACK (RFC 4585). The lock is held.
func (m *Member) requestMissing(s *frameAssembler, now time.Time) {
	var wanted []uint16
	for n, g := range s.missing {
		if now.Sub(g.noticed) < requestAfter || now.Sub(g.asked) < requestAgainAfter {
			continue
		}
		if g.times++; g.times > maxRequests {
			delete(s.missing, n)
			continue
		}
		g.asked = now
		wanted = append(wanted, n)
	}
	if len(wanted) == 0 {
		return
	}
	slices.Sort(wanted)
	nack := rtcp.TransportLayerNack{SenderSSRC: m.session.audio, MediaSSRC: s.ssrc, Nacks: rtcp.NackPairsFromSequenceNumbers(wanted)}
	data, err := nack.Marshal()
	if err == nil {
		_, _ = m.udp.Write(m.session.out.Seal(data, 8)) // what is lost is asked for again
	}
}
