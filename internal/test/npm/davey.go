package npm

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
)

const daveyVersion = "0.1.12"

//go:embed davey.mjs
var daveyModule string

// Davey is a node process with any number of members in any number of calls. It is safe for concurrent use.
type Davey struct {
	mu      sync.Mutex
	process *Process
}

// StartDavey installs davey in a folder and starts it. The caller closes it.
func StartDavey(ctx context.Context, folder string, stderr io.Writer) (*Davey, error) {
	if err := Install(ctx, folder, "@snazzah/davey@"+daveyVersion); err != nil {
		return nil, err
	}
	p, err := StartProcess(ctx, stderr, daveyModule, filepath.Join(folder, "node_modules/@snazzah/davey"))
	if err != nil {
		return nil, err
	}
	return &Davey{process: p}, nil
}

// Close ends the process and all its members.
func (d *Davey) Close() error { return d.process.Close() }

// DaveyMessage is a message of a member to the voice server: a payload with its opcode, or that it is ready for a
// transition.
type DaveyMessage struct {
	Op         byte   `json:"op"`
	Payload    []byte `json:"payload"`
	Transition uint16 `json:"transition"`
}

// Request makes a member perform an operation of davey.mjs, and decodes the result unless into is nil. Messages that
// the member sends are passed to send, even if it fails.
func (d *Davey) Request(request, into any, send func(DaveyMessage)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	line, err := json.Marshal(request)
	if err != nil {
		return fmt.Errorf("ask davey: %w", err)
	}
	if _, err := d.process.In.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("ask davey: %w", err)
	}
	answer, err := d.process.Out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("ask davey: %w", err)
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
		Out    []DaveyMessage  `json:"out"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return fmt.Errorf("read davey's answer: %w", err)
	}
	for _, sent := range reply.Out {
		send(sent)
	}
	switch {
	case reply.Error != "":
		return errors.New("davey: " + reply.Error)
	case into == nil:
		return nil
	}
	return json.Unmarshal(reply.Result, into)
}
