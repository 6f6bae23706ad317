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

	"github.com/google/go-cmp/cmp"
)

// names answers after a while, or when it is told to stop.
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
	for _, n := range []*names{{err: errors.New("broken")}, {}} {
		c := egress.NewDNSCache(n)
		for range 2 {
			if addrs, err := c.Lookup(t.Context(), "a.test"); err == nil {
				t.Errorf("got %v and no error", addrs)
			}
		}
		if got := n.asked.Load(); got != 2 {
			t.Errorf("asked %d times, want 2", got)
		}
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
				if _, err := c.Lookup(ctx, "a.test"); !errors.Is(err, cause) {
					t.Errorf("got %v", err)
				}
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
		if _, err := c.Lookup(t.Context(), "a.test"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		failed := make(chan error)
		go func() {
			_, err := c.Lookup(t.Context(), "b.test")
			failed <- err
		}()
		synctest.Wait()
		c.Close()
		if err := <-failed; err == nil {
			t.Error("got no error from a lookup that was ended")
		}
		if _, err := c.Lookup(t.Context(), "a.test"); !errors.Is(err, egress.ErrResolverClosed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestTheCacheIsBounded(t *testing.T) {
	n := &names{addrs: loopback}
	c := egress.NewDNSCache(n)
	defer c.Close()
	for i := range 3000 {
		if _, err := c.Lookup(t.Context(), string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))); err != nil {
			t.Fatal(err)
		}
	}
	asked := n.asked.Load()
	if _, err := c.Lookup(t.Context(), "aaa"); err != nil || n.asked.Load() != asked+1 {
		t.Error("an answer of long ago was kept, whatever came since")
	}
}
