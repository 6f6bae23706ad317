package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// rangePass is one run through all cases with one browser.
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
	asked map[string]bool // names that the browser asked for by itself
}

// runPass prepares a pass, starts its browser, and takes it through the cases. former is the bare pass, if there was one: what
// it took to be hit says how long to wait for nothing.
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
		workers += workers / 2 // a page from which nothing comes is mostly waited for
	}
	took, err := p.visitAll(ctx, crowd, workers, former)
	crowd.conn.Close()
	if err := errors.Join(err, b.close(context.WithoutCancel(ctx))); err != nil {
		return nil, err
	}
	return p.result(took), nil
}

// visitAll takes the browser to the pages of all cases.
func (p *rangePass) visitAll(ctx context.Context, c *tabPool, workers int, former *passResult) ([]time.Duration, error) {
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

// visitCase visits a case, in a new tab once more if the page did not come, and as often as it takes if a hit must come.
func (p *rangePass) visitCase(ctx context.Context, s *pooledTab, e *caseEntry, before caseOutcome, guarded bool) (time.Duration, error) {
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
	// A hint of a header now and then gets lost in Chromium between two processes, and a machine may have too much to do.
	for wait := visitTimeout / 2; wait <= 4*visitTimeout && took == 0 && err == nil; wait *= 2 {
		s.closeTab(ctx)
		took, err = s.visit(ctx, e, hit, func(time.Time) time.Duration { return wait })
	}
	return took, err
}

// hitDeadline returns how long to wait for a hit once the page is ready.
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
		e := &caseEntry{rangeCase: c, id: fmt.Sprintf("%s%03d", p.letter, i), port: base + uint16(i), served: make(chan struct{}), ready: make(chan struct{})}
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

// listenNames has names answered for. Whoever asks may ask at once.
func (p *rangePass) listenNames(ctx context.Context) error {
	server := &NameServer{Site: p.ground.Site, Asked: p.recordQuestion}
	at, err := server.Listen(ctx, netip.MustParseAddrPort("127.0.0.1:0"))
	if err == nil && p.ground.Resolver.IsValid() {
		_, err = server.Listen(ctx, p.ground.Resolver)
	}
	p.names, p.names4u = server, at
	return err
}

// listenCanaries puts up all canaries.
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

// caseOfPath finds the case in a path /x/TOKEN…
func (p *rangePass) caseOfPath(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "/x/")
	if !ok {
		return "", false
	}
	id := rest[:min(4, len(rest))]
	return id, p.site.find(id) != nil
}

// recordQuestion records what the name server is asked.
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

// recordPacket records what goes to the outside: mDNS (RFC 6762) names cases, or none.
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

// makeshiftFlags returns flags for a bare browser where the ground has neither a name server nor an authority of
// ours.
func (p *rangePass) makeshiftFlags() []string {
	if p.ground.Namespace {
		return nil
	}
	at := p.ground.Site.String()
	return []string{"--ignore-certificate-errors", "--host-resolver-rules=MAP *." + hostileZone + " " + at + ",MAP *." + otherZone + " " + at}
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
