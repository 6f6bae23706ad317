//go:build !browseronly

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"clank/browseagent/browsertool"
	"clank/browsermgr/address"
	"clank/browsermgr/control/client"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/sessions"
	"clank/sessions/access"

	"github.com/spf13/cobra"
)

const mcpHelp = `Offers the browser to programs that speak the Model Context Protocol. The tool "browser"
does single steps, "browser_browse" runs a task with clank's own agent. Without --http it
speaks over standard input and output, as MCP clients expect.

  {"mcpServers": {"clank": {"command": "clank", "args": ["mcp"]}}}

If "clank serve" runs with the same home, its browsers are used.`

func newMCPCommand(e *commandEnv) *cobra.Command {
	var addr string
	var textOnly bool
	c := newCommand("mcp", "", mcpHelp, func(ctx context.Context, _ []string) error {
		return serveMCP(ctx, e, addr, textOnly)
	})
	c.Flags().BoolVar(&textOnly, "text-only", false, "send no pictures, for clients whose model has no vision")
	c.Flags().StringVar(&addr, "http", "", "serve streamable HTTP at this loopback `ADDRESS`, such as "+
		"127.0.0.1:8791, instead")
	return c
}

// serveMCP serves at an address, or over standard input and output if it is "".
func serveMCP(ctx context.Context, e *commandEnv, addr string, textOnly bool) error {
	outliveReaders()
	place, err := openMCPBackend(ctx, e)
	if err != nil {
		return err
	}
	defer func() {
		if err := place.close(e.AbortContext); err != nil {
			fmt.Fprintln(e.Stderr, "clank mcp:", err)
		}
	}()
	tool, err := place.newTool(ctx)
	if err != nil {
		return err
	}
	s := &browsertool.MCPServer{
		Tool: tool, NewTool: place.newTool, Browser: mcpBrowser{place.runner}, Approval: place.registerCaller,
		TextOnly: textOnly, Version: version, Log: e.newLogger("warn", logText),
	}
	if addr == "" {
		return s.ServePipes(ctx, os.Stdin, os.Stdout)
	}
	return serveMCPOverHTTP(ctx, e, place, s, addr)
}

func serveMCPOverHTTP(ctx context.Context, e *commandEnv, place mcpBackend, s *browsertool.MCPServer,
	addr string,
) error {
	h := place.home
	given, err := access.OpenTokens(h.TokenFile())
	if err != nil {
		return err
	}
	server := &browsertool.MCPHTTP{Server: s, Addr: addr, Valid: func(token string) bool {
		return given.Valid(token, access.ScopeControl)
	}}
	if err := server.Open(ctx); err != nil {
		return address.ExplainTaken(err, addr)
	}
	if local, ok := place.runner.(localRunner); ok {
		if err := local.server.OwnListeners.AddURL(server.URL()); err != nil {
			return errors.Join(err, server.Close())
		}
	}
	fmt.Fprintf(e.Stderr, "MCP at %s, for those who have a token (clank tokens add NAME makes one)\nCtrl-C ends it.\n",
		server.URL())
	<-ctx.Done()
	return server.Close()
}

// mcpBackend provides the browsers: of a running server, or of this process.
type mcpBackend struct {
	home     *server.Home
	runner   taskRunner
	tools    *server.BrowserTools
	settings *settings.Manager // of the server or of the home; read again for each call
}

// newTool returns the tool with the currently stored settings.
func (p mcpBackend) newTool(ctx context.Context) (*browsertool.Tool, error) {
	if err := p.settings.Reload(ctx); err != nil {
		return nil, err
	}
	tool, err := p.tools.NewTool(ctx)
	if err == nil {
		tool.Records = true
	}
	return tool, err
}

func (p mcpBackend) close(ctx context.Context) error {
	return errors.Join(p.tools.Close(ctx), p.runner.Close(ctx))
}

// registerCaller lets the user of the client answer the questions of a call. If the browsers belong to a server, its
// operator is asked as well: the first answer counts.
func (p mcpBackend) registerCaller(
	ctx context.Context, person *browsertool.ClientPerson,
) (call context.Context, leave func()) {
	remote, ok := p.runner.(remoteRunner)
	if !ok {
		return p.tools.Callers.Register(ctx, server.ToolCaller{Origin: server.TerminalOrigin(), Elicit: person.Ask})
	}
	id := server.MCPCallerID + strings.ToLower(rand.Text())
	following, quit := context.WithCancel(ctx)
	questions := newClientQuestions(following, person, answerServer(remote.client))
	opened, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		open := func() { close(opened) }
		err := remote.client.FollowQuestions(following, id, person.CanAnswer(), open, questions.HandleEvent)
		if following.Err() == nil {
			fmt.Fprintln(remote.env.Stderr, "clank mcp: questions of the server cannot be followed:", err)
		}
	}()
	select { // wait until questions are followed: earlier ones would have nobody to answer them
	case <-opened:
	case <-done:
	}
	return browsertool.WithAskID(ctx, id), func() {
		quit()
		<-done
		_ = questions.Close() // never fails
	}
}

func openMCPBackend(ctx context.Context, e *commandEnv) (_ mcpBackend, err error) {
	r, err := openTaskRunner(ctx, e)
	if err != nil {
		return mcpBackend{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(e.AbortContext))
		}
	}()
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return mcpBackend{}, err
	}
	p := mcpBackend{home: h, runner: r}
	if local, ok := r.(localRunner); ok {
		if _, err := local.server.OpenControl(ctx, "127.0.0.1:0"); err != nil {
			return mcpBackend{}, err
		}
		p.tools, p.settings = local.server.Tools, local.server.Settings
		return p, nil
	}
	found, err := client.Discover(h.Dir)
	if err != nil {
		return mcpBackend{}, err
	}
	p.tools = server.NewBrowserTools(h.Dir, found.URL, found.Token)
	if remote, ok := r.(remoteRunner); ok {
		remote.client.HTTP = &http.Client{Transport: currentServer(func() (string, string, error) {
			a, _, err := h.RunningServer()
			return a.URL, a.Secret, err
		})}
		p.tools.ControlAPI.HTTP = &http.Client{Transport: currentServer(func() (string, string, error) {
			a, err := client.Discover(h.Dir)
			return a.URL, a.Token, err
		})}
		p.settings = &settings.Manager{Store: &remoteSettings{client: remote.client}, Log: e.newLogger("error", logText)}
	}
	p.tools.Settings, p.tools.Getenv = p.settings, e.Getenv
	return p, nil
}

// currentServer sends requests to the server that runs now, since an MCP client outlives restarts of it. It returns
// that server's address and secret; if there is none, requests go where they are addressed.
type currentServer func() (base, secret string, err error)

// RoundTrip implements [http.RoundTripper].
func (find currentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	base, secret, err := find()
	if at, bad := url.Parse(base); err == nil && bad == nil && at.Host != "" {
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host, r.Host = at.Scheme, at.Host, at.Host
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// mcpBrowser runs browser tasks for an MCP client.
type mcpBrowser struct{ taskRunner }

// Browse implements browsertool.TaskBrowser.
func (b mcpBrowser) Browse(
	ctx context.Context, ask browsertool.BrowseRequest, person *browsertool.ClientPerson, progress func(string),
) (browsertool.BrowseAnswer, error) {
	ctx = context.WithValue(ctx, clientPersonKey{}, person)
	task := sessions.Task{Prompt: ask.Query, SessionID: ask.SessionID, Files: ask.Files, Origin: server.TerminalOrigin()}
	var last sessions.Step
	rec, err := b.Run(ctx, task, func(ev sessions.Event) {
		if ev.Step == nil && ev.Record.Position > 0 {
			progress(waitingText(ev.Record))
		}
		if s := ev.Step; s != nil && s.Label != "" && s.Kind != sessions.StepThink {
			// A step is reported when it begins and when it ends; a slow reader may get only the end.
			again := s.N == last.N && s.Kind == last.Kind && s.Kind != sessions.StepNotice
			if last = *s; !again {
				progress(s.Label)
			}
		}
	})
	if err != nil && rec.State == "" {
		return browsertool.BrowseAnswer{}, err
	}
	a := browsertool.BrowseAnswer{
		Text: rec.Answer, Failed: rec.State != sessions.TaskDone, TaskID: rec.ID,
		Files: rec.Downloads,
	}
	if a.Text == "" && err != nil {
		a.Text = err.Error()
	}
	if rec.State == sessions.TaskInterrupted {
		a.Text = strings.TrimSpace(a.Text + "\n" + rec.Reason + "; ask to go on with the session once it is there again")
	}
	if !rec.Closed {
		a.SessionID = rec.SessionID
	}
	a.Images = append(a.Images, rec.Images...)
	return a, nil
}
