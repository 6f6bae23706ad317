package browsertool

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errClientGone is why the calls of a client end with its session.
var errClientGone = errors.New("the client's session ends")

// clientRegistry knows the clients: what runs for each, and the tabs that each opened, which are closed when its
// session ends.
type clientRegistry struct {
	tool *Tool
	log  *slog.Logger

	mu      sync.Mutex
	clients map[*mcp.ServerSession]*mcpClient
	ended   error // set when all sessions end
	wait    sync.WaitGroup
}

// mcpClient is one client's session. calls holds what ends each call under way.
type mcpClient struct {
	browser *Session
	calls   map[*context.CancelCauseFunc]struct{}
}

// begin enters a call of a client. The context ends with ctx, or when the client's session does; done must be called at
// the call's end.
func (r *clientRegistry) begin(ctx context.Context, of *mcp.ServerSession) (c *mcpClient, call context.Context, done func()) {
	call, cancel := context.WithCancelCause(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if c = r.clients[of]; c == nil {
		c = &mcpClient{browser: &Session{Tool: r.tool}, calls: map[*context.CancelCauseFunc]struct{}{}}
		if r.clients == nil {
			r.clients = map[*mcp.ServerSession]*mcpClient{}
		}
		r.clients[of] = c
		r.wait.Go(func() { r.end(of, c.browser) })
	}
	if r.ended != nil {
		cancel(r.ended)
	}
	c.calls[&cancel] = struct{}{}
	return c, call, func() {
		r.mu.Lock()
		delete(c.calls, &cancel)
		r.mu.Unlock()
		cancel(nil)
	}
}

// stop ends the calls of the client whose session has this id. The library waits for them before it ends the session.
func (r *clientRegistry) stop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for of, c := range r.clients {
		if of.ID() == id {
			c.cancel(errClientGone)
		}
	}
}

// stopAll ends all calls, also those that come yet.
func (r *clientRegistry) stopAll(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = why
	for _, c := range r.clients {
		c.cancel(why)
	}
}

func (c *mcpClient) cancel(why error) {
	for cancel := range c.calls {
		(*cancel)(why)
	}
}

// end waits for the end of a client's session and closes the tabs it opened.
func (r *clientRegistry) end(of *mcp.ServerSession, s *Session) {
	_ = of.Wait() // why it ended is told by who serves it
	r.mu.Lock()
	delete(r.clients, of)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if err := s.Close(ctx); err != nil && r.log != nil {
		r.log.Warn("tabs of an mcp session stay open", "error", err)
	}
}
