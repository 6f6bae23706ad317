package webrtc

import (
	"encoding/json"
	"sync"

	"clank/voice"
)

// callPage is one page in a call, or about to be.
type callPage struct {
	host   *CallHost
	person voice.Person

	conn *Conn // set before the page is known to anybody else

	mu    sync.Mutex
	call  *PageCall // it has joined
	muted bool
}

func (p *callPage) handleUp(conn *Conn) {
	p.mu.Lock()
	first := p.call == nil
	if first {
		p.conn = conn
		p.call = p.host.currentOrNew()
	}
	call := p.call
	p.mu.Unlock()
	switch {
	case call == nil || first && !call.addPage(p):
		conn.End(errClosing)
	case !first:
		call.setReachable(p, true)
	}
}

func (p *callPage) handleDown() {
	if call := p.currentCall(); call != nil {
		call.setReachable(p, false)
	}
}

func (p *callPage) handleLeft() {
	if call := p.currentCall(); call != nil {
		call.removePage(p)
	}
}

func (p *callPage) currentCall() *PageCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

func (p *callPage) handlePacket(packet voice.Packet) {
	p.mu.Lock()
	call, muted := p.call, p.muted
	p.mu.Unlock()
	if call == nil || muted {
		return
	}
	packet.From = p.person.ID
	call.queue.push(voice.Event{Kind: voice.PacketReceived, Packet: packet})
}

// pageCommand is what a page's script asks for.
type pageCommand struct {
	Type string `json:"type"` // stop, share, mute, leave
	On   bool   `json:"on"`
}

func (p *callPage) handleMessage(data []byte) {
	var w pageCommand
	call := p.currentCall()
	if call == nil || json.Unmarshal(data, &w) != nil {
		return // not a page of ours
	}
	switch w.Type {
	case "stop":
		if p.host.Stop != nil {
			p.host.Stop(call, p.person)
		}
	case "share":
		if p.host.Share != nil {
			p.host.Share(call, p.person, w.On)
		}
	case "mute":
		p.mu.Lock()
		p.muted = w.On
		p.mu.Unlock()
	case "leave":
		p.conn.End(ErrPageLeft)
	}
}

// sendMessage tells the page's script something. A page that does not listen is let go.
func (p *callPage) sendMessage(text string) {
	if err := p.conn.SendMessage(text); err != nil {
		p.conn.End(err)
	}
}
