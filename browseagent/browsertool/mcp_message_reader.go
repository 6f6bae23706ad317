package browsertool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// writeGrace returns how long the end waits for a write that nobody reads.
func writeGrace() <-chan time.Time { return time.After(time.Second) }

// messageReader passes on the lines of a pipe that are messages, and answers the others with an error, because the
// library ends the session at the first.
type messageReader struct {
	in   io.ReadCloser
	buf  *bufio.Reader
	out  io.Writer
	rest []byte
}

func newMessageReader(in io.ReadCloser, out io.Writer) *messageReader {
	return &messageReader{in: in, buf: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Read implements io.Reader.
func (f *messageReader) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		line, err := f.line()
		if errors.Is(err, bufio.ErrTooLong) {
			f.rejectLine(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is longer than %d bytes", maxFrame))
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if code, text := checkMessage(line); text != "" {
				f.rejectLine(code, text)
			} else {
				f.rest = append(line, '\n')
			}
		}
		if err != nil && len(f.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// line reads one line. One that is too long is read to its end and dropped.
func (f *messageReader) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := f.buf.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxFrame; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && err == nil:
			return nil, bufio.ErrTooLong
		case long:
			return nil, err
		}
		return line, err
	}
}

// checkMessage says what is wrong with a line; text is "" if nothing is.
func checkMessage(line []byte) (code int64, text string) {
	if !json.Valid(line) {
		return jsonrpc.CodeParseError, "the line is not JSON"
	}
	if line[0] != '{' {
		return jsonrpc.CodeInvalidRequest, "send one message a line; batches are not understood"
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return jsonrpc.CodeInvalidRequest, "the line is no JSON-RPC 2.0 message"
	}
	return 0, ""
}

// rejectLine answers a line that is no message. That it cannot is found out by the next real answer.
func (f *messageReader) rejectLine(code int64, text string) {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":null,"error":{"code":%d,"message":%q}}`, code, text)
	_, _ = f.out.Write([]byte(answer + "\n"))
}

// Close closes the pipe.
func (f *messageReader) Close() error { return f.in.Close() }
