package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"
)

// agentBrowser runs agent-browser's command line, whose daemon keeps the connection.
type agentBrowser struct {
	bin  string
	port int
	dir  string // directory of its socket
	tab  string // its tab
}

func (a *agentBrowser) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, a.bin, append([]string{"--cdp", strconv.Itoa(a.port)}, args...)...)
	cmd.Env = append(os.Environ(), "AGENT_BROWSER_SESSION=peers", "AGENT_BROWSER_SOCKET_DIR="+a.dir)
	return cmd
}

func (a *agentBrowser) do(ctx context.Context, args ...string) (time.Duration, string, error) {
	begin := time.Now()
	out, err := a.command(ctx, args...).CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		return 0, "", fmt.Errorf("agent-browser %s: %w\n%s", args[0], err, out)
	}
	return took, string(out), nil
}

// open opens its own tab.
func (a *agentBrowser) open(ctx context.Context, url string) error {
	if _, _, err := a.do(ctx, "tab", "new", url); err != nil {
		return err
	}
	_, out, err := a.do(ctx, "tab", "list")
	if err != nil {
		return err
	}
	m := regexp.MustCompile(`→ \[(t\d+)\]`).FindStringSubmatch(out)
	if m == nil {
		return fmt.Errorf("agent-browser names no current tab in %q", out)
	}
	a.tab = m[1]
	return nil
}

// front brings its tab to the front.
func (a *agentBrowser) front(ctx context.Context) error {
	_, _, err := a.do(ctx, "tab", a.tab)
	return err
}

// ref takes a snapshot and returns the ref of an element.
func (a *agentBrowser) ref(ctx context.Context, role, name string) (string, error) {
	_, out, err := a.do(ctx, "snapshot")
	if err != nil {
		return "", err
	}
	m := regexp.MustCompile(`- ` + role + ` "` + name + `" \[.*?ref=(e\d+)`).FindStringSubmatch(out)
	if m == nil {
		return "", fmt.Errorf("agent-browser shows no %s %q in\n%s", role, name, out)
	}
	return "@" + m[1], nil
}

// close stops its daemon. The daemon knows only the port, so the browser keeps running.
func (a *agentBrowser) close(ctx context.Context) {
	_ = a.command(context.WithoutCancel(ctx), "close").Run()
}
