package openai

import (
	"bytes"
	"encoding/json"
	"net/http"

	"clank/llm/transport"
)

// eventTransport hands on answers in a form that the client library can read.
type eventTransport struct{ *transport.Attempt }

// Do implements the client library's HTTPDoer.
func (c *eventTransport) Do(req *http.Request) (*http.Response, error) {
	resp, kind, err := c.Send(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &dataLines{next: transport.ReadEvents(kind, resp.Body), close: resp.Body.Close}
	return resp, nil
}

// streamError returns the error reported in an event.
func streamError(raw json.RawMessage) error {
	return &transport.StreamError{ServerError: transport.ParseServerError(raw)}
}

// dataLines is a body made of nothing but "data:" lines, one for each event. The client library counts other lines
// and gives up after some, and cannot read an error that follows one; it gets none to see.
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

// dataLine returns an event in one line. A space after the brace keeps the library from taking {"error": for its own.
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
