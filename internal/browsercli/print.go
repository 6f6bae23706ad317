package browsercli

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

// printer writes to the standard output, and what is no data to the standard error. It keeps the first error.
type printer struct {
	out   *bufio.Writer
	talk  io.Writer
	fault error
}

func newPrinter(out, talk io.Writer) *printer { return &printer{out: bufio.NewWriter(out), talk: talk} }

// line prints a line of data.
func (p *printer) line(format string, args ...any) {
	p.bytes([]byte(fmt.Sprintf(format, args...) + "\n"))
}

func (p *printer) bytes(data []byte) {
	if _, err := p.out.Write(data); err != nil && p.fault == nil {
		p.fault = err
	}
}

// flush ends the output.
func (p *printer) flush() error {
	if err := p.out.Flush(); err != nil && p.fault == nil {
		p.fault = err
	}
	if p.fault != nil {
		return fmt.Errorf("write the output: %w", p.fault)
	}
	return nil
}

// say tells the person something that is not the data asked for.
func (p *printer) say(format string, args ...any) { fmt.Fprintf(p.talk, format+"\n", args...) }

// block prints a text of several lines, which a page may have written.
func (p *printer) block(s string) {
	p.bytes([]byte(clean(s)))
	if !strings.HasSuffix(s, "\n") {
		p.bytes([]byte("\n"))
	}
}

// json prints a value, or JSON as it is, with indentation.
func (p *printer) json(v any) error {
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

// clean takes out of a text what a terminal would obey: pages write titles and texts.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || !unicode.IsControl(r) {
			return r
		}
		return -1
	}, s)
}

// word is a text of one line, which a page may have written.
func word(s string) string { return strings.Join(strings.Fields(clean(s)), " ") }

// decode reads an answer into a new T.
func decode[T any](answer []byte) (T, error) {
	var v T
	if err := json.Unmarshal(answer, &v); err != nil {
		return v, fmt.Errorf("read the answer: %w", err)
	}
	return v, nil
}

// showing makes a show of a function that prints a typed answer.
func showing[T any](print func(p *printer, in *input, answer T)) func(*printer, *input, []byte) error {
	return func(p *printer, in *input, raw []byte) error {
		answer, err := decode[T](raw)
		if err == nil {
			print(p, in, answer)
		}
		return err
	}
}

// showingField makes a show that prints one field of the answer as JSON, or else if it is not there.
func showingField(name, otherwise string) func(*printer, *input, []byte) error {
	return func(p *printer, _ *input, raw []byte) error {
		fields, err := decode[map[string]json.RawMessage](raw)
		if err != nil {
			return err
		}
		if value, ok := fields[name]; ok && string(value) != "null" {
			return p.json([]byte(value))
		}
		p.line("%s", otherwise)
		return nil
	}
}
