package egress_test

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// nameserver answers DNS questions over a real UDP socket. Each name has a list of answers, which it gives one after the
// other; the last one stays. An answer holds the addresses of both families.
type nameserver struct {
	resolver *net.Resolver

	mu      sync.Mutex
	answers map[string][][]netip.Addr
	turn    map[string]int
	asked   map[string]int
}

func newNameserver(tb testing.TB) *nameserver {
	tb.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &nameserver{answers: map[string][][]netip.Addr{}, turn: map[string]int{}, asked: map[string]int{}}
	s.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp4", conn.LocalAddr().String())
	}}
	var work sync.WaitGroup
	work.Go(func() {
		buf := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := s.answer(buf[:n]); answer != nil {
				conn.WriteTo(answer, from)
			}
		}
	})
	tb.Cleanup(func() {
		conn.Close()
		work.Wait()
	})
	return s
}

// set says what a name resolves to, at the first lookup, the second, and so on.
func (s *nameserver) set(name string, answers ...[]netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name+"."], s.turn[name+"."] = answers, 0
}

// count returns how often the IPv4 addresses of a name were asked for.
func (s *nameserver) count(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[name+"."]
}

func (s *nameserver) answer(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := q.Name.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true}, Questions: m.Questions}
	list, known := s.answers[name]
	if !known {
		reply.RCode = dnsmessage.RCodeNameError
	}
	header := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET, TTL: 0}
	if known {
		for _, a := range list[min(s.turn[name], len(list)-1)] {
			switch {
			case a.Is4() && q.Type == dnsmessage.TypeA:
				reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: a.As4()}})
			case a.Is6() && q.Type == dnsmessage.TypeAAAA:
				reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
			}
		}
	}
	if q.Type == dnsmessage.TypeA {
		s.asked[name]++
	}
	// The resolver asks for both families at the same time: the turn is over when both have their answer.
	if both := s.asked[name+"/both"] + 1; both == 2 {
		s.asked[name+"/both"] = 0
		s.turn[name]++
	} else {
		s.asked[name+"/both"] = both
	}
	out, err := reply.Pack()
	if err != nil {
		return nil
	}
	return out
}

func addrs(all ...string) []netip.Addr {
	list := make([]netip.Addr, len(all))
	for i, a := range all {
		list[i] = netip.MustParseAddr(a)
	}
	return list
}
