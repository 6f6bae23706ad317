package chrome

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// Process is a launched browser. Its exported fields do not change. It is safe for concurrent use.
type Process struct {
	// PID is the id of the main process and of its process group.
	PID int
	// Pipe connects to the browser's DevTools, for one connection; nil if the browser listens on a port. Stop closes
	// it.
	Pipe *cdp.Pipe
	// WebSocketURL is the DevTools browser target: ws://127.0.0.1:port/devtools/browser/…; "" with a pipe.
	WebSocketURL string
	// Port is the DevTools port; 0 with a pipe.
	Port int
	// Version is what the browser reports, such as "Chrome/156.0.8078.79".
	Version string
	// UserDataDir is the browser's directory. If Temporary, it is removed when the browser has ended.
	UserDataDir string
	Temporary   bool
	// Sandbox reports whether Chromium's sandbox is enabled. If not, SandboxNote says why, for people.
	Sandbox     bool
	SandboxNote string
	// StartedAt is when the process was started.
	StartedAt time.Time
	// Sound is the audio of all pages; nil if unavailable.
	Sound *Sound

	cmd    *exec.Cmd
	logger *slog.Logger
	stderr stderrTail

	network networkRestarts

	lines   sync.Once   // guards address and refused: only the first counts
	address chan string // capacity 1
	refused chan error  // capacity 1

	stopping atomic.Bool
	exited   chan struct{} // closed when the process and its group have ended
	launched chan struct{} // closed when the launch has succeeded or failed
	data     *userData     // to close; set before launched is closed, nil if the launch failed
	done     chan struct{}
	err      error // set before done is closed

	used atomic.Value // string: CPU times at the last call of UsedCPU
	ran  atomic.Int64 // time.Duration: how long its threads have run or waited for a processor, at that call
}

// Done returns a channel that is closed when the browser has ended and nothing of it is left: no process, lock or
// temporary directory.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the browser ended, such as "the browser ended (killed by signal 9)". It is nil while the browser runs
// and after [Process.Stop].
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// startProcess starts the program and returns once it runs. A goroutine supervises it until done is closed.
func startProcess(ctx context.Context, o LaunchOptions, dir string, port int, sandbox bool) (*Process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("launch browser: %w", err)
	}
	// The browser outlives the launch and its context.
	ctx = context.WithoutCancel(ctx)
	cmd := exec.CommandContext(ctx, o.Executable, o.flags(dir, port, sandbox)...)
	cmd.Env = o.browserEnv()
	cmd.Stderr = write
	p := &Process{
		UserDataDir: dir, Sandbox: sandbox, StartedAt: time.Now(),
		cmd: cmd, logger: o.Logger,
		address: make(chan string, 1), refused: make(chan error, 1),
		exited: make(chan struct{}), launched: make(chan struct{}), done: make(chan struct{}),
	}
	if o.Sound {
		sound, env, err := openSound(dir)
		if err != nil {
			o.Logger.Warn("no sound from pages", "error", err)
		}
		p.Sound, cmd.Env = sound, append(cmd.Env, env...)
	}
	theirs := []*os.File{write}
	if o.Pipe {
		ends, err := p.openPipe()
		if err != nil {
			_, _ = read.Close(), write.Close()
			p.Sound.close()
			return nil, fmt.Errorf("launch browser: %w", err)
		}
		theirs = append(theirs, ends...)
	}
	started := make(chan error, 1)
	go p.supervise(ctx, o.OneProcessor, started, read, theirs)
	if err := <-started; err != nil {
		p.Sound.close()
		return nil, fmt.Errorf("launch browser: %w", err)
	}
	return p, nil
}

// openPipe creates the two pipes of --remote-debugging-pipe and returns the child's ends.
func (p *Process) openPipe() (theirs []*os.File, err error) {
	requests, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, answers, err := os.Pipe()
	if err != nil {
		_, _ = requests.Close(), to.Close()
		return nil, err
	}
	p.Pipe = cdp.NewPipe(from, to)
	if err := inheritPipe(p.cmd, requests, answers); err != nil {
		_, _ = requests.Close(), answers.Close()
		p.closePipe()
		return nil, err
	}
	return []*os.File{requests, answers}, nil
}

func (p *Process) closePipe() {
	if p.Pipe != nil {
		_ = p.Pipe.Close()
	}
}

// supervise starts the program, waits until it ends, and cleans up. It stays on one thread, since on Linux the child is
// killed when the thread that started it ends; see tether.
//
// theirs are the child's ends of the pipes, which are closed here after the start.
func (p *Process) supervise(ctx context.Context, oneProcessor bool, started chan<- error, read *os.File,
	theirs []*os.File,
) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer read.Close()
	tether := newTether(p.cmd)
	restore := func() {}
	if oneProcessor {
		restore = onOneProcessor()
	}
	err := p.cmd.Start()
	restore()
	for _, f := range theirs {
		_ = f.Close()
	}
	if err != nil {
		p.closePipe()
		started <- err
		return
	}
	defer p.closePipe()
	p.PID = p.cmd.Process.Pid
	err = tether.attach(p.PID)
	if err != nil {
		_ = killGroup(p.PID)
		_ = p.cmd.Wait()
		started <- err
		return
	}
	started <- nil
	p.awaitGroupExit(ctx, read)
	tether.release()
	p.Sound.close()
	close(p.exited)

	<-p.launched
	if p.data != nil {
		if err := p.data.close(ctx); err != nil {
			p.logger.Warn("clean up after browser", "error", err, "user_data_dir", p.UserDataDir)
		}
	}
	if !p.stopping.Load() {
		p.err = fmt.Errorf("the browser ended (%s)", describeExit(p.cmd.ProcessState))
	}
	close(p.done)
}

// awaitGroupExit returns when no process of the group runs and stderr was read to its end.
func (p *Process) awaitGroupExit(ctx context.Context, stderr *os.File) {
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		p.stderr.follow(stderr, p.handleStderrLine)
	}()
	_ = p.cmd.Wait() // ProcessState has the exit status
	if err := killGroup(p.PID); err != nil {
		p.logger.Warn("kill browser's process group", "error", err)
	}
	if !pollUntil(ctx, func() bool { return len(groupMembers(p.PID)) == 0 }) {
		p.logger.Warn("processes of the browser do not exit", "pids", groupMembers(p.PID))
	}
	reapGroup(p.PID)
	// The crash handler runs in another session and exits a moment later; it may hold stderr open until then.
	select {
	case <-followed:
	case <-time.After(stopGrace):
		_ = stderr.Close()
		<-followed
	}
}

var errStillRunning = errors.New("the browser does not exit, even when killed")

// Stop ends the browser in three steps of at most 2.5 s: Browser.close, which writes cookies to disk, then SIGTERM,
// then SIGKILL. When ctx ends, it is killed at once. Stop returns when nothing of the browser is left. If it has
// already ended, that is no error.
func (p *Process) Stop(ctx context.Context) error {
	select {
	case <-p.exited:
		return p.awaitDone()
	default:
	}
	p.stopping.Store(true)
	for _, step := range []func(context.Context){p.askToClose, p.terminate} {
		if ctx.Err() != nil {
			break
		}
		stepCtx, cancel := context.WithTimeout(ctx, stopGrace)
		step(stepCtx)
		ended := p.awaitExit(stepCtx)
		cancel()
		if ended {
			return p.awaitDone()
		}
	}
	p.kill()
	return p.awaitDone()
}

func (p *Process) askToClose(ctx context.Context) {
	if p.Pipe != nil {
		p.closePipe()
		return
	}
	if _, err := askBrowser[struct{}](ctx, p.WebSocketURL, proto.BrowserClose{}); err != nil {
		p.logger.Debug("close browser", "error", err)
	}
}

func (p *Process) terminate(context.Context) {
	if err := terminateGroup(p.PID); err != nil {
		p.logger.Debug("terminate browser", "error", err)
	}
}

func (p *Process) kill() {
	if err := killGroup(p.PID); err != nil {
		p.logger.Warn("kill browser", "error", err)
	}
}

func (p *Process) awaitExit(ctx context.Context) bool {
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return false
	}
}

func (p *Process) awaitDone() error {
	select {
	case <-p.done:
		return nil
	case <-time.After(4 * stopGrace):
		return fmt.Errorf("stop browser (pid %d): %w", p.PID, errStillRunning)
	}
}

// tailSize is how many bytes of a browser's stderr are kept; quotedTail is how many an error quotes.
const (
	tailSize   = 64 << 10
	quotedTail = 2000
)

// processInfo describes a process (proc(5) on Linux, ps(1) on macOS).
type processInfo struct {
	pid    int
	pgid   int
	zombie bool
	start  string // distinguishes processes that reused a pid
	args   []string
}

// stderrTail keeps the end of a browser's stderr. It is safe for concurrent use.
type stderrTail struct {
	mu   sync.Mutex
	data []byte
}

func (t *stderrTail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, line...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
}

func (t *stderrTail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// quote returns the end of the tail for an error text, without the D-Bus errors that every browser without a desktop
// writes.
func (t *stderrTail) quote() string {
	var lines []string
	for line := range strings.Lines(t.String()) {
		if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, ":dbus/") {
			lines = append(lines, line)
		}
	}
	text := strings.Join(lines, "\n")
	if over := len(text) - quotedTail; over > 0 {
		text = "…" + strings.ToValidUTF8(text[over:], "")
	}
	return text
}

// maxLine bounds a line of stderr in bytes; longer ones are split.
const maxLine = 8 << 10

// follow copies r to the tail until it ends, and calls see for each line.
func (t *stderrTail) follow(r io.Reader, see func(line string)) {
	lines := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			t.add(string(line))
			see(string(line))
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
