package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// rangePass is one run of all cases with one browser.
type rangePass struct {
	letter   string
	ground   *rangeNetwork
	hits     *HitLog
	canaries *CanaryListeners
	site     *hostileSite
	names    *NameServer
	names4u  netip.AddrPort // where the guard finds the name server
	entries  []*caseEntry

	mu    sync.Mutex
	asked map[string]bool // names that the browser resolved by itself
}

// runPass prepares a pass, starts its browser, and runs the cases. former is the result of the pass without the
// guard, if there was one: the time of its hits determines how long to wait.
func runPass(ctx context.Context, o RangeOptions, letter string, base uint16, cases []rangeCase, former *passResult,
	start func(context.Context, *rangePass) (*testedBrowser, error),
) (*passResult, error) {
	p := &rangePass{letter: letter, ground: o.Ground, hits: newHitLog(), asked: map[string]bool{}}
	defer p.close()
	p.canaries = &CanaryListeners{HitLog: p.hits, Certificate: o.Certificate, Requests: letter == joinedPassLetter}
	if err := p.prepare(ctx, o.Certificate, base, cases); err != nil {
		return nil, err
	}
	b, err := start(ctx, p)
	if err != nil {
		return nil, err
	}
	crowd, err := newTabPool(ctx, b)
	if err != nil {
		return nil, errors.Join(err, b.close(context.WithoutCancel(ctx)))
	}
	workers := max(1, o.Workers)
	if former != nil {
		workers += workers / 2 // workers mostly wait for pages without a hit
	}
	took, err := p.visitAll(ctx, crowd, workers, former)
	crowd.conn.Close()
	if err := errors.Join(err, b.close(context.WithoutCancel(ctx))); err != nil {
		return nil, err
	}
	return p.result(took), nil
}

// visitAll visits the pages of all cases.
func (p *rangePass) visitAll(ctx context.Context, c *tabPool, workers int,
	former *passResult,
) ([]time.Duration, error) {
	took := make([]time.Duration, len(p.entries))
	seats := make([]pooledTab, workers)
	for i := range seats {
		seats[i].crowd = c
	}
	err := runParallel(ctx, workers, len(p.entries), func(worker, i int) error {
		var err error
		if took[i], err = p.visitCase(ctx, &seats[worker], p.entries[i], former.outcome(i), former != nil); err != nil {
			return fmt.Errorf("case %s: %w", p.entries[i].Title(), err)
		}
		return nil
	})
	return took, err
}

// visitCase visits a case. It retries in a new tab if the page did not load, and repeatedly if a hit is required.
func (p *rangePass) visitCase(ctx context.Context, s *pooledTab, e *caseEntry, before caseOutcome,
	guarded bool,
) (time.Duration, error) {
	never, hit := e.Never != "", p.hits.FirstHit(e.id)
	took, err := s.visit(ctx, e, hit, p.hitDeadline(before, guarded, never))
	if took > 0 || err != nil || never && e.opened() {
		return took, err
	}
	if guarded || never {
		if e.opened() {
			return 0, nil
		}
		s.closeTab(ctx)
		return s.visit(ctx, e, hit, p.hitDeadline(before, guarded, never))
	}
	// Chromium sometimes loses a header hint between two processes, and the machine may be overloaded.
	for wait := visitTimeout / 2; wait <= 4*visitTimeout && took == 0 && err == nil; wait *= 2 {
		s.closeTab(ctx)
		took, err = s.visit(ctx, e, hit, func(time.Time) time.Duration { return wait })
	}
	return took, err
}

// hitDeadline returns how long to wait for a hit after the page is ready.
func (p *rangePass) hitDeadline(before caseOutcome, guarded, never bool) func(time.Time) time.Duration {
	return func(began time.Time) time.Duration {
		if never {
			return hitGrace
		}
		if !guarded {
			return visitTimeout / 2
		}
		return min(visitTimeout, max(hitGrace, 2*before.after-time.Since(began)))
	}
}

func (p *rangePass) prepare(ctx context.Context, certificate tls.Certificate, base uint16, cases []rangeCase) error {
	p.site = &hostileSite{addr: p.ground.Site, certificate: certificate, book: p.hits, entries: map[string]*caseEntry{}}
	if err := p.site.open(ctx, p.ground.Namespace); err != nil {
		return err
	}
	for i, c := range cases {
		e := &caseEntry{
			rangeCase: c, id: fmt.Sprintf("%s%03d", p.letter, i), port: base + uint16(i),
			served: make(chan struct{}), ready: make(chan struct{}), ran: make(chan struct{}),
		}
		if c.Shared != 0 {
			e.port = c.Shared
		}
		e.words = p.site.vocabulary(e)
		p.entries = append(p.entries, e)
		p.site.add(e)
	}
	if err := p.listenNames(ctx); err != nil {
		return err
	}
	return p.listenCanaries(ctx)
}

// listenNames starts the name server, which answers everyone.
func (p *rangePass) listenNames(ctx context.Context) error {
	server := &NameServer{Site: p.ground.Site, Asked: p.recordQuestion}
	at, err := server.Listen(ctx, netip.MustParseAddrPort("127.0.0.1:0"))
	if err == nil && p.ground.Resolver.IsValid() {
		_, err = server.Listen(ctx, p.ground.Resolver)
	}
	p.names, p.names4u = server, at
	return err
}

// listenCanaries starts all canaries.
func (p *rangePass) listenCanaries(ctx context.Context) error {
	shared := map[netip.AddrPort]bool{}
	for _, e := range p.entries {
		at := netip.AddrPortFrom(e.Addr, e.Shared)
		if e.Shared != 0 && !e.Real && !shared[at] {
			shared[at] = true
			if err := p.canaries.ListenForCases(ctx, at, p.caseOfPath); err != nil {
				return err
			}
		}
		if err := p.site.listenForEntry(ctx, p.canaries, e); err != nil {
			return err
		}
	}
	if p.ground.Recorder != nil {
		p.ground.Recorder.Watch(p.recordPacket)
	}
	return nil
}

func (p *rangePass) close() {
	if p.ground.Recorder != nil {
		p.ground.Recorder.Watch(nil)
	}
	if p.site != nil {
		p.site.close()
	}
	if p.canaries != nil {
		p.canaries.Close()
	}
	if p.names != nil {
		p.names.Close()
	}
}

// caseOfPath returns the case of a path /x/TOKEN…
func (p *rangePass) caseOfPath(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "/x/")
	if !ok {
		return "", false
	}
	id := rest[:min(4, len(rest))]
	return id, p.site.find(id) != nil
}

// recordQuestion records a question to the name server.
func (p *rangePass) recordQuestion(q DNSQuestion) {
	if q.At != p.ground.Resolver {
		return
	}
	label, _, _ := strings.Cut(q.Name, ".")
	if e := p.site.find(label); e != nil && e.By == meansDNS && label+"."+hostileZone != q.Name {
		p.hits.recordHit(label, "dns")
	}
	p.mu.Lock()
	p.asked[q.Name] = true
	p.mu.Unlock()
}

// recordPacket records an outgoing packet: mDNS (RFC 6762) contains the name of a case, or none.
func (p *rangePass) recordPacket(packet []byte) {
	if !IsMDNSPacket(packet) {
		return
	}
	for _, e := range p.entries {
		if e.By == meansMDNS && strings.Contains(e.Page, "@id@.local") == strings.Contains(string(packet), e.id) {
			p.hits.recordHit(e.id, "mdns")
		}
	}
}

// makeshiftFlags returns the flags for a browser without the guard on a network that has neither a name server nor a
// certificate authority of ours.
func (p *rangePass) makeshiftFlags() []string {
	if p.ground.Namespace {
		return nil
	}
	at := p.ground.Site.String()
	return []string{"--ignore-certificate-errors", "--host-resolver-rules=MAP *." + hostileZone + " " + at + ",MAP *." +
		otherZone + " " + at}
}

func (p *rangePass) result(took []time.Duration) *passResult {
	r := &passResult{}
	for i, e := range p.entries {
		o := caseOutcome{after: took[i]}
		if hits := p.hits.Hits(e.id); len(hits) > 0 {
			o.via = hits[0].Via
			if o.after == 0 {
				o.via += ", late"
			}
		}
		o.opened, o.touched = e.opened(), p.hits.connected(e.id)
		r.outcomes = append(r.outcomes, o)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range p.asked {
		r.stray = append(r.stray, name)
	}
	slices.Sort(r.stray)
	return r
}

// RangeOptions configure a run.
type RangeOptions struct {
	Ground *rangeNetwork
	// Certificate is the certificate of the site, see [MakeCertificates].
	Certificate tls.Certificate
	// Only, if set, selects cases by title.
	Only *regexp.Regexp
	// Every, if above 1, runs only every nth case of each pass, starting with number From.
	Every, From int
	// Workers is the number of pages open at the same time.
	Workers int
	// Joined adds a pass with a browser to which clank only attaches.
	Joined bool
	// Program, if set, is a clank binary whose own listeners are attacked, in a pass that needs a namespace.
	Program string
	// AllowedHost, if set, is a host that the guard allows: the range must then report hits.
	AllowedHost string
	// Out receives a line for each failed case; Verbose adds a line for each case.
	Out     io.Writer
	Verbose bool
}

// rangeReport is the result of a run.
type rangeReport struct {
	Cases    int // all cases that ran and count
	Canary   int // cases with hits in the pass with the guard
	Baseline int // cases with hits in the pass without it
	Silent   int // cases in which Chromium itself sends nothing; not among Cases
	Unproven int // cases whose page did not load in the pass with the guard
	Shut     int // allowed addresses that were not reached
	Stray    int // names that the browser with the guard resolved by itself
	Packets  string

	// For an attached browser: cases that can be intercepted, among Cases; those of them that connected but sent
	// nothing; and those that cannot be intercepted, by whether they reached the canary.
	Held, Touched, BestEffort, Beyond int
	// Doors are the cases about listeners of clank itself, among Cases.
	Doors int
	Took  time.Duration
	// PassTimes are the durations of the passes.
	PassTimes []string

	lap time.Time // when the last pass ended
}

// endPass records the end of a pass.
func (r *rangeReport) endPass(name string) {
	now := time.Now()
	r.PassTimes = append(r.PassTimes, fmt.Sprintf("%s %.0f s", name, now.Sub(r.lap).Seconds()))
	r.lap = now
}

// Err returns an error unless the guard holds and each case proves it.
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

// Passes describes the additional passes; "" if there were none.
func (r *rangeReport) Passes() string {
	var text string
	if r.Doors > 0 {
		text += fmt.Sprintf("the program's own doors: cases=%d\n", r.Doors)
	}
	if r.Held+r.BestEffort+r.Beyond > 0 {
		text += fmt.Sprintf("joined browser, held: cases=%d connected_and_sent_nothing=%d\njoined browser, beyond what can "+
			"be held: cases=%d best_effort_hits=%d\n",
			r.Held, r.Touched, r.BestEffort+r.Beyond, r.BestEffort)
	}
	return text
}

// Line returns the summary line of a run.
func (r *rangeReport) Line() string {
	return fmt.Sprintf("range: cases=%d canary_hits=%d baseline_hits=%d", r.Cases, r.Canary, r.Baseline)
}

// RunPasses runs the range.
func RunPasses(ctx context.Context, o RangeOptions) (*rangeReport, error) {
	began := time.Now()
	report := &rangeReport{lap: began}
	cases := selectCases(o)
	without, err := runPass(ctx, o, "b", 20000, cases, nil,
		func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
			return startBareChromium(ctx, p.makeshiftFlags()...)
		})
	if err != nil {
		return nil, fmt.Errorf("bare pass: %w", err)
	}
	report.endPass("bare")
	with, err := runPass(ctx, o, "g", 22000, cases, without,
		func(ctx context.Context, p *rangePass) (*testedBrowser, error) {
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

// everyNth returns every nth case, renumbered.
func (o RangeOptions) everyNth(cases []rangeCase) []rangeCase {
	var taken []rangeCase
	for i := o.From; i < len(cases); i += max(o.Every, 1) {
		c := cases[i]
		c.Number = len(taken)
		taken = append(taken, c)
	}
	return taken
}

// count adds a case, and reports what is wrong with it.
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

// caseOutcome is the result of a case in one pass.
type caseOutcome struct {
	opened  bool
	touched bool          // connected, if that does not count as a hit
	via     string        // of the first hit; "" if there was none
	after   time.Duration // time from opening the page to the first hit
}

func (o caseOutcome) hit() bool { return o.via != "" }

// passResult is the result of a pass.
type passResult struct {
	outcomes []caseOutcome
	stray    []string // names that the browser resolved by itself
}

func (r *passResult) outcome(i int) caseOutcome {
	if r == nil {
		return caseOutcome{}
	}
	return r.outcomes[i]
}

// runParallel calls do for all numbers below n with several workers; worker is the number of the worker.
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
