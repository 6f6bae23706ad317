package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"
)

const (
	dialTimeout = 20 * time.Second       // for all addresses of a host together
	dialStagger = 250 * time.Millisecond // before the next address is tried besides (RFC 8305, section 8)
)

// ErrNoAddress is the error where there is nothing to dial.
var ErrNoAddress = errors.New("no address to connect to")

type dialAttempt struct {
	conn *net.TCPConn
	err  error
}

// DialAny connects to that port of one of the addresses: the families take turns, and the next address is tried when one
// fails or is slow (RFC 8305). The attempts that lost are over when it returns. Its error is that of the first address.
func DialAny(ctx context.Context, addrs []netip.Addr, port uint16) (*net.TCPConn, error) {
	if len(addrs) == 0 {
		return nil, ErrNoAddress
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("connect: %w", context.Cause(ctx))
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	if len(addrs) == 1 {
		return dialOne(ctx, addrs[0], port)
	}
	return dialStaggered(ctx, cancel, interleaveFamilies(addrs), port)
}

func dialOne(ctx context.Context, addr netip.Addr, port uint16) (*net.TCPConn, error) {
	var d net.Dialer
	conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, netip.AddrPortFrom(addr, port))
	if err != nil {
		if op, ok := errors.AsType[*net.OpError](err); ok {
			err = op.Err // the rest is said here
		}
		return nil, fmt.Errorf("connect to %s: %w", netip.AddrPortFrom(addr, port), err)
	}
	return conn, nil
}

func dialStaggered(ctx context.Context, cancel context.CancelFunc, addrs []netip.Addr, port uint16) (*net.TCPConn, error) {
	results := make(chan dialAttempt)
	begun, ended := 0, 0
	next := func() {
		addr := addrs[begun]
		begun++
		go func() {
			conn, err := dialOne(ctx, addr, port)
			results <- dialAttempt{conn, err}
		}()
	}
	next()
	timer := time.NewTimer(dialStagger)
	defer timer.Stop()
	var first error
	for ended < len(addrs) {
		select {
		case <-timer.C:
		case r := <-results:
			ended++
			if r.err == nil {
				cancel()
				drainAttempts(results, begun-ended)
				return r.conn, nil
			}
			if first == nil {
				first = r.err
			}
		}
		if begun < len(addrs) && ctx.Err() == nil {
			next()
			timer.Reset(dialStagger)
		} else if ended == begun {
			break
		}
	}
	return nil, first
}

// drainAttempts waits for the attempts that lost, and closes those that came through all the same.
func drainAttempts(results <-chan dialAttempt, n int) {
	for range n {
		if r := <-results; r.err == nil {
			r.conn.Close()
		}
	}
}

// interleaveFamilies orders addresses so that families take turns, beginning with that of the first.
func interleaveFamilies(addrs []netip.Addr) []netip.Addr {
	var same, other []netip.Addr
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			same = append(same, a)
		} else {
			other = append(other, a)
		}
	}
	both := min(len(same), len(other))
	all := make([]netip.Addr, 0, len(addrs))
	for i := range both {
		all = append(all, same[i], other[i])
	}
	return slices.Concat(all, same[both:], other[both:])
}
