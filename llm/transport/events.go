package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrTooLong is an answer that nobody can want.
var ErrTooLong = fmt.Errorf("the answer is longer than %d MiB", maxAnswer>>20)

// ReadEvents gives the data of each event of an answer, whose media type is kind, in turn, and in the end io.EOF. An
// answer that came as JSON in one piece is one event, or, as an array, one for each of its elements.
func ReadEvents(kind string, body io.Reader) (next func() ([]byte, error)) {
	if isWhole(kind) {
		return wholeBody(body)
	}
	e := &eventReader{r: bufio.NewReader(body)}
	return e.next
}

func isWhole(kind string) bool { return strings.HasSuffix(kind, "json") }

func wholeBody(body io.Reader) func() ([]byte, error) {
	var events []json.RawMessage
	read := false
	return func() ([]byte, error) {
		if !read {
			read = true
			data, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			if json.Unmarshal(data, &events) != nil {
				events = []json.RawMessage{data}
			}
		}
		if len(events) == 0 {
			return nil, io.EOF
		}
		event := events[0]
		events = events[1:]
		return event, nil
	}
}

// eventReader reads server-sent events as the HTML standard defines them (section 9.2.6, without carriage returns as
// line ends of their own). Comments and fields other than event and data are dropped.
type eventReader struct {
	r     *bufio.Reader
	begun bool
}

// next returns the data of the next event that has any. Data of several lines is joined by line ends. An unfinished
// event at the end of the stream counts only if it is whole JSON or the end mark: some servers forget the last blank
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
