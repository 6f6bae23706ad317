package running

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
	"syscall"
	"time"

	"clank/internal/test/check"
)

// startTimeout bounds the start and the shutdown of the server.
const startTimeout = 30 * time.Second

// Clank is a running server. Close stops it and removes its files.
type Clank struct {
	// Bin is the program, Home its CLANK_HOME, Temp its TMPDIR, URL the control API's address and Token its secret.
	Bin, Home, Temp, URL, Token string

	cmd  *exec.Cmd
	log  check.Log
	done chan struct{}
	dir  string
}

// Start starts the program at bin and returns when its control API is announced. env is added to the environment.
func Start(ctx context.Context, bin string, env ...string) (*Clank, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	c := &Clank{Bin: bin, Home: filepath.Join(dir, "home"), Temp: filepath.Join(dir, "tmp"), dir: dir}
	if err := os.Mkdir(c.Temp, 0o700); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := c.Restart(ctx, env...); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return c, nil
}

// pages are the hosts of the test pages, because by default clank allows no local hosts.
const pages = "127.0.0.1,localhost,[::1]"

// Restart starts the server again after Stop or Kill, with the same home.
func (c *Clank) Restart(ctx context.Context, env ...string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	_ = os.Remove(c.readAddresses())
	c.done = make(chan struct{})
	c.cmd = exec.Command(c.Bin, "serve", "--addr", "127.0.0.1:0", "--shop-addr", //nolint:noctx // ended by Close
		"127.0.0.1:0",
		"--control-addr",
		"127.0.0.1:0")
	c.cmd.Env = append(c.Environ(), env...)
	c.cmd.Stdout, c.cmd.Stderr = &c.log, &c.log
	if err := c.cmd.Start(); err != nil {
		return fmt.Errorf("start clank: %w", err)
	}
	go func() {
		defer close(c.done)
		_ = c.cmd.Wait() // the exit code is not checked here
	}()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		var place struct{ URL, Token string }
		data, err := os.ReadFile(c.readAddresses())
		if err == nil && json.Unmarshal(data, &place) == nil && place.URL != "" {
			c.URL, c.Token = place.URL, place.Token
			return nil
		}
		select {
		case <-tick.C:
		case <-c.done:
			return fmt.Errorf("clank ended at its start:\n%s", c.log.String())
		case <-ctx.Done():
			c.Kill()
			return fmt.Errorf("clank did not get ready: %w\n%s", context.Cause(ctx), c.log.String())
		}
	}
}

func (c *Clank) readAddresses() string { return filepath.Join(c.Home, "control.json") }

// Environ returns the environment for the server and its commands: that of this process without variables that affect
// them.
func (c *Clank) Environ() []string {
	env := []string{"CLANK_ALLOWED_HOSTS=" + pages, "CLANK_HOME=" + c.Home, "TMPDIR=" + c.Temp, "CLANK_NO_SANDBOX=1"}
	for _, name := range []string{"PATH", "HOME", "LANG", "USER", "PLAYWRIGHT_BROWSERS_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// PID returns the server's process.
func (c *Clank) PID() int { return c.cmd.Process.Pid }

// Log returns what the server has printed.
func (c *Clank) Log() string { return c.log.String() }

// Kill kills the server, so that it cannot clean up.
func (c *Clank) Kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL)
	<-c.done
}

// Stop asks the server to shut down, and waits for it.
func (c *Clank) Stop() error {
	_ = c.cmd.Process.Signal(os.Interrupt)
	select {
	case <-c.done:
		return nil
	case <-time.After(startTimeout):
		c.Kill()
		return fmt.Errorf("clank did not end within %v of an interrupt\n%s", startTimeout, c.log.String())
	}
}

// Close stops the server and removes its home.
func (c *Clank) Close() error { return errors.Join(c.Stop(), os.RemoveAll(c.dir)) }

// Answer is a response of the control API.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Into decodes the body.
func (a Answer) Into(v any) error {
	if err := json.Unmarshal(a.Body, v); err != nil {
		return fmt.Errorf("answer %d is no such JSON: %w: %.300s", a.Status, err, a.Body)
	}
	return nil
}

// Request sends an authenticated request. body is sent unchanged if it is a []byte, otherwise as JSON; nil sends
// none.
func (c *Clank) Request(ctx context.Context, method, path string, body any) (Answer, error) {
	return c.RequestWith(ctx, method, path, body, http.Header{"Authorization": {"Bearer " + c.Token}})
}

// RequestWith is like Request, with the given headers instead of the authentication. "Host" sets the host.
func (c *Clank) RequestWith(ctx context.Context, method, path string, body any, header http.Header) (Answer, error) {
	var payload io.Reader
	if body != nil {
		data, ok := body.([]byte)
		if !ok {
			var err error
			if data, err = json.Marshal(body); err != nil {
				return Answer{}, err
			}
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.URL+path, payload)
	if err != nil {
		return Answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		req.Header[name] = values
		if name == "Host" {
			req.Host = values[0]
		}
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return Answer{Status: res.StatusCode, Header: res.Header, Body: data}, err
}

// Call sends a request that must be answered with 200, and decodes the response into v unless v is nil.
func (c *Clank) Call(ctx context.Context, method, path string, body, v any) error {
	a, err := c.Request(ctx, method, path, body)
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK {
		return fmt.Errorf("%s %s: %d: %.500s", method, path, a.Status, a.Body)
	}
	if v == nil {
		return nil
	}
	return a.Into(v)
}
