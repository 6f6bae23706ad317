package cdp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"
)

// Transport carries the messages of a connection, whole and in order. One goroutine reads and one writes; any may call
// Close, which ends both. It may keep the slice passed to Write.
type Transport interface {
	Read(ctx context.Context) (message []byte, err error)
	Write(ctx context.Context, message []byte) error
	Close() error
	// Parts counts the parts of messages received so far. It may be called concurrently with Read.
	Parts() int64
}

// partCounter counts the reads from another reader.
type partCounter struct {
	from  io.Reader // used by the reading goroutine
	parts atomic.Int64
}

func (c *partCounter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	if n > 0 {
		c.parts.Add(1)
	}
	return n, err
}

func (c *partCounter) Parts() int64 { return c.parts.Load() }

type socket struct {
	ws *websocket.Conn
	partCounter
}

func (s *socket) Read(ctx context.Context) ([]byte, error) {
	_, message, err := s.ws.Reader(ctx)
	if err != nil {
		return nil, err
	}
	s.from = message
	return io.ReadAll(&s.partCounter)
}

func (s *socket) Write(ctx context.Context, message []byte) error {
	return s.ws.Write(ctx, websocket.MessageText, message)
}

func (s *socket) Close() error { return s.ws.CloseNow() }

// Pipe is the transport to a browser started with --remote-debugging-pipe: two pipes that only its parent has. Each
// message ends with a NUL. When the pipe is closed, the browser exits as after Browser.close.
type Pipe struct {
	in       *bufio.Reader
	from, to *os.File
	partCounter
}

// NewPipe returns a transport over two pipes, which it then owns.
func NewPipe(from, to *os.File) *Pipe {
	p := &Pipe{from: from, to: to, partCounter: partCounter{from: from}}
	p.in = bufio.NewReaderSize(&p.partCounter, 64<<10)
	return p
}

var errTooLong = fmt.Errorf("the browser sent a message of more than %d MiB", maxMessage>>20)

// Read returns the next message. Close ends it; ctx does not.
func (p *Pipe) Read(context.Context) ([]byte, error) {
	var message []byte
	for {
		part, err := p.in.ReadSlice(0)
		if len(message)+len(part) > maxMessage {
			return nil, errTooLong
		}
		message = append(message, part...)
		switch {
		case err == nil:
			return message[:len(message)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// Write sends a message. Close ends it; ctx does not.
func (p *Pipe) Write(_ context.Context, message []byte) error {
	_, err := p.to.Write(append(message, 0))
	return err
}

// Close closes both pipes. It may be called more than once.
func (p *Pipe) Close() error {
	err := errors.Join(p.to.Close(), p.from.Close())
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// CallBeforeConn sends a command before the pipe is used by a Conn, and returns the result. After an error the pipe
// cannot be used.
func CallBeforeConn[R any](ctx context.Context, p *Pipe, req proto.Request) (R, error) {
	answer := struct {
		Result R          `json:"result"`
		Error  *cdp.Error `json:"error"`
	}{}
	defer context.AfterFunc(ctx, func() { _ = p.from.SetReadDeadline(time.Unix(1, 0)) })()
	data, err := json.Marshal(cdp.Request{ID: 1, Method: req.ProtoReq(), Params: req})
	if err == nil {
		err = p.Write(ctx, data)
	}
	if err == nil {
		data, err = p.Read(ctx)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return answer.Result, context.Cause(ctx)
	case err != nil:
		return answer.Result, err
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return answer.Result, fmt.Errorf("decode answer to %s: %w", req.ProtoReq(), err)
	}
	if answer.Error != nil {
		return answer.Result, answer.Error
	}
	return answer.Result, nil
}
