package main

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"time"

	"clank/internal/test/running"
)

// clank is a server with a running browser.
type clank struct{ *running.Clank }

func startClank(ctx context.Context, bin string) (*clank, error) {
	server, err := running.Start(ctx, bin)
	if err != nil {
		return nil, err
	}
	c := &clank{server}
	if err := c.openBrowser(ctx); err != nil {
		return nil, fmt.Errorf("%w\n%w\n%s", err, c.Close(), c.Log())
	}
	return c, nil
}

func (c *clank) openBrowser(ctx context.Context) error {
	return c.Call(ctx, "POST", "/start?headless=true", nil, nil)
}

// command runs clank-browser, from the directory of clank, with args.
func (c *clank) command(ctx context.Context, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, c.Bin+"-browser", args...)
	cmd.Env = c.Environ()
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		return 0, fmt.Errorf("clank-browser %s: %w\n%s", args[0], err, out)
	}
	return took, nil
}

// ref takes a snapshot and returns the ref of an element.
func (c *clank) ref(ctx context.Context, role, name string) (string, error) {
	var snap struct{ Snapshot string }
	if err := c.Call(ctx, "GET", "/snapshot", nil, &snap); err != nil {
		return "", err
	}
	return findRef(snap.Snapshot, role, name)
}

// findRef returns the ref of an element of a snapshot.
func findRef(snapshot, role, name string) (string, error) {
	m := regexp.MustCompile(`- ` + role + ` "` + name + `"[^\n]*?\[ref=(\w+)\]`).FindStringSubmatch(snapshot)
	if m == nil {
		return "", fmt.Errorf("clank shows no %s %q in\n%s", role, name, snapshot)
	}
	return m[1], nil
}

func (c *clank) act(ctx context.Context, action map[string]any) error {
	return c.Call(ctx, "POST", "/act", action, nil)
}

// repeated returns a function that performs the action of each round.
func (c *clank) repeated(action func(i int) map[string]any) func(context.Context, int) error {
	return func(ctx context.Context, i int) error { return c.act(ctx, action(i)) }
}
