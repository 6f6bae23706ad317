// Package command is the world as a command of clank sees it, and how a command ends. What the commands do is in packages of
// their own; how arguments are read is in [cmdline].
package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"clank/internal/cmdline"
)

// Exit codes. A shell expects 130 after an interrupt.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitLimited = 3
	ExitDiffers = 4 // a replay came out otherwise than the record
	ExitStopped = 130
)

// Env is the world as a command sees it. TTY and Describe may be nil.
type Env struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	TTY            func() (io.ReadCloser, error) // for answers to questions; nil: nobody is there
	Describe       func(*cmdline.Flags)          // set: a command only tells its flags
	Hurry          context.Context               //nolint:containedctx // ends when the person insists on leaving at once; it is a signal, not a call's context
}

// Parse reads args into fs, shows help when asked, and refuses more than maxArgs
// arguments; see [cmdline.Flags.Read].
func (e *Env) Parse(fs *cmdline.Flags, args []string, maxArgs int) error {
	if e.Describe != nil {
		e.Describe(fs)
		return cmdline.ErrHelp
	}
	return fs.Read(e.Stdout, args, maxArgs)
}

// Logger writes records of level and above to Stderr. A level that is none is "warn".
func (e *Env) Logger(level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{Level: l, ReplaceAttr: withoutTime}))
}

// withoutTime leaves the time out: people read this log as it is written, and
// services add their own.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// ExitError ends the program with Code. What there was to say has been said if
// Err is nil.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what there is to say.
func (e *ExitError) Unwrap() error { return e.Err }

// PrintJSON writes v for programs: indented, and with <, > and & as they are.
func PrintJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
