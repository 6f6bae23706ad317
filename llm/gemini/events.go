package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/genai"
)

const (
	maxLine   = 32 << 20 // of a stream
	maxAnswer = 64 << 20 // of an answer in one piece
)

var errLineTooLong = errors.New("a line of the stream is too long")

// eventReader reads server-sent events as the HTML standard defines them
// (section 9.2.6, without carriage returns as line ends of their own). Comments
// and fields other than data are dropped.
type eventReader struct{ r *bufio.Reader }

func newEventReader(r io.Reader) *eventReader { return &eventReader{r: bufio.NewReader(r)} }

// next returns the data of the next event that has any. An unfinished event at
// the end of the stream counts only if it is whole JSON: some servers forget
// the last blank line, and a cut stream must not pass for an event.
func (e *eventReader) next() ([]byte, error) {
	var lines [][]byte
	for {
		line, err := e.line()
		if err != nil {
			data := bytes.Join(lines, []byte("\n"))
			if errors.Is(err, io.EOF) && json.Valid(data) {
				return data, nil
			}
			return nil, err
		}
		if len(line) == 0 {
			if lines != nil {
				return bytes.Join(lines, []byte("\n")), nil
			}
			continue
		}
		if field, value, _ := bytes.Cut(line, []byte(":")); string(field) == "data" {
			lines = append(lines, bytes.TrimPrefix(value, []byte(" ")))
		}
	}
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
		return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), nil
	}
}

// wholeBody gives an answer in one piece as events: one, or each of an array,
// as servers send it that do not stream.
func wholeBody(body io.Reader) func() ([]byte, error) {
	var events []json.RawMessage
	read := false
	return func() ([]byte, error) {
		if !read {
			read = true
			data, err := io.ReadAll(io.LimitReader(body, maxAnswer))
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

// dataBody is a body of nothing but events whose data the client library can
// decode: it trusts the shape of what it reads, gives up at comments, and
// writes failures of the body to a log of its own. So it gets to see the end
// instead, and err keeps what was in its place.
type dataBody struct {
	next  func() ([]byte, error)
	close func() error
	begun bool // an event has been handed on
	left  []byte
	err   error
}

func (d *dataBody) Read(p []byte) (int, error) {
	for len(d.left) == 0 {
		if d.err != nil {
			return 0, io.EOF
		}
		data, err := d.next()
		if err == nil {
			data, err = checked(data)
		} else if !errors.Is(err, errLineTooLong) && (d.begun || errors.Is(err, io.EOF)) {
			err = &cutError{err: err}
		}
		if err != nil {
			d.err = err
			continue
		}
		d.begun = true
		d.left = data
	}
	n := copy(p, d.left)
	d.left = d.left[n:]
	return n, nil
}

func (d *dataBody) Close() error {
	_ = d.close() // the body was read as far as we want it
	return nil
}

// checked is an event in one line, if it is one that the client library can
// decode; an error told in it becomes an error.
func checked(data []byte) ([]byte, error) {
	var event struct {
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &event); err != nil {
		return nil, &malformedError{err: fmt.Errorf("decode event: %w", err)}
	}
	if len(event.Error) > 0 && string(event.Error) != "null" {
		return nil, &streamError{readErrorBody(data)}
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil, &malformedError{err: errors.New("decode event: it is not an object")}
	}
	var typed genai.GenerateContentResponse
	if err := json.Unmarshal(data, &typed); err != nil {
		return nil, &malformedError{err: fmt.Errorf("decode event: %w", err)}
	}
	typed.Candidates = slices.DeleteFunc(typed.Candidates, func(c *genai.Candidate) bool { return c == nil })
	clean, err := json.Marshal(&typed)
	if err != nil {
		return nil, &malformedError{err: fmt.Errorf("decode event: %w", err)}
	}
	return append(append([]byte("data: "), clean...), "\n\n"...), nil
}
