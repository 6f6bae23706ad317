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

// outputPrinter writes to the standard output, and what is no data to the standard error. It keeps the first error.
type outputPrinter struct {
	out      *bufio.Writer
	messages io.Writer
}

// newOutputPrinter returns a printer for data on out and for people on talk. It must be flushed.
func newOutputPrinter(out, talk io.Writer) *outputPrinter {
	return &outputPrinter{out: bufio.NewWriter(out), messages: talk}
}

// Line prints a line of data. What a page wrote goes through [cleanLine] or [cleanText] first.
func (p *outputPrinter) Line(format string, args ...any) {
	p.write([]byte(fmt.Sprintf(format, args...) + "\n"))
}

func (p *outputPrinter) write(data []byte) {
	_, _ = p.out.Write(data) // the first error is that of Flush
}

// Flush ends the output and returns the first error of it.
func (p *outputPrinter) Flush() error {
	if err := p.out.Flush(); err != nil {
		return fmt.Errorf("write the output: %w", err)
	}
	return nil
}

// Message tells the person something that is not the data asked for.
func (p *outputPrinter) Message(format string, args ...any) {
	fmt.Fprintf(p.messages, format+"\n", args...)
}

// Text prints a text of several lines, which a page may have written. An empty text has none.
func (p *outputPrinter) Text(s string) {
	p.write([]byte(cleanText(s)))
	if s != "" && !strings.HasSuffix(s, "\n") {
		p.write([]byte("\n"))
	}
}

// JSON prints a value, or JSON as it is, with indentation.
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

// jsonStringPattern is a string as JSON writes it.
var jsonStringPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// unescapeJSON writes the characters of JSON's strings themselves where they were escaped without need. What a
// terminal would obey, or nobody sees, stays escaped.
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

// cleanText takes out of a text what a terminal would obey: pages write titles and texts.
func cleanText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}

// cleanLine returns a text of one line, which a page may have written.
func cleanLine(s string) string { return strings.Join(strings.Fields(cleanText(s)), " ") }
