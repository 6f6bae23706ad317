// Package field runs the hostile range: all cases of the corpus twice on the same ground, first with a bare Chromium and
// then with clank's browser behind its guard, and compares. A case proves something if the bare browser reached the canary;
// the guard holds if its browser never did. Two smaller passes follow: with a browser that clank only joins, and with the
// listeners of a real clank as what must not be reached.
package field

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

	"clank/internal/hostile/corpus"
	"clank/internal/hostile/ground"
)

// Options say what to run.
type Options struct {
	Ground *ground.Ground
	// Certificate is the site's, see [Certify].
	Certificate tls.Certificate
	// Only, if set, selects cases by title.
	Only *regexp.Regexp
	// Every, if above 1, has only every nth case of each pass run, from the one with this number on.
	Every, From int
	// Workers is how many pages are open at a time.
	Workers int
	// Bare leaves the guarded pass out.
	Bare bool
	// Joined adds a pass with a browser that clank did not start and only joins.
	Joined bool
	// Program, if set, is a clank whose own listeners are knocked at, in a pass that needs a namespace.
	Program string
	// Flags are for Chromium in the guarded pass, besides clank's own.
	Flags []string
	// Hole, if set, is a host that the guard is told to let through: the range must then report hits.
	Hole string
	// Out gets a line for each case that is not as it should be; Verbose has one for each case.
	Out     io.Writer
	Verbose bool
}

// Report is how a range went.
type Report struct {
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
	// Laps says how long each pass took.
	Laps []string

	lap time.Time // when the last pass ended
}

// passed notes the end of a pass.
func (r *Report) passed(name string) {
	now := time.Now()
	r.Laps = append(r.Laps, fmt.Sprintf("%s %.0f s", name, now.Sub(r.lap).Seconds()))
	r.lap = now
}

// Err is what is wrong, nil if the guard holds and each case proves it.
func (r *Report) Err() error {
	var errs []error
	if r.Canary > 0 {
		errs = append(errs, fmt.Errorf("%d cases reached the canary", r.Canary))
	}
	if missing := r.Cases - r.Baseline; missing > 0 {
		errs = append(errs, fmt.Errorf("%d cases prove nothing: the bare browser did not reach the canary", missing))
	}
	if r.Unproven > 0 {
		errs = append(errs, fmt.Errorf("%d cases prove nothing: their page was not opened behind the guard", r.Unproven))
	}
	if r.Shut > 0 {
		errs = append(errs, errors.New("an address was not reached though it was allowed"))
	}
	if r.Stray > 0 {
		errs = append(errs, fmt.Errorf("the guarded browser asked for %d names by itself", r.Stray))
	}
	return errors.Join(errs...)
}

// Passes says how the further passes went; "" if there were none.
func (r *Report) Passes() string {
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

// Line is the last line of a range.
func (r *Report) Line() string {
	return fmt.Sprintf("range: cases=%d canary_hits=%d baseline_hits=%d", r.Cases, r.Canary, r.Baseline)
}

// Run runs the range.
func Run(ctx context.Context, o Options) (*Report, error) {
	began := time.Now()
	report := &Report{lap: began}
	cases := selected(o)
	without, err := run(ctx, o, "b", 20000, cases, nil, func(ctx context.Context, p *pass) (*browser, error) {
		return bare(ctx, p.makeshift()...)
	})
	if err != nil {
		return nil, fmt.Errorf("bare pass: %w", err)
	}
	report.passed("bare")
	var with *result
	if !o.Bare {
		with, err = run(ctx, o, "g", 22000, cases, without, func(ctx context.Context, p *pass) (*browser, error) {
			return guarded(ctx, o, p)
		})
		if err != nil {
			return nil, fmt.Errorf("guarded pass: %w", err)
		}
		report.passed("guarded")
		report.Stray = len(with.stray)
		for _, name := range with.stray {
			_, _ = fmt.Fprintln(o.Out, "asked by the guarded browser itself:", name)
		}
	}
	for i, c := range cases {
		report.count(o, c, without.outcomes[i], with.outcome(i))
	}
	if o.Joined && !o.Bare {
		if err := report.remote(ctx, o, cases, without); err != nil {
			return nil, fmt.Errorf("pass of a joined browser: %w", err)
		}
		report.passed("joined")
	}
	if o.Program != "" && !o.Bare && o.Ground.Namespace {
		if err := report.knock(ctx, o); err != nil {
			return nil, fmt.Errorf("pass of the program's doors: %w", err)
		}
		report.passed("doors")
	}
	if o.Ground.Recorder != nil {
		report.Packets = o.Ground.Recorder.String()
	}
	report.Took = time.Since(began)
	return report, nil
}

func selected(o Options) []corpus.Case {
	cases := corpus.Cases(o.Ground.Namespace)
	if o.Only != nil {
		cases = slices.DeleteFunc(cases, func(c corpus.Case) bool { return !o.Only.MatchString(c.Title()) })
	}
	return o.some(cases)
}

// some are every nth of cases, numbered anew.
func (o Options) some(cases []corpus.Case) []corpus.Case {
	var taken []corpus.Case
	for i := o.From; i < len(cases); i += max(o.Every, 1) {
		c := cases[i]
		c.Number = len(taken)
		taken = append(taken, c)
	}
	return taken
}

// count adds a case, and says what is wrong with it.
func (r *Report) count(o Options, c corpus.Case, without, with outcome) {
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
	case !o.Bare && !with.opened:
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

// outcome is what came of a case in one pass.
type outcome struct {
	opened  bool
	touched bool          // connected, where that is no hit
	via     string        // of the first hit; "" if there was none
	after   time.Duration // from opening the page to the first hit
}

func (o outcome) hit() bool { return o.via != "" }

// result is what came of a pass.
type result struct {
	outcomes []outcome
	stray    []string // names that the browser asked for by itself
}

func (r *result) outcome(i int) outcome {
	if r == nil {
		return outcome{}
	}
	return r.outcomes[i]
}

// each runs do for all numbers below n, some at a time; worker says which of them it is.
func each(ctx context.Context, workers, n int, do func(worker, i int) error) error {
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
