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

// DefaultAddr is where the page is unless told otherwise.
const DefaultAddr = "127.0.0.1:8787"

// DefaultRecheck is how often a watcher is asked for again. What Discord says of members holds as long, so that who has
// lost a role there sees nothing here half a minute later.
const DefaultRecheck = 15 * time.Second

// Server is the page. Set the exported fields, then call Open, and Close when it is to end.
type Server struct {
	Addr        string             // host:port to listen on; empty = [DefaultAddr]
	Tokens      *access.TokenStore // what opens the page, and the browsers that are signed in
	LocalSecret string             // a further secret that opens it, for programs of the same person; may be empty
	Version     string
	Manager     *sessions.Manager
	Scopes      *cancel.Scopes   // those of the Manager
	Questions   *approval.Queue  // what people are asked before it is done
	Inbox       Inbox            // of files that are sent for tasks
	Runs        Runs             // the records of tasks
	Films       Films            // of tasks
	Watches     *watches.Runner  // the pages that are watched for people
	Budgets     *budget.Enforcer // what is spent
	Settings    *settings.Manager
	Browsers    *browsermgr.Manager
	Gate        *egress.Proxy // that the browsers go through
	Vault       *vault.Vault  // nil if it cannot be opened
	Scripts     recording.ScriptStore
	Transcripts Transcripts
	Links       Links
	Setup       Setup
	Nodes       Nodes
	Tools       TaskTools
	Telemetry   *telemetry.Recorder // keeps who signed in and what was exported
	Call        http.Handler        // answers the page of calls, below /api/call
	Assistant   Assistant           // that people talk with; nil: there is none
	Accounts    Accounts            // nil: nobody signs in with Discord
	Recheck     time.Duration       // how often who watches is asked for again; 0 takes [DefaultRecheck]
	Live        LivePane            // nil: pages of sessions cannot be watched
	Discord     Discord             // nil: clank has nothing to do with it
	Host        Host
	Logger      *slog.Logger
	// UnfinishedFile is where Close leaves what is to go on after the next start; empty: nothing does.
	UnfinishedFile string

	codes      loginCodes
	attempts   throttle
	presence   presence
	site       *siteFiles
	feed       *eventFeed
	listen     net.Listener
	http       *http.Server
	idleConns  idleConns
	launch     func(func(ctx context.Context)) // does something that lives as long as the server
	end        context.CancelCauseFunc
	unfinished unfinishedTasks
	work       sync.WaitGroup // what was launched, and the listener's loop
}

// Open prepares the page and starts serving it. ctx bounds the start only.
func (s *Server) Open(ctx context.Context) error {
	var err error
	if s.Discord == nil {
		s.Discord = noDiscord{}
	}
	s.Addr, s.Recheck = cmp.Or(s.Addr, DefaultAddr), cmp.Or(s.Recheck, DefaultRecheck)
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
	s.feed = newEventFeed(s.Manager.Subscribe)
	s.http = &http.Server{
		Handler:           s.handler(),
		BaseContext:       func(net.Listener) context.Context { return life },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      time.Minute, // streams move their own deadline along
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ConnState:         s.idleConns.trackConn,
		ErrorLog:          slog.NewLogLogger(s.Logger.Handler(), slog.LevelDebug),
	}
	s.launch(s.feed.run)
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

// Close stops the tasks that were started here, ends all streams, and waits until nothing of it runs, or ctx has
// ended. A Server that was not opened, or is closed, closes without an error.
func (s *Server) Close(ctx context.Context) error {
	if s.end == nil {
		return nil
	}
	s.end(&cancel.Cause{Reason: cancel.ShuttingDown})
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

// URL returns the address of the page: "http://127.0.0.1:8787". With port 0 in Addr it is known after Open.
func (s *Server) URL() string {
	if s.listen != nil {
		return "http://" + s.listen.Addr().String()
	}
	return "http://" + s.Addr
}

// checkAddr refuses to be reached from elsewhere by accident.
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

// explain says why the address could not be had, and by whom it is taken.
func (s *Server) explain(ctx context.Context, err error) error {
	if !webaddress.Taken(err) {
		return fmt.Errorf("open the page on %s: %w", s.Addr, err)
	}
	ctx, done := context.WithTimeout(ctx, 2*time.Second)
	defer done()
	other := &api.Client{Base: "http://" + s.Addr}
	if h, herr := other.Health(ctx); herr == nil {
		return fmt.Errorf("open the page on %s: clank %s is serving there already; use that one, end it, or choose another address", s.Addr, h.Version)
	}
	return fmt.Errorf("open the page on %s: another program uses that address; end it or choose another address", s.Addr)
}
