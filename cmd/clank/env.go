package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// Exit codes. A shell expects 130 after an interrupt.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitLimited = 3
	exitDiffers = 4 // a replay came out otherwise than the record
	exitStopped = 130
)

// commandEnv is the world as a command sees it. TTY and Describe may be nil.
type commandEnv struct {
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	TTY            func() (io.ReadCloser, error) // for answers to questions; nil: nobody is there
	DescribeFlags  func(*commandFlags)           // set: a command only tells its flags
	AbortContext   context.Context               //nolint:containedctx // ends when the person insists on leaving at once; it is a signal, not a call's context
}

// parseFlags reads args into fs, shows help when asked, and refuses more than maxArgs
// arguments; see [commandFlags.Read].
func (e *commandEnv) parseFlags(fs *commandFlags, args []string, maxArgs int) error {
	if e.DescribeFlags != nil {
		e.DescribeFlags(fs)
		return errHelpShown
	}
	return fs.Read(e.Stdout, args, maxArgs)
}

// newLogger writes records of level and above to Stderr. A level that is none is "warn".
func (e *commandEnv) newLogger(level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{Level: l, ReplaceAttr: dropTimeAttr}))
}

// dropTimeAttr leaves the time out: people read this log as it is written, and
// services add their own.
func dropTimeAttr(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// exitError ends the program with Code. What there was to say has been said if
// Err is nil.
type exitError struct {
	Code int
	Err  error
}

func (e *exitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns what there is to say.
func (e *exitError) Unwrap() error { return e.Err }

// printIndentedJSON writes v for programs: indented, and with <, > and & as they are.
func printIndentedJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
