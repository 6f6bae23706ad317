package npm

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"time"
)

//go:embed script.mjs
var playwrightScript string

// Playwright is a node process that controls a browser. It has one tab. It must be used by one goroutine at a time.
type Playwright struct {
	process *Process
	out     *bufio.Scanner
	last    int
}

// StartPlaywright attaches to the browser with DevTools at cdpURL. dir is the result of InstallPlaywright.
func StartPlaywright(ctx context.Context, dir, cdpURL string) (*Playwright, error) {
	process, err := StartProcess(ctx, nil, playwrightScript, dir, cdpURL)
	if err != nil {
		return nil, err
	}
	p := &Playwright{process: process, out: bufio.NewScanner(process.Out)}
	p.out.Buffer(nil, 16<<20)
	if !p.out.Scan() {
		return nil, fmt.Errorf("playwright did not start: %w", process.Close())
	}
	return p, nil
}

// Times runs an operation of the script n times and returns each duration.
func (p *Playwright) Times(op, url string, n int) ([]time.Duration, error) {
	var all []float64
	if err := p.Call(op, map[string]any{"url": url, "n": n}, &all); err != nil {
		return nil, err
	}
	times := make([]time.Duration, 0, n)
	for _, ms := range all {
		times = append(times, time.Duration(ms*float64(time.Millisecond)))
	}
	return times, nil
}

// Call runs an operation of the script, and decodes its result unless into is nil.
func (p *Playwright) Call(op string, args map[string]any, into any) error {
	p.last++
	order := map[string]any{"id": p.last, "op": op}
	maps.Copy(order, args)
	line, err := json.Marshal(order)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.process.In, "%s\n", line); err != nil {
		return fmt.Errorf("playwright %s: %w", op, err)
	}
	if !p.out.Scan() {
		return fmt.Errorf("playwright %s: it ended", op)
	}
	var answer struct {
		Out   json.RawMessage `json:"out"`
		Error string          `json:"error"`
	}
	if err := json.Unmarshal(p.out.Bytes(), &answer); err != nil {
		return fmt.Errorf("playwright %s: %w", op, err)
	}
	if answer.Error != "" {
		return fmt.Errorf("playwright %s: %s", op, answer.Error)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer.Out, into)
}

// Close disconnects from the browser, which keeps running.
func (p *Playwright) Close() {
	_ = p.process.Close()
}
