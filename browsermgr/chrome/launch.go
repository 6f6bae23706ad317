package chrome

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// Launch starts a browser and returns once it has answered a DevTools command. The browser then runs until
// [Process.Stop], or until it or this program ends; ctx bounds only the launch. If Launch fails it leaves nothing
// behind: no process, lock or temporary directory. If the directory is in use the error is a *[LockedError].
func Launch(ctx context.Context, o LaunchOptions) (*Process, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Timeout, o.ReadyTimeout = cmp.Or(o.Timeout, DefaultLaunchTimeout), cmp.Or(o.ReadyTimeout, DefaultReadyTimeout)
	limit := o.longestTimeout()
	over := fmt.Errorf("not ready within %s: this machine is too busy for it, or its disk too slow; end other programs, "+
		"or allow more time in the settings (Browser start timeout)", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, over)
	defer cancel()
	data, err := openUserData(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("launch browser: %w", err)
	}
	p, err := launchOn(ctx, o, data)
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, data.closeAfterFailure(ctx))
	}
	p.Temporary = data.temp
	p.data = data
	close(p.launched)
	o.Logger.Info("browser launched", "pid", p.PID, "port", p.Port, "version", p.Version, "sandbox", p.Sandbox,
		"took_ms", time.Since(p.StartedAt).Milliseconds())
	if o.NoSandbox {
		p.SandboxNote = "it is switched off"
		o.Logger.Warn("browser runs without its sandbox", "why", p.SandboxNote)
	}
	return p, nil
}

// ErrNoSandbox is returned if Chromium's sandbox is unavailable and the options do not disable it.
var ErrNoSandbox = errors.New("browsers do not start without Chromium's sandbox, which keeps a page that breaks out " +
	"of its process from this machine's files: run clank as a user that can have it, or, where a container does the " +
	"sandbox's work, switch the setting \"Disable the Chromium sandbox\" on or set CLANK_NO_SANDBOX=1")

// launchOn launches on a locked directory, and fails if the sandbox is required but unavailable.
func launchOn(ctx context.Context, o LaunchOptions, data *userData) (*Process, error) {
	if !o.NoSandbox && os.Geteuid() == 0 {
		return nil, fmt.Errorf("launch browser: Chromium refuses its sandbox to root: %w", ErrNoSandbox)
	}
	p, err := launchOnPort(ctx, o, data, !o.NoSandbox)
	if _, ok := errors.AsType[*sandboxError](err); ok {
		return nil, fmt.Errorf("%w: %w", err, ErrNoSandbox)
	}
	return p, err
}

// launchOnPort tries the ports until one is free.
func launchOnPort(ctx context.Context, o LaunchOptions, data *userData, sandbox bool) (*Process, error) {
	if len(o.Ports) == 0 || o.Pipe {
		return launchOnce(ctx, o, data, 0, sandbox)
	}
	var busy PortError
	for _, port := range o.Ports {
		if PortFree(ctx, port) {
			p, err := launchOnce(ctx, o, data, port, sandbox)
			if !errors.Is(err, errNoPort) {
				return p, err
			}
		}
		busy.Busy = append(busy.Busy, FindPortHolder(port))
	}
	return nil, fmt.Errorf("launch browser: %w", &busy)
}

// PortHolder is the process that listens on a port of this machine. PID is 0 if it is unknown because the process
// belongs to another user or container.
type PortHolder struct {
	Port    int
	PID     int
	Program string
}

// FindPortHolder returns the process that listens on a port.
func FindPortHolder(port int) PortHolder {
	h := PortHolder{Port: port, PID: portOwner(port)}
	if h.PID != 0 {
		h.Program = programOfPID(h.PID)
	}
	return h
}

func (h PortHolder) String() string {
	switch {
	case h.PID == 0:
		return fmt.Sprintf("%d is in use", h.Port)
	case h.Program == "":
		return fmt.Sprintf("%d is in use by pid %d", h.Port, h.PID)
	default:
		return fmt.Sprintf("%d is in use by %s (pid %d)", h.Port, h.Program, h.PID)
	}
}

// PortError says that other programs use the DevTools port, or all ports to choose from.
type PortError struct{ Busy []PortHolder }

func (e *PortError) Error() string {
	if len(e.Busy) == 1 {
		return fmt.Sprintf("DevTools port %s, not by this profile: end that program, or give the profile another port",
			e.Busy[0])
	}
	var list []string
	for _, h := range e.Busy {
		list = append(list, h.String())
	}
	return fmt.Sprintf("no DevTools port is free between %d and %d: %s", e.Busy[0].Port, e.Busy[len(e.Busy)-1].Port,
		shortenList(list))
}

// PortFree reports whether nothing listens on a port of this machine.
func PortFree(ctx context.Context, port int) bool {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && l.Close() == nil
}

// shortenList shortens a long list.
func shortenList(list []string) string {
	const most = 5
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// launchOnce starts the program and waits until it has answered. If it does not, launchOnce ends it before returning.
func launchOnce(ctx context.Context, o LaunchOptions, data *userData, port int, sandbox bool) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("launch browser: %w", context.Cause(ctx))
	}
	if err := clearSingleton(data.dir); err != nil {
		return nil, fmt.Errorf("launch browser: %w", err)
	}
	p, err := startProcess(ctx, o, data.dir, port, sandbox)
	if err != nil {
		return nil, err
	}
	if info, ok := inspectProcess(p.PID); ok {
		if err := data.lock.record(info); err != nil {
			o.Logger.Warn("record browser", "error", err)
		}
	}
	if err := p.awaitReadyOrIdle(ctx, o); err != nil {
		p.kill()
		close(p.launched)
		<-p.done
		return nil, fmt.Errorf("launch browser %s: %w%s", o.Executable, p.explain(err), quoteStderr(&p.stderr))
	}
	data.socket = singletonSocket(data.dir)
	return p, nil
}

// ErrForbiddenByAdmin is returned if a policy of the machine's administrator forbids remote debugging.
var ErrForbiddenByAdmin = errors.New("a policy of this machine's administrator forbids remote debugging " +
	"(RemoteDebuggingAllowed): ask them, or install a browser to which it does not apply")

var errDefaultDir = errors.New( //nolint:staticcheck // a name
	"Chrome does not allow remote debugging of its default user data directory: use " +
		"another directory, " +
		"or the driver existing-session")

var (
	errEnded  = errors.New("it exited before DevTools answered")
	errNoPort = errors.New("it cannot listen on its DevTools port")
)

// sandboxError says that Chromium ended because its sandbox is unavailable, with the line of stderr that says so.
type sandboxError struct{ line string }

func (e *sandboxError) Error() string { return "its sandbox is unavailable: " + e.line }

// awaitReadyOrIdle is awaitReady, but gives up on a browser that has used no CPU time for a fifth of its time limit, or
// has had the chance to use much of it within the limit. One that got little, as on a busy machine, has more time.
func (p *Process) awaitReadyOrIdle(ctx context.Context, o LaunchOptions) error {
	const checks = 10
	idleLimit, limit := o.Timeout/5, o.Timeout+o.ReadyTimeout
	ctx, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel(nil)
	wg.Go(func() {
		tick := time.Tick(idleLimit / checks)
		slow := false
		for idle := 0; idle < checks; idle++ {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
			if p.UsedCPU() {
				idle = 0
			}
			switch took := time.Since(p.StartedAt); {
			case took < limit || slow:
			case 2*p.cpuTime() >= took:
				cancel(fmt.Errorf("not ready within %s", limit))
				return
			default:
				slow = true
				o.Logger.Warn("browser starts slowly", "pid", p.PID, "took", took, "cpu_time", p.cpuTime())
			}
		}
		cancel(fmt.Errorf("it hangs: it has not answered and was idle for %s", idleLimit))
	})
	return p.awaitReady(ctx, o)
}

// awaitReady waits for the DevTools address and for the answer to a first command.
func (p *Process) awaitReady(ctx context.Context, o LaunchOptions) error {
	if p.Pipe != nil {
		return p.awaitPipe(ctx)
	}
	listening, cancel := context.WithTimeoutCause(ctx, o.Timeout, fmt.Errorf("not ready within %s", o.Timeout))
	defer cancel()
	url, err := p.awaitEndpoint(listening)
	if err != nil {
		return err
	}
	ctx, done := context.WithTimeoutCause(ctx, o.ReadyTimeout, fmt.Errorf("nothing within %s", o.ReadyTimeout))
	defer done()
	version, err := askBrowser[proto.BrowserGetVersionResult](ctx, url, proto.BrowserGetVersion{})
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("its DevTools port %d is open but does not answer: %w", portOf(url), context.Cause(ctx))
		}
		return fmt.Errorf("its DevTools port %d is open: %w", portOf(url), err)
	}
	p.WebSocketURL, p.Port, p.Version = url, portOf(url), version.Product
	return nil
}

// awaitPipe waits for the answer to a first command over the pipe. Starting and answering cannot be told apart, so ctx
// bounds both.
func (p *Process) awaitPipe(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answered := make(chan error, 1)
	go func() {
		version, err := cdp.CallBeforeConn[proto.BrowserGetVersionResult](ctx, p.Pipe, proto.BrowserGetVersion{})
		if err == nil {
			p.Version = version.Product
		}
		answered <- err
	}()
	var err error
	select {
	case err = <-answered:
		if err == nil || ctx.Err() != nil {
			return err
		}
		// The browser closed its end of the pipe: it has probably exited, or reports why it will.
		select {
		case <-p.exited:
			return errEnded
		case err := <-p.refused:
			return err
		case <-ctx.Done():
			return fmt.Errorf("its DevTools pipe broke (%w): %w", err, context.Cause(ctx))
		}
	case err = <-p.refused:
	case <-p.exited:
		err = errEnded
	}
	cancel(err)
	<-answered //nolint:errcheck // cancel has ended it
	return err
}

// awaitEndpoint waits for the address on stderr, or in the file that Chromium writes if it chose the port itself.
func (p *Process) awaitEndpoint(ctx context.Context) (string, error) {
	tick := time.Tick(pollEvery)
	for {
		select {
		case url := <-p.address:
			return url, nil
		case <-tick:
			data, err := os.ReadFile(filepath.Join(p.UserDataDir, "DevToolsActivePort"))
			if err != nil {
				continue
			}
			if url, err := endpointInFile(string(data)); err == nil {
				return url, nil
			}
		case err := <-p.refused:
			return "", err
		case <-p.exited:
			return "", errEnded
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// handleStderrLine looks for the DevTools address, listen errors and the end of the network process in a line of
// stderr.
func (p *Process) handleStderrLine(line string) {
	p.network.handleLine(line)
	url, ok := endpointInLine(line)
	refused := listenError(line)
	if !ok && refused == nil {
		return
	}
	p.lines.Do(func() {
		if refused != nil {
			p.refused <- refused
			return
		}
		p.address <- url
	})
}

// listenError returns Chromium's reason for not listening, or nil if the line is about something else.
func listenError(line string) error {
	switch {
	case strings.Contains(line, "Cannot start http server for devtools"):
		return errNoPort
	case strings.Contains(line, "DevTools remote debugging is disallowed"):
		return ErrForbiddenByAdmin
	case strings.Contains(line, "DevTools remote debugging requires a non-default data directory"):
		return errDefaultDir
	default:
		return nil
	}
}

// explain adds how the process exited, if it did so by itself. The process must have exited.
func (p *Process) explain(err error) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	if line := sandboxLine(p.stderr.String()); line != "" {
		return &sandboxError{line: line}
	}
	return fmt.Errorf("%w: %s", err, describeExit(p.cmd.ProcessState))
}

// quoteStderr returns the end of stderr for an error text, or an explanation if the cause is known.
func quoteStderr(stderr *stderrTail) string {
	switch text := stderr.quote(); {
	case sandboxLine(text) != "":
		return "" // the error has that line
	case strings.Contains(text, "Too many open files"):
		return "; it may not open as many files as it needs here: raise the limit, as with ulimit -n 4096, and start " +
			"clank again"
	case strings.Contains(text, "Read-only file system"):
		return "; the disk of its profile cannot be written: look at the disk's health, and mount it to be written"
	case strings.Contains(text, "Failed to create socket directory"):
		return "; it cannot make temporary files in " + os.TempDir() + ": see to it that this folder exists and can be " +
			"written, or let TMPDIR name another one, and start clank again"
	case strings.Contains(text, "No space left on device"):
		return "; the disk of its profile is full: free some space there"
	case text != "":
		return "; it said:\n" + text
	}
	return "; it said nothing"
}

// sandboxLine returns the line in which Chromium reports that its sandbox is unavailable; "" for none.
func sandboxLine(text string) string {
	for line := range strings.Lines(text) {
		for _, sign := range []string{
			"No usable sandbox", "without --no-sandbox is not supported", "The SUID sandbox helper binary was found, but is not",
			"Failed to move to new namespace", "The setuid sandbox is not running as root",
		} {
			if strings.Contains(line, sign) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}

// isListening reports whether a program listens on a port of this machine.
func isListening(ctx context.Context, port int) bool {
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && conn.Close() == nil
}

// askBrowser sends one command to the browser's DevTools target over a separate connection, and returns the result.
func askBrowser[R any](ctx context.Context, url string, command proto.Request) (R, error) {
	conn, err := cdp.Dial(ctx, url, cdp.Options{CallTimeout: DefaultLaunchTimeout})
	if err != nil {
		var none R
		return none, err
	}
	defer conn.Close()
	conn.Start(func(cdp.Event) {})
	return cdp.Ask[R](ctx, conn.Session("", cdp.ErrGone), command)
}

// endpointInLine parses the line that Chromium writes once it listens.
func endpointInLine(line string) (url string, ok bool) {
	_, rest, found := strings.Cut(line, "DevTools listening on ")
	rest = strings.TrimSpace(rest)
	return rest, found && strings.HasPrefix(rest, "ws://") && portOf(rest) > 0
}

var errEndpointFile = errors.New("DevToolsActivePort is not complete")

// endpointInFile parses the file DevToolsActivePort: the port, and on the next line the path of the browser target.
func endpointInFile(data string) (string, error) {
	number, path, ok := strings.Cut(data, "\n")
	path = strings.TrimSpace(path)
	port, err := strconv.ParseUint(strings.TrimSpace(number), 10, 16)
	if !ok || err != nil || port == 0 || !strings.HasPrefix(path, "/devtools/browser/") {
		return "", errEndpointFile
	}
	return fmt.Sprintf("ws://127.0.0.1:%d%s", port, path), nil
}

// portOf returns the port of a ws:// address, or 0.
func portOf(url string) int {
	host, _, _ := strings.Cut(strings.TrimPrefix(url, "ws://"), "/")
	_, number, ok := cutLast(host, ":")
	port, err := strconv.ParseUint(number, 10, 16)
	if !ok || err != nil {
		return 0
	}
	return int(port)
}
