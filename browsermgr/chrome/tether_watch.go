//go:build unix && (!linux || tetherwatch)

package chrome

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"

	"clank/internal/hardening"
)

// tether ties the life of a child to this program where the kernel has no mechanism for it: a shell waits on a pipe
// whose other end only this program holds. If the pipe closes without a line, the shell kills the child's group. With
// the build tag tetherwatch it is also used on Linux.
type tether struct {
	watcher *exec.Cmd
	pipe    io.WriteCloser
}

func newTether(cmd *exec.Cmd) *tether {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return &tether{}
}

// attach starts the watcher of a new process group.
func (t *tether) attach(pgid int) error {
	watcher := exec.Command("/bin/sh", "-c", //nolint:noctx // ends with its pipe
		fmt.Sprintf("read -r word || kill -KILL -%d", pgid))
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

// release ends the watcher without killing the group.
func (t *tether) release() {
	if t.watcher == nil {
		return
	}
	_, _ = io.WriteString(t.pipe, "released\n")
	_ = t.pipe.Close()
	_ = t.watcher.Wait()
}
