package recording

import (
	"context"
	"hash/maphash"
	"strings"
	"time"

	"clank/browsermgr/page/outline"
	"clank/sessions"
	"clank/sessions/agent"
)

// Browser returns b wrapped so that the contents and timing of its pages are recorded.
func (r *Recorder) Browser(b sessions.Browser) sessions.Browser {
	return &recordedBrowser{Browser: b, recorder: r}
}

type recordedBrowser struct {
	sessions.Browser

	recorder *Recorder
}

func (b *recordedBrowser) Open(ctx context.Context, o sessions.PageRequest) (sessions.Page, string, error) {
	begun := b.recorder.now()
	p, reopened, err := b.Browser.Open(ctx, o)
	if reopened != "" || err != nil { // an open page is looked up before each action
		b.recorder.recordAction(ctx, "open", nil, err, begun)
	}
	if err != nil {
		return nil, "", err
	}
	return &recordedPage{Page: p, recorder: b.recorder}, reopened, nil
}

// recordedPage records the actions on a page.
type recordedPage struct {
	sessions.Page

	recorder *Recorder
}

func (p *recordedPage) ActIfUnchanged(ctx context.Context, kind string, args map[string]any,
	mark string,
) (notes []string, same bool, err error) {
	begun := p.recorder.now()
	notes, same, err = p.Page.ActIfUnchanged(ctx, kind, args, mark)
	p.recorder.recordAction(ctx, kind, notes, err, begun)
	return notes, same, err
}

func (p *recordedPage) Act(ctx context.Context, kind string, args map[string]any) ([]string, error) {
	begun := p.recorder.now()
	notes, err := p.Page.Act(ctx, kind, args)
	p.recorder.recordAction(ctx, kind, notes, err, begun)
	return notes, err
}

func (p *recordedPage) Snapshot(ctx context.Context, o sessions.SnapshotOptions) (string, error) {
	begun := p.recorder.now()
	text, err := p.Page.Snapshot(ctx, o)
	if r := p.recorder.runOf(ctx); r != nil {
		r.recordSnapshot(o.Interactive, text, err, begun)
	}
	return text, err
}

func (p *recordedPage) Text(ctx context.Context, ref string) (string, error) {
	begun := p.recorder.now()
	text, err := p.Page.Text(ctx, ref)
	p.recorder.recordAction(ctx, "text", nil, err, begun)
	return text, err
}

func (p *recordedPage) Screenshot(ctx context.Context, ref string) (sessions.Screenshot, error) {
	begun := p.recorder.now()
	shot, err := p.Page.Screenshot(ctx, ref)
	p.recorder.recordAction(ctx, "screenshot", nil, err, begun)
	return shot, err
}

// recordAction writes an action of the browser.
func (r *Recorder) recordAction(ctx context.Context, what string, notes []string, err error, begun time.Time) {
	run := r.runOf(ctx)
	if run == nil {
		return
	}
	a := &BrowserAction{What: what}
	if what != "links" { // notes about links are part of the model's input
		a.Notes = notes
	}
	if err != nil {
		a.Error = err.Error()
	}
	run.write(Entry{Kind: KindAct, Millis: r.millisSince(begun), Act: a})
}

// recordSnapshot writes the state of a page.
func (r *runWriter) recordSnapshot(interactive bool, text string, err error, begun time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &PageSnapshot{Interactive: interactive, Text: text}
	if err != nil {
		s.Error = err.Error()
	}
	if sum := maphash.String(r.seed, text); sum == r.state && text != "" {
		s.Same, s.Text = true, ""
	} else {
		r.state = sum
		r.hidePasswordRefs(text)
	}
	r.add(Entry{Kind: KindSnapshot, Millis: r.recorder.millisSince(begun), Snapshot: s})
}

// hidePasswordRefs marks the refs of password fields in a page state as hidden. The caller holds the lock.
func (r *runWriter) hidePasswordRefs(text string) {
	for line := range strings.Lines(text) {
		marked := strings.Contains(line, "[password]") || strings.Contains(line, "[type=password]")
		if !marked && !strings.HasPrefix(strings.TrimLeft(line, " "), "- textbox ") {
			continue
		}
		for _, ref := range outline.ListRefs(line) {
			if marked || agent.IsPasswordFieldName(ref.Name) {
				r.hidden[ref.Ref] = true
			}
		}
	}
}
