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

// Process is a browser that was launched. Its fields do not change. It is safe for concurrent use.
type Process struct {
	// PID is the main process's, and the id of its process group.
	PID int
	// Pipe is the way to the browser's DevTools, for one connection; nil if the browser listens on a port. Stop closes it.
	Pipe *cdp.Pipe
	// WebSocketURL is the browser's own DevTools target: ws://127.0.0.1:port/devtools/browser/…; "" with a pipe.
	WebSocketURL string
	// Port is the DevTools port; 0 with a pipe.
	Port int
	// Version is the browser's name and version as it says itself, e.g. "Chrome/156.0.8078.79".
	Version string
	// UserDataDir is the directory that the browser uses; Temporary says that it goes with the browser.
	UserDataDir string
	Temporary   bool
	// Sandbox says that Chromium's sandbox is on. If it is not, SandboxNote says why, for people.
	Sandbox     bool
	SandboxNote string
	// StartedAt is when the process was started.
	StartedAt time.Time
	// Sound is what its pages play; nil if that is not to be had.
	Sound *Sound

	cmd    *exec.Cmd
	logger *slog.Logger
	stderr stderrTail

	network networkRestarts

	lines   sync.Once   // the first address or refusal that stderr named
	address chan string // capacity 1
	refused chan error  // capacity 1

	stopping atomic.Bool
	exited   chan struct{} // the process and its group are gone
	launched chan struct{} // the launch has succeeded or given up
	data     *userData     // ours to close; set before settled is closed, nil if the launch gave up
	done     chan struct{}
	err      error // set before done is closed

	used atomic.Value // string: what Works saw
}

// Done returns a channel that is closed when the browser has ended, for whatever reason, and nothing of it is left: no
// process, no lock, no temporary directory.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the browser ended, e.g. "the browser ended (killed by signal 9)". It is nil while the browser runs, and
// after an end that [Process.Stop] brought about.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// startProcess starts the program and returns once it runs. A goroutine of the Process's own looks after it until done.
func startProcess(ctx context.Context, o LaunchOptions, dir string, port int, sandbox bool) (*Process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("launch browser: %w", err)
	}
	// The browser outlives the launch, so it is not bound to the launch's context.
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
			o.Logger.Warn("pages cannot be heard", "error", err)
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

// openPipe makes the two pipes of --remote-debugging-pipe and returns the child's ends.
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

// supervise starts the program, waits until it ends, and clears up. It keeps its thread for all that time: on Linux the
// child dies with the thread that started it, see tether.
//
// theirs are the child's ends of pipes, which are closed here once it has them.
func (p *Process) supervise(ctx context.Context, oneProcessor bool, started chan<- error, read *os.File, theirs []*os.File) {
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
			p.logger.Warn("browser left something behind", "error", err, "user_data_dir", p.UserDataDir)
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
	_ = p.cmd.Wait() // how it ended is in ProcessState
	if err := killGroup(p.PID); err != nil {
		p.logger.Warn("end browser's group", "error", err)
	}
	if !pollUntil(ctx, func() bool { return len(groupMembers(p.PID)) == 0 }) {
		p.logger.Warn("processes of the browser do not end", "pids", groupMembers(p.PID))
	}
	collectGroup(p.PID)
	// The crash handler has a session of its own and follows a moment later; it may hold stderr until then.
	select {
	case <-followed:
	case <-time.After(stopGrace):
		_ = stderr.Close()
		<-followed
	}
}

var errStillRunning = errors.New("the browser does not end, even when killed")

// Stop ends the browser: it is asked to close, which brings its cookies to the disk, then told to (SIGTERM), then
// killed, with 2.5 s for each step. When ctx ends, it is killed at once. Stop returns when nothing of it is left; a
// browser that has ended already is no error.
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
		p.logger.Debug("browser was asked to close", "error", err)
	}
}

func (p *Process) terminate(context.Context) {
	if err := askGroupToEnd(p.PID); err != nil {
		p.logger.Debug("browser was told to end", "error", err)
	}
}

func (p *Process) kill() {
	if err := killGroup(p.PID); err != nil {
		p.logger.Warn("browser was killed", "error", err)
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

// tailSize is how much of a browser's stderr is kept; quotedTail is how much of it an error quotes.
const (
	tailSize   = 64 << 10
	quotedTail = 2000
)

// processInfo is what the system tells about one process (proc(5) of Linux, ps(1) of macOS).
type processInfo struct {
	pid    int
	pgid   int
	zombie bool
	start  string // differs between processes that had the same pid
	args   []string
}

// stderrTail keeps the end of what a browser says on stderr. It is safe for concurrent use.
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

// quote returns the end of the tail as an error shows it, without the lines about the desktop's message bus that each
// browser without a desktop writes.
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

// maxLine bounds a line of stderr; longer ones are taken in pieces.
const maxLine = 8 << 10

// follow copies r to the tail until it ends, and shows each line to see.
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
