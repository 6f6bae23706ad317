package browsertool

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"clank/internal/pageorigin"
	"clank/internal/untrusted"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// MCPHTTP serves a [Server] as streamable MCPHTTP at the path /mcp. Its fields are set before Open.
type MCPHTTP struct {
	Server *MCPServer
	Addr   string // host and port; the host must be a loopback address
	// Valid reports whether a bearer token, which every request must carry, opens this. Required.
	Valid func(token string) bool

	// Idle is after how long without a request a session ends; 0 = 30 minutes.
	Idle time.Duration

	listener net.Listener
	http     *http.Server
	mcp      *mcp.Server
	clients  *clientRegistry
	served   sync.WaitGroup
}

// sessionVersions are the versions of the protocol in which a client has a session over MCPHTTP, and can be asked
// something while a call runs. In later ones nobody could say when the tabs of a client are no longer needed, and an
// action that is held until a person has decided would have to be begun anew.
var sessionVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

// Open listens. Close must follow if it returns nil.
func (h *MCPHTTP) Open(ctx context.Context) error {
	if h.Valid == nil {
		return errors.New("serve MCP over HTTP: it would be open to everybody without tokens")
	}
	host, _, err := net.SplitHostPort(h.Addr)
	if err != nil || !pageorigin.IsLoopback(host) {
		return fmt.Errorf("serve MCP over HTTP: %q is not a loopback address", h.Addr)
	}
	if h.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", h.Addr); err != nil {
		return fmt.Errorf("serve MCP over HTTP: %w", err)
	}
	if at, ok := h.listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() { // a name may lead elsewhere
		return errors.Join(fmt.Errorf("serve MCP over HTTP: %q is not a loopback address", h.Addr), h.listener.Close())
	}
	idle := h.Idle
	if idle <= 0 {
		idle = 30 * time.Minute
	}
	h.clients = &clientRegistry{tool: h.Server.Tool, log: h.Server.Log}
	h.mcp = h.Server.build(h.clients, sessionVersions)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return h.mcp },
		&mcp.StreamableHTTPOptions{SessionTimeout: idle, MaxRequestBodyBytes: maxFrame, Logger: h.Server.Log})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	h.http = &http.Server{Handler: h.guard(mux), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	h.served.Go(func() { _ = h.http.Serve(h.listener) }) // ends with Close, and with nothing else
	return nil
}

// URL returns where clients connect.
func (h *MCPHTTP) URL() string { return "http://" + h.listener.Addr().String() + "/mcp" }

// Close ends all sessions, closes the tabs they opened, and stops listening.
func (h *MCPHTTP) Close() error {
	h.clients.stopAll(errors.New("the server shuts down"))
	err := h.http.Close()
	for session := range h.mcp.Sessions() {
		err = errors.Join(err, session.Close())
	}
	h.served.Wait()
	h.clients.wait.Wait()
	return err
}

// guard lets through who has the token and is not a web page: a page reaches loopback with another site's origin, or
// under a name of its own.
func (h *MCPHTTP) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		switch {
		case !pageorigin.IsKnownHost(r), pageorigin.IsCrossSite(r, true): // also where it only reads: MCP asks for it
			http.Error(w, "Forbidden", http.StatusForbidden)
		case !strings.EqualFold(scheme, "Bearer") || !h.Valid(strings.TrimSpace(token)):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "Unauthorized", http.StatusUnauthorized)
		default:
			if r.Method == http.MethodDelete {
				h.clients.stop(r.Header.Get("Mcp-Session-Id"))
			}
			next.ServeHTTP(w, r)
		}
	})
}

// progressReporter tells a client how a task goes. A client that reads slowly misses lines once progressBacklog wait
// for it; it never holds up the task.
type progressReporter struct {
	lines chan string // nil if the client does not want to know
	done  chan struct{}
	quit  chan struct{}
}

const progressBacklog = 100

// startProgress begins to tell. end must be called.
func startProgress(ctx context.Context, req *mcp.CallToolRequest) *progressReporter {
	token := req.Params.GetProgressToken()
	if token == nil {
		return &progressReporter{}
	}
	p := &progressReporter{lines: make(chan string, progressBacklog), done: make(chan struct{}), quit: make(chan struct{})}
	go p.run(ctx, req.Session, token)
	return p
}

func (p *progressReporter) run(ctx context.Context, to *mcp.ServerSession, token any) {
	defer close(p.done)
	n := 0.0
	tell := func(line string) bool {
		n++
		return to.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: untrusted.CleanLine(line, maxProgressLine)}) == nil
	}
	for {
		select {
		case line := <-p.lines:
			if !tell(line) {
				return // the client is gone; the call's context tells the task
			}
		case <-p.quit:
			for len(p.lines) > 0 {
				if !tell(<-p.lines) {
					return
				}
			}
			return
		}
	}
}

// say passes a line on, in place of the oldest that waits if there is no room.
func (p *progressReporter) say(line string) {
	if p.lines == nil {
		return
	}
	for {
		select {
		case p.lines <- line:
			return
		default:
		}
		select {
		case <-p.lines:
		default:
		}
	}
}

// end returns when the last line is told, so that none comes after the answer.
func (p *progressReporter) end() {
	if p.lines == nil {
		return
	}
	close(p.quit)
	<-p.done
}
