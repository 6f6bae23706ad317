package egress

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// RelayLimits bound a relay. Zero values mean no bound.
type RelayLimits struct {
	// Idle is how long nothing may move before a connection is given up.
	Idle time.Duration
	// Body is how many bytes one body, or one direction of a tunnel, may have.
	Body int64
}

// ErrBodyTooLarge says that a body or a direction of a tunnel passed the limit.
var ErrBodyTooLarge = errors.New("more bytes than the limit")

// ErrIdleTimeout says that nothing moved for too long.
var ErrIdleTimeout = errors.New("nothing moved for too long")

func (l RelayLimits) body() int64 {
	if l.Body <= 0 {
		return math.MaxInt64
	}
	return l.Body
}

// activity says of several copies whether bytes move in one of them.
type activity struct {
	moved      atomic.Int64
	lastMoved  atomic.Int64 // the value of moved when somebody last looked
	idleChecks atomic.Int64 // looks in a row that found nothing
}

// isAlive looks whether bytes moved. Copies that share a pulse look by turns, and one may have moved bytes that it has
// not yet counted; so it takes a few looks in a row to be dead.
func (p *activity) isAlive(looks int64) bool {
	now := p.moved.Load()
	if p.lastMoved.Swap(now) != now {
		p.idleChecks.Store(0)
		return true
	}
	return p.idleChecks.Add(1) < looks
}

// copyBounded copies at most limit bytes from src, which is fed by conn, until its end. It gives up when the pulse is
// dead.
func copyBounded(dst io.Writer, src io.Reader, conn net.Conn, limits RelayLimits, limit int64, p *activity, looks int64) (int64, error) {
	left := &io.LimitedReader{R: src, N: limit}
	for {
		if limits.Idle > 0 {
			if err := conn.SetReadDeadline(time.Now().Add(limits.Idle / 2)); err != nil {
				return limit - left.N, err
			}
		}
		n, err := io.Copy(dst, left)
		p.moved.Add(n)
		if err == nil || !errors.Is(err, os.ErrDeadlineExceeded) || limits.Idle == 0 {
			return limit - left.N, err
		}
		if !p.isAlive(looks) {
			return limit - left.N, ErrIdleTimeout
		}
	}
}

// Tunnel moves bytes both ways between two connections until both have ended, one fails, or nothing moves any more. It
// closes both. The error is nil after a regular end.
func Tunnel(a, b net.Conn, limits RelayLimits) error {
	var p activity
	var errs [2]error
	var both sync.WaitGroup
	one := func(i int, dst, src net.Conn) {
		n, err := copyBounded(dst, src, src, limits, limits.body(), &p, 4)
		if err == nil && n == limits.body() {
			err = ErrBodyTooLarge
		}
		if err == nil {
			err = closeWrite(dst)
		}
		if errs[i] = err; err != nil {
			a.Close()
			b.Close()
		}
	}
	both.Go(func() { one(0, a, b) })
	one(1, b, a)
	both.Wait()
	a.Close()
	b.Close()
	for _, err := range errs {
		if err != nil && !errors.Is(err, net.ErrClosed) {
			return fmt.Errorf("tunnel: %w", err)
		}
	}
	return nil
}

// closeWrite passes on that one direction has ended.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
