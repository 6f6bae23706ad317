package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// outputPrinter writes data to standard output and messages to standard error. It remembers the first error.
type outputPrinter struct {
	out      *bufio.Writer
	messages io.Writer
}

// newOutputPrinter returns a printer for data on out and messages on talk. The caller must call Flush.
func newOutputPrinter(out, talk io.Writer) *outputPrinter {
	return &outputPrinter{out: bufio.NewWriter(out), messages: talk}
}

// Line prints a line of data. Texts from pages must go through [cleanLine] or [cleanText] first.
func (p *outputPrinter) Line(format string, args ...any) {
	p.write([]byte(fmt.Sprintf(format, args...) + "\n"))
}

func (p *outputPrinter) write(data []byte) {
	_, _ = p.out.Write(data) // Flush returns the error
}

// Flush flushes the output and returns its first error.
func (p *outputPrinter) Flush() error {
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// Message prints a message that is not part of the requested data.
func (p *outputPrinter) Message(format string, args ...any) {
	fmt.Fprintf(p.messages, format+"\n", args...)
}

// Text prints a text of several lines, which may come from a page. An empty text prints nothing.
func (p *outputPrinter) Text(s string) {
	p.write([]byte(cleanText(s)))
	if s != "" && !strings.HasSuffix(s, "\n") {
		p.write([]byte("\n"))
	}
}

// JSON prints a value, or raw JSON, indented.
func (p *outputPrinter) JSON(v any) error {
	if raw, ok := v.([]byte); ok {
		v = json.RawMessage(raw)
	}
	var buf bytes.Buffer
	if err := printJSON(&buf, v); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	p.write(unescapeJSON(buf.Bytes()))
	return nil
}

// jsonStringPattern matches a JSON string.
var jsonStringPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// unescapeJSON replaces unnecessary escapes in JSON strings by the characters. Control and invisible characters stay
// escaped.
func unescapeJSON(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	return jsonStringPattern().ReplaceAllFunc(raw, func(literal []byte) []byte {
		if !bytes.Contains(literal, []byte(`\u`)) {
			return literal
		}
		var s string
		if err := json.Unmarshal(literal, &s); err != nil {
			return literal
		}
		for _, r := range s {
			if r == utf8.RuneError || !unicode.IsPrint(r) && r != '\n' && r != '\t' {
				return literal
			}
		}
		var buf bytes.Buffer
		_ = printJSON(&buf, s) // a string always marshals
		return bytes.TrimSpace(buf.Bytes())
	})
}

// cleanText removes terminal control sequences from a text, because pages write titles and texts.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}

// cleanLine returns a text that may come from a page as one clean line.
func cleanLine(s string) string { return strings.Join(strings.Fields(cleanText(s)), " ") }
