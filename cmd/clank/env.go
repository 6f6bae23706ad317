package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"text/tabwriter"
)

// commandEnv is the world as a command sees it. TTY may be nil.
type commandEnv struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	TTY            func() (io.ReadCloser, error) // for answers to questions; nil: nobody is there
	AbortContext   context.Context               //nolint:containedctx // ends when the person insists on leaving at once; it is a signal, not a call's context
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
