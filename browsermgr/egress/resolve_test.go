package egress_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"clank/browsermgr/egress"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/dns/dnsmessage"
)

// names answers after a delay, or when released.
type names struct {
	takes time.Duration
	addrs []netip.Addr
	err   error

	asked atomic.Int32
	ended atomic.Int32
	last  atomic.Value
}

func (n *names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	n.asked.Add(1)
	n.last.Store(host)
	select {
	case <-time.After(n.takes):
		return n.addrs, n.err
	case <-ctx.Done():
		n.ended.Add(1)
		return nil, ctx.Err()
	}
}

var loopback = []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1"), netip.MustParseAddr("::1")}

func TestOneLookupServesAllWhoAskAndIsKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &names{takes: time.Second, addrs: loopback}
		c := egress.NewDNSCache(n)
		defer c.Close()
		want := []string{"127.0.0.1", "::1"}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				addrs, err := c.Lookup(t.Context(), "a.test")
				got := make([]string, len(addrs))
				for i, a := range addrs {
					got[i] = a.String()
				}
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("%v, addresses (-want +got):\n%s", err, diff)
				}
			})
		}
		all.Wait()
		// In numbers, so that a name cannot come to be kept for hours.
		time.Sleep(29 * time.Second) //nolint:forbidigo // the clock of synctest
		if _, err := c.Lookup(t.Context(), "a.test"); err != nil || n.asked.Load() != 1 {
			t.Errorf("got %v; asked %d times, want once", err, n.asked.Load())
		}
		time.Sleep(2 * time.Second) //nolint:forbidigo // likewise
		if _, err := c.Lookup(t.Context(), "a.test"); err != nil || n.asked.Load() != 2 {
			t.Errorf("got %v; asked %d times, want twice", err, n.asked.Load())
		}
	})
}

func TestNamesWithDotsAreWhole(t *testing.T) {
	n := &names{addrs: loopback}
	c := egress.NewDNSCache(n)
	defer c.Close()
	for host, want := range map[string]string{"a.test": "a.test.", "nas": "nas"} {
		if _, err := c.Lookup(t.Context(), host); err != nil || n.last.Load() != want {
			t.Errorf("%s: asked for %q (%v), want %q", host, n.last.Load(), err, want)
		}
	}
}

func TestFailuresAreNotKept(t *testing.T) {
	for want, n := range map[string]*names{"broken": {err: errors.New("broken")}, "lookup a.test: no address": {}} {
		c := egress.NewDNSCache(n)
		for range 2 {
			check.Fails(t, check.Err(c.Lookup(t.Context(), "a.test")), nil, want)
		}
		check.Equal(t, "times asked", n.asked.Load(), 2)
		c.Close()
	}
	c := egress.NewDNSCache(&names{})
	defer c.Close()
	_, err := c.Lookup(t.Context(), "a.test")
	if dns, ok := errors.AsType[*net.DNSError](err); !ok || !dns.IsNotFound {
		t.Errorf("no address: got %v", err)
	}
}

func TestALookupEndsWithTheLastWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &names{takes: time.Hour}
		c := egress.NewDNSCache(n)
		defer c.Close()
		cause := errors.New("stopped")
		first, stopFirst := context.WithCancelCause(t.Context())
		second, stopSecond := context.WithCancelCause(t.Context())
		var all sync.WaitGroup
		for _, ctx := range []context.Context{first, second} {
			all.Go(func() {
				check.Fails(t, check.Err(c.Lookup(ctx, "a.test")), cause)
			})
		}
		synctest.Wait()
		stopFirst(cause)
		synctest.Wait()
		if n.ended.Load() != 0 {
			t.Error("the lookup ended though somebody waits for it")
		}
		stopSecond(cause)
		all.Wait()
		synctest.Wait()
		if n.ended.Load() != 1 {
			t.Error("the lookup goes on though nobody waits for it")
		}
	})
}

func TestSlowLookupsFailAndCloseEndsThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := egress.NewDNSCache(&names{takes: time.Hour})
		check.Fails(t, check.Err(c.Lookup(t.Context(), "a.test")), context.DeadlineExceeded)
		failed := make(chan error)
		go func() {
			_, err := c.Lookup(t.Context(), "b.test")
			failed <- err
		}()
		synctest.Wait()
		c.Close()
		check.Fails(t, <-failed, context.Canceled)
		check.Fails(t, check.Err(c.Lookup(t.Context(), "a.test")), egress.ErrResolverClosed)
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	n := &names{addrs: loopback}
	c := egress.NewDNSCache(n)
	defer c.Close()
	for i := range 3000 {
		if _, err := c.Lookup(t.Context(), string(rune('a'+i%26))+string(rune('a'+i/26%26))+
			string(rune('a'+i/676))); err != nil {
			t.Fatal(err)
		}
	}
	asked := n.asked.Load()
	if _, err := c.Lookup(t.Context(), "aaa"); err != nil || n.asked.Load() != asked+1 {
		t.Error("an answer of long ago was kept, whatever came since")
	}
}

// nameserver answers DNS queries on a UDP socket. Each name has a list of answers, which are given in turn; the last
// one is repeated. An answer holds the addresses of both families.
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
	check.Must(tb, err)
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

// set sets the addresses of a name at the first lookup, the second, and so on.
func (s *nameserver) set(name string, answers ...[]netip.Addr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[name+"."], s.turn[name+"."] = answers, 0
}

// count returns how often the IPv4 addresses of a name were queried.
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
	reply := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: m.ID, Response: true, Authoritative: true},
		Questions: m.Questions,
	}
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
				reply.Answers = append(reply.Answers,
					dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
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
