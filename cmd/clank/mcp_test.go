package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"clank/browsermgr/control/client"
	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/test/check"
	"clank/sessions/approval"
)

// mcpClient starts "clank mcp" and connects to it over its pipes.
func mcpClient(t *testing.T, environ []string, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(os.Args[0], "mcp")
	cmd.Env = environ
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := c.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	check.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// callTool calls a tool and returns the text of its answer.
func callTool(t *testing.T, s *mcp.ClientSession, name string, args map[string]any) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args, Meta: mcp.Meta{"progressToken": name}})
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	var b strings.Builder
	for _, c := range res.Content {
		if text, ok := c.(*mcp.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	if res.IsError {
		t.Errorf("%s %v failed: %s", name, args, b.String())
	}
	return b.String()
}

// mcpHasBoth fails the test unless a client of MCP has the browser and the agent. then is done with it before its end.
func mcpHasBoth(t *testing.T, environ []string, site *testSite, then func(s *mcp.ClientSession)) {
	t.Helper()
	told := make(chan string, 100)
	s := mcpClient(t, environ, &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- fmt.Sprint(r.Params.Progress, " ", r.Params.Message)
		},
	})
	check.Contains(t, callTool(t, s, "browser", map[string]any{"action": "open", "url": site.URL + "/"}), site.URL)
	check.Contains(t, callTool(t, s, "browser", map[string]any{"action": "snapshot"}), "ferry at 10:40", "UNTRUSTED")
	check.Contains(t, callTool(t, s, "browser_browse", map[string]any{"query": "open " + site.URL + "/, read"}),
		"ferry at 10:40")
	want := []string{"1 open " + strings.TrimPrefix(site.URL, "http://"), "2 read the page", "3 answer"}
	var steps []string
	late := testDeadline(t)
	for len(steps) < len(want) || len(told) > 0 {
		select {
		case line := <-told:
			steps = append(steps, line)
		case <-late.Done():
			t.Fatalf("got progress %q only", steps)
		}
	}
	check.Diff(t, "progress of each step", steps, want)
	if then != nil {
		then(s)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

func TestAnMCPClientHasTheBrowserAndTheAgentWithoutAServer(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	site := newTestSite(t)
	mcpHasBoth(t, environ, site, func(s *mcp.ClientSession) {
		checkPurchase(t, s, site, false, "set interaction.consent.buy to allow")
		browseBuysNothing(t, s, site)
		mcpFollowsTheSettings(t, environ, s, mcpClient(t, environ, nil)) // the second one beside the first
	})
	checkNothingLeft(t, home)
}

// browseBuysNothing has a client's model ask the agent to buy. The words are no person's, though the default model
// follows them to the letter.
func browseBuysNothing(t *testing.T, s *mcp.ClientSession, site *testSite) {
	t.Helper()
	res, err := s.CallTool(testDeadline(t),
		&mcp.CallToolParams{
			Name:      "browser_browse",
			Arguments: map[string]any{"query": "open " + site.URL + `/buy, click "Buy now"`},
		})
	check.Must(t, err)
	check.Contains(t, res.Content[0].(*mcp.TextContent).Text, "Not done: ")
	for len(site.hits) > 0 {
		if <-site.hits == "/bought" {
			t.Error("it was bought")
		}
	}
}

func TestThePersonAtAnMCPClientIsAsked(t *testing.T) {
	inHalf(t, true)
	for _, tt := range []struct {
		name   string
		served bool // beside a server, whose operator is asked, too
		no     string
	}{{"alone", false, "the person at the client said no"}, {"beside a server", true, "the operator said no"}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			home, environ := newTestHome(t)
			if tt.served {
				startServer(t, home, environ)
			}
			personAtMCPClientIsAsked(t, environ, tt.no)
		})
	}
}

// personAtMCPClientIsAsked has a client of MCP do what people are asked about.
func personAtMCPClientIsAsked(t *testing.T, environ []string, no string) {
	t.Helper()
	site := newTestSite(t)
	var answer *mcp.ElicitResult
	var said []string
	s := mcpClient(t, environ,
		&mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			said = append(said, r.Params.Message)
			return answer, nil
		}})
	for _, tt := range []struct {
		name   string
		answer *mcp.ElicitResult
		bought bool
		want   string
	}{
		{"no tick", &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": false}}, false, no},
		{"no", &mcp.ElicitResult{Action: "decline"}, false, no},
		{"yes", &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}, true, "targetId"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer, said = tt.answer, nil
			checkPurchase(t, s, site, tt.bought, tt.want)
			if len(said) != 1 || !strings.HasPrefix(said[0], "Buy, order or pay something at 127.0.0.1") ||
				!strings.Contains(said[0], "“Buy now”") {
				t.Errorf("the person was asked %q", said)
			}
		})
	}
	answer, said = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"allow": true}}, nil
	query := "open " + site.URL + `/buy, click "Buy now"`
	if got := callTool(t, s, "browser_browse", map[string]any{"query": query}); len(said) != 1 {
		t.Errorf("for the agent the person was asked %q: %s", said, got)
	}
	site.awaitHit(t, "/bought")
	said = nil
	for _, wrong := range []map[string]any{
		{"action": "upload", "paths": []string{"no-such-file.txt"}},
		{"action": "upload", "paths": []string{"../../etc/passwd"}},
		{"action": "act", "request": map[string]any{"kind": "click", "ref": "e999"}},
		{"action": "act", "request": map[string]any{"kind": "click"}},
		{"action": "open", "url": "gopher://x"},
		{"action": "dialog"},
		{"action": "tracestop", "path": "../../t.zip"},
	} {
		res, err := s.CallTool(testDeadline(t), &mcp.CallToolParams{Name: "browser", Arguments: wrong})
		if check.Must(t, err); !res.IsError || len(said) > 0 {
			t.Errorf("%v: the person was asked %q, error %t", wrong, said, res.IsError)
		}
		said = nil
	}
	for _, step := range []struct{ action, asked, want string }{
		{"cookies", "Show the model the cookies of all sites", `"cookies":[`},
		{"har", "Show the model what a page sent", site.URL + "/buy"},
		{"tracestart", "Record for the model", `"ok":true`},
		{"tracestop", "Give the model the recording", ".zip"},
	} {
		got := callTool(t, s, "browser", map[string]any{"action": step.action})
		if !strings.Contains(got, step.want) || len(said) != 1 || !strings.HasPrefix(said[0], step.asked) {
			t.Errorf("%s: the person was asked %q, the tool says %s", step.action, said, got)
		}
		said = nil
	}
}

// The question is put to the client and to the dashboard; the first answer counts, and withdraws it from the other.
func TestTheFirstAnswerToAnMCPClientsQuestionCounts(t *testing.T) {
	inHalf(t, true)
	t.Parallel()
	home, environ := newTestHome(t)
	site := newTestSite(t)
	startServer(t, home, environ)
	withdrawn := make(chan bool, 1)
	for _, capable := range []bool{false, true} { // a page that was open counts as there for a while
		var o *mcp.ClientOptions
		asked := make(chan struct{})
		if !capable {
			close(asked)
		} else {
			o = &mcp.ClientOptions{}
			o.ElicitationHandler = func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				close(asked)
				<-ctx.Done()
				withdrawn <- true
				return nil, ctx.Err()
			}
		}
		s := mcpClient(t, environ, o)
		if !capable { // and no page is open
			checkPurchase(t, s, site, false, "nobody is there to be asked")
		}
		answered := answerOnDashboard(t, home, asked)
		checkPurchase(t, s, site, true, "targetId")
		check.Must(t, <-answered)
		if capable {
			select {
			case <-withdrawn:
			case <-testDeadline(t).Done():
				t.Fatal("the client's person is still asked")
			}
		}
		check.Must(t, s.Close())
	}
}

// answerOnDashboard opens a page of the dashboard and allows what is asked there first.
func answerOnDashboard(t *testing.T, home string, others <-chan struct{}) <-chan error {
	t.Helper()
	res, at := openEvents(t, home)
	c := &api.Client{Base: at.URL, Token: at.Secret}
	done := make(chan error, 1)
	go func() {
		defer res.Body.Close()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			var ev approval.Event
			data, found := strings.CutPrefix(lines.Text(), "data: ")
			if !found || json.Unmarshal([]byte(data), &ev) != nil || ev.Question.ID == "" {
				continue
			}
			select {
			case <-others:
				done <- c.Answer(t.Context(), ev.Question.ID, api.AnswerRequest{Allow: true})
			case <-t.Context().Done():
			}
			return
		}
		done <- errors.New("nothing was asked on the dashboard")
	}()
	return done
}

// checkPurchase has a client of MCP buy something on the site, which the tool says that it did or did not.
func checkPurchase(t *testing.T, s *mcp.ClientSession, site *testSite, want bool, says string) {
	t.Helper()
	callTool(t, s, "browser", map[string]any{"action": "open", "url": site.URL + "/buy"})
	ref := refOf(callTool(t, s, "browser", map[string]any{"action": "snapshot"}), `button "Buy now"`)
	res, err := s.CallTool(testDeadline(t),
		&mcp.CallToolParams{
			Name:      "browser",
			Arguments: map[string]any{"action": "act", "request": map[string]any{"kind": "click", "ref": ref}},
		})
	check.Must(t, err)
	text := res.Content[0].(*mcp.TextContent).Text
	if !strings.Contains(text, says) || res.IsError == want || !want &&
		!strings.Contains(text, "Do not try it in another way") {
		t.Fatalf("the tool says %s", text)
	}
	bought := false
	for len(site.hits) > 0 {
		bought = <-site.hits == "/bought" || bought
	}
	check.Equal(t, "bought", bought, want)
}

func TestAnMCPClientFollowsAServerThatStartsAgain(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	h, err := server.OpenHome(e.Getenv)
	check.Must(t, err)
	check.Must(t, h.Claim())
	defer h.Release()
	var backend mcpBackend
	for _, secret := range []string{"first", "second"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer "+secret {
				w.WriteHeader(http.StatusUnauthorized)
			}
			_, _ = io.WriteString(w, "{}")
		}))
		address, err := h.PublishAddress(srv.URL, secret)
		check.Must(t, err)
		defer func() { _ = address.Remove() }()
		control, err := client.Announce(h.Dir, srv.URL, secret)
		check.Must(t, err)
		defer func() { _ = control.Remove() }()
		if backend.runner == nil {
			backend, err = openMCPBackend(t.Context(), e)
			check.Must(t, err)
			defer func() { check.Must(t, backend.close(t.Context())) }()
		}
		if _, err := backend.runner.(remoteRunner).client.Task(t.Context(), "t1"); err != nil {
			t.Errorf("the %s server: %v", secret, err)
		}
		if status, _, err := backend.tools.ControlAPI.Call(t.Context(), "GET", "/", nil, nil); status != 200 || err != nil {
			t.Errorf("the %s control server: got %d, %v", secret, status, err)
		}
		srv.Close()
	}
}
