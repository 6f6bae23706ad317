package relay

import (
	"context"
	"net"
	"sync"
	"time"
)

// Holder is what somebody else keeps of a connection for as long as it is open.
type Holder interface {
	// Valid says whether the connection may be used for another exchange; asked before each but the first.
	Valid() bool
	// Release is called once, after the connection was closed.
	Release()
}

// Dial opens a connection for an exchange. Its holder is not nil.
type Dial func(ctx context.Context) (net.Conn, Holder, error)

const (
	keep     = 60 * time.Second // how long a connection waits for its next exchange
	keepMost = 8                // connections kept for one server
)

// Pool keeps connections to servers between exchanges. The zero value is ready; end it with Close.
type Pool struct {
	Limits Limits

	mu     sync.Mutex
	closed bool
	kept   map[string][]*server
}

// take gives out a kept connection to the server of that name, nil if there is none.
func (p *Pool) take(name string) *server {
	for {
		p.mu.Lock()
		all := p.kept[name]
		if len(all) == 0 {
			p.mu.Unlock()
			return nil
		}
		s := all[len(all)-1]
		p.kept[name] = all[:len(all)-1]
		if len(all) == 1 {
			delete(p.kept, name)
		}
		p.mu.Unlock()
		if time.Since(s.since) < keep && s.holder.Valid() && quiet(s.Conn) {
			return s
		}
		s.close()
	}
}

// put keeps a connection that has served an exchange to its end.
func (p *Pool) put(name string, s *server) {
	if s.SetDeadline(time.Time{}) != nil || s.in.Buffered() > 0 {
		s.close()
		return
	}
	s.since, s.used = time.Now(), true
	p.mu.Lock()
	if p.closed || len(p.kept[name]) >= keepMost {
		p.mu.Unlock()
		s.close()
		return
	}
	if p.kept == nil {
		p.kept = map[string][]*server{}
	}
	p.kept[name] = append(p.kept[name], s)
	p.mu.Unlock()
}

// Sweep closes the kept connections that have waited too long or are not valid any more.
func (p *Pool) Sweep() {
	var old []*server
	p.mu.Lock()
	for name, all := range p.kept {
		var stay []*server
		for _, s := range all {
			if time.Since(s.since) < keep && s.holder.Valid() {
				stay = append(stay, s)
			} else {
				old = append(old, s)
			}
		}
		p.kept[name] = stay
		if len(stay) == 0 {
			delete(p.kept, name)
		}
	}
	p.mu.Unlock()
	for _, s := range old {
		s.close()
	}
}

// Close closes the kept connections. Exchanges that are under way close theirs.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	all := p.kept
	p.kept = nil
	p.mu.Unlock()
	for _, kept := range all {
		for _, s := range kept {
			s.close()
		}
	}
}
