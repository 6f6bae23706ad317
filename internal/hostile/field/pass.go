package field

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

	"clank/internal/hostile/canary"
	"clank/internal/hostile/corpus"
	"clank/internal/hostile/ground"
	"clank/internal/hostile/names"
)

// pass is one run through all cases with one browser.
type pass struct {
	letter  string
	ground  *ground.Ground
	book    *canary.Book
	birds   *canary.Aviary
	site    *site
	names   *names.Server
	names4u netip.AddrPort // where the guard finds the name server
	entries []*entry

	mu    sync.Mutex
	asked map[string]bool // names that the browser asked for by itself
}

// run prepares a pass, starts its browser, and takes it through the cases. former is the bare pass, if there was one: what
// it took to be hit says how long to wait for nothing.
func run(ctx context.Context, o Options, letter string, base uint16, cases []corpus.Case, former *result,
	start func(context.Context, *pass) (*browser, error),
) (*result, error) {
	p := &pass{letter: letter, ground: o.Ground, book: &canary.Book{}, asked: map[string]bool{}}
	defer p.close()
	p.birds = &canary.Aviary{Book: p.book, Certificate: o.Certificate, Requests: letter == remoteLetter}
	if err := p.prepare(ctx, o.Certificate, base, cases); err != nil {
		return nil, err
	}
	b, err := start(ctx, p)
	if err != nil {
		return nil, err
	}
	crowd, err := join(ctx, b)
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
func (p *pass) visitAll(ctx context.Context, c *crowd, workers int, former *result) ([]time.Duration, error) {
	took := make([]time.Duration, len(p.entries))
	seats := make([]seat, workers)
	for i := range seats {
		seats[i].crowd = c
	}
	err := each(ctx, workers, len(p.entries), func(worker, i int) error {
		var err error
		if took[i], err = p.attempt(ctx, &seats[worker], p.entries[i], former.outcome(i), former != nil); err != nil {
			return fmt.Errorf("case %s: %w", p.entries[i].Title(), err)
		}
		return nil
	})
	return took, err
}

// attempt visits a case, in a new tab once more if the page did not come, and as often as it takes if a hit must come.
func (p *pass) attempt(ctx context.Context, s *seat, e *entry, before outcome, guarded bool) (time.Duration, error) {
	never, hit := e.Never != "", p.book.First(e.id)
	took, err := s.visit(ctx, e, hit, p.longer(before, guarded, never))
	if took > 0 || err != nil || never && e.opened() {
		return took, err
	}
	if guarded || never {
		if e.opened() {
			return 0, nil
		}
		s.leave(ctx)
		return s.visit(ctx, e, hit, p.longer(before, guarded, never))
	}
	// A hint of a header now and then gets lost in Chromium between two processes, and a machine may have too much to do.
	for wait := patience / 2; wait <= 4*patience && took == 0 && err == nil; wait *= 2 {
		s.leave(ctx)
		took, err = s.visit(ctx, e, hit, func(time.Time) time.Duration { return wait })
	}
	return took, err
}

// longer is how long to wait for a hit once the page is ready.
func (p *pass) longer(before outcome, guarded, never bool) func(time.Time) time.Duration {
	return func(began time.Time) time.Duration {
		if never {
			return grace
		}
		if !guarded {
			return patience / 2
		}
		return min(patience, max(grace, 2*before.after-time.Since(began)))
	}
}

func (p *pass) prepare(ctx context.Context, certificate tls.Certificate, base uint16, cases []corpus.Case) error {
	p.site = &site{addr: p.ground.Site, certificate: certificate, book: p.book}
	if err := p.site.open(ctx, p.ground.Namespace); err != nil {
		return err
	}
	for i, c := range cases {
		e := &entry{Case: c, id: fmt.Sprintf("%s%03d", p.letter, i), port: base + uint16(i), served: make(chan struct{}), ready: make(chan struct{})}
		if c.Shared != 0 {
			e.port = c.Shared
		}
		e.words = p.site.vocabulary(e)
		p.entries = append(p.entries, e)
		p.site.add(e)
	}
	if err := p.look(ctx); err != nil {
		return err
	}
	return p.perch(ctx)
}

// look has names answered for. Whoever asks may ask at once.
func (p *pass) look(ctx context.Context) error {
	server := &names.Server{Site: p.ground.Site, Asked: p.question}
	at, err := server.Listen(ctx, netip.MustParseAddrPort("127.0.0.1:0"))
	if err == nil && p.ground.Resolver.IsValid() {
		_, err = server.Listen(ctx, p.ground.Resolver)
	}
	p.names, p.names4u = server, at
	return err
}

// perch puts up all canaries.
func (p *pass) perch(ctx context.Context) error {
	shared := map[netip.AddrPort]bool{}
	for _, e := range p.entries {
		at := netip.AddrPortFrom(e.Addr, e.Shared)
		if e.Shared != 0 && !e.Real && !shared[at] {
			shared[at] = true
			if err := p.birds.Share(ctx, at, p.token); err != nil {
				return err
			}
		}
		if err := p.site.perch(ctx, p.birds, e); err != nil {
			return err
		}
	}
	if p.ground.Recorder != nil {
		p.ground.Recorder.Watch(p.packet)
	}
	return nil
}

func (p *pass) close() {
	if p.ground.Recorder != nil {
		p.ground.Recorder.Watch(nil)
	}
	if p.site != nil {
		p.site.close()
	}
	if p.birds != nil {
		p.birds.Close()
	}
	if p.names != nil {
		p.names.Close()
	}
}

// token finds the case in a path /x/TOKEN…
func (p *pass) token(path string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "/x/")
	if !ok {
		return "", false
	}
	id := rest[:min(4, len(rest))]
	return id, p.site.find(id) != nil
}

// question is called with what the name server is asked.
func (p *pass) question(q names.Question) {
	if q.At != p.ground.Resolver {
		return
	}
	label, _, _ := strings.Cut(q.Name, ".")
	if e := p.site.find(label); e != nil && e.By == corpus.DNS && label+"."+names.Evil != q.Name {
		p.book.Note(label, "dns")
	}
	p.mu.Lock()
	p.asked[q.Name] = true
	p.mu.Unlock()
}

// packet is called with what goes towards the outside: mDNS (RFC 6762) names cases, or none.
func (p *pass) packet(packet []byte) {
	if !ground.IsMDNS(packet) {
		return
	}
	for _, e := range p.entries {
		if e.By == corpus.MDNS && strings.Contains(e.Page, "@id@.local") == strings.Contains(string(packet), e.id) {
			p.book.Note(e.id, "mdns")
		}
	}
}

// makeshift are flags for a bare browser where the ground has neither a name server nor an authority of ours.
func (p *pass) makeshift() []string {
	if p.ground.Namespace {
		return nil
	}
	at := p.ground.Site.String()
	return []string{"--ignore-certificate-errors", "--host-resolver-rules=MAP *." + names.Evil + " " + at + ",MAP *." + names.Other + " " + at}
}

func (p *pass) result(took []time.Duration) *result {
	r := &result{}
	for i, e := range p.entries {
		o := outcome{after: took[i]}
		if hits := p.book.Hits(e.id); len(hits) > 0 {
			o.via = hits[0].Via
			if o.after == 0 {
				o.via += ", late"
			}
		}
		o.opened, o.touched = e.opened(), p.book.Touched(e.id)
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
