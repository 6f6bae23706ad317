package dashboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"clank/browsermgr"
	webaddress "clank/browsermgr/address"
	"clank/browsermgr/egress"
	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/budget"
	"clank/internal/pageorigin"
	"clank/internal/recording"
	"clank/internal/settings"
	"clank/internal/telemetry"
	"clank/internal/vault"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/access"
	"clank/sessions/approval"
)

// DefaultAddr is the default listen address.
const DefaultAddr = "127.0.0.1:8787"

// defaultRecheck is how often the rights of a connected viewer are checked again. What Discord says about members is
// cached as long, so someone who lost a role there loses access here within half a minute.
const defaultRecheck = 15 * time.Second

// Server serves the dashboard. Set the exported fields, then call Open, and Close at the end.
type Server struct {
	Addr        string             // host:port to listen on; empty means [DefaultAddr]
	Tokens      *access.TokenStore // access tokens and signed-in browsers
	LocalSecret string             // an additional secret that grants access, for programs of the same user; may be empty
	Version     string
	Manager     *sessions.Manager
	Scopes      *cancel.Scopes   // the scopes of the Manager
	Questions   *approval.Queue  // questions to people before actions
	Inbox       Inbox            // files sent for tasks
	Runs        Runs             // records of tasks
	Films       Films            // films of tasks
	Watches     *watches.Runner  // watched pages
	Budgets     *budget.Enforcer // spending
	Settings    *settings.Manager
	Browsers    *browsermgr.Manager
	Gate        *egress.Proxy // the proxy that the browsers use
	Vault       *vault.Vault  // nil if it cannot be opened
	Scripts     recording.ScriptStore
	Transcripts Transcripts
	Links       Links
	Setup       Setup
	Nodes       Nodes
	Tools       TaskTools
	Telemetry   *telemetry.Recorder // records sign-ins and exports
	Call        http.Handler        // serves the call page's API, below /api/call
	Assistant   Assistant           // nil if there is none
	Accounts    Accounts            // nil if nobody signs in with Discord
	Recheck     time.Duration       // how often the rights of a viewer are checked again; 0 means [defaultRecheck]
	Live        LivePane            // nil if sessions cannot be watched
	Discord     Discord             // nil if Discord is not used
	Host        Host
	Logger      *slog.Logger
	// UnfinishedFile is where Close saves the tasks to continue at the next start; empty means that none continue.
	UnfinishedFile string

	codes      loginCodes
	attempts   throttle
	presence   presence
	site       *siteFiles
	feed       *eventFeed
	listen     net.Listener
	http       *http.Server
	idleConns  idleConns
	launch     func(func(ctx context.Context)) // runs a function whose context ends with the server
	end        context.CancelCauseFunc         // ends launched functions
	endStreams context.CancelCauseFunc
	following  sync.RWMutex // read-locked by each stream of one task, which ends with the task
	unfinished unfinishedTasks
	work       sync.WaitGroup // launched functions, the feed and the accept loop
}

// Open prepares the pages and starts serving. ctx bounds the start only.
func (s *Server) Open(ctx context.Context) error {
	var err error
	if s.Discord == nil {
		s.Discord = noDiscord{}
	}
	s.Addr, s.Recheck = cmp.Or(s.Addr, DefaultAddr), cmp.Or(s.Recheck, defaultRecheck)
	if err := s.checkAddr(); err != nil {
		return err
	}
	if s.site, err = loadSiteFiles(); err != nil {
		return err
	}
	if s.listen, err = new(net.ListenConfig).Listen(ctx, "tcp", s.Addr); err != nil {
		return s.explain(ctx, err)
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	s.end, s.launch = end, func(do func(context.Context)) { s.work.Go(func() { do(life) }) }
	streams, endStreams := context.WithCancelCause(context.WithoutCancel(ctx))
	s.endStreams = endStreams
	s.feed = newEventFeed(s.Manager.Subscribe)
	s.http = &http.Server{
		Handler:           s.handler(),
		BaseContext:       func(net.Listener) context.Context { return streams },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute, // streams extend their own deadline
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         s.idleConns.trackConn,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
	s.work.Go(func() { s.feed.run(streams) })
	s.followQuestions()
	s.work.Go(func() {
		if err := s.http.Serve(s.listen); !errors.Is(err, http.ErrServerClosed) {
			s.Logger.Error("the page is not served any more", "error", err)
		}
	})
	s.Logger.Info("page is served", "address", s.URL())
	if err := s.continueUnfinished(); err != nil {
		s.Logger.Error("tasks do not go on", "error", err)
	}
	return nil
}

// tellTimeout is how long Close waits for the streams of tasks to send their ends, even if ctx is done.
const tellTimeout = 2 * time.Second

// Close stops the tasks that were started here, ends all streams, and waits until everything has ended or ctx is
// done. Closing a Server that is not open is not an error.
func (s *Server) Close(ctx context.Context) error {
	if s.end == nil {
		return nil
	}
	s.end(&cancel.Cause{Reason: cancel.ShuttingDown})
	var told sync.WaitGroup
	told.Go(func() {
		s.following.Lock()
		defer s.following.Unlock()
	})
	soon, done := context.WithTimeout(context.WithoutCancel(ctx), tellTimeout)
	_ = cancel.WaitFor(soon, &told) // who is not told in time finds the server gone
	done()
	s.endStreams(&cancel.Cause{Reason: cancel.ShuttingDown})
	s.idleConns.close()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("close the page: %w", errors.Join(err, s.http.Close()))
	}
	if late := cancel.WaitFor(ctx, &s.work); late != nil {
		err = errors.Join(err, fmt.Errorf("close the page: its tasks have not ended: %w", late))
	}
	return errors.Join(err, s.unfinished.save(s.UnfinishedFile))
}

// URL returns the address of the dashboard: "http://127.0.0.1:8787". With port 0 in Addr it is known after Open.
func (s *Server) URL() string {
	if s.listen != nil {
		return "http://" + s.listen.Addr().String()
	}
	return "http://" + s.Addr
}

// checkAddr rejects a listen address that other machines can reach.
func (s *Server) checkAddr() error {
	host, _, err := net.SplitHostPort(s.Addr)
	if err != nil {
		return fmt.Errorf("address of the page %q: it must be host:port, such as %s", s.Addr, DefaultAddr)
	}
	if !pageorigin.IsLoopback(host) {
		return fmt.Errorf("address of the page %q can be reached from other machines: use %s", s.Addr, DefaultAddr)
	}
	return nil
}

// explain adds to a listen error which program uses the address.
func (s *Server) explain(ctx context.Context, err error) error {
	if !webaddress.Taken(err) {
		return fmt.Errorf("open the page on %s: %w", s.Addr, err)
	}
	ctx, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	other := &api.Client{Base: "http://" + s.Addr}
	if h, herr := other.Health(ctx); herr == nil {
		return fmt.Errorf("open the page on %s: clank %s is serving there already; use that one, end it, or choose "+
			"another address", s.Addr, h.Version)
	}
	return fmt.Errorf("open the page on %s: another program uses that address; end it or choose another address", s.Addr)
}
