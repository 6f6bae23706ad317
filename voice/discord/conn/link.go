package conn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

const (
	dialTimeout   = 10 * time.Second
	settleTimeout = 15 * time.Second // from the open socket to the session's description
	writeTimeout  = 10 * time.Second
	closeTimeout  = time.Second // for the closing handshake
	maxMessage    = 4 << 20     // bytes; a welcome to a large call has the keys of everybody
	maxQueue      = 256         // messages that wait to be written
	minHeartbeat  = 20 * time.Millisecond
)

type message struct {
	binary bool
	data   []byte
}

// link is one socket of the voice gateway: read in order by run, written by one goroutine, kept alive by another.
type link struct {
	ws           *websocket.Conn
	queue        chan message
	end          context.CancelCauseFunc
	ended        <-chan struct{} // closed by end
	onUsable     func()          // called when the gateway has settled everything
	seq          atomic.Int64    // newest number of the gateway's messages, -1 before there is one
	acked        atomic.Bool
	hasHeartbeat bool
	resumed      bool // it goes on with the session of another socket
	usable       bool // media can go; held by Conn.mu
	wg           sync.WaitGroup
	timer        *time.Timer // ends a link that does not settle
}

func dial(ctx context.Context, client *http.Client, url string, seq int) (*link, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errSilent)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the voice gateway: %w", err)
	}
	ws.SetReadLimit(maxMessage)
	l := &link{ws: ws, queue: make(chan message, maxQueue)}
	l.seq.Store(int64(seq))
	return l, nil
}

// run reads until the socket ends, and returns why. It has ended all that it started when it returns.
func (l *link) run(ctx context.Context, c *Conn) error {
	live, end := context.WithCancelCause(context.WithoutCancel(ctx))
	l.end, l.ended = end, live.Done()
	gone := make(chan struct{})
	l.timer = time.AfterFunc(settleTimeout, func() { end(errSilent) })
	l.wg.Go(func() { l.write(live) })
	l.wg.Go(func() {
		select {
		case <-ctx.Done():
			t := time.AfterFunc(closeTimeout, func() { end(context.Cause(ctx)) })
			_ = l.ws.Close(websocket.StatusNormalClosure, "")
			t.Stop()
			end(context.Cause(ctx))
		case <-gone:
		}
	})
	err := l.read(ctx, live, c)
	close(gone)
	l.timer.Stop()
	end(err)
	_ = l.ws.CloseNow()
	l.wg.Wait()
	return err
}

// read handles one message after the other: the order is part of the protocol.
func (l *link) read(ctx, live context.Context, c *Conn) error {
	for {
		kind, data, err := l.ws.Read(live)
		if err != nil {
			return readError(live, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if kind == websocket.MessageBinary {
			c.handleBinary(l, data)
		} else if err := c.handleText(ctx, l, data); err != nil {
			return err
		}
	}
}

// readError makes of the end of a socket what is to be known of it.
func readError(live context.Context, err error) error {
	if closed, ok := errors.AsType[websocket.CloseError](err); ok {
		return &CloseError{Code: int(closed.Code), Reason: closed.Reason}
	}
	if live.Err() != nil {
		err = context.Cause(live)
	}
	return fmt.Errorf("read from the voice gateway: %w", err)
}

// send queues a message. A queue that is full is a gateway that does not read: the link ends.
func (l *link) send(m message) {
	select {
	case l.queue <- m:
	default:
		if l.end != nil {
			l.end(errors.New("the voice gateway does not read what it is sent"))
		}
	}
}

func (l *link) write(ctx context.Context) {
	for {
		select {
		case m := <-l.queue:
			kind := websocket.MessageText
			if m.binary {
				kind = websocket.MessageBinary
			}
			to, cancel := context.WithTimeout(ctx, writeTimeout)
			err := l.ws.Write(to, kind, m.data)
			cancel()
			if err != nil {
				l.end(fmt.Errorf("write to the voice gateway: %w", err))
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// startHeartbeat starts the heartbeat. A beat that was not answered when the next is due is a socket that is dead.
func (l *link) startHeartbeat(every time.Duration) {
	if l.hasHeartbeat {
		return
	}
	l.hasHeartbeat = true
	every = max(every, minHeartbeat)
	l.acked.Store(true)
	l.wg.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-l.ended:
				return
			}
			if !l.acked.Swap(false) {
				l.end(errSilent)
				return
			}
			data, err := json.Marshal(outgoing{Op: opHeartbeat, Data: heartbeat{Time: time.Now().UnixMilli(), SeqAck: int(l.seq.Load())}})
			if err == nil {
				l.send(message{data: data})
			}
		}
	})
}
