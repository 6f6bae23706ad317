package browsertool_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browseagent/browsertool"
	"clank/internal/test/check"
	"clank/internal/test/npm"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pipes serves s over pipes. done receives the result of ServePipes.
func pipes(t *testing.T, s *browsertool.MCPServer) (in *io.PipeWriter, out *io.PipeReader,
	stop context.CancelCauseFunc, done <-chan error,
) {
	t.Helper()
	serverIn, in := io.Pipe()
	out, serverOut := io.Pipe()
	ctx, stop := context.WithCancelCause(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- s.ServePipes(ctx, serverIn, serverOut) }()
	t.Cleanup(func() { stop(nil); _ = in.Close(); _ = out.Close() })
	return in, out, stop, ended
}

func connect(t *testing.T, s *browsertool.MCPServer, o *mcp.ClientOptions) (*mcp.ClientSession, <-chan error) {
	t.Helper()
	in, out, _, done := pipes(t, s)
	c, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(),
		&mcp.IOTransport{Reader: out, Writer: in}, nil)
	check.Must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c, done
}

func TestBothToolsAreOfferedAndCostLittle(t *testing.T) {
	t.Parallel()
	c, _ := connect(t, &browsertool.MCPServer{Tool: tool("", ""), Browser: &agent{}}, nil)
	list, err := c.ListTools(t.Context(), nil)
	check.Must(t, err)
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		hints := tool.Annotations
		careful := hints != nil && !hints.ReadOnlyHint && !hints.IdempotentHint && *hints.DestructiveHint &&
			*hints.OpenWorldHint
		if !careful || hints.Title == "" {
			t.Errorf("%s: got hints %+v", tool.Name, hints)
		}
		if !strings.Contains(c.InitializeResult().Instructions, tool.Name+" ") {
			t.Errorf("got instructions %q without %s", c.InitializeResult().Instructions, tool.Name)
		}
	}
	check.Diff(t, "names", names, []string{"browser", "browser_browse"})
	raw, err := json.Marshal(list.Tools)
	check.Must(t, err)
	tokens := float64(len(raw)) / 3.5
	t.Logf("%d bytes, about %.0f tokens", len(raw), tokens)
	if tokens >= 3000 {
		t.Errorf("the tools cost about %.0f tokens", tokens)
	}
	only, _ := connect(t, &browsertool.MCPServer{Browser: &agent{}}, nil)
	check.Lacks(t, only.InitializeResult().Instructions, "step by step")
	if list, err := only.ListTools(t.Context(), nil); err != nil || len(list.Tools) != 1 {
		t.Errorf("got %+v %v, want browser_browse alone", list, err)
	}
}

func TestAClientWorksABrowser(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	c, done := connect(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media), Browser: &agent{}}, nil)
	r := call(t, c, "browser", map[string]any{"action": "snapshot"})
	if r.IsError || !strings.Contains(text(r), "[ref=e1]") ||
		!strings.Contains(text(r), "<<<END_EXTERNAL_UNTRUSTED_CONTENT") || r.StructuredContent != nil {
		t.Errorf("got %+v", r)
	}
	if d, ok := r.Meta["clank/details"].(map[string]any); !ok || d["externalContent"] == nil {
		t.Errorf("got %v", r.Meta)
	}
	if r := call(t, c, "browser", map[string]any{"action": "screenshot"}); r.IsError || images(r) != 1 {
		t.Errorf("got %s", text(r))
	}
	if r := call(t, c, "browser", map[string]any{"action": "profiles"}); !r.IsError || text(r) != "profile not found" {
		t.Errorf("got %t %s", r.IsError, text(r))
	}
	call(t, c, "browser", map[string]any{"action": "open", "url": "http://x"})
	call(t, c, "browser", map[string]any{"action": "open", "url": "http://x"})
	check.Must(t, c.Close())
	if err := within(t, "the end", done); err != nil || api.ends() != "T1 T2" {
		t.Errorf("ended with %v, closed %q", err, api.ends())
	}
}

func TestAClientWithoutEyesIsSentNoPictures(t *testing.T) {
	t.Parallel()
	c, _ := connect(t, &browsertool.MCPServer{Browser: &agent{}, TextOnly: true}, nil)
	r := call(t, c, "browser_browse", map[string]any{"query": "price?"})
	told := strings.Contains(text(r), "a picture that you cannot see") && strings.Contains(text(r), "session_id")
	if r.IsError || images(r) != 0 || !told {
		t.Errorf("got %q with %d pictures", text(r), images(r))
	}
}

func TestAClientSendsTheAgentOut(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	c, _ := connect(t, &browsertool.MCPServer{Browser: &agent{}}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- fmt.Sprintf("%v %v %s", r.Params.ProgressToken, r.Params.Progress, r.Params.Message)
		},
	})
	p := &mcp.CallToolParams{
		Name: "browser_browse", Arguments: map[string]any{"query": " what? ", "session_id": "7"},
		Meta: mcp.Meta{"progressToken": "p1"},
	}
	r, err := c.CallTool(t.Context(), p)
	check.Must(t, err)
	if r.IsError || images(r) != 1 || !strings.Contains(text(r), "42[[MARKER_SANITIZED]]") &&
		!strings.Contains(text(r), "42 [[MARKER_SANITIZED]]") || !strings.Contains(text(r), "[session_id: s7 stays open]") {
		t.Errorf("got %s", text(r))
	}
	check.Equal(t, "told", <-told, "p1 1 opening the page")
	for query, want := range map[string]string{
		"fail": "no such flight", "break": "\n---\nno model is set up\n<<<END_", " ": "the query is empty",
		strings.Repeat("é", 2001): "2001 characters",
	} {
		if r := call(t, c, "browser_browse", map[string]any{"query": query}); !r.IsError || !strings.Contains(text(r), want) {
			t.Errorf("%.20q: got %t %s", query, r.IsError, text(r))
		}
	}
	for name, value := range map[string]any{"query": 7, "sesion_id": "7", "task": "what?"} {
		r := call(t, c, "browser_browse", map[string]any{"query": "what?", name: value})
		if !r.IsError || !strings.Contains(text(r), "cannot be read") || !strings.Contains(text(r), name) ||
			!strings.Contains(text(r), "There are query, session_id") {
			t.Errorf("%s: got %s", name, text(r))
		}
	}
}

func TestAClientIsKeptWaitingNoLongerThanItWaits(t *testing.T) {
	t.Parallel()
	const late = "nobody answered in time"
	type person func(ctx context.Context, withdrawn chan<- bool) (*mcp.ElicitResult, error)
	says := func(allow bool) person {
		return func(context.Context, chan<- bool) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": allow}}, nil
		}
	}
	silence := func(ctx context.Context, withdrawn chan<- bool) (*mcp.ElicitResult, error) {
		<-ctx.Done()
		withdrawn <- true
		return nil, ctx.Err()
	}
	for _, tt := range []struct {
		name, query string
		answer      person // nil: the client cannot ask
		token       bool   // the client receives progress
		want        string
		withdrawn   bool
	}{
		{"yes", "ask", says(true), false, "allowed true, <nil>", false},
		{"no tick", "ask", says(false), false, "allowed false, <nil>", false},
		{"silence", "ask", silence, false, "allowed false, " + late, true},
		{"nobody", "ask", nil, false, "the client cannot ask its person", false},
		{"others are asked", "await", nil, false, "false " + late, false},
		{"others are asked of one that hears", "await", nil, true, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			withdrawn, told := make(chan bool, 1), make(chan string, 10)
			o := &mcp.ClientOptions{}
			o.ProgressNotificationHandler = func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
				told <- r.Params.Message
			}
			if tt.answer != nil {
				o.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					return tt.answer(ctx, withdrawn)
				}
			}
			c, _ := connect(t, &browsertool.MCPServer{Browser: &agent{}, SilentCall: 200 * time.Millisecond}, o)
			p := &mcp.CallToolParams{Name: "browser_browse", Arguments: map[string]any{"query": tt.query}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if tt.token {
				p.Meta = mcp.Meta{"progressToken": "p"}
				go func() {
					if line := <-told; line == "waits for a person: Buy something" {
						cancel()
					}
				}()
			}
			r, err := c.CallTool(ctx, p)
			switch {
			case tt.token:
				check.Fails(t, err, context.Canceled)
			case err != nil || !strings.Contains(text(r), tt.want):
				t.Errorf("got %v, %v", r, err)
			}
			if tt.withdrawn && !<-withdrawn {
				t.Error("the question stays")
			}
		})
	}
}

func TestACancelledCallIsReallyStopped(t *testing.T) {
	t.Parallel()
	api, left := newControl(t), make(chan error, 1)
	c, _ := connect(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media), Browser: &agent{left: left}}, nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-api.hung
		cancel()
	}()
	check.Fails(t, check.Err(c.CallTool(ctx,
		&mcp.CallToolParams{Name: "browser", Arguments: map[string]any{
			"action": "act", "kind": "press",
			"key": "a",
		}})), context.Canceled)
	api.givenUp(t)
	ctx, cancel = context.WithCancel(t.Context())
	began := make(chan struct{})
	c2, _ := connect(t, &browsertool.MCPServer{Browser: &agent{left: left}}, &mcp.ClientOptions{
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { close(began) },
	})
	go func() {
		<-began
		cancel()
	}()
	p := &mcp.CallToolParams{
		Name: "browser_browse", Arguments: map[string]any{"query": "hang"},
		Meta: mcp.Meta{"progressToken": 1},
	}
	check.Fails(t, check.Err(c2.CallTool(ctx, p)), context.Canceled)
	check.Fails(t, within(t, "the stop", left), context.Canceled)
	if r := call(t, c, "browser", map[string]any{"action": "snapshot"}); r.IsError {
		t.Errorf("after a stop: %s", text(r))
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}` +
	"\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// lines reads the answers until the end of out.
func lines(out io.Reader) <-chan string {
	got := make(chan string, 100)
	go func() {
		defer close(got)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 8<<20)
		for s.Scan() {
			got <- s.Text()
		}
	}()
	return got
}

func TestGarbageIsAnsweredAndDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	in, out, _, done := pipes(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media)})
	got := lines(out)
	say := func(s string) {
		t.Helper()
		check.Must(t, check.Err(io.WriteString(in, s)))
	}
	expect := func(parts ...string) {
		t.Helper()
		line := <-got
		for _, part := range parts {
			check.Contains(t, line, part)
		}
	}
	say(hello)
	expect(`"id":1`, `"serverInfo"`)
	for _, tt := range []struct{ line, code string }{
		{"garbage", "-32700"},
		{"{\"jsonrpc\":\"2.0\"", "-32700"},
		{"\x00\xff\xfe", "-32700"},
		{"[]", "-32600"},
		{`"text"`, "-32600"},
		{`{"id":5,"method":"tools/list"}`, "-32600"},
		{`{"jsonrpc":"2.0","id":{},"method":"x"}`, "-32600"},
		{strings.Repeat("a", 3<<20), "-32600"},
		{`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"` + strings.Repeat("a", 1<<20) + `"}}`, "-32600"},
	} {
		say("\r\n" + tt.line + "\n")
		expect(`"id":null`, tt.code)
	}
	say(`{"jsonrpc":"2.0","id":3,"method":"no/such"}` + "\n")
	expect(`"id":3`, `"error"`)
	say(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"browser","arguments":"x"}}` + "\n")
	expect(`"id":4`, "not a JSON object")
	say(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"browser","arguments":{"action":"snapshot"}}}` +
		"\r\n")
	expect(`"id":5`, "ref=e1")
	const press = `{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"browser","arguments":{"action":"act","kind":"press","key":"a"}}}` +
		"\n"
	for _, id := range []string{"6", `"6"`} { // other ids
		say(fmt.Sprintf(press, id))
		<-api.hung
		say(fmt.Sprintf(press, id))
		expect(`"id":`+id, "-32600", "already in use")
	}
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}}` + "\n")
	expect(`"id":6`)
	api.givenUp(t)
	say(`{"jsonrpc":"2.0","id":6,"method":"ping"}` + "\n")
	expect(`"id":6`, `"result"`)
	_ = in.Close()
	check.Must(t, within(t, "the end", done))
}

// The test compares the bytes sent: clients look tokens up by them. The Python and TypeScript SDKs use numbers from
// 0, others use strings or no token.
func TestProgressIsToldUnderTheTokenThatTheClientSent(t *testing.T) {
	t.Parallel()
	in, out, _, _ := pipes(t, &browsertool.MCPServer{Browser: &agent{}})
	got := lines(out)
	_, _ = io.WriteString(in, hello)
	<-got
	tokens := []string{``, `null`, `0`, `7`, `1795424637123`, `"p"`, `"7"`, `""`}
	for i, token := range tokens {
		meta := ""
		if token != "" {
			meta = `"_meta":{"progressToken":` + token + `},`
		}
		_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{%s"name":"browser_browse",`+
			`"arguments":{"query":"what?"}}}`+"\n", 10+i, meta)
		told := []string{}
		for line := range got {
			var m struct {
				ID     int
				Error  json.RawMessage
				Params struct{ ProgressToken json.RawMessage }
			}
			check.Must(t, json.Unmarshal([]byte(line), &m))
			if m.ID == 10+i {
				if m.Error != nil {
					t.Errorf("%s: %s", token, m.Error)
				}
				break
			}
			told = append(told, string(m.Params.ProgressToken))
		}
		want := []string{}
		if token != "" && token != "null" {
			want = append(want, token)
		}
		if !slices.Equal(told, want) {
			t.Errorf("of a call with the token %s progress was told under %q", token, told)
		}
	}
}

func TestACallEndsWhenItsClientDies(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	in, out, _, done := pipes(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media)})
	got := lines(out)
	_, _ = io.WriteString(in, hello)
	<-got
	_, _ = io.WriteString(in,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"browser","arguments":{"action":"open","url":"http://x"}}}`+"\n")
	<-got
	_, _ = io.WriteString(in,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"browser","arguments":{"action":"act","kind":"press","key":"a"}}}`+"\n")
	<-api.hung
	_ = in.Close()
	_ = out.Close()
	api.givenUp(t)
	if err := within(t, "the end", done); err != nil || api.ends() != "T1" {
		t.Errorf("ended with %v, closed %q", err, api.ends())
	}
}

func TestAStopOfTheServerEndsTheCallsUnderWay(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	in, out, stop, done := pipes(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media)})
	got := lines(out)
	_, _ = io.WriteString(in, hello)
	<-got
	_, _ = io.WriteString(in,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"browser","arguments":{"action":"act","kind":"press","key":"a"}}}`+"\n")
	<-api.hung
	why := errors.New("shutting down")
	stop(why)
	api.givenUp(t)
	check.Fails(t, within(t, "the end", done), why)
}

func TestAClientThatReadsSlowlyGetsAllAndOneThatDoesNotIsLeft(t *testing.T) {
	t.Parallel()
	api := newControl(t)
	in, out, stop, done := pipes(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media), Browser: &agent{}})
	const calls = 5
	_, _ = io.WriteString(in, hello)
	slow := bufio.NewReader(out)
	check.Must(t, check.Err(slow.ReadString('\n')))
	for i := range calls { // a quarter of a mebibyte each, and nobody reads them yet
		_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"browser","arguments":{"action":"console"}}}`+"\n", 10+i)
	}
	_, _ = io.WriteString(in,
		`{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"browser_browse","arguments":{"query":"flood"}}}`+"\n")
	answers, told := 0, 0
	for answers < calls+1 {
		line, err := slow.ReadString('\n')
		check.Must(t, err)
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("broken answer: %v", err)
		}
		if m.Method != "" {
			told++
		} else if answers++; m.Result == nil {
			t.Errorf("call %d failed: %.200s", m.ID, line)
		}
	}
	if told == 0 || told == 10_000 {
		t.Errorf("%d lines of progress were told, want some and not all", told)
	}
	_, _ = io.WriteString(in,
		`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"browser","arguments":{"action":"console"}}}`+"\n")
	why := errors.New("shutting down")
	stop(why) // while the answer waits to be read
	check.Fails(t, within(t, "the end", done), why)
}

// peer installs the JavaScript SDK of MCP in a new directory. This needs the network, so it runs only if CLANK_PEERS
// is set.
func peer(t *testing.T) (node, modules string) {
	t.Helper()
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("the peer is installed from the network: CLANK_PEERS=1 or make test-peers does that")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("there is no node to run the peer with")
	}
	modules = t.TempDir()
	check.Must(t, npm.Install(t.Context(), modules, "@modelcontextprotocol/sdk@1.32.2"))
	return node, modules
}

// An independent client uses both transports. A cancellation must reach the agent; otherwise the client's later calls
// would wait.
func TestAPeerOfOtherHandsUnderstandsUs(t *testing.T) {
	t.Parallel()
	node, modules := peer(t)
	self, err := os.Executable()
	check.Must(t, err)
	hints := map[string]any{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true}
	want := map[string]any{
		"hints": []any{hints, hints}, "instructions": true, "offered": true, "steps": []any{"1 opening the page"},
		"tools": []any{"browser:object", "browser_browse:object"}, "snapshot": true, "image": "image image/png 11",
		"failed": true,
		"browse": true, "progress": "waiting", "cancelled": "stopped", "after": false,
	}
	for _, kind := range []string{"stdio", "http"} {
		t.Run(kind, func(t *testing.T) {
			api, left := newControl(t), make(chan error, 1)
			target := self
			if kind == "http" {
				h := open(t, &browsertool.MCPServer{Tool: tool(api.URL, api.media), Browser: &agent{left: left}}, 0)
				defer func() { _ = h.Close() }()
				target = h.URL()
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, node, "testdata/peer.mjs", kind, target, modules)
			cmd.Env = append(os.Environ(), "CLANK_TEST_CONTROL="+api.URL, "CLANK_TEST_MEDIA="+api.media)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var got map[string]any
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if kind == "http" {
				check.Fails(t, within(t, "the stop", left), nil)
			}
			api.awaitEnd(t, "T1")
		})
	}
}
