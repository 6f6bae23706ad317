package voiceserver

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"clank/internal/discordtest/aead"
	"clank/internal/discordtest/rtcpeer"
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
		peer, answer, err := rtcpeer.Answer(rtcpeer.Options{
			Fragment: offer, Audio: cl.audio, Video: cl.video,
			OnRTP:  func(p []byte) { s.receivePlain(cl, p) },
			OnRTCP: func(p []byte) { s.receivePlainRTCP(cl, p) },
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		defer s.notify()
		if err != nil {
			s.violate(cl.seat, err.Error())
			s.shut(c, CloseBadRequest, "Bad request.")
			return
		}
		s.peers[peer] = true
		if s.clients[cl.seat] != cl {
			s.endPeer(peer)
			return
		}
		s.endPeer(cl.peer)
		cl.peer, cl.mode = peer, "webrtc"
		s.enter(cl, map[string]any{"sdp": answer})
	})
	return true
}

// endPeer closes a connection without waiting for it; Close does that. The lock is held, and what the connection has
// started may want it.
func (s *Server) endPeer(p *rtcpeer.Peer) {
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
	if _, err := aead.ClearRTP(p); err != nil {
		s.violate(cl.seat, fmt.Sprintf("no packet of RTP: %d bytes", len(p)))
		return
	}
	ssrc := binary.BigEndian.Uint32(p[8:])
	if s.sources[ssrc] != cl {
		s.violate(cl.seat, fmt.Sprintf("media of SSRC %d, which is not its own", ssrc))
		return
	}
	s.take(cl, ssrc, p)
}

// receivePlainRTCP takes control packets that came over WebRTC.
func (s *Server) receivePlainRTCP(cl *client, p []byte) {
	if !aead.IsRTCP(p) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.notify()
	s.takeRTCP(cl, p)
}
