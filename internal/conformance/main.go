// Command conformance holds the real clank, with a real Chromium, against the contract of the control API: it sends requests
// over HTTP as existing clients do, and looks at status, code, phrases and effects. It prints a line for each check that
// fails, one for each group, and ends with "conformance: N passed, N failed". The exit code is 1 if any failed.
//
// It knows nothing of clank but the contract. What a part does inside is tested with the part.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"syscall"
	"time"

	"clank/internal/running"
)

// Bounds. Nothing is expected to take nearly so long.
const (
	wholeLimit = 15 * time.Minute
	checkLimit = 30 * time.Second
)

// check is one thing that the contract promises.
type check struct {
	name string
	run  func(ctx context.Context, s *suite) error
}

// group is the checks of one part of the contract.
type group struct {
	name   string
	checks []check
}

// lanes are all groups there are. Each lane has a server and a site of its own, and its groups run in this order, beside those
// of the other.
func lanes() [][]group {
	return [][]group{
		{
			{"doors", doors()},
			{"requests", requests()},
			{"profiles", profiles()},
			{"tabs", tabs()},
			{"act", acts()},
			{"act errors", actErrors()},
			{"snapshots", snapshots()},
			{"refs", refs()},
			{"pictures", pictures()},
			{"dialogs", dialogs()},
			{"files", files()},
			{"rings", rings()},
			{"state", state()},
			{"themes", themes()},
			{"peers", peers()},
			{"document", document()},
		},
		{
			{"contract", contract()},
			{"limits", limits()},
			{"captures", captures()},
			{"marks", marks()},
			{"recorded", recorded()},
			{"leaving", leaving()},
			{"accounts", accounts()},
			{"outside", outside()},
			{"servers", servers()},
		},
	}
}

// suite is what the checks work on.
type suite struct {
	*running.Clank

	site  *site
	cache string // folder in which peers are installed
}

func main() { os.Exit(run()) }

func run() int {
	only := flag.String("run", "", "run only checks whose \"group/name\" matches this `regexp`")
	cache := flag.String("cache", ".cache/peers", "`folder` in which peers are installed")
	verbose := flag.Bool("v", false, "print a line for each check")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if flag.NArg() != 1 || err != nil {
		fmt.Fprintln(os.Stderr, "usage: conformance [-v] [-run REGEXP] path/to/clank")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, wholeLimit, fmt.Errorf("the whole took longer than %v", wholeLimit))
	defer cancel()
	failed, err := judge(ctx, flag.Arg(0), *cache, pattern, *verbose, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		return 1
	}
	if failed > 0 {
		return 1
	}
	return 0
}

// judge runs all checks that match.
func judge(ctx context.Context, bin, cache string, only *regexp.Regexp, verbose bool, out io.Writer) (failed int, err error) {
	results := make(chan tally)
	all := lanes()
	for i, groups := range all {
		go func() {
			t := tally{out: out, only: only, verbose: verbose}
			t.err = t.lane(ctx, i, bin, cache, groups)
			results <- t
		}()
	}
	passed := 0
	for range all {
		t := <-results
		passed, failed, err = passed+t.passed, failed+t.failed, errors.Join(err, t.err)
	}
	fmt.Fprintf(out, "conformance: %d passed, %d failed\n", passed, failed)
	return failed, errors.Join(err, context.Cause(ctx))
}

// tally is what came of one lane.
type tally struct {
	out            io.Writer
	only           *regexp.Regexp
	verbose        bool
	passed, failed int
	err            error
}

// lane runs groups with a server of their own, whose browsers listen on ports that those of other lanes do not take.
func (t *tally) lane(ctx context.Context, number int, bin, cache string, groups []group) error {
	clank, err := running.Start(ctx, bin)
	if err != nil {
		return err
	}
	web := newSite()
	defer web.Close()
	s := &suite{Clank: clank, site: web, cache: cache}
	if number > 0 {
		err = errors.Join(s.set(ctx, "cdpPortRangeStart", 18_800+200*number), clank.Stop())
		if err == nil {
			err = clank.Restart(ctx)
		}
	}
	if err != nil {
		return errors.Join(err, clank.Close())
	}
	for _, g := range groups {
		if _, err := exec.LookPath("npm"); g.name == "peers" && err != nil {
			fmt.Fprintln(t.out, "peers        skipped: they need Node.js and npm")
			continue
		}
		t.group(ctx, s, g)
	}
	if err := clank.Close(); err != nil {
		t.failed++
		fmt.Fprintf(t.out, "FAILED  end: %v\n", err)
	}
	return nil
}

func (t *tally) group(ctx context.Context, s *suite, g group) {
	begin, good, bad := time.Now(), 0, 0
	for _, c := range g.checks {
		name := g.name + "/" + c.name
		if !t.only.MatchString(name) || ctx.Err() != nil {
			continue
		}
		start := time.Now()
		if err := s.try(ctx, c); err != nil {
			bad++
			fmt.Fprintf(t.out, "FAILED  %s: %v\n", name, err)
			continue
		}
		good++
		if t.verbose {
			fmt.Fprintf(t.out, "ok      %s, %.1f s\n", name, time.Since(start).Seconds())
		}
	}
	if good+bad > 0 {
		fmt.Fprintf(t.out, "%-12s %3d passed, %d failed, %.1f s\n", g.name, good, bad, time.Since(begin).Seconds())
	}
	t.passed, t.failed = t.passed+good, t.failed+bad
}

func (s *suite) try(ctx context.Context, c check) error {
	ctx, cancel := context.WithTimeoutCause(ctx, checkLimit, fmt.Errorf("the check took longer than %v", checkLimit))
	defer cancel()
	return c.run(ctx, s)
}
