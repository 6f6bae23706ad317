package profile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/internal/pageorigin"

	"github.com/coder/websocket"
	"github.com/go-rod/rod/lib/proto"
)

// DevToolsServer gives other programs on this machine access to a browser that we control over a pipe, with the usual
// endpoints: /json/version, /json/list, /devtools/browser/… and /devtools/page/…. Each request must present a token, as
// "Authorization: Bearer" or in the query, use a loopback Host, and not come from a web page.
type DevToolsServer struct {
	// Port is the port on 127.0.0.1.
	Port int

	browser *page.Browser
	token   func(string) bool
	http    *http.Server
	end     context.CancelFunc
	work    sync.WaitGroup
}

// ServeDevTools listens on the first free one of ports. token reports whether a token is valid. If no port is free the
// error is a *[chrome.PortError].
func ServeDevTools(ctx context.Context, browser *page.Browser, ports []int, token func(string) bool,
	logger *slog.Logger,
) (*DevToolsServer, error) {
	var busy chrome.PortError
	for _, port := range ports {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			busy.Busy = append(busy.Busy, chrome.FindPortHolder(port))
			continue
		}
		ctx, end := context.WithCancel(context.WithoutCancel(ctx))
		s := &DevToolsServer{Port: port, browser: browser, token: token, end: end}
		s.http = &http.Server{
			Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second,
			BaseContext: func(net.Listener) context.Context { return ctx },
			ErrorLog:    slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		}
		s.work.Go(func() {
			if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				logger.Warn("the DevTools port is not served any more", "error", err)
			}
		})
		return s, nil
	}
	return nil, fmt.Errorf("open a DevTools port: %w", &busy)
}

// Close closes the listener and all connections, and waits for them.
func (s *DevToolsServer) Close() {
	s.end()
	_ = s.http.Close()
	s.work.Wait()
}

func (s *DevToolsServer) handler() http.Handler {
	mux := http.NewServeMux()
	for _, end := range []string{"", "/{$}"} {
		mux.HandleFunc("GET /json/version"+end, s.version)
		mux.HandleFunc("GET /json/list"+end, s.list)
		mux.HandleFunc("GET /json"+end, s.list)
	}
	mux.HandleFunc("GET /devtools/browser/{id}", func(w http.ResponseWriter, r *http.Request) { s.connect(w, r, "") })
	mux.HandleFunc("GET /devtools/page/{id}", func(w http.ResponseWriter, r *http.Request) {
		s.connect(w, r, r.PathValue("id"))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.work.Add(1)
		defer s.work.Done()
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if !ok {
			given = r.URL.Query().Get("token")
		}
		switch {
		case !pageorigin.IsKnownHost(r), r.Header.Get("Origin") != "", r.Header.Get("Sec-Fetch-Site") != "":
			http.Error(w, "this is for programs of this machine, not for web pages: ask for 127.0.0.1, without an Origin",
				http.StatusForbidden)
		case given == "" || !s.token(given):
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, `no token, or one that is not valid: make one with "clank tokens add NAME" and send it as "Authorization: Bearer TOKEN" or as ?token=TOKEN`,
				http.StatusUnauthorized)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// webSocketURL returns an address on this server. It includes the token if the request's URL did.
func webSocketURL(r *http.Request, path string) string {
	u := url.URL{Scheme: "ws", Host: r.Host, Path: path}
	if token := r.URL.Query().Get("token"); token != "" {
		u.RawQuery = url.Values{"token": {token}}.Encode()
	}
	return u.String()
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(v)
}

func (s *DevToolsServer) version(w http.ResponseWriter, r *http.Request) {
	v, err := cdp.Ask[proto.BrowserGetVersionResult](r.Context(), s.browser.RootSession(), proto.BrowserGetVersion{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	writeJSON(w, map[string]string{
		"Browser": v.Product, "Protocol-Version": v.ProtocolVersion, "User-Agent": v.UserAgent, "V8-Version": v.JsVersion,
		"webSocketDebuggerUrl": webSocketURL(r, "/devtools/browser/clank"),
	})
}

func (s *DevToolsServer) list(w http.ResponseWriter, r *http.Request) {
	if held, _ := s.browser.Held(); held {
		http.Error(w, page.ErrHeld.Error(), http.StatusLocked)
		return
	}
	all, err := cdp.Ask[proto.TargetGetTargetsResult](r.Context(), s.browser.RootSession(), proto.TargetGetTargets{})
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	list := []map[string]string{}
	for _, t := range all.TargetInfos {
		list = append(list, map[string]string{
			"id": string(t.TargetID), "type": string(t.Type), "title": t.Title, "url": t.URL,
			"webSocketDebuggerUrl": webSocketURL(r, "/devtools/page/"+string(t.TargetID)),
		})
	}
	writeJSON(w, list)
}

// maxBehind is how many unread bytes a client may have before it is disconnected.
const maxBehind = 256 << 20

// outbox queues messages that a client has not read yet. It is safe for concurrent use.
type outbox struct {
	mu    sync.Mutex
	queue [][]byte
	bytes int
	wake  chan struct{}
	full  context.CancelFunc
}

func (o *outbox) add(message []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue, o.bytes = append(o.queue, message), o.bytes+len(message)
	if o.bytes > maxBehind {
		o.full()
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

func (o *outbox) take() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch := o.queue
	o.queue, o.bytes = nil, 0
	return batch
}

// connect serves one client until it disconnects, the browser or the server ends, or a takeover begins. Messages
// without a session are for target, a page, if that is not empty.
func (s *DevToolsServer) connect(w http.ResponseWriter, r *http.Request, target string) {
	ctx, end := context.WithCancel(r.Context())
	defer end()
	held, begins := s.browser.Held()
	if held {
		http.Error(w, page.ErrHeld.Error(), http.StatusLocked)
		return
	}
	out := &outbox{wake: make(chan struct{}, 1), full: end}
	branch, err := s.browser.Branch(ctx, target, out.add)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	defer branch.Close()
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return // Accept has responded
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(maxBehind)
	s.work.Go(func() {
		defer end()
		for {
			select {
			case <-out.wake:
			case <-s.browser.Done():
				return
			case <-begins:
				return
			case <-ctx.Done():
				return
			}
			messages := out.take()
			select {
			case <-begins: // events may reveal what the person does
				return
			default:
			}
			for _, message := range messages {
				if ws.Write(ctx, websocket.MessageText, message) != nil {
					return
				}
			}
		}
	})
	for {
		_, message, err := ws.Read(ctx)
		if err != nil || branch.Send(message) != nil {
			return
		}
	}
}
