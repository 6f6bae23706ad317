package webcall

import (
	"encoding/json"
	"sync"

	"clank/voice"
	"clank/voice/rtc"
)

// page is one page in a call, or about to be.
type page struct {
	host   *Host
	person voice.Person

	conn *rtc.Conn // set before the page is known to anybody else

	mu    sync.Mutex
	call  *Call // it has joined
	muted bool
}

func (p *page) up(conn *rtc.Conn) {
	p.mu.Lock()
	first := p.call == nil
	if first {
		p.conn = conn
		p.call = p.host.enter()
	}
	call := p.call
	p.mu.Unlock()
	switch {
	case call == nil || first && !call.join(p):
		conn.End(errClosing)
	case !first:
		call.reachable(p, true)
	}
}

func (p *page) down() {
	if call := p.in(); call != nil {
		call.reachable(p, false)
	}
}

func (p *page) left() {
	if call := p.in(); call != nil {
		call.leave(p)
	}
}

func (p *page) in() *Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

func (p *page) hear(packet voice.Packet) {
	p.mu.Lock()
	call, muted := p.call, p.muted
	p.mu.Unlock()
	if call == nil || muted {
		return
	}
	packet.From = p.person.ID
	call.queue.push(voice.Event{Kind: voice.Heard, Packet: packet})
}

// wish is what a page's script asks for.
type wish struct {
	Type string `json:"type"` // stop, share, mute, leave
	On   bool   `json:"on"`
}

func (p *page) message(data []byte) {
	var w wish
	call := p.in()
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
		p.conn.End(rtc.ErrLeft)
	}
}

// say tells the page's script something. A page that does not listen is let go.
func (p *page) say(text string) {
	if err := p.conn.Say(text); err != nil {
		p.conn.End(err)
	}
}
