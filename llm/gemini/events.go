package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/genai"

	"clank/llm/wire"
)

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
		} else if !errors.Is(err, wire.ErrLineTooLong) && (d.begun || errors.Is(err, io.EOF)) {
			err = &wire.CutError{Err: err}
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
		return nil, &wire.MalformedError{Err: fmt.Errorf("decode event: %w", err)}
	}
	if len(event.Error) > 0 && string(event.Error) != "null" {
		return nil, &wire.StreamError{Told: wire.ReadTold(data)}
	}
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil, &wire.MalformedError{Err: errors.New("decode event: it is not an object")}
	}
	var typed genai.GenerateContentResponse
	if err := json.Unmarshal(data, &typed); err != nil {
		return nil, &wire.MalformedError{Err: fmt.Errorf("decode event: %w", err)}
	}
	typed.Candidates = slices.DeleteFunc(typed.Candidates, func(c *genai.Candidate) bool { return c == nil })
	clean, err := json.Marshal(&typed)
	if err != nil {
		return nil, &wire.MalformedError{Err: fmt.Errorf("decode event: %w", err)}
	}
	return append(append([]byte("data: "), clean...), "\n\n"...), nil
}
