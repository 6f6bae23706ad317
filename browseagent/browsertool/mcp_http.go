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

// MCPHTTP serves an [MCPServer] over streamable HTTP at the path /mcp. Set its fields before Open.
type MCPHTTP struct {
	Server *MCPServer
	Addr   string // host and port; the host must be a loopback address
	// Valid reports whether a bearer token is valid. Every request needs one. Required.
	Valid func(token string) bool

	// Idle is the time without requests after which a session ends; 0 = 30 minutes.
	Idle time.Duration

	listener net.Listener
	http     *http.Server
	mcp      *mcp.Server
	clients  *clientRegistry
	served   sync.WaitGroup
}

// sessionVersions are the protocol versions in which a client has a session over HTTP and can be asked something
// during a call. In later versions there would be no telling when a client's tabs are no longer needed, and an action
// that waits for approval would have to be restarted.
var sessionVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26"}

// Open starts to listen. If it returns nil, Close must be called.
func (h *MCPHTTP) Open(ctx context.Context) error {
	if h.Valid == nil {
		return errors.New("serve MCP over HTTP: it would be open to everybody without tokens")
	}
	host, _, err := net.SplitHostPort(h.Addr)
	if err != nil || !pageorigin.IsLoopback(host) {
		return fmt.Errorf("serve MCP over HTTP: %q is not a loopback address such as 127.0.0.1:8791", h.Addr)
	}
	if h.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", h.Addr); err != nil {
		return fmt.Errorf("serve MCP over HTTP: %w", err)
	}
	if at, ok := h.listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() { // a name may resolve to another address
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
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, fmt.Sprintf("MCP is not at %q but at /mcp", r.URL.Path), http.StatusNotFound)
	})
	h.http = &http.Server{Handler: h.guard(mux), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 64 << 10}
	h.served.Go(func() { _ = h.http.Serve(h.listener) }) // returns after Close only
	return nil
}

// URL returns the address for clients.
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

// guard admits only requests with a token that do not come from a web page: a page reaches loopback with another
// site's origin, or with a host name of its own (DNS rebinding).
func (h *MCPHTTP) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		switch {
		case !pageorigin.IsKnownHost(r), pageorigin.IsCrossSite(r, true): // also for reads, as the MCP specification requires
			http.Error(w, "Forbidden", http.StatusForbidden)
		case !strings.EqualFold(scheme, "Bearer") || !h.Valid(strings.TrimSpace(token)):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, `no token, or one that is not valid: make one with "clank tokens add NAME" and send it as `+
				`"Authorization: Bearer TOKEN"`, http.StatusUnauthorized)
		default:
			if r.Method == http.MethodDelete {
				h.clients.stop(r.Header.Get("Mcp-Session-Id"))
			}
			next.ServeHTTP(w, r)
		}
	})
}

// progressReporter sends progress to a client. If a slow client falls behind by progressBacklog lines, it misses the
// oldest; it never delays the task.
type progressReporter struct {
	lines chan string // nil if the client wants no progress
	done  chan struct{}
	quit  chan struct{}
}

const progressBacklog = 100

// startProgress starts reporting progress. The caller must call end.
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
		return to.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: n,
			Message: untrusted.CleanLine(line, maxProgressLine),
		}) == nil
	}
	for {
		select {
		case line := <-p.lines:
			if !tell(line) {
				return // the client has disconnected; the call's context ends the task
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

// say queues a line, dropping the oldest one if the queue is full.
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

// end waits until the last line is sent, so that none follows the answer.
func (p *progressReporter) end() {
	if p.lines == nil {
		return
	}
	close(p.quit)
	<-p.done
}
