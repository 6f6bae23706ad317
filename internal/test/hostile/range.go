package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"time"
)

// RangeOptions say what to run.
type RangeOptions struct {
	Ground *rangeNetwork
	// Certificate is the site's, see [MakeCertificates].
	Certificate tls.Certificate
	// Only, if set, selects cases by title.
	Only *regexp.Regexp
	// Every, if above 1, has only every nth case of each pass run, from the one with this number on.
	Every, From int
	// Workers is how many pages are open at a time.
	Workers int
	// Joined adds a pass with a browser that clank did not start and only joins.
	Joined bool
	// Program, if set, is a clank whose own listeners are knocked at, in a pass that needs a namespace.
	Program string
	// AllowedHost, if set, is a host that the guard is told to let through: the range must then report hits.
	AllowedHost string
	// Out gets a line for each case that is not as it should be; Verbose has one for each case.
	Out     io.Writer
	Verbose bool
}

// rangeReport is how a range went.
type rangeReport struct {
	Cases    int // all that ran and may count
	Canary   int // cases with hits in the guarded pass
	Baseline int // cases with hits in the bare pass
	Silent   int // cases of which Chromium itself sends nothing; not among Cases
	Unproven int // cases that did not come to their page in the guarded pass
	Shut     int // addresses that were allowed and not reached
	Stray    int // names that the guarded browser asked for by itself
	Packets  string

	// Of a browser that clank only joined: cases that could be held, among Cases; those of them that connected, and sent
	// nothing; and those that cannot be held, by whether they reached the canary.
	Held, Touched, BestEffort, Beyond int
	// Doors are the cases about listeners of the program itself, among Cases.
	Doors int
	Took  time.Duration
	// PassTimes says how long each pass took.
	PassTimes []string

	lap time.Time // when the last pass ended
}

// endPass notes the end of a pass.
func (r *rangeReport) endPass(name string) {
	now := time.Now()
	r.PassTimes = append(r.PassTimes, fmt.Sprintf("%s %.0f s", name, now.Sub(r.lap).Seconds()))
	r.lap = now
}

// Err returns what is wrong, or nil if the guard holds and each case proves it.
func (r *rangeReport) Err() error {
	var errs []error
	for _, bad := range []struct {
		n    int
		text string
	}{
		{r.Canary, "%d cases reached the canary"},
		{r.Cases - r.Baseline, "%d cases prove nothing: the bare browser did not reach the canary"},
		{r.Unproven, "%d cases prove nothing: their page was not opened behind the guard"},
		{r.Shut, "%d addresses were not reached though they were allowed"},
		{r.Stray, "the guarded browser asked for %d names by itself"},
	} {
		if bad.n > 0 {
			errs = append(errs, fmt.Errorf(bad.text, bad.n))
		}
	}
	return errors.Join(errs...)
}

// Passes says how the further passes went; "" if there were none.
func (r *rangeReport) Passes() string {
	var text string
	if r.Doors > 0 {
		text += fmt.Sprintf("the program's own doors: cases=%d\n", r.Doors)
	}
	if r.Held+r.BestEffort+r.Beyond > 0 {
		text += fmt.Sprintf("joined browser, held: cases=%d connected_and_sent_nothing=%d\njoined browser, beyond what can be held: cases=%d best_effort_hits=%d\n",
			r.Held, r.Touched, r.BestEffort+r.Beyond, r.BestEffort)
	}
	return text
}

// Line returns the last line of a range.
func (r *rangeReport) Line() string {
	return fmt.Sprintf("range: cases=%d canary_hits=%d baseline_hits=%d", r.Cases, r.Canary, r.Baseline)
}

// RunPasses runs the range.
func RunPasses(ctx context.Context, o RangeOptions) (*rangeReport, error) {
	began := time.Now()
	report := &rangeReport{lap: began}
	cases := selectCases(o)
	without, err := runPass(ctx, o, "b", 20000, cases, nil, func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
		return startBareChromium(ctx, p.makeshiftFlags()...)
	})
	if err != nil {
		return nil, fmt.Errorf("bare pass: %w", err)
	}
	report.endPass("bare")
	with, err := runPass(ctx, o, "g", 22000, cases, without, func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
		return startGuardedBrowser(ctx, o, p)
	})
	if err != nil {
		return nil, fmt.Errorf("guarded pass: %w", err)
	}
	report.endPass("guarded")
	report.Stray = len(with.stray)
	for _, name := range with.stray {
		_, _ = fmt.Fprintln(o.Out, "asked by the guarded browser itself:", name)
	}
	for i, c := range cases {
		report.count(o, c, without.outcomes[i], with.outcomes[i])
	}
	if o.Joined {
		if err := report.runJoinedPass(ctx, o, cases, without); err != nil {
			return nil, fmt.Errorf("pass of a joined browser: %w", err)
		}
		report.endPass("joined")
	}
	if o.Program != "" && o.Ground.Namespace {
		if err := report.attackOwnListeners(ctx, o); err != nil {
			return nil, fmt.Errorf("pass of the program's doors: %w", err)
		}
		report.endPass("doors")
	}
	if o.Ground.Recorder != nil {
		report.Packets = o.Ground.Recorder.String()
	}
	report.Took = time.Since(began)
	return report, nil
}

func selectCases(o RangeOptions) []rangeCase {
	cases := RangeCases(o.Ground.Namespace)
	if o.Only != nil {
		cases = slices.DeleteFunc(cases, func(c rangeCase) bool { return !o.Only.MatchString(c.Title()) })
	}
	return o.everyNth(cases)
}

// everyNth returns every nth of cases, renumbered.
func (o RangeOptions) everyNth(cases []rangeCase) []rangeCase {
	var taken []rangeCase
	for i := o.From; i < len(cases); i += max(o.Every, 1) {
		c := cases[i]
		c.Number = len(taken)
		taken = append(taken, c)
	}
	return taken
}

// count adds a case, and says what is wrong with it.
func (r *rangeReport) count(o RangeOptions, c rangeCase, without, with caseOutcome) {
	say := func(text string) { _, _ = fmt.Fprintf(o.Out, "%s: %s\n", c.Title(), text) }
	if with.hit() {
		say("REACHED THE CANARY by " + with.via)
		r.Canary++
	}
	switch {
	case c.Never != "" && !without.hit():
		r.Silent++
		return
	case c.Never != "":
		say("Chromium does send this, though it is said not to")
	case !without.hit():
		say("no hit without the guard")
	case !with.opened:
		say("its page was not opened behind the guard")
		r.Unproven++
	case o.Verbose:
		say(fmt.Sprintf("ok, %s after %s without the guard", without.via, without.after.Round(time.Millisecond)))
	}
	r.Cases++
	if without.hit() {
		r.Baseline++
	}
}

// caseOutcome is what came of a case in one pass.
type caseOutcome struct {
	opened  bool
	touched bool          // connected, where that is no hit
	via     string        // of the first hit; "" if there was none
	after   time.Duration // from opening the page to the first hit
}

func (o caseOutcome) hit() bool { return o.via != "" }

// passResult is what came of a pass.
type passResult struct {
	outcomes []caseOutcome
	stray    []string // names that the browser asked for by itself
}

func (r *passResult) outcome(i int) caseOutcome {
	if r == nil {
		return caseOutcome{}
	}
	return r.outcomes[i]
}

// runParallel runs do for all numbers below n, some at a time; worker says which of them it is.
func runParallel(ctx context.Context, workers, n int, do func(worker, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			for i := range next {
				if err := do(worker, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wait.Wait()
	return context.Cause(ctx)
}
