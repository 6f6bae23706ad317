package names_test

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"clank/internal/hostile/names"
)

var (
	site    = netip.MustParseAddr("93.184.215.14")
	private = netip.MustParseAddr("10.66.0.1")
)

// open starts a server, and returns a resolver that asks it over UDP.
func open(t *testing.T, asked func(names.Question)) *net.Resolver {
	t.Helper()
	s := &names.Server{Site: site, Asked: asked}
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

func look(t *testing.T, r *net.Resolver, name string) []netip.Addr {
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
	r := open(t, nil)
	six := netip.MustParseAddr("fd00:66::1")
	for _, test := range []struct {
		name string
		want []netip.Addr
	}{
		{"b001.hostile.test", []netip.Addr{site}},
		{"b001.elsewhere.test", []netip.Addr{site}},
		{names.Bend("b001", names.To, private), []netip.Addr{private}},
		{names.Bend("b001", names.To, six), []netip.Addr{six}},
		{names.Bend("b001", names.Both, private), []netip.Addr{private, site}},
		{names.Bend("b001", names.Second, six), []netip.Addr{site, six}},
		{names.Bend("b001", names.Alias, private), []netip.Addr{private}},
		{names.Bend("b001", names.Chain, private), []netip.Addr{private}},
	} {
		if got := look(t, r, test.name); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestNameChangesItsMindAfterTheFirstQuestion(t *testing.T) {
	s := &names.Server{Site: site}
	name := names.Bend("b001", names.Flip, private)
	for i, want := range []netip.Addr{site, private, private} {
		if got := answer(t, s, name); got != want {
			t.Errorf("answer %d: got %v, want %v", i+1, got, want)
		}
	}
}

func answer(t *testing.T, s *names.Server, name string) netip.Addr {
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
	asked := make(chan names.Question, 8)
	look(t, open(t, func(q names.Question) { asked <- q }), "B001.Hostile.Test")
	if got, want := (<-asked).Name, "b001.hostile.test"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x04b001\x07hostile\x04test\x00\x00\x01\x00\x01"))
	f.Add([]byte("\x00\x01\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05x-7f0\x04both\x04bent\x04test\x00\x00\x1c\x00\x01"))
	f.Fuzz(func(t *testing.T, message []byte) {
		s := &names.Server{Site: site}
		reply, ok := s.Answer(message, netip.AddrPort{})
		var m dnsmessage.Message
		if ok && m.Unpack(reply) != nil {
			t.Errorf("the answer to %q cannot be read", message)
		}
	})
}
