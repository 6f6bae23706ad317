package profile_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/check"

	"github.com/coder/websocket"
)

func TestParseTellsTheKindsApart(t *testing.T) {
	for _, tc := range []struct {
		text             string
		direct, loopback bool
		port             int
	}{
		{"http://127.0.0.1:9000", false, true, 9000},
		{"HTTPS://Browser.example./x?token=1", false, false, 443},
		{"ws://localhost.:9000/devtools/browser/ab-c", true, true, 9000},
		{"ws://[::1]/devtools/page/1/", true, true, 80},
		{"wss://connect.example?apiKey=1", false, false, 443},
		{"ws://127.0.0.1:9000/devtools/browser/", false, true, 9000},
		{"ws://127.0.0.1:9000/devtools/other/1", false, true, 9000},
		{"http://[::ffff:127.0.0.1]:1/devtools/browser/1", false, true, 1},
		{"http://localhost.example", false, false, 80},
	} {
		e, err := profile.ParseEndpoint(tc.text)
		if err != nil {
			t.Fatalf("%s: %v", tc.text, err)
		}
		if e.IsDirect() != tc.direct || e.IsLoopback() != tc.loopback || e.Port() != tc.port {
			t.Errorf("%s: direct %t, loopback %t, port %d", tc.text, e.IsDirect(), e.IsLoopback(), e.Port())
		}
	}
}

func TestParseRefusesWithoutRepeating(t *testing.T) {
	for _, text := range []string{
		"", "ftp://u:secret@h", "secret", "http://", "http://h:0?token=secret", "http://h:70000",
		"http://h:x", "http://u:secret@h\x00", "javascript:secret",
	} {
		_, err := profile.ParseEndpoint(text)
		if !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), "cdpUrl") ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAdvertisedAddressIsRepaired(t *testing.T) {
	for _, tc := range []struct{ asked, advertised, want string }{
		{"http://127.0.0.1:9000", "ws://127.0.0.1:9000/devtools/browser/1", "ws://127.0.0.1:9000/devtools/browser/1"},
		{"http://box:9000", "ws://127.0.0.1:9222/devtools/browser/1", "ws://box:9000/devtools/browser/1"},
		// CVE-2026-28395: an address of all interfaces made a relay listen on all of them. Here it means the host that
		// was asked.
		{"http://box:9000", "ws://0.0.0.0/devtools/browser/1", "ws://box:9000/devtools/browser/1"},
		{"http://box:9000", "ws://[::ffff:0.0.0.0]:9222/devtools/browser/1", "ws://box:9000/devtools/browser/1"},
		{"https://box", "ws://[::]:3000/devtools/browser/1", "wss://box/devtools/browser/1"},
		{"http://box", "wss://localhost:3000/devtools/browser/1", "ws://box/devtools/browser/1"},
		{"https://box", "ws://other.:9000/devtools/browser/1", "wss://other:9000/devtools/browser/1"},
		{
			"http://u:p@box?token=1&a=2", "ws://other/devtools/browser/1?token=3",
			"ws://u:p@other/devtools/browser/1?a=2&token=3",
		},
		{"http://127.0.0.1:9000", "ws://localhost:9000/devtools/browser/1", "ws://localhost:9000/devtools/browser/1"},
	} {
		got, err := profile.RewriteWebSocketURL(tc.asked, tc.advertised)
		if err != nil || got != tc.want {
			t.Errorf("%s says %s: got %s, %v, want %s", tc.asked, tc.advertised, got, err, tc.want)
		}
	}
	for _, advertised := range []string{"", "http://box/x", "ws:///x", "::", "\x00"} {
		check.Fails(t, check.Err(profile.RewriteWebSocketURL("http://box", advertised)), nil, "not a browser's DevTools")
	}
}

func TestDiscoveryAsksTheVersionOnly(t *testing.T) {
	for text, want := range map[string]string{
		"http://h:1":                        "http://h:1/json/version",
		"wss://u:p@h/a/?token=x":            "https://h/a/json/version?token=x",
		"http://h:1/json/version":           "http://h:1/json/version",
		"ws://h:1?apiKey=x":                 "http://h:1/json/version?apiKey=x",
		"http://h:1/a%2Fb/json/version?x=1": "http://h:1/a/b/json/version?x=1",
	} {
		e, err := profile.ParseEndpoint(text)
		check.Must(t, err)
		check.Equal(t, text+" asks", profile.VersionURL(e), want)
	}
}

func TestStaleDirectAddressGivesWayToThePort(t *testing.T) {
	for _, tc := range []struct {
		text string
		port int
		want string
	}{
		{"ws://127.0.0.1:9000/devtools/browser/old", 9001, "http://127.0.0.1:9001"},
		{"wss://h/devtools/browser/old?token=x", 443, "https://h:443?token=" + "REDACTED"},
		{"ws://127.0.0.1:9000/devtools/browser/old", 0, "ws://127.0.0.1:9000/devtools/browser/old"},
		{"http://127.0.0.1:9000", 9001, "http://127.0.0.1:9000"},
	} {
		e, err := profile.ParseEndpoint(tc.text)
		check.Must(t, err)
		check.Equal(t, fmt.Sprintf("%s with port %d", tc.text, tc.port), e.ForPort(tc.port).String(), tc.want)
	}
}

func TestRedactHidesWhatMayBeASecret(t *testing.T) {
	for text, want := range map[string]string{
		"wss://h/x?token=1&region=eu":  "wss://h/x?region=eu&token=REDACTED",
		"http://user:pass@h:1":         "http://REDACTED@h:1",
		"http://secret@h":              "http://REDACTED@h",
		"wss://h?API_KEY=1&sessionId=": "wss://h?API_KEY=REDACTED&sessionId=REDACTED",
		"http://127.0.0.1:1/a":         "http://127.0.0.1:1/a",
		"http://h?%zz=token":           "http://h?query=REDACTED",
		"http://h:secret":              "(an address that does not parse)",
	} {
		check.Equal(t, text+" shows as", profile.RedactURL(text), want)
	}
}

// userOf returns the user information of an address. The same words in a path are not secret.
func userOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	return u.User.String()
}

func FuzzAnAddressIsUsableOrRefused(f *testing.F) {
	for _, seed := range []string{
		"http://127.0.0.1:9000", "wss://u:s3cr3t@h?token=s3cr3t",
		"ws://[::1]/devtools/browser/1", "http://h:99999", "%", "ws://a:b:c", "ws://.#0", "ws://::", "http://..",
		"ws://0/s3cr3t@",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := profile.ParseEndpoint(text)
		if err != nil {
			return
		}
		if port := e.Port(); port < 1 || port > 65535 {
			t.Errorf("%q has port %d", text, port)
		}
		shown := e.String()
		if again, err := profile.ParseEndpoint(shown); err != nil || again.String() != shown {
			t.Errorf("%q shows as %q, which reads as %v, %v", text, shown, again, err)
		}
		if user := userOf(text); strings.Contains(user, "s3cr3t") && strings.Contains(userOf(shown), "s3cr3t") {
			t.Errorf("%q shows its secret", text)
		}
	})
}

// fake is a server that may act as a browser's DevTools.
type fake struct {
	discovery http.HandlerFunc // nil: 404
	path      string           // where the WebSocket is; empty: nowhere
	silent    bool             // accepts the WebSocket and says nothing
	auth      string           // wanted of the WebSocket
	asked     atomic.Int32     // discoveries
	dialled   atomic.Int32     // handshakes
}

func (f *fake) serve(t *testing.T) (host string) {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/json/version"):
			f.asked.Add(1)
			if f.discovery != nil {
				f.discovery(w, r)
				return
			}
		case f.path != "" && r.URL.Path == f.path:
			f.dialled.Add(1)
			if f.auth == "" || r.Header.Get("Authorization") == f.auth || r.URL.Query().Get("token") == f.auth {
				f.speak(w, r)
				return
			}
			http.Error(w, "Basic and token are wrong", http.StatusUnauthorized)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

func (f *fake) speak(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = ws.CloseNow() }()
	for {
		_, data, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		var m struct{ ID int }
		if f.silent || json.Unmarshal(data, &m) != nil {
			continue
		}
		if ws.Write(r.Context(), websocket.MessageText, fmt.Appendf(nil, `{"id":%d,"result":{"product":"Fake/1"}}`,
			m.ID)) != nil {
			return
		}
	}
}

func advertise(address func(r *http.Request) string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"Browser":"Fake/1","webSocketDebuggerUrl":%q}`, address(r))
	}
}

func here(path string) http.HandlerFunc {
	return advertise(func(r *http.Request) string { return "ws://" + r.Host + path })
}

func parse(t *testing.T, text string) profile.Endpoint {
	t.Helper()
	e, err := profile.ParseEndpoint(text)
	check.Must(t, err)
	return e
}

// dial opens a connection as the tests need it.
func dial(ctx context.Context, target profile.DialTarget, bound time.Duration) (string, error) {
	conn, err := cdp.Dial(ctx, target.URL, cdp.Options{CallTimeout: bound, HandshakeHeader: target.Header})
	if err != nil {
		return "", err
	}
	conn.Start(func(cdp.Event) {})
	conn.Close()
	return target.URL, nil
}

func TestConnectFindsTheWebSocket(t *testing.T) {
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("ada:pass"))
	for name, tc := range map[string]struct {
		fake    *fake
		address string // %s is the host
		asked   int32
	}{
		"http": {
			&fake{discovery: here("/devtools/browser/1"), path: "/devtools/browser/1"}, "http://%s",
			1,
		},
		"http below a path":         {&fake{discovery: here("/ws"), path: "/ws"}, "http://%s/chrome/", 1},
		"a path without discovery":  {&fake{path: "/devtools/browser/1"}, "ws://%s/devtools/browser/1", 0},
		"bare, with discovery":      {&fake{discovery: here("/ws"), path: "/ws"}, "ws://%s", 1},
		"bare, without discovery":   {&fake{path: "/"}, "ws://%s", 1},
		"bare, the named refuses":   {&fake{discovery: here("/nowhere"), path: "/"}, "ws://%s/", 1},
		"login in a header":         {&fake{discovery: here("/ws"), path: "/ws", auth: basic}, "http://ada:pass@%s", 1},
		"token kept in the query":   {&fake{discovery: here("/ws"), path: "/ws", auth: "t0p"}, "http://%s?token=t0p", 1},
		"token of a bare WebSocket": {&fake{path: "/", auth: "t0p"}, "ws://%s?token=t0p", 1},
	} {
		t.Run(name, func(t *testing.T) {
			host := tc.fake.serve(t)
			if _, err := profile.ConnectEndpoint(t.Context(), profile.Connector{}, parse(t, fmt.Sprintf(tc.address, host)),
				dial); err != nil {
				t.Fatal(err)
			}
			check.Equal(t, "discoveries", tc.fake.asked.Load(), tc.asked)
		})
	}
}

func TestRateLimitIsNotTriedAgainNorEchoed(t *testing.T) {
	limited := func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "key s3cr3t is over", http.StatusTooManyRequests)
	}
	f := fake{discovery: limited, path: "/"}
	host := f.serve(t)
	_, err := profile.ConnectEndpoint(t.Context(), profile.Connector{}, parse(t, "ws://"+host+"?apiKey=s3cr3t"), dial)
	if _, ok := errors.AsType[*profile.RateLimitError](err); !ok || strings.Contains(err.Error(), "s3cr3t") ||
		!strings.Contains(err.Error(), "do not retry") {
		t.Errorf("got %v", err)
	}
	if f.asked.Load() != 1 || f.dialled.Load() != 0 {
		t.Errorf("%d discoveries and %d handshakes, want one and none", f.asked.Load(), f.dialled.Load())
	}
	check.Contains(t, (&profile.RateLimitError{Host: "connect.browserbase.com"}).Error(), "Browserbase")
}

func TestEndpointThatComesUpLateIsReached(t *testing.T) {
	var tries atomic.Int32
	f := fake{path: "/ws", discovery: func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) < 3 {
			http.Error(w, "starting", http.StatusServiceUnavailable)
			return
		}
		here("/ws")(w, r)
	}}
	check.Must(t, check.Err(profile.ConnectEndpoint(t.Context(), profile.Connector{}, parse(t, "http://"+f.serve(t)),
		dial)))
	check.Equal(t, "tries", tries.Load(), 3)
}

func TestFailureNamesItsLayer(t *testing.T) {
	silent := listen(t, func(net.Conn) {})
	garbage := listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096)) // the question first, as a server that is merely of another kind
		_, _ = c.Write([]byte("SSH-2.0-hello\r\n\r\n"))
	})
	mute := (&fake{discovery: here("/ws"), path: "/ws", silent: true}).serve(t)
	page := (&fake{discovery: func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<h1>hello</h1>") }}).serve(t)
	closed := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }
	shut := (&fake{discovery: closed}).serve(t)
	c := profile.Connector{HTTPTimeout: 300 * time.Millisecond, Handshake: 300 * time.Millisecond}
	for _, tc := range []struct{ address, want string }{
		{"http://" + silent + "?token=s3cr3t", "discovery at http://" + silent + "/json/version?token=REDACTED: no " +
			"answer in time"},
		{"ws://s3cr3t@" + silent + "/devtools/browser/1", "websocket at ws://" + silent + "/devtools/browser/1: no " +
			"answer in time"},
		{"http://" + garbage, "does not speak HTTP"},
		{"https://" + page, "does not speak TLS"},
		{"wss://" + page + "/devtools/browser/1", "does not speak TLS"},
		{"http://" + page, "names no WebSocket"},
		{"http://127.0.0.1:1", "connection refused"},
		{"http://" + mute, "answers no command: it is stopped"},
		{"http://" + shut, "HTTP 403"},
		{"http://ada:s3cr3t@" + shut + "/?token=s3cr3t", "HTTP 403"},
	} {
		p := c.Probe(t.Context(), parse(t, tc.address))
		if p.Ready || p.Err == nil || !strings.Contains(p.Err.Error(), tc.want) || strings.Contains(p.Err.Error(), "s3cr3t") {
			t.Errorf("%s: %v, want %q", tc.address, p.Err, tc.want)
		}
	}
	_, err := profile.ConnectEndpoint(t.Context(), c, parse(t, "ws://"+silent), dial)
	failure, ok := errors.AsType[*profile.ConnectError](err)
	if !ok || failure.Rounds != 3 || len(failure.Attempts) != 2 || failure.Attempts[0].Layer != profile.LayerDiscovery ||
		failure.Attempts[1].Layer != profile.LayerWebSocket {
		t.Errorf("a silent bare endpoint: %v", err)
	}
}

// listen serves raw connections on its own port.
func listen(t *testing.T, handle func(net.Conn)) (host string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	done := make(chan struct{})
	var conns []net.Conn
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, conn)
			handle(conn)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	return l.Addr().String()
}

func TestCancelEndsTheTries(t *testing.T) {
	silent := listen(t, func(net.Conn) {})
	stopped := errors.New("stopped by @ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	begun := make(chan struct{})
	go func() { <-begun; cancel(stopped) }()
	_, err := profile.ConnectEndpoint(ctx, profile.Connector{}, parse(t, "ws://"+silent+"/devtools/browser/1"),
		func(ctx context.Context, _ profile.DialTarget, _ time.Duration) (int, error) {
			close(begun)
			<-ctx.Done()
			return 0, context.Cause(ctx)
		})
	check.Fails(t, err, stopped)
}

func TestProbeLeavesHostedSessionsAlone(t *testing.T) {
	f := fake{path: "/"}
	host := f.serve(t)
	if p := (profile.Connector{}).Probe(t.Context(), parse(t, "ws://"+host)); !p.Ready || p.HTTP || p.Version != "Fake/1" {
		t.Errorf("on this machine: %+v", p)
	}
	hosted := parse(t, "ws://hosted.invalid?token=x")
	if p := (profile.Connector{}).Probe(t.Context(), hosted); p.Ready || p.Err != nil {
		t.Errorf("a hosted one: %+v", p)
	}
}

// CVE-2026-22174: the secret of the control API was sent to any program listening on a port probed for a browser.
func TestAdvisorySecretsSentToATriedPort(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.String())
		for name, values := range r.Header {
			switch name {
			case "User-Agent", "Accept-Encoding", "Connection":
			default:
				t.Errorf("it was told %s: %q", name, values)
			}
		}
		http.NotFound(w, r)
	}))
	defer stranger.Close()
	if p := (profile.Connector{}).Probe(t.Context(), parse(t, stranger.URL)); p.Ready {
		t.Error("a stranger passes for a browser")
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 1 || asked[0] != "GET /json/version" {
		t.Errorf("asked %q, want the version only", asked)
	}
}

// A remote browser could redirect discovery, or advertise a WebSocket, to hosts in the operator's network.
func TestAdvisoryDiscoveryLeadsElsewhere(t *testing.T) {
	visited := make(chan string, 8)
	inside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { visited <- r.URL.Path }))
	defer inside.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, inside.URL+"/json/version", http.StatusFound)
		},
		"names a host":         advertise(func(*http.Request) string { return "ws://metadata.example/devtools/browser/1" }),
		"names an odd address": advertise(func(*http.Request) string { return "ws://0xa9fea9fe/devtools/browser/1" }),
	} {
		f := fake{discovery: answer}
		host := f.serve(t)
		c := profile.Connector{Policy: judge{address: func(u *url.URL) error {
			if u.Host == host {
				return nil
			}
			return errors.New("on nobody's list")
		}}}
		if p := c.Probe(t.Context(), parse(t, "http://"+host)); p.Ready || p.Err == nil {
			t.Errorf("%s: got %+v, want a refusal", name, p)
		} else if name != "redirect" && !errors.Is(p.Err, profile.ErrEndpointBlocked) {
			t.Errorf("%s: got %v, want ErrEndpointBlocked", name, p.Err)
		}
		f.asked.Store(0)
		_, err := profile.ConnectEndpoint(t.Context(), c, parse(t, "http://"+host), dial)
		if name != "redirect" && (!errors.Is(err, profile.ErrEndpointBlocked) || f.asked.Load() != 1) {
			t.Errorf("%s: connected: %v after %d tries", name, err, f.asked.Load())
		}
		if p := c.Probe(t.Context(), parse(t, "wss://metadata.example/devtools/browser/1")); !errors.Is(p.Err,
			profile.ErrEndpointBlocked) {
			t.Errorf("the address itself: %v", p.Err)
		}
	}
	select {
	case path := <-visited:
		t.Errorf("%s was asked for inside", path)
	default:
	}
}

// judge is a policy; nil functions allow everything.
type judge struct {
	address func(u *url.URL) error
	at      func(u *url.URL, at netip.Addr) error
}

func (j judge) AllowEndpoint(_ context.Context, u *url.URL) error {
	if j.address == nil {
		return nil
	}
	return j.address(u)
}

func (j judge) AllowEndpointAddr(u *url.URL, at netip.Addr) error {
	if j.at == nil {
		return nil
	}
	return j.at(u, at)
}

// The name of a browser resolves differently when connecting than when it was checked.
func TestWhatIsConnectedToIsJudged(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	refused := errors.New("metadata")
	c := profile.Connector{Policy: judge{at: func(u *url.URL, at netip.Addr) error {
		if u.Port() != port || !at.IsLoopback() && !at.IsUnspecified() {
			t.Errorf("asked about %s at %s", u, at)
		}
		return refused
	}}}
	for _, scheme := range []string{"http", "ws"} {
		_, err := profile.Attach(t.Context(), c, parse(t, scheme+"://0.0.0.0:"+port+"/devtools/browser/1"),
			page.Options{Options: cdp.Options{CallTimeout: 5 * time.Second}})
		if !errors.Is(err, profile.ErrEndpointBlocked) || !errors.Is(err, refused) || asked.Load() > 0 {
			t.Errorf("%s: got %v, asked %d times", scheme, err, asked.Load())
		}
	}
}
