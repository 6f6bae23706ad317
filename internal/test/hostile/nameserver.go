package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"golang.org/x/net/dns/dnsmessage"
)

// Zones of the server. Names below Evil resolve to the hostile site, and so do those below Other, which is a
// different site for browsers. A name below Bent has the form word-ADDRESS.KIND.Bent, see [EncodeName].
const (
	hostileZone = "hostile.test"
	otherZone   = "elsewhere.test"
	addressZone = "bent.test"
)

// nameKind is how a bent name resolves to its address.
type nameKind string

// Kinds of bent names.
const (
	NameDirect nameKind = "to"     // the address
	NameBoth   nameKind = "both"   // a public address and then the address
	nameBehind nameKind = "behind" // the address and then a public one
	NameAlias  nameKind = "alias"  // an alias of a name with the address
	NameChain  nameKind = "chain"  // a chain of three aliases
	NameFlip   nameKind = "flip"   // a public address for the first question, then the address
	NameSecond nameKind = "second" // a public IPv4 address, and the address as IPv6
)

// EncodeName returns a name that resolves to addr in the way of kind. word makes it unique.
func EncodeName(word string, kind nameKind, addr netip.Addr) string {
	return fmt.Sprintf("%s-%x.%s.%s", word, addr.AsSlice(), kind, addressZone)
}

// DNSQuestion is a received question.
type DNSQuestion struct {
	Name string // without the trailing dot
	At   netip.AddrPort
}

// NameServer is a DNS server. Set its fields before [NameServer.Listen].
type NameServer struct {
	// Site is the address of the hostile site.
	Site netip.Addr
	// Asked, if set, is called with each question.
	Asked func(DNSQuestion)

	mu    sync.Mutex
	seen  map[string]int // number of questions for the IPv4 address of a name
	conns []net.PacketConn
	wg    sync.WaitGroup
}

// Listen serves another UDP address until Close, and returns the address.
func (s *NameServer) Listen(ctx context.Context, at netip.AddrPort) (netip.AddrPort, error) {
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(ctx, "udp", at.String())
	if err != nil {
		return at, fmt.Errorf("open name server: %w", err)
	}
	s.mu.Lock()
	s.conns = append(s.conns, conn)
	s.mu.Unlock()
	if udp, ok := conn.LocalAddr().(*net.UDPAddr); ok {
		at = udp.AddrPort()
	}
	s.wg.Go(func() { s.serve(conn, at) })
	return at, nil
}

// Close ends the server.
func (s *NameServer) Close() {
	s.mu.Lock()
	for _, c := range s.conns {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.wg.Wait()
}

func (s *NameServer) serve(conn net.PacketConn, at netip.AddrPort) {
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		if answer, ok := s.Answer(buf[:n], at); ok {
			_, _ = conn.WriteTo(answer, from)
		}
	}
}

// Answer returns the answer to a message. ok is false if it is not a question.
func (s *NameServer) Answer(message []byte, at netip.AddrPort) (answer []byte, ok bool) {
	var parser dnsmessage.Parser
	header, err := parser.Start(message)
	if err != nil || header.Response {
		return nil, false
	}
	question, err := parser.Question()
	if err != nil {
		return nil, false
	}
	name := strings.ToLower(strings.TrimSuffix(question.Name.String(), "."))
	if s.Asked != nil {
		s.Asked(DNSQuestion{Name: name, At: at})
	}
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{
		ID: header.ID, Response: true, Authoritative: true, RecursionDesired: header.RecursionDesired,
		RecursionAvailable: true,
		RCode:              dnsmessage.RCodeSuccess,
	})
	b.EnableCompression()
	aliases, addrs := s.records(name, question.Type)
	if err := writeRecords(&b, question, aliases, addrs); err != nil {
		return nil, false
	}
	answer, err = b.Finish()
	return answer, err == nil
}

func writeRecords(b *dnsmessage.Builder, question dnsmessage.Question, aliases []string, addrs []netip.Addr) error {
	if err := errors.Join(b.StartQuestions(), b.Question(question), b.StartAnswers()); err != nil {
		return err
	}
	owner := question.Name
	for _, alias := range aliases {
		next, err := dnsmessage.NewName(alias + ".")
		if err != nil {
			return err
		}
		if err := b.CNAMEResource(dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET},
			dnsmessage.CNAMEResource{CNAME: next}); err != nil {
			return err
		}
		owner = next
	}
	for _, addr := range addrs {
		head := dnsmessage.ResourceHeader{Name: owner, Class: dnsmessage.ClassINET}
		var err error
		switch {
		case addr.Is4() && question.Type == dnsmessage.TypeA:
			err = b.AResource(head, dnsmessage.AResource{A: addr.As4()})
		case !addr.Is4() && question.Type == dnsmessage.TypeAAAA:
			err = b.AAAAResource(head, dnsmessage.AAAAResource{AAAA: addr.As16()})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// records returns the aliases and addresses of a name.
func (s *NameServer) records(name string, kind dnsmessage.Type) (aliases []string, addrs []netip.Addr) {
	if inZone(name, hostileZone) || inZone(name, otherZone) {
		return nil, []netip.Addr{s.Site}
	}
	bend, addr, ok := decodeName(name)
	if !ok {
		return nil, nil
	}
	plain := EncodeName("x", NameDirect, addr)
	switch bend { //nolint:exhaustive // other kinds have only the address
	case NameBoth:
		return nil, []netip.Addr{s.Site, addr}
	case nameBehind, NameSecond:
		return nil, []netip.Addr{addr, s.Site}
	case NameAlias:
		return []string{plain}, []netip.Addr{addr}
	case NameChain:
		return []string{"a." + hostileZone, EncodeName("y", NameDirect, addr), plain}, []netip.Addr{addr}
	case NameFlip:
		if s.count(name, kind) == 1 {
			return nil, []netip.Addr{s.Site}
		}
	}
	return nil, []netip.Addr{addr}
}

// count counts the questions for an address of a name.
func (s *NameServer) count(name string, kind dnsmessage.Type) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]int{}
	}
	if kind == dnsmessage.TypeA {
		s.seen[name]++
	}
	return s.seen[name]
}

func inZone(name, zone string) bool { return name == zone || strings.HasSuffix(name, "."+zone) }

// decodeName parses a bent name.
func decodeName(name string) (kind nameKind, addr netip.Addr, ok bool) {
	rest, ok := strings.CutSuffix(name, "."+addressZone)
	if !ok {
		return "", netip.Addr{}, false
	}
	head, bend, _ := strings.Cut(rest, ".")
	_, digits, _ := strings.Cut(head, "-")
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return "", netip.Addr{}, false
	}
	addr, ok = netip.AddrFromSlice(raw)
	return nameKind(bend), addr, ok
}
