package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

// clank is a server in a process and a home of its own, with its browser running.
type clank struct {
	bin, home  string
	url, token string
	cdpURL     string
	cdpPort    int
	cmd        *exec.Cmd
	log        bytes.Buffer
	done       chan error
}

// startLimit bounds the start of the server and of its browser, and their end.
const startLimit = 30 * time.Second

func startClank(ctx context.Context, bin string) (_ *clank, err error) {
	bin, err = filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	home, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	c := &clank{bin: bin, home: home, done: make(chan error, 1)}
	c.cmd = exec.Command(bin, "serve", "--addr", "127.0.0.1:0", "--shop-addr", "127.0.0.1:0", "--control-addr", "127.0.0.1:0") //nolint:gosec,noctx // ended by close
	c.cmd.Env = append(os.Environ(), "CLANK_HOME="+home)
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	if err := c.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(home))
	}
	go func() { c.done <- c.cmd.Wait() }()
	if err := c.ready(ctx); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// ready waits for the control API and starts the browser.
func (c *clank) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for c.url == "" {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("clank did not get ready: %w", context.Cause(ctx))
		}
		var place struct{ URL, Token string }
		data, err := os.ReadFile(filepath.Join(c.home, "control.json"))
		if err == nil && json.Unmarshal(data, &place) == nil {
			c.url, c.token = place.URL, place.Token
		}
	}
	if err := c.call(ctx, "POST", "/start", nil, nil); err != nil {
		return err
	}
	var status struct{ CDPPort int }
	if err := c.call(ctx, "GET", "/", nil, &status); err != nil {
		return err
	}
	c.cdpPort, c.cdpURL = status.CDPPort, fmt.Sprintf("http://127.0.0.1:%d", status.CDPPort)
	return nil
}

// call makes one request to the control API.
func (c *clank) call(ctx context.Context, method, path string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, answer)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

// command runs "clank browser" with args.
func (c *clank) command(ctx context.Context, args ...string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, c.bin, append([]string{"browser"}, args...)...) //nolint:gosec // the program under test
	cmd.Env = c.cmd.Env
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		return 0, fmt.Errorf("clank browser %s: %w\n%s", args[0], err, out)
	}
	return took, nil
}

// ref takes a snapshot and returns the ref of an element.
func (c *clank) ref(ctx context.Context, role, name string) (string, error) {
	var snap struct{ Snapshot string }
	if err := c.call(ctx, "GET", "/snapshot", nil, &snap); err != nil {
		return "", err
	}
	return find(snap.Snapshot, role, name)
}

// find returns the ref of an element of a snapshot.
func find(snapshot, role, name string) (string, error) {
	m := regexp.MustCompile(`- ` + role + ` "` + name + `"[^\n]*?\[ref=(\w+)\]`).FindStringSubmatch(snapshot)
	if m == nil {
		return "", fmt.Errorf("clank shows no %s %q in\n%s", role, name, snapshot)
	}
	return m[1], nil
}

func (c *clank) act(ctx context.Context, action map[string]any) error {
	return c.call(ctx, "POST", "/act", action, nil)
}

// close ends the server and its browser.
func (c *clank) close() error {
	_ = c.cmd.Process.Signal(os.Interrupt)
	select {
	case <-c.done:
	case <-time.After(startLimit):
		_ = c.cmd.Process.Signal(syscall.SIGKILL)
		<-c.done
	}
	if err := os.RemoveAll(c.home); err != nil {
		return fmt.Errorf("%w\n%s", err, c.log.String())
	}
	return nil
}
