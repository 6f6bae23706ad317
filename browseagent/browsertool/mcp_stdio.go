package browsertool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServePipes serves one client over in and out, with one JSON message per line, until the client closes its side
// (then it returns nil) or ctx ends (then its cause). It closes both pipes and the tabs that the client opened. A
// line that is not a message, or is longer than 1 MiB, is answered with an error and does not end the session.
func (s *MCPServer) ServePipes(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	r := &clientRegistry{tool: s.Tool, log: s.Log}
	defer r.wait.Wait()
	w := newPipeWriter(out)
	defer w.stop()
	// Neither a running call nor a client that does not read may delay the end.
	defer context.AfterFunc(ctx, func() {
		r.stopAll(context.Cause(ctx))
		w.abandon()
	})()
	err := s.build(r, sessionVersions).Run(ctx, pipeTransport{mcp.IOTransport{
		Reader: newMessageReader(in, w), Writer: w,
		MaxLineLength: 2 * maxFrame,
	}})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		return nil
	}
	return err
}

// pipeTransport refuses requests with the id of one that is not answered yet. The library would not answer them, as it
// does over HTTP.
type pipeTransport struct{ mcp.IOTransport }

// Connect implements mcp.Transport.
func (t pipeTransport) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := t.IOTransport.Connect(ctx)
	return &pipeConnection{Connection: c, open: map[jsonrpc.ID]bool{}}, err
}

type pipeConnection struct {
	mcp.Connection

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // requests without an answer
}

// Read implements mcp.Connection.
func (c *pipeConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		m, err := c.Connection.Read(ctx)
		r, ok := m.(*jsonrpc.Request)
		if err != nil || !ok || !r.IsCall() || c.begin(r.ID) {
			return m, err
		}
		if err := c.Connection.Write(ctx, &jsonrpc.Response{ID: r.ID, Error: &jsonrpc.Error{
			Code:    jsonrpc.CodeInvalidRequest,
			Message: fmt.Sprintf("the id %v is already in use by a request that is not answered yet", r.ID.Raw()),
		}}); err != nil {
			return nil, err
		}
	}
}

// begin reports whether the id was free.
func (c *pipeConnection) begin(id jsonrpc.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	used := c.open[id]
	c.open[id] = true
	return !used
}

// Write implements mcp.Connection.
func (c *pipeConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if r, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, r.ID) // the client may use it again once it reads the answer
		c.mu.Unlock()
	}
	return c.Connection.Write(ctx, m)
}

// pipeWriter writes to a pipe on its own goroutine, so that a blocked write can be abandoned.
type pipeWriter struct {
	out       io.WriteCloser
	work      chan pendingWrite
	abandoned chan struct{} // closed when nobody waits for writes any more
	ended     chan struct{} // closed when the goroutine has ended
	once      sync.Once
	closed    sync.Once
}

type pendingWrite struct {
	data []byte
	done chan error // with capacity 1
}

func newPipeWriter(out io.WriteCloser) *pipeWriter {
	p := &pipeWriter{out: out, work: make(chan pendingWrite), abandoned: make(chan struct{}), ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		for {
			select {
			case w := <-p.work:
				_, err := p.out.Write(w.data)
				w.done <- err
			case <-p.abandoned:
				return
			}
		}
	}()
	return p
}

// Write writes all of data before any other data, or fails.
func (p *pipeWriter) Write(data []byte) (int, error) {
	w := pendingWrite{data: data, done: make(chan error, 1)}
	select {
	case p.work <- w:
	case <-p.abandoned:
		return 0, io.ErrClosedPipe
	}
	select {
	case err := <-w.done:
		if err != nil {
			return 0, err
		}
		return len(data), nil
	case <-p.abandoned:
		return 0, io.ErrClosedPipe
	}
}

// abandon gives up waiting writes and closes the pipe.
func (p *pipeWriter) abandon() {
	p.once.Do(func() { close(p.abandoned) })
	_ = p.Close()
}

// Close closes the pipe. A write in progress may fail.
func (p *pipeWriter) Close() error {
	var err error
	p.closed.Do(func() { err = p.out.Close() })
	return err
}

// stop ends the goroutine and waits briefly for it. Closing a terminal or an inherited pipe may not interrupt a
// write; then the goroutine lives until the process ends.
func (p *pipeWriter) stop() {
	p.abandon()
	select {
	case <-p.ended:
	case <-writeGrace():
	}
}

// writeGrace limits the wait for a write that nobody reads.
func writeGrace() <-chan time.Time { return time.After(time.Second) }

// messageReader passes on the lines of a pipe that are valid messages and answers the others with an error, because
// the library would end the session at the first invalid one.
type messageReader struct {
	in   io.ReadCloser
	buf  *bufio.Reader
	out  io.Writer
	rest []byte
}

func newMessageReader(in io.ReadCloser, out io.Writer) *messageReader {
	return &messageReader{in: in, buf: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Read implements io.Reader.
func (f *messageReader) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.line()
		if errors.Is(err, bufio.ErrTooLong) {
			f.rejectLine(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxFrame))
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if code, text := checkMessage(line); text != "" {
				f.rejectLine(code, text)
			} else {
				f.rest = append(line, '\n')
			}
		}
		if err != nil && len(f.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// line reads one line. A line that is too long is skipped to its end.
func (f *messageReader) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := f.buf.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxFrame; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, bufio.ErrTooLong
		case long:
			return nil, err
		}
		return line, err
	}
}

// checkMessage says what is wrong with a line; text is "" if it is valid.
func checkMessage(line []byte) (code int64, text string) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError, "the line is not JSON"
	}
	if line[0] != '{' {
		return jsonrpc.CodeInvalidRequest, "send one message a line; batches are not understood"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message"
	}
	return 0, ""
}

// rejectLine answers an invalid line. It ignores write errors: the next real answer will fail, too.
func (f *messageReader) rejectLine(code int64, text string) {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, text)
	_, _ = f.out.Write([]byte(answer + "\n"))
}

// Close closes the pipe.
func (f *messageReader) Close() error { return f.in.Close() }
