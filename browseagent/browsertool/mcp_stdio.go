package browsertool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"clank/internal/untrusted"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServePipes serves one client over in and out, one JSON message a line, until the client closes its side (nil) or ctx
// ends (its cause). It closes both, and the tabs that the client opened. A line that is no message, or is longer than 1
// MiB, is answered with an error and does not end the session.
func (s *MCPServer) ServePipes(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	r := &clientRegistry{tool: s.Tool, log: s.Log}
	defer r.wait.Wait()
	w := newPipeWriter(out)
	defer w.stop()
	// Neither a call under way nor a client that does not read keeps us from ending.
	defer context.AfterFunc(ctx, func() {
		r.stopAll(context.Cause(ctx))
		w.abandon()
	})()
	err := s.build(r, sessionVersions).Run(ctx, &mcp.IOTransport{Reader: newMessageReader(in, w), Writer: w, MaxLineLength: 2 * maxFrame})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		return nil
	}
	return err
}

// AskFunc asks the person at a client whether something may be done. text says it in our words, detail in those of a
// page. The error says that the client cannot ask its person, or is gone.
type AskFunc func(ctx context.Context, text, detail string) (allowed bool, err error)

// approvalSchema is the form that a client shows: one box to tick.
var approvalSchema = json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow it","default":false}},"required":["allow"]}`)

// elicitor returns the way to the person at a client: elicitation of the protocol.
func elicitor(of *mcp.ServerSession) AskFunc {
	return func(ctx context.Context, text, detail string) (bool, error) {
		message := untrusted.CleanLine(text, maxProgressLine) + "?"
		if detail != "" {
			message += "\nThe page calls it: “" + untrusted.CleanLine(detail, maxProgressLine) + "”"
		}
		res, err := of.Elicit(ctx, &mcp.ElicitParams{Message: message, RequestedSchema: approvalSchema})
		if err != nil {
			return false, fmt.Errorf("ask the person at the client: %w", err)
		}
		allow, _ := res.Content["allow"].(bool)
		return res.Action == "accept" && allow, nil
	}
}

// pipeWriter writes to a pipe from a goroutine of its own, so that a write into a full pipe can be given up.
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
	done chan error // of capacity 1
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

// Write writes all of data before anything else is written, or fails.
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

// abandon lets go of writes that wait, and of the pipe.
func (p *pipeWriter) abandon() {
	p.once.Do(func() { close(p.abandoned) })
	_ = p.Close()
}

// Close closes the pipe. A write under way may end with an error.
func (p *pipeWriter) Close() error {
	var err error
	p.closed.Do(func() { err = p.out.Close() })
	return err
}

// stop ends the goroutine, and waits for it where closing the pipe ends a write. A terminal's or a parent's pipe may
// not; then the process's end does.
func (p *pipeWriter) stop() {
	p.abandon()
	select {
	case <-p.ended:
	case <-writeGrace():
	}
}
