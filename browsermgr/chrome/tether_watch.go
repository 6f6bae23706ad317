//go:build unix && (!linux || tetherwatch)

package chrome

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"clank/internal/hardening"
)

// tether ties the life of a child to that of this program where the kernel offers nothing for it: a small shell waits
// on a pipe whose other end only this program holds. If the pipe ends without a word, the shell kills the child's
// group. The build tag tetherwatch uses it on Linux too.
type tether struct {
	watcher *exec.Cmd
	pipe    io.WriteCloser
}

func newTether(cmd *exec.Cmd) *tether {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &tether{}
}

// attach starts the watcher of a process group that has just come to life.
func (t *tether) attach(pgid int) error {
	watcher := exec.Command("/bin/sh", "-c", fmt.Sprintf("read -r word || kill -KILL -%d", pgid)) //nolint:noctx // ends with its pipe
	watcher.Env = hardening.Environ()
	watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := watcher.StdinPipe()
	if err != nil {
		return fmt.Errorf("tie the browser to this program: %w", err)
	}
	if err := watcher.Start(); err != nil {
		return fmt.Errorf("tie the browser to this program: %w", err)
	}
	t.watcher, t.pipe = watcher, pipe
	return nil
}

// release ends the watcher without harm to anybody.
func (t *tether) release() {
	if t.watcher == nil {
		return
	}
	_, _ = io.WriteString(t.pipe, "released\n")
	_ = t.pipe.Close()
	_ = t.watcher.Wait()
}
