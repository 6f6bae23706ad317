package voicetest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
)

// selectWebRTC begins the WebRTC mode: the data of op 1 is a part of an offer. Op 4 follows when the answer is there. The
// client can publish by it; media of others does not reach it.
func (s *Server) selectWebRTC(c *conn, data json.RawMessage) bool {
	var offer string
	if json.Unmarshal(data, &offer) != nil {
		return false
	}
	cl := c.client
	s.tasks.Go(func() {
		peer, answer, err := AnswerFragment(PeerOptions{
			Fragment: offer, Audio: cl.audio, Video: cl.video,
			OnRTP:  func(p []byte) { s.receivePlain(cl, p) },
			OnRTCP: func(p []byte) { s.receivePlainRTCP(cl, p) },
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		defer s.notify()
		if err != nil {
			s.recordViolation(cl.seat, err.Error())
			s.closeWith(c, CloseBadRequest, "Bad request.")
			return
		}
		s.peers[peer] = true
		if s.clients[cl.seat] != cl {
			s.endPeer(peer)
			return
		}
		s.endPeer(cl.peer)
		cl.peer, cl.mode = peer, "webrtc"
		s.startMedia(cl, map[string]any{"sdp": answer})
	})
	return true
}

// endPeer closes a connection without waiting for it; Close does that. The lock is held, and what the connection has
// started may want it.
func (s *Server) endPeer(p *RTCPeer) {
	if p == nil || s.closed {
		return
	}
	delete(s.peers, p)
	s.tasks.Go(func() {
		_ = p.Close() // the client has gone
	})
}

// receivePlain takes a packet of media that came over WebRTC.
func (s *Server) receivePlain(cl *client, p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	if _, err := ClearRTP(p); err != nil {
		s.recordViolation(cl.seat, fmt.Sprintf("no packet of RTP: %d bytes", len(p)))
		return
	}
	ssrc := binary.BigEndian.Uint32(p[8:])
	if s.sources[ssrc] != cl {
		s.recordViolation(cl.seat, fmt.Sprintf("media of SSRC %d, which is not its own", ssrc))
		return
	}
	s.handleRTP(cl, ssrc, p)
}

// receivePlainRTCP takes control packets that came over WebRTC.
func (s *Server) receivePlainRTCP(cl *client, p []byte) {
	if !IsRTCP(p) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	s.handleRTCP(cl, p)
}
