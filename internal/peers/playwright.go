package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"time"
)

//go:embed playwright.mjs
var playwrightScript string

// playwright is a node process that works the browser with playwright-core. It has one tab of its own.
type playwright struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Scanner
	lastN int
}

func startPlaywright(ctx context.Context, node, cdpURL string) (*playwright, error) {
	p := &playwright{cmd: exec.CommandContext(ctx, "node", "--input-type=module", "-e", playwrightScript, node, cdpURL)} //nolint:gosec // our script
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewScanner(out)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start node: %w", err)
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("playwright did not start: %w", p.cmd.Wait())
	}
	return p, nil
}

// do has playwright do an operation of the script n times and returns how long each took.
func (p *playwright) do(op, url string, n int) ([]time.Duration, error) {
	p.lastN++
	order, err := json.Marshal(map[string]any{"id": p.lastN, "op": op, "url": url, "n": n})
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(p.in, "%s\n", order); err != nil {
		return nil, fmt.Errorf("playwright %s: %w", op, err)
	}
	if !p.out.Scan() {
		return nil, fmt.Errorf("playwright %s: it ended", op)
	}
	var answer struct {
		MS    []float64 `json:"ms"`
		Error string    `json:"error"`
	}
	if err := json.Unmarshal(p.out.Bytes(), &answer); err != nil {
		return nil, fmt.Errorf("playwright %s: %w", op, err)
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("playwright %s: %s", op, answer.Error)
	}
	times := make([]time.Duration, 0, n)
	for _, ms := range answer.MS {
		times = append(times, time.Duration(ms*float64(time.Millisecond)))
	}
	return times, nil
}

// close lets go of the browser, which goes on.
func (p *playwright) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}
