package chrome

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Launch starts a browser and returns once it has answered a DevTools command. The browser then runs until
// [Process.Stop], or until it or this program ends; ctx is for the launch alone. If Launch fails nothing is left behind:
// no process, no lock, no temporary directory. A directory that somebody else uses is a *[LockedError].
func Launch(ctx context.Context, o Options) (*Process, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not ready within %s", timeout))
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
	close(p.settled)
	o.Logger.Info("browser launched", "pid", p.PID, "port", p.Port, "version", p.Version, "sandbox", p.Sandbox,
		"took_ms", time.Since(p.StartedAt).Milliseconds())
	if p.SandboxNote != "" {
		o.Logger.Warn("browser runs without its sandbox", "why", p.SandboxNote)
	}
	return p, nil
}

// launchOn tries with the sandbox first, unless it is known to be no use.
func launchOn(ctx context.Context, o Options, data *userData) (*Process, error) {
	var note string
	switch {
	case o.NoSandbox:
		note = "the settings say so"
	case os.Geteuid() == 0:
		note = "Chromium refuses its sandbox to root: run this program as another user to have it"
	default:
		p, err := launchOnPort(ctx, o, data, true)
		refused, ok := errors.AsType[*sandboxError](err)
		if !ok {
			return p, err
		}
		note = "Chromium cannot have its sandbox here: " + refused.line
	}
	p, err := launchOnPort(ctx, o, data, false)
	if err != nil {
		return nil, err
	}
	p.SandboxNote = note
	return p, nil
}

// launchOnPort tries the ports of the range until one is free.
func launchOnPort(ctx context.Context, o Options, data *userData, sandbox bool) (*Process, error) {
	var busy []string
	for port := o.FirstPort; port <= o.LastPort; port++ {
		if port != 0 && !free(ctx, port) {
			busy = append(busy, describePort(port))
			continue
		}
		p, err := launchOnce(ctx, o, data, port, sandbox)
		if errors.Is(err, errNoPort) {
			busy = append(busy, describePort(port))
			continue
		}
		return p, err
	}
	return nil, fmt.Errorf("launch browser: no DevTools port is free between %d and %d: %s", o.FirstPort, o.LastPort, some(busy))
}

func free(ctx context.Context, port int) bool {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

func describePort(port int) string {
	if owner := portOwner(port); owner != "" {
		return fmt.Sprintf("%d is used by %s", port, owner)
	}
	return fmt.Sprintf("%d is in use", port)
}

// some shortens a long list.
func some(list []string) string {
	const most = 5
	if len(list) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
	}
	return strings.Join(list, ", ")
}

// launchOnce starts the program and waits until it has answered. If it does not, it is gone when launchOnce returns.
func launchOnce(ctx context.Context, o Options, data *userData, port int, sandbox bool) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("launch browser: %w", context.Cause(ctx))
	}
	if err := clearSingleton(data.dir); err != nil {
		return nil, fmt.Errorf("launch browser: %w", err)
	}
	p, err := start(ctx, o, data.dir, port, sandbox)
	if err != nil {
		return nil, err
	}
	if info, ok := inspect(p.PID); ok {
		if err := data.lock.record(info); err != nil {
			o.Logger.Warn("record browser", "error", err)
		}
	}
	if err := p.answer(ctx); err != nil {
		p.kill()
		close(p.settled)
		<-p.done
		return nil, fmt.Errorf("launch browser %s: %w%s", o.Executable, p.explain(err), said(&p.stderr))
	}
	return p, nil
}

var (
	errEnded  = errors.New("it ended before it opened its DevTools port")
	errNoPort = errors.New("it cannot listen on its DevTools port")
)

// sandboxError says that Chromium ended because it cannot have its sandbox, in the line in which it said so.
type sandboxError struct{ line string }

func (e *sandboxError) Error() string { return "it has no usable sandbox: " + e.line }

// answer waits for the DevTools address and for the answer to a first command.
func (p *Process) answer(ctx context.Context) error {
	url, err := p.endpoint(ctx)
	if err != nil {
		return err
	}
	var version struct {
		Product string `json:"product"`
	}
	if err := command(ctx, url, "Browser.getVersion", &version); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("its DevTools port %d is open but does not answer: %w", portOf(url), context.Cause(ctx))
		}
		return fmt.Errorf("its DevTools port %d is open: %w", portOf(url), err)
	}
	p.WebSocketURL, p.Port, p.Version = url, portOf(url), version.Product
	return nil
}

// endpoint waits for the address on stderr, or in the file that Chromium writes when it chose the port itself.
func (p *Process) endpoint(ctx context.Context) (string, error) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case url := <-p.address:
			return url, nil
		case <-tick.C:
			data, err := os.ReadFile(filepath.Join(p.UserDataDir, "DevToolsActivePort"))
			if err != nil {
				continue
			}
			if url, err := endpointInFile(string(data)); err == nil {
				return url, nil
			}
		case <-p.noPort:
			return "", errNoPort
		case <-p.exited:
			return "", errEnded
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// see looks at a line of stderr for the DevTools address.
func (p *Process) see(line string) {
	url, ok := endpointInLine(line)
	refused := strings.Contains(line, "Cannot start http server for devtools")
	if !ok && !refused {
		return
	}
	p.lines.Do(func() {
		if refused {
			close(p.noPort)
			return
		}
		p.address <- url
	})
}

// explain adds how the process ended, if it ended by itself. It is called when the process is gone.
func (p *Process) explain(err error) error {
	if !errors.Is(err, errEnded) {
		return err
	}
	if line := sandboxLine(p.stderr.String()); line != "" {
		return &sandboxError{line: line}
	}
	return fmt.Errorf("%w: %s", err, describeExit(p.cmd.ProcessState))
}

// said quotes stderr for the end of an error.
func said(stderr *tail) string {
	if text := stderr.quote(); text != "" {
		return "; it said:\n" + text
	}
	return "; it said nothing"
}

// sandboxLine is the line in which Chromium says that it cannot have its sandbox, or "".
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
