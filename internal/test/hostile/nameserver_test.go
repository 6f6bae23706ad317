package main

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

var (
	testSiteAddr    = netip.MustParseAddr("93.184.215.14")
	testPrivateAddr = netip.MustParseAddr("10.66.0.1")
)

// openNameServer starts a server, and returns a resolver that asks it over UDP.
func openNameServer(t *testing.T, asked func(DNSQuestion)) *net.Resolver {
	t.Helper()
	s := &NameServer{Site: testSiteAddr, Asked: asked}
	at, err := s.Listen(t.Context(), netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", at.String())
	}}
}

func lookupName(t *testing.T, r *net.Resolver, name string) []netip.Addr {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	addrs, err := r.LookupNetIP(ctx, "ip", name+".")
	if err != nil {
		t.Fatalf("look up %s: %v", name, err)
	}
	for i, a := range addrs {
		addrs[i] = a.Unmap()
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs
}

func TestNamesLeadWhereTheirKindSays(t *testing.T) {
	r := openNameServer(t, nil)
	six := netip.MustParseAddr("fd00:66::1")
	for _, test := range []struct {
		name string
		want []netip.Addr
	}{
		{"b001.hostile.test", []netip.Addr{testSiteAddr}},
		{"b001.elsewhere.test", []netip.Addr{testSiteAddr}},
		{EncodeName("b001", NameDirect, testPrivateAddr), []netip.Addr{testPrivateAddr}},
		{EncodeName("b001", NameDirect, six), []netip.Addr{six}},
		{EncodeName("b001", NameBoth, testPrivateAddr), []netip.Addr{testPrivateAddr, testSiteAddr}},
		{EncodeName("b001", NameSecond, six), []netip.Addr{testSiteAddr, six}},
		{EncodeName("b001", NameAlias, testPrivateAddr), []netip.Addr{testPrivateAddr}},
		{EncodeName("b001", NameChain, testPrivateAddr), []netip.Addr{testPrivateAddr}},
	} {
		if got := lookupName(t, r, test.name); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestNameChangesItsMindAfterTheFirstQuestion(t *testing.T) {
	s := &NameServer{Site: testSiteAddr}
	name := EncodeName("b001", NameFlip, testPrivateAddr)
	for i, want := range []netip.Addr{testSiteAddr, testPrivateAddr, testPrivateAddr} {
		if got := exchangeDNS(t, s, name); got != want {
			t.Errorf("answer %d: got %v, want %v", i+1, got, want)
		}
	}
}

func exchangeDNS(t *testing.T, s *NameServer, name string) netip.Addr {
	t.Helper()
	b := dnsmessage.NewBuilder(nil, dnsmessage.Header{ID: 1})
	if err := b.StartQuestions(); err != nil {
		t.Fatal(err)
	}
	question := dnsmessage.Question{Name: dnsmessage.MustNewName(name + "."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}
	if err := b.Question(question); err != nil {
		t.Fatal(err)
	}
	raw, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	reply, ok := s.Answer(raw, netip.AddrPort{})
	var m dnsmessage.Message
	if !ok || m.Unpack(reply) != nil || len(m.Answers) != 1 {
		t.Fatalf("%s: %d answers", name, len(m.Answers))
	}
	a, ok := m.Answers[0].Body.(*dnsmessage.AResource)
	if !ok || m.Answers[0].Header.TTL != 0 {
		t.Fatalf("%s: %v", name, m.Answers[0])
	}
	return netip.AddrFrom4(a.A)
}

func TestQuestionsAreTold(t *testing.T) {
	asked := make(chan DNSQuestion, 8)
	lookupName(t, openNameServer(t, func(q DNSQuestion) { asked <- q }), "B001.Hostile.Test")
	if got, want := (<-asked).Name, "b001.hostile.test"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04b001\x07hostile\x04test\x00\x00\x01\x00\x01"))
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05x-7f0\x04both\x04bent\x04test\x00\x00\x1c\x00\x01"))
	f.Fuzz(func(t *testing.T, message []byte) {
		s := &NameServer{Site: testSiteAddr}
		reply, ok := s.Answer(message, netip.AddrPort{})
		var m dnsmessage.Message
		if ok && m.Unpack(reply) != nil {
			t.Errorf("the answer to %q cannot be read", message)
		}
	})
}
