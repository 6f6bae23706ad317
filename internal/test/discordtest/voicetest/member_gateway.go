package voicetest

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/coder/websocket"
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
