package browseagent

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"clank/sessions"
)

// judge is a [Page] that can tell what an action would set off. mark stands for all
// that was judged. ActIf is Act, unless the action has come to mean something else
// than mark: then same is false, and nothing was done.
type judge interface {
	Judge(ctx context.Context, kind string, args map[string]any) (classes []string, text, detail, origin, to, mark string, err error)
	ActIf(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error)
}

// maxJudged is how often an action is judged: a page that changes its meaning again
// and again does so on purpose.
const maxJudged = 2

// attempt performs one understood call within its time, after people were asked
// where they want to be. The time they take does not count.
func (r *run) attempt(ctx context.Context, t *tool, p Page, a args) outcome {
	if t.asks != nil && t.asks(a) {
		return r.signIn(ctx, t, a)
	}
	j, judges := p.(judge)
	kind, input := judged(t, a)
	if kind == "" || !judges || r.agent.Consent == nil {
		return r.timed(ctx, a, func(ctx context.Context) outcome { return t.do(ctx, r, p, a) })
	}
	same := true
	do := func(mark string) outcome {
		return r.timed(ctx, a, func(ctx context.Context) (o outcome) {
			if t.kind == "" {
				return t.do(ctx, r, p, a)
			}
			o.notes, same, o.err = j.ActIf(ctx, kind, maps.Clone(input), mark)
			return o
		})
	}
	if t.kind != "" { // most actions set nothing off: one look says so and holds them to it
		if o := do(""); same || o.err != nil {
			return o
		}
	}
	var decision string
	for range maxJudged {
		said, mark, no := r.consent(ctx, j, kind, input)
		if no != nil {
			return *no
		}
		if said != "" {
			decision = said
		}
		o := do(mark)
		if o.consent = decision; same || o.err != nil {
			return o
		}
	}
	o := misuse("Not done: the page changed what this does while it was being looked at. Look at the page again.")
	o.consent = decision
	return *o
}

// timed does something within the time of one step, and a little more where the
// call asked to wait.
func (r *run) timed(ctx context.Context, a args, do func(context.Context) outcome) outcome {
	limit := r.set.StepTimeout + patience(a)
	acting, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	o := do(acting)
	if o.err != nil && acting.Err() != nil {
		o.err = fmt.Errorf("no result within %s", limit)
	}
	return o
}

// consent judges an action and asks where there is something to ask. no is set if it
// must not be done.
func (r *run) consent(ctx context.Context, j judge, kind string, input map[string]any) (decision, mark string, no *outcome) {
	q := sessions.Question{Literal: r.caps.Literal}
	looking := r.timed(ctx, nil, func(ctx context.Context) (o outcome) {
		q.Classes, q.Text, q.Detail, q.Origin, q.To, mark, o.err = j.Judge(ctx, kind, maps.Clone(input))
		return o
	})
	if looking.err != nil {
		return "", "", &looking
	}
	if len(q.Classes) == 0 {
		return "", mark, nil
	}
	decision, no = r.askFor(ctx, q)
	return decision, mark, no
}

// askFor asks a question. The decision is a sentence, "" if nobody had to be asked; no is set if the answer is no.
func (r *run) askFor(ctx context.Context, q sessions.Question) (decision string, no *outcome) {
	began := time.Now()
	decision, err := r.agent.Consent.Ask(ctx, r.session, r.task, q)
	r.log.Debug("consent", "classes", strings.Join(q.Classes, " "), "took", time.Since(began), "err", err)
	if err != nil {
		return "", misuse("%s. Do not try it in another way; tell the person if they need to know.", sentenceOf(cut(oneLine(ended(ctx, err).Error()), 300)))
	}
	if decision != "" {
		decision = sentenceOf(cut(oneLine(decision), 200)) + "."
	}
	return decision, nil
}

// judged is the action of [Page.Act] behind a call, if it can set something off.
func judged(t *tool, a args) (kind string, input map[string]any) {
	switch {
	case t.kind == "click" || t.kind == "type" || t.kind == "press" || t.kind == "dialog":
		return t.kind, a
	case t.name == "browser_open":
		return "navigate", map[string]any{"url": address(a.str("url"))}
	case t.name == "browser_tabs" && a.str("action") == "new" && a.str("url") != "":
		return "tabNew", map[string]any{"url": address(a.str("url"))}
	}
	return "", nil
}

// sentenceOf begins with a capital letter and has no full stop.
func sentenceOf(s string) string {
	s = strings.TrimRight(s, ".")
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
