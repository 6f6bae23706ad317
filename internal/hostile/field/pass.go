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
	if err := p.prepare(ctx, o.Certificate, base, cases); err != nil {
		return nil, err
	}
	b, err := start(ctx, p)
	if err != nil {
		return nil, err
	}
	crowd, err := join(ctx, b.devtools)
	if err != nil {
		return nil, errors.Join(err, b.close(context.WithoutCancel(ctx)))
	}
	took := make([]time.Duration, len(cases))
	err = each(ctx, o.Workers, len(cases), func(i int) error {
		var err error
		took[i], err = crowd.visit(ctx, p.entries[i], p.book.First(p.entries[i].id), p.longer(former.outcome(i), former != nil, cases[i].Never != ""))
		if took[i] == 0 && former == nil && cases[i].Never == "" && err == nil {
			// A hit must come here, sooner or later; a machine that has too much to do gets a second chance.
			took[i], err = crowd.visit(ctx, p.entries[i], p.book.First(p.entries[i].id), func(time.Time) time.Duration { return 2 * patience })
		}
		if err != nil {
			return fmt.Errorf("case %s: %w", cases[i].Title(), err)
		}
		return nil
	})
	crowd.conn.Close()
	if err := errors.Join(err, b.close(context.WithoutCancel(ctx))); err != nil {
		return nil, err
	}
	return p.result(took), nil
}

// longer is how long to wait for a hit once the page is ready.
func (p *pass) longer(before outcome, guarded, never bool) func(time.Time) time.Duration {
	return func(began time.Time) time.Duration {
		if never {
			return grace
		}
		if !guarded {
			return patience
		}
		return min(patience, max(grace, 2*before.after-time.Since(began)))
	}
}

func (p *pass) prepare(ctx context.Context, certificate tls.Certificate, base uint16, cases []corpus.Case) error {
	var err error
	p.birds = &canary.Aviary{Book: p.book, Certificate: certificate}
	p.names = &names.Server{Site: p.ground.Site, Asked: p.question}
	if p.names4u, err = p.names.Listen(ctx, netip.MustParseAddrPort("127.0.0.1:0")); err != nil {
		return err
	}
	if p.ground.Resolver.IsValid() {
		if _, err := p.names.Listen(ctx, p.ground.Resolver); err != nil {
			return err
		}
	}
	p.site = &site{addr: p.ground.Site, certificate: certificate, book: p.book, entries: map[string]*entry{}}
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
		p.site.entries[e.id] = e
	}
	return p.perch(ctx)
}

// perch puts up all canaries.
func (p *pass) perch(ctx context.Context) error {
	shared := map[netip.AddrPort]bool{}
	for _, e := range p.entries {
		at := netip.AddrPortFrom(e.Addr, e.Shared)
		if e.Shared != 0 && !shared[at] {
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
	return id, p.site.entries[id] != nil
}

// question is called with what the name server is asked.
func (p *pass) question(q names.Question) {
	if q.At != p.ground.Resolver {
		return
	}
	label, _, _ := strings.Cut(q.Name, ".")
	if p.site != nil && p.site.entries[label] != nil && p.site.entries[label].By == corpus.DNS && label+"."+names.Evil != q.Name {
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
		select {
		case <-e.served:
			o.opened = true
		default:
			// Nothing of the site's is needed where the client itself goes to the canary.
			o.opened = e.Visit != "" && !strings.Contains(e.Visit, "@self@") && !strings.Contains(e.Visit, "@extra@")
		}
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
