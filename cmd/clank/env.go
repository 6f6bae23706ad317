package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"text/tabwriter"
)

// commandEnv is the environment of a command: its streams, variables and signals. TTY may be nil.
type commandEnv struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	TTY            func() (io.ReadCloser, error) // for answers to questions; nil means that nobody can answer
	Transport      http.RoundTripper             // for requests to the web; nil means the default
	AbortContext   context.Context               //nolint:containedctx // ends when the user forces an exit; a signal
}

// Formats of logs.
const (
	logText = "text"
	logJSON = "json"
)

// newLogger returns a logger to Stderr for records of level and above, as text or JSON. An invalid level means
// "warn".
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

// dropTimeAttr removes the time: people read this log live, and service managers add their own.
func dropTimeAttr(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// printResult prints v as JSON, or the text written by write, whose cells are separated by tabs.
func (e *commandEnv) printResult(asJSON bool, v any, write func(w io.Writer)) error {
	if asJSON {
		if list := reflect.ValueOf(v); list.Kind() == reflect.Slice && list.IsNil() {
			v = []any{} // not null
		}
		return printJSON(e.Stdout, v)
	}
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	write(w)
	return w.Flush()
}

// printJSON prints indented JSON without HTML escaping.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Exit codes. Shells expect 130 after an interrupt; 124 is that of timeout(1).
const (
	exitDone         = 0
	exitFailed       = 1
	exitUsage        = 2
	exitLimited      = 3 // a task reached a limit
	exitNotListening = 3 // nothing listens at the specified address
	exitDiffers      = 4 // a replay differs from the record
	exitNotFound     = 4 // no such tab, profile or ref
	exitRefused      = 5 // by policy, or because the secret is missing or wrong
	exitTimeout      = 124
	exitStopped      = 130
)

// usageError reports wrong usage of a command.
type usageError struct{ cause error }

func (e *usageError) Error() string { return e.cause.Error() }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.cause }

// usagef returns a [usageError] formatted like [fmt.Errorf].
func usagef(format string, args ...any) error {
	return &usageError{fmt.Errorf(format, args...)}
}

// shownError is an error with what is printed for it: the text, and with --json also the identifiers for programs.
type shownError struct{ text, code, reason string }

func (e *shownError) Error() string { return e.text }

// exitError ends the program with Code. If Err is nil the message has already been printed.
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

// Unwrap returns Err.
func (e *exitError) Unwrap() error { return e.Err }
