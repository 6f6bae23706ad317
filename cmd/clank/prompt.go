//go:build !browseronly

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// readSecret reads a secret: from a terminal without echo, otherwise the next line of standard input.
func readSecret(ctx context.Context, e *commandEnv, lines *bufio.Reader, prompt string) (string, error) {
	if f, ok := terminalOf(e.Stdin); ok {
		return readHidden(ctx, f, e.Stderr, prompt)
	}
	text, err := readLine(ctx, lines)
	switch {
	case ctx.Err() != nil:
		return "", err
	case err != nil && (!errors.Is(err, io.EOF) || text == ""):
		return "", errors.New("nothing came on stdin: write the secret there, one on each line")
	}
	return strings.TrimRight(text, "\r\n"), nil
}

// readHidden reads a line from a terminal without echo. Ctrl-C and Ctrl-D interrupt the command.
func readHidden(ctx context.Context, f *os.File, out io.Writer, prompt string) (string, error) {
	before, err := term.MakeRaw(int(f.Fd())) // or Ctrl-D would only end a line, and the signal of Ctrl-C not the reading
	if err != nil {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{byteReader{f}, out}, "")
	text, err := untilInterrupted(ctx, func() (string, error) { return t.ReadPassword(prompt) })
	restored := term.Restore(int(f.Fd()), before)
	if err != nil {
		fmt.Fprintln(out)
		if errors.Is(err, io.EOF) {
			err = errExitInterrupted
		}
		return "", err
	}
	if restored != nil {
		return "", fmt.Errorf("restore the terminal: %w", restored)
	}
	return text, nil
}

// byteReader reads single bytes, so that what is typed ahead is left for the next prompt.
type byteReader struct{ io.Reader }

func (r byteReader) Read(b []byte) (int, error) { return r.Reader.Read(b[:min(1, len(b))]) }

// readLine returns the next line with its end, or what precedes [io.EOF].
func readLine(ctx context.Context, lines *bufio.Reader) (string, error) {
	return untilInterrupted(ctx, func() (string, error) { return lines.ReadString('\n') })
}

// untilInterrupted returns what read returns, or why ctx ended before. Since reading from a terminal or a pipe cannot
// be stopped, read then goes on until the end of the process.
func untilInterrupted(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// terminalOf returns in as a terminal, if it is one.
func terminalOf(in io.Reader) (*os.File, bool) {
	f, ok := in.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}
