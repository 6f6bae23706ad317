package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds one line of a stream. The final event of the Responses API
// repeats the whole answer in one.
const maxLine = 32 << 20

var errLineTooLong = errors.New("a line of the stream is too long")

// eventReader reads server-sent events as the HTML standard defines them
// (section 9.2.6, without carriage returns as line ends of their own). Comments
// and fields other than event and data are dropped.
type eventReader struct {
	r     *bufio.Reader
	begun bool
}

func newEventReader(r io.Reader) *eventReader { return &eventReader{r: bufio.NewReader(r)} }

// next returns the data of the next event that has any. Data of several lines
// is joined by line ends. An unfinished event at the end of the stream counts
// only if it is whole JSON or the end mark: some servers forget the last blank
// line, and a cut stream must not pass for an event.
//
// Two ways of telling an error outside of data are brought into one form: an
// event named "error" without an error member, and the field "error:".
func (e *eventReader) next() ([]byte, error) {
	var lines [][]byte
	name := ""
	for {
		line, err := e.line()
		if err != nil {
			data := bytes.Join(lines, []byte("\n"))
			if errors.Is(err, io.EOF) && (string(data) == "[DONE]" || json.Valid(data)) {
				return wrapError(name, data), nil
			}
			return nil, err
		}
		if len(line) == 0 {
			if lines != nil {
				return wrapError(name, bytes.Join(lines, []byte("\n"))), nil
			}
			name = ""
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "error":
			name = "error"
			lines = append(lines, value)
		case "data":
			lines = append(lines, value)
		}
	}
}

// wrapError makes {"error": data} of an error that does not say so itself.
func wrapError(name string, data []byte) []byte {
	if name != "error" {
		return data
	}
	var o struct {
		Type  string          `json:"type"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(data, &o) == nil && (o.Error != nil || o.Type == "error") {
		return data
	}
	if !json.Valid(data) {
		quoted, err := json.Marshal(string(data))
		if err != nil {
			return data
		}
		data = quoted
	}
	return fmt.Appendf(nil, `{"error":%s}`, data)
}

// line reads one line without its end; the last one may lack it.
func (e *eventReader) line() ([]byte, error) {
	var line []byte
	for {
		part, err := e.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, errLineTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return nil, err
		}
		if !e.begun {
			e.begun = true
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
	}
}

// dataLines is a body made of nothing but "data:" lines, one for each event.
// The client library counts other lines and gives up after some, and cannot
// read an error that follows one; it gets none to see.
type dataLines struct {
	next  func() ([]byte, error)
	close func() error
	left  []byte
	err   error
}

func (d *dataLines) Read(p []byte) (int, error) {
	for len(d.left) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		data, err := d.next()
		if err != nil {
			d.err = err
			continue
		}
		d.left = dataLine(data)
	}
	n := copy(p, d.left)
	d.left = d.left[n:]
	return n, nil
}

func (d *dataLines) Close() error { return d.close() }

// dataLine is an event in one line. A space after the brace keeps the library
// from taking {"error": for its own.
func dataLine(data []byte) []byte {
	flat := bytes.TrimSpace(bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, data))
	if rest, ok := bytes.CutPrefix(flat, []byte("{")); ok {
		flat = append([]byte("{ "), rest...)
	}
	return append(append([]byte("data: "), flat...), '\n')
}
