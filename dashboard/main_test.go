package dashboard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// ours is the browser of all tests, started when the first one wants it.
var ours struct {
	sync.Mutex
	*process
}

func TestMain(m *testing.M) {
	code := m.Run()
	if ours.process != nil {
		if err := ours.end(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

func shared() (*process, error) {
	ours.Lock()
	defer ours.Unlock()
	var err error
	if ours.process == nil {
		ours.process, err = startChromium()
	}
	return ours.process, err
}

// process is a Chromium that runs, with a folder of its own.
type process struct {
	cmd     *exec.Cmd
	dir     string
	address string // of its DevTools
}

func startChromium(flags ...string) (*process, error) {
	path := os.Getenv("CLANK_CHROMIUM")
	for _, name := range []string{"google-chrome", "google-chrome-stable", "chromium", "chromium-browser"} {
		if found, err := exec.LookPath(name); path == "" && err == nil {
			path = found
		}
	}
	if path == "" {
		return nil, errors.New("no Chromium; run make chromium")
	}
	dir, err := os.MkdirTemp("", "clank")
	if err != nil {
		return nil, err
	}
	args := []string{"--headless=new", "--remote-debugging-port=0", "--user-data-dir=" + dir, "--no-first-run", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}
	p := &process{cmd: exec.Command(path, append(append(args, flags...), "about:blank")...), dir: dir}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	err = within(time.Minute, "the browser says where it is", func() bool {
		data, err := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		port, path, ok := strings.Cut(strings.TrimSpace(string(data)), "\n")
		p.address = "ws://127.0.0.1:" + port + path
		return err == nil && ok
	})
	if err != nil {
		return nil, errors.Join(err, p.end())
	}
	return p, nil
}

// end ends the browser and what it started, and deletes its folder.
func (p *process) end() error {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	_ = p.cmd.Wait()
	return within(10*time.Second, "the browser's folder can be deleted", func() bool { return os.RemoveAll(p.dir) == nil })
}

// within waits as eventually does, but needs no test: it returns an error if ok does not hold within limit.
func within(limit time.Duration, what string, ok func() bool) error {
	ctx, done := context.WithTimeout(context.Background(), limit)
	defer done()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("it did not happen in time: %s", what)
		}
	}
	return nil
}
