// Package dial opens the connections of a proxy: to one of several addresses that somebody judged, or through another
// proxy. It never looks up the name of a page's host, and judges nothing.
package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"
)

const (
	patience = 20 * time.Second       // for all addresses of a host together
	stagger  = 250 * time.Millisecond // before the next address is tried besides (RFC 8305, section 8)
)

// ErrNoAddress is the error where there is nothing to dial.
var ErrNoAddress = errors.New("no address to connect to")

type attempt struct {
	conn *net.TCPConn
	err  error
}

// Any connects to that port of one of the addresses: the families take turns, and the next address is tried when one
// fails or is slow (RFC 8305). The attempts that lost are over when it returns. Its error is that of the first address.
func Any(ctx context.Context, addrs []netip.Addr, port uint16) (*net.TCPConn, error) {
	if len(addrs) == 0 {
		return nil, ErrNoAddress
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if len(addrs) == 1 {
		return one(ctx, addrs[0], port)
	}
	return race(ctx, cancel, interleave(addrs), port)
}

func one(ctx context.Context, addr netip.Addr, port uint16) (*net.TCPConn, error) {
	var d net.Dialer
	conn, err := d.DialTCP(ctx, "tcp", netip.AddrPort{}, netip.AddrPortFrom(addr, port))
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return conn, nil
}

func race(ctx context.Context, cancel context.CancelFunc, addrs []netip.Addr, port uint16) (*net.TCPConn, error) {
	results := make(chan attempt)
	begun, ended := 0, 0
	next := func() {
		addr := addrs[begun]
		begun++
		go func() {
			conn, err := one(ctx, addr, port)
			results <- attempt{conn, err}
		}()
	}
	next()
	timer := time.NewTimer(stagger)
	defer timer.Stop()
	var first error
	for ended < len(addrs) {
		select {
		case <-timer.C:
		case r := <-results:
			ended++
			if r.err == nil {
				cancel()
				drain(results, begun-ended)
				return r.conn, nil
			}
			if first == nil {
				first = r.err
			}
		}
		if begun < len(addrs) && ctx.Err() == nil {
			next()
			timer.Reset(stagger)
		} else if ended == begun {
			break
		}
	}
	return nil, first
}

// drain waits for the attempts that lost, and closes those that came through all the same.
func drain(results <-chan attempt, n int) {
	for range n {
		if r := <-results; r.err == nil {
			r.conn.Close()
		}
	}
}

// interleave orders addresses so that families take turns, beginning with that of the first.
func interleave(addrs []netip.Addr) []netip.Addr {
	var same, other []netip.Addr
	for _, a := range addrs {
		if a.Is4() == addrs[0].Is4() {
			same = append(same, a)
		} else {
			other = append(other, a)
		}
	}
	all := make([]netip.Addr, 0, len(addrs))
	for len(same) > 0 || len(other) > 0 {
		if len(same) > 0 {
			all, same = append(all, same[0]), same[1:]
		}
		if len(other) > 0 {
			all, other = append(all, other[0]), other[1:]
		}
	}
	return all
}
