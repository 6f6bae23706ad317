package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"text/tabwriter"
)

// commandEnv is the world as a command sees it. TTY may be nil.
type commandEnv struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	TTY            func() (io.ReadCloser, error) // for answers to questions; nil: nobody is there
	Transport      http.RoundTripper             // for requests to the web; nil: the usual one
	AbortContext   context.Context               //nolint:containedctx // ends when the person insists on leaving at once; it is a signal, not a call's context
}

// The formats of logs: for people, and for machines.
const (
	logText = "text"
	logJSON = "json"
)

// newLogger writes records of level and above to Stderr, as text or as JSON. A level that is none is "warn".
func (e *commandEnv) newLogger(level, format string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		l = slog.LevelWarn
	}
	if format == logJSON {
		return slog.New(slog.NewJSONHandler(e.Stderr, &slog.HandlerOptions{Level: l}))
	}
	return slog.New(slog.NewTextHandler(e.Stderr, &slog.HandlerOptions{Level: l, ReplaceAttr: dropTimeAttr}))
}

// dropTimeAttr leaves the time out: people read this log as it is written, and services add their own.
func dropTimeAttr(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// printResult prints v as JSON, or the text that write makes of it, whose cells have tabs between them.
func (e *commandEnv) printResult(asJSON bool, v any, write func(w io.Writer)) error {
	if asJSON {
		return printJSON(e.Stdout, v)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	write(w)
	return w.Flush()
}

// printJSON writes v for programs: indented, and with <, > and & as they are.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Exit codes. A shell expects 130 after an interrupt; 124 is that of timeout(1).
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitLimited      = 3 // a task ended at a limit
	exitNotListening = 3 // nobody listens where a server was named
	exitDiffers      = 4 // a replay came out otherwise than the record
	exitNotFound     = 4 // no such tab, profile or ref
	exitRefused      = 5 // by the policy, or for the lack of the right secret
	exitTimeout      = 124
	exitStopped      = 130
)

// usageError says that a command was used wrongly.
type usageError struct{ cause error }

func (e *usageError) Error() string { return e.cause.Error() }

// Unwrap returns what was wrong.
func (e *usageError) Unwrap() error { return e.cause }

// usagef makes a [usageError] as [fmt.Errorf] would.
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// exitError ends the program with Code. What there was to say has been said if Err is nil.
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
