package main

import (
	"cmp"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clank/browseagent/browsertool"
	"clank/browsermgr/control/client"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sharedServer is a server with which people and programs work.
type sharedServer struct {
	home    string
	environ []string
	site    *testSite
	server  *runningProgram
}

const lendToken = "lend-me-one-lend-me-one-lend-me-one"

// TestOneServerForPeopleAndPrograms tests what is done with one server and its browser, one thing after the other.
func TestOneServerForPeopleAndPrograms(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	c := &sharedServer{home: home, environ: environ, site: newTestSite(t)}
	strict := llmtest.NewServer(t)
	strict.SetFallback(llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: "+testKey+
		". You can find yours on the platform."))
	withSecrets := append(environ, "CLANK_NODE_TOKEN="+lendToken, "OPENAI_BASE_URL="+strict.BaseURL(), "OPENAI_API_KEY="+
		testKey)
	c.server = startServer(t, home, withSecrets, "--node-addr", "127.0.0.1:0")
	for _, part := range []struct {
		name string
		do   func(t *testing.T, c *sharedServer)
		rest bool // "make other-half" does it
	}{
		{"an interrupt of a command stops its task in the server", interruptStopsTheTask, false},
		{"an MCP client has the browser and the agent", func(t *testing.T, c *sharedServer) {
			t.Helper()
			mcpHasBoth(t, c.environ, c.site, nil)
		}, true},
		{"an MCP client is held to the server's settings", mcpIsHeldToTheSettings, false},
		{"doors of this program are no pages, whatever the settings say", ownDoorsAreNoPages, false},
		{"pages that do not load are told as without a proxy", failuresAreToldAsWithoutAProxy, true},
		{"browsers are lent to other machines", lentToOtherMachines, false},
		{"a parked page comes back with what was typed", parkedPageComesBack, false},
		{"bad tasks are told clearly, and the next one works", badTasksAreToldClearly, true},
		{"commands work the browser of the server, until it ends", commandsWorkTheBrowser, true},
	} {
		t.Run(part.name, func(t *testing.T) {
			inHalf(t, part.rest)
			part.do(t, c)
		})
	}
}

// runProgram runs clank to its end and returns what it printed.
func runProgram(t *testing.T, home string, environ []string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	p := startProgram(t, home, environ, args...)
	code = p.exitCode(t)
	return p.stdout.text(), p.stderr.text(), code
}

// parkedPageComesBack lets a session be parked because another needs its room.
func parkedPageComesBack(t *testing.T, c *sharedServer) {
	t.Helper()
	const room = "interaction.sessions.maxConcurrentSessions"
	run := func(args ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := runInProcess(t, c.environ, args...)
		if code != exitDone {
			t.Fatalf("clank %q: exit code %d: %s%s", args, code, stdout, stderr)
		}
		return stdout, stderr
	}
	run("config", "set", room, "1")
	defer run("config", "unset", room)
	out, _ := run("browse", "--json", "open "+c.site.URL+`/town, type "Turin" into Town`)
	var first browseOutcome
	check.Must(t, json.Unmarshal([]byte(out), &first))
	run("browse", "open "+c.site.URL+"/")
	_, told := run("browse", "--session", first.SessionID, "click Send")
	check.Contains(t, told, "opened again at "+c.site.URL+"/town as it was")
	c.site.awaitHit(t, "/town/Turin")
}

func commandsWorkTheBrowser(t *testing.T, c *sharedServer) {
	t.Helper()
	home, environ, site, server := c.home, c.environ, c.site, c.server
	for _, step := range []struct {
		args string
		code int
		says string
	}{
		{"browser tabs", 0, ""},
		{"browser open " + site.URL + "/choice --label ways", 0, "/choice"},
		{"browser snapshot --interactive", 0, `button "Second"`},
		{"browser click e2", 0, ""},
		{"browser wait --text ferry", 0, ""},
		{"browser text", 0, "ferry at 11:20"},
		{"browser --json tabs", 0, `"ways"`},
		{"browser evaluate --fn document.title", 0, "choice"},
		{"browser screenshot ways", 0, "MEDIA:"},
		{"browser click e99", 4, ""},
		{"browser focus nosuch", 4, ""},
		{"browser navigate file:///etc/passwd", 5, ""},
		{"browser profiles", 0, "clank"},
		{"browser doctor", 0, "✓"},
		{"browser stop", 0, ""},
	} {
		code, stdout, stderr := runInProcess(t, environ, strings.Fields(step.args)...)
		if code != step.code || !strings.Contains(stdout, step.says) {
			t.Errorf("%s: exit code %d, want %d, and %q in\n%s%s", step.args, code, step.code, step.says, stdout, stderr)
		}
	}
	server.interrupt(t)
	server.exitCode(t)
	checkNothingLeft(t, home)
	if _, err := os.Stat(filepath.Join(home, "control.json")); err == nil {
		t.Error("the server that ended is still announced")
	}
	alone := append(slices.Clone(environ), "OPENCLAW_GATEWAY_PORT=7") // somebody's own server may listen on the usual port
	if _, stderr, code := runProgram(t, home, alone, "browser", "tabs"); code != 3 ||
		!strings.Contains(stderr, "clank serve") {
		t.Errorf("without a server: exit code %d, %q", code, stderr)
	}
}

func TestTokensThatAreGivenOutOpenTheControlAPIAcrossRuns(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	code, stdout, _ := runInProcess(t, environ, "tokens", "add", "script")
	token := strings.TrimSpace(stdout)
	if code != 0 || len(token) != 43 {
		t.Fatalf("made %q, exit code %d", token, code)
	}
	try := func(token string, want int) {
		t.Helper()
		at, err := client.Discover(home)
		check.Must(t, err)
		api := &browsertool.APIClient{URL: at.URL, Token: token}
		if status, _, err := api.Call(t.Context(), http.MethodGet, "/", nil, nil); status != want {
			t.Errorf("status %d, %v; want %d", status, err, want)
		}
	}
	var former string
	for range 2 {
		server := startServer(t, home, environ)
		at, err := client.Discover(home)
		if err != nil || at.Token == former || at.Token == token {
			t.Fatalf("the secret of this run: %q after %q, %v", at.Token, former, err)
		}
		try(token, http.StatusOK)
		try(former, http.StatusUnauthorized)
		former = at.Token
		server.interrupt(t)
		server.exitCode(t)
	}
	startServer(t, home, append(environ, "OPENCLAW_GATEWAY_TOKEN=a-secret-of-old-scripts"))
	try("a-secret-of-old-scripts", http.StatusOK)
	if code, stdout, _ := runInProcess(t, environ, "tokens", "list"); code != 0 || !strings.Contains(stdout, "script") ||
		strings.Contains(stdout, token) {
		t.Errorf("listed %q, exit code %d", stdout, code)
	}
	if code, _, stderr := runInProcess(t, environ, "tokens", "remove", "script"); code != 0 {
		t.Errorf("remove: exit code %d, %s", code, stderr)
	}
	try(token, http.StatusUnauthorized)
	holds(t, home, token)
}

// holds fails if any file of the home has the secret in it.
func holds(t *testing.T, home, secret string) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), secret) {
			t.Errorf("%s has the secret in it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func mcpIsHeldToTheSettings(t *testing.T, c *sharedServer) {
	t.Helper()
	mcpFollowsTheSettings(t, c.environ, mcpClient(t, c.environ, nil))
}

// mcpFollowsTheSettings changes a setting between the calls of clients.
func mcpFollowsTheSettings(t *testing.T, environ []string, clients ...*mcp.ClientSession) {
	t.Helper()
	for _, to := range []string{"off", "on", "off", "on"} {
		code, _, stderr := runInProcess(t, environ, "config", "set", "interaction.tool.browser.allowHostControl", to)
		if code != 0 {
			t.Fatalf("config set: %s", stderr)
		}
		for i, s := range clients {
			tabs := &mcp.CallToolParams{Name: "browser", Arguments: map[string]any{"action": "tabs"}}
			res, err := s.CallTool(testDeadline(t), tabs)
			check.Must(t, err)
			if res.IsError != (to == "off") {
				t.Errorf("client %d works this machine's browser though the setting is %s: %+v", i, to, res.Content[0])
			}
		}
	}
}

func lentToOtherMachines(t *testing.T, c *sharedServer) {
	t.Helper()
	_, at, _ := strings.Cut(awaitOutput(t, c.server.stdout, "lent at"), "lent at")
	dir := t.TempDir()
	there := func(token string) *browsertool.NodeClient {
		return &browsertool.NodeClient{Proxy: &browsertool.APIClient{URL: strings.TrimSpace(at), Token: token}, Dir: dir}
	}
	if status, answer, _ := there("wrong").Call(t.Context(), http.MethodGet, "/", nil,
		nil); status != http.StatusUnauthorized {
		t.Errorf("with a wrong token: %d %s", status, answer)
	}
	ask := func(method, path string, body any) json.RawMessage {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		status, answer, err := there(lendToken).Call(ctx, method, path, nil, body)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s %s: %d %s %v", method, path, status, answer, err)
		}
		return answer
	}
	ask(http.MethodPost, "/tabs/open", map[string]string{"url": c.site.URL + "/"})
	var shot struct{ Path string }
	if err := json.Unmarshal(ask(http.MethodPost, "/screenshot", nil), &shot); err != nil ||
		filepath.Dir(shot.Path) != dir {
		t.Errorf("the picture came as %q, %v, want it in %s", shot.Path, err, dir)
	}
	if status, answer, _ := there(lendToken).Call(t.Context(), http.MethodDelete, "/profiles/clank", nil,
		nil); status < 400 {
		t.Errorf("a lent browser's profile was deleted: %s", answer)
	}
	if status, answer, _ := there(lendToken).Call(t.Context(), http.MethodGet, "/tabs", url.Values{"profile": {"user"}},
		nil); status != http.StatusForbidden {
		t.Errorf("the person's own browser is lent: %d %s", status, answer)
	}
	mcpUsesNodes(t, c, strings.TrimSpace(at))
}

// mcpUsesNodes has clients of MCP, beside a server, use the node that its settings name.
func mcpUsesNodes(t *testing.T, c *sharedServer, at string) {
	t.Helper()
	const mode, nodes = "interaction.tool.browser.node.mode", "interaction.tool.browser.nodes"
	for _, set := range [][2]string{{mode, "manual"}, {nodes, "office " + at}} {
		if code, _, told := runInProcess(t, c.environ, "config", "set", set[0], set[1]); code != exitDone {
			t.Fatalf("config set %s: %s", set, told)
		}
		defer runInProcess(t, c.environ, "config", "unset", set[0])
	}
	onNode := map[string]any{"action": "open", "target": "node", "url": c.site.URL + "/"}
	s := mcpClient(t, append(slices.Clone(c.environ), "CLANK_NODE_TOKEN="+lendToken), nil)
	check.Contains(t, callTool(t, s, "browser", onNode), c.site.URL)
	s = mcpClient(t, append(slices.Clone(c.environ), "CLANK_NODE_TOKEN="), nil)
	res, err := s.CallTool(testDeadline(t), &mcp.CallToolParams{Name: "browser", Arguments: onNode})
	check.Must(t, err)
	check.Contains(t, res.Content[0].(*mcp.TextContent).Text, "CLANK_NODE_TOKEN is not set")
}

func TestBrowsersAreNotLentWithoutTLS(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	for _, tc := range []struct {
		env, addr, says string
	}{
		{"", "127.0.0.1:0", "CLANK_NODE_TOKEN"},
		{"CLANK_NODE_TOKEN=x", "0.0.0.0:0", "--node-cert"},
		{"CLANK_NODE_TOKEN=a", "127.0.0.1:0", "32 characters"},
		{"CLANK_NODE_TOKEN=" + lendToken, "127.0.0.1:0 --node-cert no.pem --node-key no.key", "--node-key: open no.pem"},
		{"CLANK_NODE_TOKEN=" + lendToken, "127.0.0.1:0 --node-cert no.pem", "need each other"},
		{"", " --node-key no.key", "for --node-addr"},
	} {
		args := strings.Fields("serve --addr 127.0.0.1:0 --shop-addr 127.0.0.1:0 --control-addr 127.0.0.1:0 --node-addr=" +
			tc.addr)
		_, stderr, code := runProgram(t, home, append(environ, cmp.Or(tc.env, "A=")), args...)
		if code != exitFailed || !strings.Contains(stderr, tc.says) {
			t.Errorf("%s: exit code %d, %q", tc.addr, code, stderr)
		}
	}
}
