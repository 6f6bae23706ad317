package page

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/act"
	"clank/browsermgr/address"
	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/frame"
)

// wait waits for everything the action names, one after the other, each with the limit to itself.
func (t *Tab) wait(ctx context.Context, a Action) error {
	if a.TimeMs > 0 {
		if err := act.Pause(ctx, time.Duration(a.TimeMs)*time.Millisecond); err != nil {
			return err
		}
	}
	each := a
	each.TimeMs = 0
	limit := each.Limit() / time.Duration(max(a.Conditions(), 1))
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
		{act.KnownLoadState(a.LoadState), "load state " + a.LoadState, func(ctx context.Context) error { return t.waitLoad(ctx, a.LoadState) }},
		{strings.TrimSpace(a.Fn) != "", "fn to be true", func(ctx context.Context) error { return act.WaitFn(ctx, t.main, a.Fn) }},
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
	over := &fault.LimitError{Limit: limit}
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
		var no *frame.ScriptError
		switch {
		case errors.As(err, &no):
			return no.Explain(fmt.Sprintf("selector %q", arg.Selector))
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
	frames := t.allFrames()
	type reply struct {
		found bool
		err   error
	}
	replies := make(chan reply, len(frames))
	arg.Timeout = frame.ScriptLimit(ctx, waitRound).Milliseconds()
	for _, f := range frames {
		go func() {
			found, err := frame.Run[bool](round, f, frame.Script{Fn: "waitFor", Arg: arg, Within: waitRound + f.Timeout()})
			if round.Err() != nil {
				f.CancelWait()
			}
			replies <- reply{found, err}
		}()
	}
	all := true
	var result reply
	for range frames {
		r := <-replies
		if errors.Is(r.err, cdp.ErrDocumentGone) {
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

func (t *Tab) waitURL(ctx context.Context, pattern string) error {
	match, err := address.Pattern(pattern)
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
