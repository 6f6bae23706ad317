package mcpserver

import (
	"context"
	"log/slog"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"clank/browsertool"
)

// register keeps one browser session for each client, and ends it when the
// client's session ends.
type register struct {
	tool *browsertool.Tool
	log  *slog.Logger

	mu   sync.Mutex
	open map[*mcp.ServerSession]*browsertool.Session
	wait sync.WaitGroup
}

// session is the browser session of a client.
func (r *register) session(of *mcp.ServerSession) *browsertool.Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.open[of]; s != nil {
		return s
	}
	s := &browsertool.Session{Tool: r.tool}
	if r.open == nil {
		r.open = map[*mcp.ServerSession]*browsertool.Session{}
	}
	r.open[of] = s
	r.wait.Go(func() { r.end(of, s) })
	return s
}

// end waits for the client's end and closes the tabs it opened.
func (r *register) end(of *mcp.ServerSession, s *browsertool.Session) {
	_ = of.Wait() // why it ended is told by who serves it
	r.mu.Lock()
	delete(r.open, of)
	r.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	if err := s.Close(ctx); err != nil && r.log != nil {
		r.log.Warn("tabs of an mcp session stay open", "error", err)
	}
}
