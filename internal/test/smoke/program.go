package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// program is clank in a process of its own.
type program struct {
	cmd            *exec.Cmd
	stdout, stderr *transcript
	done           chan struct{}
}

// environ returns a person's, without what would change how clank starts.
func (s *smokeRun) environ(more ...string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "DISCORD_TOKEN", "DISCORD_TOKEN_FILE", "OPENAI_API_KEY", "OPENAI_API_KEY_FILE", "OPENAI_BASE_URL",
			"COMPATIBLE_API_KEY", "COMPATIBLE_API_KEY_FILE", "TRANSCRIPTION_API_KEY", "SPEECH_API_KEY", "DISCORD_GOLIVE_TOKEN", "CLANK_DISCORD_API", "DISPLAY", "WAYLAND_DISPLAY":
		default:
			env = append(env, kv)
		}
	}
	return append(append(env, "CLANK_HOME="+s.home, "TMPDIR="+s.tmp), more...)
}

// start runs clank with args. It is killed at the end if it is still there.
func (s *smokeRun) start(env []string, args ...string) (*program, error) {
	p := &program{stdout: newTranscript(), stderr: newTranscript(), done: make(chan struct{})}
	p.cmd = exec.Command(s.bin, args...) //nolint:noctx // it is ended by kill, and by the checks of its end
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = env, p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start clank: %w", err)
	}
	s.programs = append(s.programs, p)
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // the exit code is looked at where it counts
	}()
	return p, nil
}

// runToEnd runs clank to its end, which must be a good one, and returns what it
// printed.
func (s *smokeRun) runToEnd(ctx context.Context, args ...string) (stdout string, err error) {
	p, err := s.start(s.environ(), args...)
	if err != nil {
		return "", err
	}
	if err := p.end(ctx, 0); err != nil {
		return "", err
	}
	return p.stdout.text(), nil
}

// end waits for the end, with the exit code that is expected.
func (p *program) end(ctx context.Context, code int) error {
	select {
	case <-p.done:
	case <-ctx.Done():
		return fmt.Errorf("clank %s did not end: %w", p.cmd.Args[1], context.Cause(ctx))
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("exit code = %d, want %d\n%s%s", got, code, p.stdout.text(), p.stderr.text())
	}
	return nil
}

// awaitOutput waits until the program has printed want, and returns all it has printed.
func (p *program) awaitOutput(ctx context.Context, want string) (string, error) {
	for {
		text, changed := p.stdout.now()
		if strings.Contains(text, want) {
			return text, nil
		}
		select {
		case <-changed:
		case <-p.done:
			if text := p.stdout.text(); strings.Contains(text, want) {
				return text, nil
			}
			return "", fmt.Errorf("it ended without saying %q: %s", want, p.stderr.text())
		case <-ctx.Done():
			return "", fmt.Errorf("it did not say %q: %w", want, context.Cause(ctx))
		}
	}
}

// kill ends it without asking. One that has ended already is no error.
func (p *program) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// transcript collects output and tells when there is more.
type transcript struct {
	mu      sync.Mutex
	buf     bytes.Buffer
	changed chan struct{}
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.changed)
	t.changed = make(chan struct{})
	return t.buf.Write(p)
}

// now returns what there is, and what is closed when there is more.
func (t *transcript) now() (string, <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String(), t.changed
}

func (t *transcript) text() string {
	text, _ := t.now()
	return text
}

// wantAll says which of wants text lacks.
func wantAll(text string, wants ...string) error {
	var errs []error
	for _, want := range wants {
		if !strings.Contains(text, want) {
			errs = append(errs, fmt.Errorf("want %q in %q", want, text))
		}
	}
	return errors.Join(errs...)
}
