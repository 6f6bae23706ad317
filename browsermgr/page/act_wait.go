package page

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// wait waits for everything the action names, one after the other, each with the limit to itself.
func (t *Tab) wait(ctx context.Context, a Action) error {
	if a.TimeMs > 0 {
		if err := sleep(ctx, time.Duration(a.TimeMs)*time.Millisecond); err != nil {
			return err
		}
	}
	each := a
	each.TimeMs = 0
	limit := each.limit() / time.Duration(max(a.conditions(), 1))
	steps := []struct {
		given bool
		what  string
		do    func(context.Context) error
	}{
		{a.Text != "", fmt.Sprintf("text %q to appear", a.Text), func(ctx context.Context) error {
			return t.waitPage(ctx, waitArg{Text: a.Text})
		}},
		{a.TextGone != "", fmt.Sprintf("text %q to go", a.TextGone), func(ctx context.Context) error {
			return t.waitPage(ctx, waitArg{Text: a.TextGone, Gone: true})
		}},
		{a.Selector != "", fmt.Sprintf("selector %q to be visible", a.Selector), func(ctx context.Context) error {
			return t.waitPage(ctx, waitArg{Selector: a.Selector})
		}},
		{a.URL != "", fmt.Sprintf("address %q", a.URL), func(ctx context.Context) error { return t.waitURL(ctx, a.URL) }},
		{knownLoadState(a.LoadState), "load state " + a.LoadState, func(ctx context.Context) error { return t.waitLoad(ctx, a.LoadState) }},
		{strings.TrimSpace(a.Fn) != "", "fn to be true", func(ctx context.Context) error { return t.waitFn(ctx, a.Fn) }},
	}
	for _, step := range steps {
		if !step.given {
			continue
		}
		if err := t.waitStep(ctx, limit, step.what, step.do); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tab) waitStep(ctx context.Context, limit time.Duration, what string, do func(context.Context) error) error {
	over := &limitError{limit: limit}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, over)
	defer cancel()
	err := do(bounded)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, over) {
		return fmt.Errorf("%s: %w", what, over)
	}
	return err
}

type waitArg struct {
	Text     string `json:"text,omitempty"`
	Gone     bool   `json:"gone"`
	Selector string `json:"selector,omitempty"`
	Timeout  int64  `json:"timeout"`
}

// waitRound is how long a script waits before it is asked again: frames may have come or gone meanwhile.
const waitRound = 5 * time.Second

// waitPage waits for something to be seen in the page, its frames included. The page may navigate meanwhile.
func (t *Tab) waitPage(ctx context.Context, arg waitArg) error {
	for {
		found, err := t.waitFrames(ctx, arg)
		var f *failure
		switch {
		case errors.As(err, &f):
			return f.explain(fmt.Sprintf("selector %q", arg.Selector))
		case err != nil || found:
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
}

// waitFrames asks all processes at once: one that shows it suffices, for something to go all have to agree.
func (t *Tab) waitFrames(ctx context.Context, arg waitArg) (bool, error) {
	round, stop := context.WithCancel(ctx)
	defer stop()
	sessions := t.sessions()
	type reply struct {
		found bool
		err   error
	}
	replies := make(chan reply, len(sessions))
	arg.Timeout = pageLimit(ctx, waitRound).Milliseconds()
	for _, s := range sessions {
		go func() {
			found, err := run[bool](round, s, script{fn: "waitFor", arg: arg, within: waitRound + t.browser.conn.timeout})
			if round.Err() != nil {
				s.cancelWait()
			}
			replies <- reply{found, err}
		}()
	}
	all := true
	var result reply
	for range sessions {
		r := <-replies
		if errors.Is(r.err, errContextLost) {
			r.err = nil // a new document: the next round asks it
		}
		all = all && r.found
		if result.err == nil {
			result.err = r.err
		}
		if r.found && !arg.Gone {
			result.found = true
			stop()
		}
	}
	if arg.Gone {
		result.found = all
	}
	if result.found {
		return true, nil
	}
	return false, result.err
}

// cancelWait ends a wait that nobody is interested in any more.
func (s *session) cancelWait() {
	s.mu.Lock()
	w := s.world
	s.mu.Unlock()
	if w == nil {
		return
	}
	if text, err := (script{fn: "cancelWait"}).expression(w, true); err == nil {
		s.post(evaluateIn(w, text))
	}
}

func (t *Tab) waitURL(ctx context.Context, pattern string) error {
	match, err := globMatcher(pattern)
	if err != nil {
		return err
	}
	return t.until(ctx, func() bool { return match(t.url) })
}

func (t *Tab) waitLoad(ctx context.Context, state string) error {
	return t.until(ctx, func() bool {
		l := &t.load
		if l.pending {
			return false
		}
		switch state {
		case "domcontentloaded":
			return l.parsed
		case "load":
			return l.loaded
		}
		return l.idle && !l.busySince(0)
	})
}

// globMatcher reads an address pattern: * matches within a path segment, ** across, ? one character. A pattern without
// any of these must be the whole address; a final slash after the host may be left out.
func globMatcher(pattern string) (func(string) bool, error) {
	if !strings.Contains(pattern, "*") {
		return func(s string) bool { return s == pattern || s == pattern+"/" }, nil
	}
	var b strings.Builder
	b.WriteString(`^`)
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*' && strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	re, err := regexp.Compile(b.String() + `/?$`)
	if err != nil {
		return nil, invalidf("wait url %q: not a pattern", pattern)
	}
	return re.MatchString, nil
}
