package browsertool

import (
	"context"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServePipes serves one client over in and out, one JSON message a line, until
// the client closes its side (nil) or ctx ends (its cause). It closes both, and
// the tabs that the client opened. A line that is no message, or is longer than
// 1 MiB, is answered with an error and does not end the session.
func (s *MCPServer) ServePipes(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	r := &clientRegistry{tool: s.Tool, log: s.Log}
	defer r.wait.Wait()
	w := newPipeWriter(out)
	defer w.stop()
	// Neither a call under way nor a client that does not read keeps us from
	// ending.
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
