package browseagent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"clank/internal/untrusted"
	"clank/sessions"
	"clank/sessions/agent"
)

// observeTimeout bounds looking at the page after an action. It is short, because the page has just answered.
const observeTimeout = 10 * time.Second

// pageView is the page as the model has last seen it.
type pageView struct {
	url, title  string
	lines       []string // nil if the next state must be shown whole
	statesShown int      // states shown since the last whole one, that one included
	names       elementNames
}

// reset makes the next state a whole one.
func (v *pageView) reset() { v.lines, v.statesShown = nil, 0 }

// update takes in the state of the page and returns the section that tells the model about it: the whole if the last
// state is unseen, too much has changed, or the last whole state is about to leave the conversation; else the changes.
func (v *pageView) update(text string, keep int) (section, body string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	before := v.lines
	v.lines, v.names = lines, parseElements(lines)
	if before != nil && v.statesShown < keep {
		if diff, ok := diffLines(before, lines); ok && len(diff) <= len(text)*2/3 {
			if diff != "" {
				v.statesShown++
			}
			return sectionChanges, diff
		}
	}
	v.statesShown = 1
	if text == "" {
		v.reset()
	}
	return sectionPage, text
}

// sameDocument reports whether two URLs differ at most in their fragments.
func sameDocument(a, b string) bool {
	a, _, _ = strings.Cut(a, "#")
	b, _, _ = strings.Cut(b, "#")
	return a == b
}

// observe adds to o where the page is and what has changed on it. A page that cannot be read is a note, not a failure
// of the action.
func (r *run) observe(ctx context.Context, p sessions.Page, o *callOutcome) {
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	r.locate(ctx, p, o)
	text, err := p.Snapshot(ctx, sessions.SnapshotOptions{MaxChars: r.set.SnapshotChars})
	if err != nil {
		r.state.view.reset()
		o.notes = append(o.notes, fmt.Sprintf("the page could not be read: %v", err))
		return
	}
	o.section, o.body = r.state.view.update(untrusted.Truncate(text, r.set.SnapshotChars), r.set.HistorySnapshots)
}

// locate adds to o where the page is, and its title if that has changed.
func (r *run) locate(ctx context.Context, p sessions.Page, o *callOutcome) {
	v := &r.state.view
	at, title, _, err := p.State(ctx)
	if err != nil {
		o.url = v.url
		o.notes = append(o.notes, fmt.Sprintf("where the page is could not be read: %v", err))
		return
	}
	at = agent.WithoutCredentials(at)
	o.url = at
	if title != v.title {
		o.title = title
	}
	v.title = title
	if !sameDocument(v.url, at) {
		v.reset()
	}
	v.url = at
}
