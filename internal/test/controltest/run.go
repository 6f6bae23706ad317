package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"time"

	"clank/internal/test/running"
)

// Bounds. Nothing is expected to take nearly so long.
const (
	wholeLimit = 15 * time.Minute
	caseLimit  = 30 * time.Second
)

// testCase is one thing that the contract promises. Run returns why it does not hold, and leaves behind what other cases can
// work with.
type testCase struct {
	Name string
	Run  func(ctx context.Context, s *controlSuite) error
}

// caseGroup is the cases of one part of the contract, in the order in which they are run.
type caseGroup struct {
	Name  string
	Cases []testCase
	Needs string // a program without which the group is skipped; "" needs none
}

// suiteRunner runs groups of cases against the program at Bin. Its fields are set before Run.
type suiteRunner struct {
	Bin     string
	Cache   string         // folder in which peers are installed
	Only    *regexp.Regexp // cases whose "group/name" matches it are run
	Verbose bool           // a line for each case
	Out     io.Writer
}

// runLanes runs all cases, prints what came of them and returns how many failed. Each lane has a server and a site of its own, and
// its groups run in order, beside those of the other lanes. The error is of what is not judged.
func (j suiteRunner) runLanes(ctx context.Context, lanes [][]caseGroup) (failed int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, wholeLimit, fmt.Errorf("the whole took longer than %v", wholeLimit))
	defer cancel()
	results := make(chan laneResult)
	for i, groups := range lanes {
		go func() {
			t := laneResult{suiteRunner: j}
			t.err = t.runLane(ctx, i, groups)
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

// laneResult is what came of one lane.
type laneResult struct {
	suiteRunner

	passed, failed int
	err            error
}

// startNumberedServer starts a server whose browsers listen on ports that those of servers with other numbers do not take. The usual ones
// are those of number 0.
func startNumberedServer(ctx context.Context, bin string, number int, env ...string) (*running.Clank, error) {
	clank, err := running.Start(ctx, bin, env...)
	if err != nil || number == 0 {
		return clank, err
	}
	err = errors.Join((&controlSuite{Clank: clank}).changeSetting(ctx, "cdpPortRangeStart", 18_800+200*number), clank.Stop())
	if err == nil {
		err = clank.Restart(ctx, env...)
	}
	if err != nil {
		return nil, errors.Join(err, clank.Close())
	}
	return clank, nil
}

// runLane runs groups with a server of their own.
func (t *laneResult) runLane(ctx context.Context, number int, groups []caseGroup) error {
	clank, err := startNumberedServer(ctx, t.Bin, number)
	if err != nil {
		return err
	}
	web := newTestSite()
	defer web.Close()
	s := &controlSuite{Clank: clank, Site: web, Cache: t.Cache}
	for _, g := range groups {
		t.runGroup(ctx, s, g)
	}
	if err := clank.Close(); err != nil {
		t.failed++
		fmt.Fprintf(t.Out, "FAILED  end: %v\n", err)
	}
	return nil
}

func (t *laneResult) runGroup(ctx context.Context, s *controlSuite, g caseGroup) {
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
		if err := tryCase(ctx, s, c); err != nil {
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

func tryCase(ctx context.Context, s *controlSuite, c testCase) error {
	ctx, cancel := context.WithTimeoutCause(ctx, caseLimit, fmt.Errorf("the case took longer than %v", caseLimit))
	defer cancel()
	return c.Run(ctx, s)
}
