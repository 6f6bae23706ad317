package voicetest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/coder/websocket"
)

// receive deals with one message of a client. The lock is held.
func (s *Server) receive(c *conn, kind websocket.MessageType, data []byte) {
	if kind == websocket.MessageBinary {
		s.receiveBinary(c, data)
		return
	}
	var m struct {
		Op   *int            `json:"op"`
		Data json.RawMessage `json:"d"`
	}
	if err := json.Unmarshal(data, &m); err != nil || m.Op == nil {
		s.received(c, Message{Op: -1, Binary: slices.Clone(data)})
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	s.received(c, Message{Op: *m.Op, Data: m.Data})
	known := true
	switch *m.Op {
	case OpHeartbeat:
		s.heartbeat(c, m.Data)
	case OpIdentify, OpResume:
		switch {
		case c.client != nil:
			s.closeWith(c, CloseAlreadyAuthed, "Already authenticated.")
		case *m.Op == OpIdentify:
			s.identify(c, m.Data)
		default:
			s.resume(c, m.Data)
		}
	default:
		known = slices.Contains([]int{
			OpSelectProtocol, OpSpeaking, OpVideo, OpSessionUpdate, OpWants, OpBackend, OpNoRoute,
			OpReadyForTransition, OpInvalidCommitWelcome,
		}, *m.Op)
		if known && c.client == nil {
			s.closeWith(c, CloseNotAuthenticated, "Not authenticated.")
		} else if known {
			s.command(c, *m.Op, m.Data)
		}
	}
	if !known {
		s.closeWith(c, CloseUnknownOpcode, "Unknown opcode.")
	}
}

func (s *Server) receiveBinary(c *conn, data []byte) {
	if len(data) == 0 {
		s.received(c, Message{Op: -1})
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	op := int(data[0])
	s.received(c, Message{Op: op, Binary: slices.Clone(data[1:])})
	switch {
	case op != OpKeyPackage && op != OpCommitWelcome:
		s.closeWith(c, CloseUnknownOpcode, "Unknown opcode.")
	case c.client == nil:
		s.closeWith(c, CloseNotAuthenticated, "Not authenticated.")
	default:
		s.checkOrder(c.client, op)
		s.handleGroupBinary(c.client, op, slices.Clone(data[1:]))
	}
}

// heartbeat answers, and forgets what the client says it has.
func (s *Server) heartbeat(c *conn, data json.RawMessage) {
	var d struct {
		Time json.RawMessage `json:"t"`
		Seq  *int            `json:"seq_ack"`
	}
	if err := json.Unmarshal(data, &d); err != nil || d.Time == nil || d.Seq == nil {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
		return
	}
	if cl := c.client; cl != nil && !cl.acknowledge(*d.Seq) {
		s.recordViolation(cl.seat, fmt.Sprintf("heartbeat acknowledges %d, after %d and with %d as the last number", *d.Seq, cl.acked, cl.seq))
		s.closeWith(c, CloseBadRequest, "Bad request.")
		return
	}
	c.silence.Reset(s.cfg.Heartbeat * 3 / 2)
	if !s.withholdACKs {
		s.sendTo(c, OpHeartbeatACK, map[string]any{"t": d.Time})
	}
}

// command deals with what only a client that is signed in may send.
func (s *Server) command(c *conn, op int, data json.RawMessage) {
	cl := c.client
	s.checkOrder(cl, op)
	ok := true
	switch op {
	case OpSelectProtocol:
		ok = s.selectProtocol(c, data)
	case OpSpeaking:
		ok = s.speak(c, data)
	case OpVideo:
		ok = s.show(c, data)
	case OpSessionUpdate:
		ok = s.updateSession(cl, data)
	case OpWants:
		ok = s.want(cl, data)
	case OpReadyForTransition, OpInvalidCommitWelcome:
		ok = s.handleGroupJSON(cl, op, data)
	case OpBackend:
		s.send(cl, OpBackend, map[string]any{"voice": "0.11.0", "rtc_worker": "0.4.11"})
	}
	if !ok {
		s.closeWith(c, CloseDecodeError, "Failed to decode payload.")
	}
}

func (s *Server) speak(c *conn, data json.RawMessage) bool {
	var d speaking
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	cl := c.client
	if d.SSRC != cl.audio {
		s.recordViolation(cl.seat, fmt.Sprintf("speaks with SSRC %d, and %d is its own", d.SSRC, cl.audio))
		s.closeWith(c, CloseBadRequest, "Bad request.")
		return true
	}
	if d.Mask&^7 != 0 || d.Delay != 0 {
		s.recordViolation(cl.seat, "speaks by "+string(data))
	}
	cl.speaking = &d
	s.broadcast(cl, OpSpeaking, spoken(cl))
	s.sendEarly(cl)
	return true
}

// show handles op 12: what video a client sends, or that it stops. It reports whether the data could be read.
func (s *Server) show(c *conn, data json.RawMessage) bool {
	var d struct {
		Audio   uint32 `json:"audio_ssrc"`
		Video   uint32 `json:"video_ssrc"`
		RTX     uint32 `json:"rtx_ssrc"`
		Streams []struct {
			Type   string `json:"type"`
			RID    string `json:"rid"`
			SSRC   uint32 `json:"ssrc"`
			Active bool   `json:"active"`
		} `json:"streams"`
	}
	if json.Unmarshal(data, &d) != nil {
		return false
	}
	cl := c.client
	if cl.mode == "webrtc" && d.RTX != 0 && s.sources[d.RTX] == nil { // there the client chooses it
		delete(s.sources, cl.rtx)
		cl.rtx, s.sources[d.RTX] = d.RTX, cl
	}
	foreign := (d.Video != 0 && d.Video != cl.video) || (d.RTX != 0 && d.RTX != cl.rtx)
	for _, stream := range d.Streams {
		foreign = foreign || stream.SSRC != cl.video
	}
	if foreign {
		s.recordViolation(cl.seat, "shows video of a source that is not its own: "+string(data))
		s.closeWith(c, CloseBadRequest, "Bad request.")
		return true
	}
	cl.camera = slices.Clone(data)
	s.broadcast(cl, OpVideo, withUser(data, cl.seat.User))
	s.sendWants(cl)
	s.sendEarly(cl)
	return true
}
