package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"clank/browsermgr/control/client"
	"clank/browsertool/remote"
	"clank/internal/asking"
	"clank/internal/browsecli"
	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/home"
	"clank/internal/terminal"
	"clank/internal/toolbox"
	"clank/llm"
	"clank/mcpserver"
	"clank/sessions"
	"clank/settings"
	"clank/tokens"
)

const mcpIntro = `clank mcp [flags]

Offers the browser to programs that speak the Model Context Protocol: the tool
"browser" works it step by step, "browser_browse" sends clank's own agent. Without
--http it speaks over its standard input and output, as such programs start it:

  {"mcpServers": {"clank": {"command": "clank", "args": ["mcp"]}}}

If "clank serve" runs with the same home, its browsers are used.`

func serveMCP(ctx context.Context, e *command.Env, args []string) error {
	var addr string
	fs := cmdline.New("mcp", mcpIntro)
	fs.StringVar(&addr, "http", "", "serve streamable HTTP at this loopback `ADDRESS`, such as 127.0.0.1:8791, instead")
	if err := e.Parse(fs, args, 0); err != nil {
		return err
	}
	place, err := openMCPPlace(ctx, e)
	if err != nil {
		return err
	}
	defer func() {
		if err := place.close(e.Hurry); err != nil {
			fmt.Fprintln(e.Stderr, "clank mcp:", err)
		}
	}()
	tool, err := place.tools.Tool(ctx)
	if err != nil {
		return err
	}
	s := &mcpserver.Server{Tool: tool, Browser: mcpBrowser{place.runner}, Consent: place.consent, Version: version, Log: e.Logger("warn")}
	if addr == "" {
		return s.ServePipes(ctx, os.Stdin, os.Stdout)
	}
	return serveMCPOverHTTP(ctx, e, place, s, addr)
}

func serveMCPOverHTTP(ctx context.Context, e *command.Env, place mcpPlace, s *mcpserver.Server, addr string) error {
	h := place.home
	given, err := tokens.Open(h.TokenFile(), nil)
	if err != nil {
		return err
	}
	server := &mcpserver.HTTP{Server: s, Addr: addr, Valid: func(token string) bool { return given.Valid(token, tokens.Control) }}
	if err := server.Open(ctx); err != nil {
		return err
	}
	if local, ok := place.runner.(localRunner); ok {
		if err := local.app.keepPagesFrom(server.URL()); err != nil {
			return errors.Join(err, server.Close())
		}
	}
	fmt.Fprintf(e.Stderr, "MCP at %s, for those who have a token (clank tokens add NAME makes one)\nCtrl-C ends it.\n", server.URL())
	<-ctx.Done()
	return server.Close()
}

// mcpPlace is where the browsers are: in a server that runs, or in this process.
type mcpPlace struct {
	home   *home.Home
	runner browsecli.Runner
	tools  *toolbox.Box
}

func (p mcpPlace) close(ctx context.Context) error {
	return errors.Join(p.tools.Close(ctx), p.runner.Close(ctx))
}

// consent asks the person at the client, where the browsers are in this process. Those of a server are its operator's
// to decide about.
func (p mcpPlace) consent(ctx context.Context, ask mcpserver.Ask) (call context.Context, leave func()) {
	if p.tools.Speak == nil {
		return remote.Asking(ctx, asking.MCP), func() {}
	}
	return p.tools.Speak(ctx, asking.Speaker{Origin: terminal.Origin(), Elicit: ask})
}

func openMCPPlace(ctx context.Context, e *command.Env) (_ mcpPlace, err error) {
	r, err := newRunner(ctx, e)
	if err != nil {
		return mcpPlace{}, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.Close(e.Hurry))
		}
	}()
	h, err := home.Open(e.Getenv)
	if err != nil {
		return mcpPlace{}, err
	}
	p := mcpPlace{home: h, runner: r}
	if local, ok := r.(localRunner); ok {
		if _, err := local.app.openControl(ctx, "127.0.0.1:0"); err != nil {
			return mcpPlace{}, err
		}
		p.tools = local.app.tools
		return p, nil
	}
	found, err := client.Discover(h.Dir)
	if err != nil {
		return mcpPlace{}, err
	}
	p.tools = toolbox.New(h.Dir, found.URL, found.Token)
	p.tools.Settings = settings.Defaults
	p.tools.Secret = func(name string) (settings.SecretValue, error) { return settings.ReadSecret(name, e.Getenv) }
	p.tools.Model = func(context.Context, string) (llm.Model, error) {
		return nil, errors.New("pictures are described by the server only")
	}
	return p, nil
}

// mcpBrowser sends the agent out for an MCP client.
type mcpBrowser struct{ runner browsecli.Runner }

// Browse implements mcpserver.Browser.
func (b mcpBrowser) Browse(ctx context.Context, query, session string, progress func(string)) (mcpserver.Answer, error) {
	task := sessions.Task{Prompt: query, SessionID: session, Origin: terminal.Origin()}
	rec, err := b.runner.Run(ctx, task, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.Label != "" {
			progress(ev.Step.Label)
		}
	})
	if err != nil && rec.State == "" {
		return mcpserver.Answer{}, err
	}
	a := mcpserver.Answer{Text: rec.Answer, Failed: rec.State != sessions.TaskDone}
	if a.Text == "" && err != nil {
		a.Text = err.Error()
	}
	if !rec.Closed {
		a.SessionID = rec.SessionID
	}
	for _, im := range rec.Images {
		a.Images = append(a.Images, llm.Image(im))
	}
	return a, nil
}
