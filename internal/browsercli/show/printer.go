package show

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

// Printer writes to the standard output, and what is no data to the standard error. It keeps the first error.
type Printer struct {
	out   *bufio.Writer
	talk  io.Writer
	fault error
}

// NewPrinter returns a printer for data on out and for people on talk. It must be flushed.
func NewPrinter(out, talk io.Writer) *Printer { return &Printer{out: bufio.NewWriter(out), talk: talk} }

// Line prints a line of data. What a page wrote goes through [Word] or [Clean] first.
func (p *Printer) Line(format string, args ...any) {
	p.bytes([]byte(fmt.Sprintf(format, args...) + "\n"))
}

func (p *Printer) bytes(data []byte) {
	if _, err := p.out.Write(data); err != nil && p.fault == nil {
		p.fault = err
	}
}

// Flush ends the output and returns the first error of it.
func (p *Printer) Flush() error {
	if err := p.out.Flush(); err != nil && p.fault == nil {
		p.fault = err
	}
	if p.fault != nil {
		return fmt.Errorf("write the output: %w", p.fault)
	}
	return nil
}

// Say tells the person something that is not the data asked for.
func (p *Printer) Say(format string, args ...any) { fmt.Fprintf(p.talk, format+"\n", args...) }

// Block prints a text of several lines, which a page may have written. An empty text has none.
func (p *Printer) Block(s string) {
	p.bytes([]byte(Clean(s)))
	if s != "" && !strings.HasSuffix(s, "\n") {
		p.bytes([]byte("\n"))
	}
}

// JSON prints a value, or JSON as it is, with indentation.
func (p *Printer) JSON(v any) error {
	raw, ok := v.([]byte)
	if !ok {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("print the answer: %w", err)
		}
		raw = buf.Bytes()
	}
	raw = legible(raw)
	var buf bytes.Buffer
	if err := json.Indent(&buf, bytes.TrimSpace(raw), "", "  "); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	buf.WriteByte('\n')
	p.bytes(buf.Bytes())
	return nil
}

// stringForm is a string as JSON writes it.
var stringForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(?:[^"\\]|\\.)*"`) })

// legible writes the characters of JSON's strings themselves where they were escaped without need. What a terminal would obey,
// or nobody sees, stays escaped.
func legible(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	return stringForm().ReplaceAllFunc(raw, func(literal []byte) []byte {
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
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			return literal
		}
		return bytes.TrimSpace(buf.Bytes())
	})
}

// Clean takes out of a text what a terminal would obey: pages write titles and texts.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}

// Word is a text of one line, which a page may have written.
func Word(s string) string { return strings.Join(strings.Fields(Clean(s)), " ") }
