package browsertool_test

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/internal/test/check"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func open(t *testing.T, s *browsertool.MCPServer, idle time.Duration) *browsertool.MCPHTTP {
	t.Helper()
	h := &browsertool.MCPHTTP{Server: s, Addr: "127.0.0.1:0", Valid: knows("secret"), Idle: idle}
	check.Must(t, h.Open(t.Context()))
	return h
}

// bearer adds the token to every request.
type bearer struct{}

func (bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer secret")
	return http.DefaultTransport.RoundTrip(r)
}

func dial(t *testing.T, h *browsertool.MCPHTTP, o *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	c, err := tryDial(t.Context(), h, o)
	check.Must(t, err)
	return c
}

func tryDial(ctx context.Context, h *browsertool.MCPHTTP, o *mcp.ClientOptions) (*mcp.ClientSession, error) {
	return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(ctx,
		&mcp.StreamableClientTransport{Endpoint: h.URL(), HTTPClient: &http.Client{Transport: bearer{}}}, nil)
}

func TestClientsOverHTTPHaveTabsOfTheirOwn(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	h := open(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media), Browser: &agent{}}, 0)
	a, b := dial(t, h, nil), dial(t, h, nil)
	call(t, a, "browser", map[string]any{"action": "open", "url": "http://x"})
	call(t, b, "browser", map[string]any{"action": "open", "url": "http://x"})
	if r := call(t, a, "browser", map[string]any{"action": "screenshot"}); r.IsError || images(r) != 1 {
		t.Errorf("got %s", text(r))
	}
	check.Must(t, a.Close())
	api.awaitEnd(t, "T1")
	check.Must(t, h.Close())
	check.Equal(t, "closed", api.ends(), "T1 T2")
	_ = b.Close()
}

func TestASessionThatIsForgottenEnds(t *testing.T) {
	t.Parallel()
	var api *control
	for idle := 50 * time.Millisecond; ; idle *= 10 {
		api = newControl(t)
		h := open(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media)}, idle)
		t.Cleanup(func() { _ = h.Close() })
		c, err := tryDial(t.Context(), h, nil)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
			_, err = c.CallTool(t.Context(),
				&mcp.CallToolParams{Name: "browser", Arguments: map[string]any{"action": "open", "url": "http://x"}})
		}
		if err == nil {
			break
		}
		if idle > 10*time.Second {
			t.Fatal(err)
		}
		t.Logf("forgotten before its first call: %v", err) // the machine is busy
	}
	api.awaitEnd(t, "T1")
}

func TestACallOverHTTPIsStoppedAndTellsItsProgress(t *testing.T) {
	t.Parallel()
	left, told := make(chan error, 1), make(chan string, 10)
	h := open(t, &browsertool.MCPServer{Browser: &agent{left: left}}, 0)
	defer func() { _ = h.Close() }()
	c := dial(t, h, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- r.Params.Message
		},
	})
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-told
		cancel()
	}()
	p := &mcp.CallToolParams{
		Name: "browser_browse", Arguments: map[string]any{"query": "hang"},
		Meta: mcp.Meta{"progressToken": 1},
	}
	check.Fails(t, check.Err(c.CallTool(ctx, p)), context.Canceled)
	check.Fails(t, within(t, "the stop", left), context.Canceled)
}

func TestClosingTheServerEndsTheCallsUnderWay(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	h := open(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media)}, 0)
	c := dial(t, h, nil)
	call(t, c, "browser", map[string]any{"action": "open", "url": "http://x"})
	answered := make(chan error, 1)
	go func() {
		_, err := c.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "browser", Arguments: map[string]any{"action": "act", "kind": "press", "key": "a"}})
		answered <- err
	}()
	<-api.hung
	closed := make(chan error, 1)
	go func() { closed <- h.Close() }()
	check.Must(t, within(t, "the end", closed))
	api.givenUp(t)
	check.Equal(t, "closed", api.ends(), "T1")
	_ = c.Close()
	check.Fails(t, within(t, "an answer", answered), nil, "tools/call")
}

func TestASessionThatEndsTakesItsCallsWithIt(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	h := open(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media)}, 0)
	defer func() { _ = h.Close() }()
	c := dial(t, h, nil)
	go func() {
		_, _ = c.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "browser", Arguments: map[string]any{"action": "act", "kind": "press", "key": "a"}})
	}()
	<-api.hung
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // shorter than the call's own timeout
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, h.URL(), nil)
	check.Must(t, err)
	req.Header.Set("Mcp-Session-Id", c.ID())
	res, err := (&http.Client{Transport: bearer{}}).Do(req)
	check.Must(t, err)
	_ = res.Body.Close()
	api.givenUp(t)
	_ = c.Close()
}

func knows(secret string) func(string) bool {
	return func(token string) bool { return token == secret }
}

func TestOnlyWhoHasTheTokenAndIsNoPageGetsIn(t *testing.T) {
	t.Parallel()
	h := open(t, &browsertool.MCPServer{Browser: &agent{}}, 0)
	defer func() { _ = h.Close() }()
	for name, tt := range map[string]struct {
		host  string
		set   map[string]string
		path  string
		body  string
		want  int
		said  string
		token string
	}{
		"all right": {want: 200, token: "bearer secret"},
		"a page of ours": {
			want: 200, token: "Bearer secret",
			set: map[string]string{"Origin": "http://localhost:3000"},
		},
		"no token":             {want: 401, said: "clank tokens add"},
		"wrong token":          {want: 401, said: "clank tokens add", token: "Bearer secret2"},
		"another scheme":       {want: 401, token: "Basic secret"},
		"a page":               {want: 403, token: "Bearer secret", set: map[string]string{"Origin": "https://evil.test"}},
		"a sandboxed page":     {want: 403, token: "Bearer secret", set: map[string]string{"Origin": "null"}},
		"a page without token": {want: 403, set: map[string]string{"Origin": "https://evil.test"}},
		"cross-site":           {want: 403, token: "Bearer secret", set: map[string]string{"Sec-Fetch-Site": "cross-site"}},
		"outside of any page":  {want: 403, token: "Bearer secret", set: map[string]string{"Sec-Fetch-Site": "none"}},
		"an old page":          {want: 403, token: "Bearer secret", set: map[string]string{"Referer": "https://evil.test/x"}},
		"a rebound name":       {want: 403, token: "Bearer secret", host: "evil.test"},
		"a name like ours":     {want: 403, token: "Bearer secret", host: "127.0.0.1.evil.test:80"},
		"another path":         {want: 404, said: "at /mcp", token: "Bearer secret", path: "/"},
		"garbage":              {want: 400, token: "Bearer secret", body: "garbage"},
		"oversize":             {want: 413, token: "Bearer secret", body: strings.Repeat(" ", 2<<20)},
	} {
		body, path := tt.body, tt.path
		if body == "" {
			body, _, _ = strings.Cut(hello, "\n")
		}
		target := h.URL()
		if path != "" {
			target = strings.TrimSuffix(target, "/mcp") + path
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
		check.Must(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if tt.token != "" {
			req.Header.Set("Authorization", tt.token)
		}
		for k, v := range tt.set {
			req.Header.Set(k, v)
		}
		if tt.host != "" {
			req.Host = tt.host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		answer, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != tt.want || !strings.Contains(string(answer), tt.said) {
			t.Errorf("%s: got %d %s, want %d %s", name, res.StatusCode, answer, tt.want, tt.said)
		}
	}
}

func TestItDoesNotListenBeyondThisMachineNorWithoutAToken(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "[::]:0", "nonsense"} {
		h := &browsertool.MCPHTTP{Addr: addr, Valid: knows("x"), Server: &browsertool.MCPServer{}}
		check.Fails(t, h.Open(t.Context()), nil, strconv.Quote(addr)+" is not a loopback address")
	}
	h := &browsertool.MCPHTTP{Addr: "127.0.0.1:0", Server: &browsertool.MCPServer{}}
	check.Fails(t, h.Open(t.Context()), nil, "open to everybody without tokens")
}
