package runs

import (
	"context"
	"hash/maphash"
	"strings"

	"clank/browseagent"
	"clank/browsermgr/outline"
	"clank/sessions"
	"clank/sessions/working"
)

// Browser is b, recorded: what its pages showed and how long they took.
func (r *Recorder) Browser(b browseagent.Browser) browseagent.Browser {
	return &browser{Browser: b, recorder: r}
}

type browser struct {
	browseagent.Browser

	recorder *Recorder
}

// Open implements [browseagent.Browser].
func (b *browser) Open(ctx context.Context, o sessions.Opening) (browseagent.Page, bool, error) {
	begun := b.recorder.now()
	p, restored, err := b.Browser.Open(ctx, o)
	if restored || err != nil { // an open page is looked up before each action
		b.recorder.acted(ctx, "open", nil, err, millis(b.recorder.now().Sub(begun)))
	}
	if err != nil {
		return nil, restored, err
	}
	rec := &page{Page: p, recorder: b.recorder}
	if j, judges := p.(judge); judges {
		return &judgedPage{page: rec, judge: j}, restored, nil
	}
	return rec, restored, nil
}

// page records what is done with a page.
type page struct {
	browseagent.Page

	recorder *Recorder
}

// judge is a page that can tell what an action would set off, as browseagent
// wants it.
type judge interface {
	Judge(ctx context.Context, kind string, args map[string]any) (classes []string, text, detail, origin, to, mark string, err error)
	ActIf(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error)
}

// judgedPage is a page that is also a judge.
type judgedPage struct {
	*page

	judge judge
}

// Judge passes on.
func (p *judgedPage) Judge(ctx context.Context, kind string, args map[string]any) (classes []string, text, detail, origin, to, mark string, err error) {
	return p.judge.Judge(ctx, kind, args)
}

// ActIf acts, recorded.
func (p *judgedPage) ActIf(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error) {
	begun := p.recorder.now()
	notes, same, err = p.judge.ActIf(ctx, kind, args, mark)
	p.recorder.acted(ctx, kind, notes, err, millis(p.recorder.now().Sub(begun)))
	return notes, same, err
}

// Act implements [browseagent.Page].
func (p *page) Act(ctx context.Context, kind string, args map[string]any) ([]string, error) {
	begun := p.recorder.now()
	notes, err := p.Page.Act(ctx, kind, args)
	p.recorder.acted(ctx, kind, notes, err, millis(p.recorder.now().Sub(begun)))
	return notes, err
}

// Snapshot implements [browseagent.Page].
func (p *page) Snapshot(ctx context.Context, interactive bool, maxChars int) (string, error) {
	begun := p.recorder.now()
	text, err := p.Page.Snapshot(ctx, interactive, maxChars)
	if r := p.recorder.of(ctx); r != nil {
		r.saw(interactive, text, err, millis(p.recorder.now().Sub(begun)))
	}
	return text, err
}

// Text implements [browseagent.Page].
func (p *page) Text(ctx context.Context, ref string) (string, error) {
	begun := p.recorder.now()
	text, err := p.Page.Text(ctx, ref)
	p.recorder.acted(ctx, "text", nil, err, millis(p.recorder.now().Sub(begun)))
	return text, err
}

// Screenshot implements [browseagent.Page].
func (p *page) Screenshot(ctx context.Context) ([]byte, string, error) {
	begun := p.recorder.now()
	data, mediaType, err := p.Page.Screenshot(ctx)
	p.recorder.acted(ctx, "screenshot", nil, err, millis(p.recorder.now().Sub(begun)))
	return data, mediaType, err
}

// acted writes what the browser did.
func (r *Recorder) acted(ctx context.Context, what string, notes []string, err error, took float64) {
	run := r.of(ctx)
	if run == nil {
		return
	}
	a := &Act{What: what}
	if what != "links" { // they are part of what the model is told
		a.Notes = notes
	}
	if err != nil {
		a.Error = err.Error()
	}
	run.write(Entry{Kind: KindAct, Millis: took, Act: a})
}

// saw writes the state of a page.
func (r *run) saw(interactive bool, text string, err error, took float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Snapshot{Interactive: interactive, Text: text}
	if err != nil {
		s.Error = err.Error()
	}
	if sum := maphash.String(r.seed, text); sum == r.state && text != "" {
		s.Same, s.Text = true, ""
	} else {
		r.state = sum
		r.hide(text)
	}
	r.add(Entry{Kind: KindSnapshot, Millis: took, Snapshot: s})
}

// hide remembers which refs of a page state are password fields. The run is
// locked.
func (r *run) hide(text string) {
	for line := range strings.Lines(text) {
		marked := strings.Contains(line, "[password]") || strings.Contains(line, "[type=password]")
		if !marked && !strings.HasPrefix(strings.TrimLeft(line, " "), "- textbox ") {
			continue
		}
		for _, ref := range outline.Refs(line) {
			if marked || working.SecretName(ref.Name) {
				r.hidden[ref.Ref] = true
			}
		}
	}
}
