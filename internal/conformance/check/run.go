// Package check runs cases against the real clank and counts them, and is what cases are made of: requests with what must come
// back, the usual steps of a client, pages of a site. It is not for what the contract says: that is in the cases.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"time"

	"clank/internal/conformance/site"
	"clank/internal/running"
)

// Bounds. Nothing is expected to take nearly so long.
const (
	wholeLimit = 15 * time.Minute
	caseLimit  = 30 * time.Second
)

// Case is one thing that the contract promises. Run returns why it does not hold, and leaves behind what other cases can
// work with.
type Case struct {
	Name string
	Run  func(ctx context.Context, s *Suite) error
}

// Group is the cases of one part of the contract, in the order in which they are run.
type Group struct {
	Name  string
	Cases []Case
	Needs string // a program without which the group is skipped; "" needs none
}

// Judge runs groups of cases against the program at Bin. Its fields are set before Run.
type Judge struct {
	Bin     string
	Cache   string         // folder in which peers are installed
	Only    *regexp.Regexp // cases whose "group/name" matches it are run
	Verbose bool           // a line for each case
	Out     io.Writer
}

// Run runs all cases, prints what came of them and returns how many failed. Each lane has a server and a site of its own, and
// its groups run in order, beside those of the other lanes. The error is of what is not judged.
func (j Judge) Run(ctx context.Context, lanes [][]Group) (failed int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wholeLimit, fmt.Errorf("the whole took longer than %v", wholeLimit))
	defer cancel()
	results := make(chan tally)
	for i, groups := range lanes {
		go func() {
			t := tally{Judge: j}
			t.err = t.lane(ctx, i, groups)
			results <- t
		}()
	}
	passed := 0
	for range lanes {
		t := <-results
		passed, failed, err = passed+t.passed, failed+t.failed, errors.Join(err, t.err)
	}
	fmt.Fprintf(j.Out, "conformance: %d passed, %d failed\n", passed, failed)
	return failed, errors.Join(err, context.Cause(ctx))
}

// tally is what came of one lane.
type tally struct {
	Judge

	passed, failed int
	err            error
}

// Start starts a server whose browsers listen on ports that those of servers with other numbers do not take. The usual ones
// are those of number 0.
func Start(ctx context.Context, bin string, number int, env ...string) (*running.Clank, error) {
	clank, err := running.Start(ctx, bin, env...)
	if err != nil || number == 0 {
		return clank, err
	}
	err = errors.Join((&Suite{Clank: clank}).Set(ctx, "cdpPortRangeStart", 18_800+200*number), clank.Stop())
	if err == nil {
		err = clank.Restart(ctx, env...)
	}
	if err != nil {
		return nil, errors.Join(err, clank.Close())
	}
	return clank, nil
}

// lane runs groups with a server of their own.
func (t *tally) lane(ctx context.Context, number int, groups []Group) error {
	clank, err := Start(ctx, t.Bin, number)
	if err != nil {
		return err
	}
	web := site.New()
	defer web.Close()
	s := &Suite{Clank: clank, Site: web, Cache: t.Cache}
	for _, g := range groups {
		t.group(ctx, s, g)
	}
	if err := clank.Close(); err != nil {
		t.failed++
		fmt.Fprintf(t.Out, "FAILED  end: %v\n", err)
	}
	return nil
}

func (t *tally) group(ctx context.Context, s *Suite, g Group) {
	if g.Needs != "" {
		if _, err := exec.LookPath(g.Needs); err != nil {
			fmt.Fprintf(t.Out, "%-12s skipped: %s is not installed\n", g.Name, g.Needs)
			return
		}
	}
	begin, good, bad := time.Now(), 0, 0
	for _, c := range g.Cases {
		name := g.Name + "/" + c.Name
		if !t.Only.MatchString(name) || ctx.Err() != nil {
			continue
		}
		start := time.Now()
		if err := try(ctx, s, c); err != nil {
			bad++
			fmt.Fprintf(t.Out, "FAILED  %s: %v\n", name, err)
			continue
		}
		good++
		if t.Verbose {
			fmt.Fprintf(t.Out, "ok      %s, %.1f s\n", name, time.Since(start).Seconds())
		}
	}
	if good+bad > 0 {
		fmt.Fprintf(t.Out, "%-12s %3d passed, %d failed, %.1f s\n", g.Name, good, bad, time.Since(begin).Seconds())
	}
	t.passed, t.failed = t.passed+good, t.failed+bad
}

func try(ctx context.Context, s *Suite, c Case) error {
	ctx, cancel := context.WithTimeoutCause(ctx, caseLimit, fmt.Errorf("the case took longer than %v", caseLimit))
	defer cancel()
	return c.Run(ctx, s)
}
