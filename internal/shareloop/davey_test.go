package shareloop_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"clank/internal/discordtest/member"
	"clank/internal/discordtest/private"
)

// daveyModule is a program of other hands that encrypts from end to end.
const daveyModule = "@snazzah/davey@0.1.12"

// decrypter is who decrypts on the viewer's side: davey, or our own code where npm cannot install that.
func decrypter(t *testing.T) (name string, of func(member.Line) (member.Privacy, error)) {
	t.Helper()
	of, err := davey(t)
	if err != nil {
		t.Logf("our own code decrypts, as davey cannot: %v", err)
		return "ours", private.Ours
	}
	return "davey", of
}

// davey installs it, and makes members' encryption of it.
func davey(t *testing.T) (func(member.Line) (member.Privacy, error), error) {
	t.Helper()
	modules := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	install := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline", "--fetch-retries=0", "--prefix", modules, daveyModule)
	if out, err := install.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("install it with npm: %w: %.300s", err, out)
	}
	node := exec.CommandContext(t.Context(), "node", "../../voice/discord/dave/testdata/davey.mjs", filepath.Join(modules, "node_modules/@snazzah/davey"))
	node.Stderr = t.Output()
	in, err := node.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := node.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = node.Wait()
	})
	d := &process{in: in, out: bufio.NewReaderSize(out, 1<<20)}
	return func(l member.Line) (member.Privacy, error) {
		p := &privacy{process: d, line: l}
		return p, p.ask(map[string]any{"what": "here", "users": []string{p.user()}}, nil)
	}, nil
}

// process is davey's, which answers line by line.
type process struct {
	mu  sync.Mutex
	in  io.Writer
	out *bufio.Reader
}

// privacy is one member's encryption.
type privacy struct {
	*process
	line member.Line
}

func (p *privacy) user() string { return strconv.FormatUint(p.line.User, 10) }

// ask does one thing, sends what comes of it, and gives the answer.
func (p *privacy) ask(what map[string]any, into any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	what["user"], what["channel"] = p.user(), strconv.FormatUint(p.line.Group, 10)
	line, err := json.Marshal(what)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	answer, err := p.out.ReadBytes('\n')
	if err != nil {
		return err
	}
	var reply struct {
		Result json.RawMessage `json:"result"`
		Error  string          `json:"error"`
		Out    []struct {
			Op         byte   `json:"op"`
			Payload    []byte `json:"payload"`
			Transition uint16 `json:"transition"`
		} `json:"out"`
	}
	if err := json.Unmarshal(answer, &reply); err != nil {
		return err
	}
	for _, o := range reply.Out {
		if o.Payload != nil {
			p.line.SendBinary(o.Op, o.Payload)
		} else {
			p.line.SendJSON(int(o.Op), map[string]any{"transition_id": o.Transition})
		}
	}
	switch {
	case reply.Error != "":
		return errors.New("davey: " + reply.Error)
	case into == nil:
		return nil
	}
	return json.Unmarshal(reply.Result, into)
}

func (p *privacy) Select(version int) error {
	return p.ask(map[string]any{"what": "choose", "version": version}, nil)
}

func (p *privacy) HandleJSON(op int, d json.RawMessage) error {
	return p.ask(map[string]any{"what": "json", "op": op, "d": d}, nil)
}

func (p *privacy) HandleBinary(op byte, payload []byte) error {
	return p.ask(map[string]any{"what": "binary", "op": op, "payload": payload}, nil)
}

func (p *privacy) Connected(users ...uint64) { p.people("here", users) }

func (p *privacy) Disconnected(user uint64) { p.people("gone", []uint64{user}) }

func (p *privacy) people(what string, users []uint64) {
	for _, u := range users {
		_ = p.ask(map[string]any{"what": what, "users": []string{strconv.FormatUint(u, 10)}}, nil) // always answered
	}
}

// Their numbers of codecs.
var daveyCodecs = map[string]int{"opus": 1, "VP8": 2}

func (p *privacy) Encrypt(codec string, frame []byte) (sent []byte, err error) {
	err = p.ask(map[string]any{"what": "encrypt", "codec": daveyCodecs[codec], "payload": frame}, &sent)
	return sent, err
}

func (p *privacy) Decrypt(user uint64, codec string, frame []byte) (got []byte, err error) {
	err = p.ask(map[string]any{"what": "decrypt", "users": []string{strconv.FormatUint(user, 10)}, "codec": daveyCodecs[codec], "payload": frame}, &got)
	return got, err
}
