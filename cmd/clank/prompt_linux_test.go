package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"clank/internal/server"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/sessions"

	"golang.org/x/sys/unix"
)

// newPseudoTerminal returns both ends of a pseudoterminal (pty(7)): ours, and that of a program.
func newPseudoTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	check.Must(t, err)
	t.Cleanup(func() { _ = ours.Close() })
	check.Must(t, unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	check.Must(t, err)
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	check.Must(t, err)
	t.Cleanup(func() { _ = theirs.Close() })
	return ours, theirs
}

func TestASecretIsReadFromATerminalWithoutEcho(t *testing.T) {
	t.Parallel()
	const prompt = "Password: "
	for _, tt := range []struct {
		name, keys string
		interrupt  bool // by a signal of another process
		code       int
		says       string
	}{
		{"a password", "hunter2\r", false, exitDone, "shop is kept for"},
		{"the next answer typed ahead", "hunter2\rJBSWY3DPEHPK3PXP\r", false, exitDone, "shop is kept for"},
		{"nothing", "\r", false, exitFailed, "neither a password nor"},
		{"Ctrl-C", "hunter2\x03", false, exitStopped, "interrupted"},
		{"Ctrl-D", "\x04", false, exitStopped, "interrupted"},
		{"a signal", "hunter2", true, exitStopped, "interrupted"},
		{"a terminal that is closed", "", false, exitStopped, "interrupted"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ours, theirs := newPseudoTerminal(t)
			before, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
			check.Must(t, err)
			e := newTestEnv(t, nil)
			read, stderr := io.Pipe()
			e.Stdin, e.Stderr = theirs, stderr
			ctx, stop := context.WithCancelCause(testDeadline(t))
			defer stop(nil)
			code := make(chan int, 1)
			go func() {
				line := "vault add shop --origin https://shop.example --user ada"
				if strings.Count(tt.keys, "\r") > 1 {
					line += " --totp"
				}
				code <- runCommandLine(ctx, e, strings.Fields(line))
				_ = stderr.Close()
			}()
			told := bufio.NewReader(read)
			asked := make([]byte, len(prompt))
			_, err = io.ReadFull(told, asked)
			check.Must(t, err)
			check.Equal(t, "prompt", string(asked), prompt)
			_, err = ours.WriteString(tt.keys)
			check.Must(t, err)
			switch {
			case tt.interrupt:
				stop(errInterrupted)
			case tt.keys == "":
				check.Must(t, ours.Close())
			}
			rest, err := io.ReadAll(told)
			check.Must(t, err)
			check.Equal(t, "exit code", <-code, tt.code)
			check.Contains(t, string(rest), tt.says)
			if bytes.Contains(rest, []byte("hunter2")) {
				t.Errorf("the terminal shows the password: %q", rest)
			}
			if tt.keys == "" {
				return
			}
			after, err := unix.IoctlGetTermios(int(theirs.Fd()), unix.TCGETS)
			check.Must(t, err)
			check.Diff(t, "state of the terminal", after.Lflag, before.Lflag)
		})
	}
}

// silentInput calls begun when it is read, and ends only with its test.
type silentInput struct {
	t     *testing.T
	begun func()
}

func (s silentInput) Read([]byte) (int, error) {
	s.begun()
	<-s.t.Context().Done()
	return 0, io.EOF
}

func TestAnInterruptEndsTheWaitForStandardInput(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"vault add shop --origin https://shop.example", "setup key OPENAI_API_KEY", "backup --encrypt of",
		"forget --person ada",
	} {
		e := newTestEnv(t, nil)
		h, err := server.OpenHome(e.Getenv)
		check.Must(t, err)
		db, err := sqlite.Open(t.Context(), h.DatabaseFile())
		check.Must(t, err)
		check.Must(t, db.SaveSession(t.Context(), sessions.Session{
			ID: "s", State: sessions.SessionParked,
			Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "1", UserName: "ada"},
		}))
		check.Must(t, db.Close())
		ctx, stop := context.WithCancelCause(testDeadline(t))
		reads := false
		e.Stdin = silentInput{t, func() { reads = true; stop(errInterrupted) }}
		got := runCommand(ctx, e, strings.Fields(line)...)
		if got.code != exitStopped || !reads || !strings.Contains(got.stderr, "interrupted") {
			t.Errorf("%s: exit code %d, %q, read %v", line, got.code, got.stderr, reads)
		}
	}
}
