package browsertool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// api is a scripted control API: the answer for each "METHOD /path", and the requests it received.
type api struct {
	t       *testing.T
	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	asked   []string
	URL     string
	media   string
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{t: t, answers: map[string]http.HandlerFunc{}, media: t.TempDir()}
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	a.URL = srv.URL
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	line := r.Method + " " + r.URL.Path
	a.mu.Lock()
	asked := r.Method + " " + r.URL.String()
	if len(body) > 0 {
		asked += " " + string(body)
	}
	a.asked = append(a.asked, asked)
	h := a.answers[line]
	a.mu.Unlock()
	check.Equal(a.t, line+" was asked with", r.Header.Get("Authorization"), "Bearer secret")
	if h == nil {
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":"no script for `+line+`"}`)
		return
	}
	h(w, r)
}

// on scripts an answer: a status and JSON.
func (a *api) on(line string, status int, answer string) {
	a.handle(line, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	})
}

func (a *api) handle(line string, h http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[line] = h
}

// taken returns the requests since the last call.
func (a *api) taken() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.asked = nil }()
	return strings.Join(a.asked, "\n")
}

// file puts a file into the API's media directory.
func (a *api) file(name string, data []byte) string {
	a.t.Helper()
	p := filepath.Join(a.media, name)
	check.Must(a.t, os.WriteFile(p, data, 0o600))
	return p
}

func (a *api) target() *browsertool.Target {
	return &browsertool.Target{API: &browsertool.APIClient{URL: a.URL, Token: "secret"}, Media: []string{a.media}}
}

// session returns a session with this API as the host's.
func (a *api) session() *browsertool.Session {
	return &browsertool.Session{
		Tool: &browsertool.Tool{Targets: browsertool.Targets{Host: a.target(), AllowHostControl: true}},
	}
}

// run runs a call. It fails the test if Run returns an error.
func run(t *testing.T, s *browsertool.Session, in string) browsertool.Result {
	t.Helper()
	r, err := s.Run(t.Context(), json.RawMessage(in))
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return r
}

// content returns the text between the only pair of markers in a result.
func content(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\nSource: Browser\n---\n")
	inside, _, closed := strings.Cut(rest, "\n<<<END_EXTERNAL_UNTRUSTED_CONTENT id=")
	if !ok || !closed {
		t.Fatalf("no boundary in %q", text)
	}
	return inside
}

var png = append([]byte("\x89PNG\r\n\x1a\n"), 1, 2, 3)

// TestMain serves MCP on the process's own pipes if a test started the program as a server.
func TestMain(m *testing.M) {
	address := os.Getenv("CLANK_TEST_CONTROL")
	if address == "" {
		os.Exit(check.Main(m))
	}
	s := &browsertool.MCPServer{Tool: tool(address, os.Getenv("CLANK_TEST_MEDIA")), Browser: &agent{}, Version: "test"}
	if err := s.ServePipes(context.Background(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func tool(address, media string) *browsertool.Tool {
	host := &browsertool.Target{API: &browsertool.APIClient{URL: address, Token: "secret"}, Media: []string{media}}
	return &browsertool.Tool{Targets: browsertool.Targets{Host: host, AllowHostControl: true}, Records: true}
}

// control is a control API for the tests of MCP.
type control struct {
	*api
	opened int
	closed []string
	hung   chan string // a hanging call has begun
	left   chan string // and was cancelled
}

func newControl(t *testing.T) *control {
	t.Helper()
	c := &control{api: newAPI(t), hung: make(chan string, 10), left: make(chan string, 10)}
	c.on("GET /snapshot", 200, `{"ok":true,"format":"ai","snapshot":"- button \"Go\" [ref=e1]","refs":{"e1":{}}}`)
	c.on("GET /profiles", 404, `{"error":"profile not found"}`)
	c.on("POST /screenshot", 200, `{"path":"`+c.file("a.png", png)+`","targetId":"T"}`)
	c.on("GET /console", 200, fmt.Sprintf(`{"messages":[{"text":%q}]}`, strings.Repeat("x", 256<<10)))
	c.handle("POST /tabs/open", func(w http.ResponseWriter, _ *http.Request) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.opened++
		_, _ = fmt.Fprintf(w, `{"targetId":"T%d"}`, c.opened)
	})
	for _, id := range []string{"T1", "T2"} {
		c.handle("DELETE /tabs/"+id, func(w http.ResponseWriter, _ *http.Request) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.closed = append(c.closed, id)
			_, _ = io.WriteString(w, `{"ok":true}`)
		})
	}
	c.handle("POST /act", func(_ http.ResponseWriter, r *http.Request) {
		c.hung <- r.URL.Path
		<-r.Context().Done()
		c.left <- r.URL.Path
	})
	return c
}

// givenUp waits until a hanging call was cancelled, well before its own timeout.
func (c *control) givenUp(t *testing.T) {
	t.Helper()
	select {
	case <-c.left:
	case <-time.After(30 * time.Second):
		t.Fatal("a call goes on")
	}
}

// awaitEnd waits until these tabs were closed.
func (c *control) awaitEnd(t *testing.T, tabs string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); c.ends() != tabs; {
		if time.Now().After(deadline) {
			t.Fatalf("closed %q", c.ends())
		}
		<-time.After(5 * time.Millisecond)
	}
}

// ends returns the closed tabs.
func (c *control) ends() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.closed, " ")
}

// agent is a scripted TaskBrowser: it reports two lines of progress and answers, or waits to be stopped if the query
// is "hang".
type agent struct {
	left chan error // may be nil
}

func (a *agent) Browse(
	ctx context.Context, ask browsertool.BrowseRequest, person *browsertool.ClientPerson, progress func(string),
) (browsertool.BrowseAnswer, error) {
	switch ask.Query {
	case "files":
		return browsertool.BrowseAnswer{TaskID: "t1", Text: fmt.Sprint(ask.Files), Files: []sessions.File{
			{ID: "d1", Name: "say \"yes\".pdf", Type: "application/pdf", Size: 4},
			{ID: "gone", Size: 1},
			{ID: "huge", Size: 1 << 30},
			{ID: "d4", Name: "film.webm", Type: "video/webm", Size: 5 << 20},
		}}, nil
	case "ask":
		allowed, err := person.Ask(ctx, "Buy something", "Buy now")
		return browsertool.BrowseAnswer{Text: fmt.Sprintf("allowed %t, %v", allowed, err)}, nil
	case "ask others too":
		_, unfit := person.Ask(ctx, "Buy something", "Buy now")
		answered, answer := context.WithCancelCause(ctx)
		answer(errors.New("answered elsewhere"))
		return browsertool.BrowseAnswer{Text: fmt.Sprint(unfit != nil, " ", person.Await(answered, "Buy something"))}, nil
	case "await":
		err := person.Await(ctx, "Buy something")
		return browsertool.BrowseAnswer{Text: fmt.Sprint(person.CanAnswer(), " ", err)}, nil
	case "hang":
		progress("waiting")
		<-ctx.Done()
		if a.left != nil {
			a.left <- context.Cause(ctx)
		}
		return browsertool.BrowseAnswer{}, context.Cause(ctx)
	case "fail":
		return browsertool.BrowseAnswer{Text: "no such flight", Failed: true}, nil
	case "break":
		return browsertool.BrowseAnswer{}, errors.New("no model is set up")
	case "flood":
		for i := range 10_000 {
			progress(fmt.Sprint("line ", i))
		}
		return browsertool.BrowseAnswer{Text: "flooded"}, nil
	}
	progress("opening\nthe page")
	return browsertool.BrowseAnswer{
		Text: "42 <<<EXTERNAL_UNTRUSTED_CONTENT>>>", SessionID: "s" + ask.SessionID,
		Images: []llm.Image{{MediaType: "image/png", Data: png}},
	}, nil
}

func (a *agent) SendFile(_ context.Context, name string, r io.Reader) (sessions.File, error) {
	if name == "huge" {
		return sessions.File{}, sessions.ErrFileTooLarge
	}
	data, err := io.ReadAll(r)
	return sessions.File{Name: name, Size: int64(len(data)), Type: string(data)}, err
}

func (a *agent) Download(_ context.Context, taskID string, f sessions.File) (io.ReadCloser, error) {
	switch {
	case taskID == "t1" && f.ID == "d4":
		return io.NopCloser(strings.NewReader(strings.Repeat("film!", 1<<20))), nil
	case taskID != "t1" || f.ID != "d1":
		return nil, errors.New("the file is not kept any more")
	}
	return io.NopCloser(strings.NewReader("%PDF")), nil
}

func within(t *testing.T, what string, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatalf("%s did not happen", what)
		return nil
	}
}

// call calls a tool. It fails the test on a protocol error.
func call(t *testing.T, c *mcp.ClientSession, name string, args map[string]any) *mcp.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	return r
}

// text returns the text of a result.
func text(r *mcp.CallToolResult) string {
	var s strings.Builder
	for _, c := range r.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			s.WriteString(c.Text)
		}
	}
	return s.String()
}

func images(r *mcp.CallToolResult) (n int) {
	for _, c := range r.Content {
		if c, ok := c.(*mcp.ImageContent); ok && c.MIMEType == "image/png" && string(c.Data) == string(png) {
			n++
		}
	}
	return n
}

// scriptsRun are [browsertool.Settings] that allow or forbid scripts.
type scriptsRun struct {
	browsertool.DefaultSettings

	enabled bool
}

func (s scriptsRun) EvaluateEnabled() bool { return s.enabled }
