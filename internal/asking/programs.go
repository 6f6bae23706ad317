package asking

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"clank/browsermgr/transfer"
	"clank/consent"
	"clank/sessions"
)

// Programs asks people before a program that a model has downloaded is kept. It also is the [browseagent.Consent] of the
// agent loop, so that nobody is asked a second time about what they have let a click download.
type Programs struct {
	Asker *Asker
	Owner func(target string) (owner, profile string) // of a tab

	mu      sync.Mutex
	clicked map[string]time.Time // sessions that were allowed to download a program, and when
}

// agreedFor is how long after a click was allowed its download may be complete without another question.
const agreedFor = 10 * time.Minute

// Ask implements [browseagent.Consent].
func (p *Programs) Ask(ctx context.Context, s sessions.Session, t sessions.Task, q sessions.Question) (string, error) {
	by, err := p.Asker.Ask(ctx, s, t, q)
	if err == nil && slices.Contains(q.Classes, string(consent.Executable)) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.clicked == nil {
			p.clicked = map[string]time.Time{}
		}
		p.clicked[s.ID] = time.Now()
	}
	return by, err
}

// agreed reports whether the download is that of a click that was allowed. One click is one download.
func (p *Programs) agreed(session string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, clicked := p.clicked[session]
	delete(p.clicked, session)
	return clicked && time.Since(at) < agreedFor
}

// Keep is nil if a download may be kept. Files that cannot run always may. So may those of tabs that nobody's session has:
// whoever works such a tab is a program of the operator's, and is warned.
func (p *Programs) Keep(ctx context.Context, d transfer.Download) error {
	if !d.Executable {
		return nil
	}
	session, profile := p.Owner(d.Target)
	if session == "" || p.agreed(session) {
		return nil
	}
	q := consent.Question{}
	list, err := p.Asker.Running(ctx)
	if err != nil {
		return fmt.Errorf("find out who can be asked: %w", err)
	}
	for _, t := range list {
		if t.SessionID != session {
			continue
		}
		if slices.Contains(t.Allow, string(consent.Executable)) {
			return nil
		}
		q = questionOf(t.Origin)
		q.Task = t.ID
	}
	q.Class, q.Session, q.Profile = consent.Executable, session, profile
	q.Text, q.Detail = "Keep a file that may be a program", d.SuggestedFilename
	if u, err := url.Parse(d.URL); err == nil {
		q.Origin = u.Host
	}
	_, err = p.Asker.Desk.Ask(ctx, q)
	return err
}
