package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"
	"clank/cancel"
)

// WaitTab is what a wait needs of its tab.
type WaitTab interface {
	// MainFrame returns the tab's main frame.
	MainFrame() *frame.Frame
	// Frames returns the main frame and those in other processes.
	Frames() []*frame.Frame
	// AwaitURL waits until the tab's address matches.
	AwaitURL(ctx context.Context, match func(url string) bool) error
	// AwaitLoad waits until the main document has reached a load state.
	AwaitLoad(ctx context.Context, state string) error
	// TerminateScripts is called if a script of the page was still running in the frame when ctx ended.
	TerminateScripts(ctx context.Context, f *frame.Frame)
}

// Wait waits for each condition of the action in turn, each with the full limit.
func Wait(ctx context.Context, tab WaitTab, a Action) error {
	w := pageWait{tab}
	if a.TimeMs > 0 {
		if err := cancel.Sleep(ctx, time.Duration(a.TimeMs)*time.Millisecond); err != nil {
			return err
		}
	}
	steps := []struct {
		given bool
		unmet string
		do    func(context.Context) error
	}{
		{a.Text != "", fmt.Sprintf("the text %q did not appear", a.Text), func(ctx context.Context) error {
			return w.awaitInPage(ctx, waitArg{Text: a.Text})
		}},
		{a.TextGone != "", fmt.Sprintf("the text %q did not go away", a.TextGone), func(ctx context.Context) error {
			return w.awaitInPage(ctx, waitArg{Text: a.TextGone, Gone: true})
		}},
		{a.Selector != "", fmt.Sprintf("nothing that matches %q was visible", a.Selector), func(ctx context.Context) error {
			return w.awaitInPage(ctx, waitArg{Selector: a.Selector})
		}},
		{a.URL != "", fmt.Sprintf("the address did not become %q", a.URL), func(ctx context.Context) error {
			return w.awaitURL(ctx, a.URL)
		}},
		{isLoadState(a.LoadState), "the page did not reach the load state " + a.LoadState, func(ctx context.Context) error {
			return tab.AwaitLoad(ctx, a.LoadState)
		}},
		{strings.TrimSpace(a.Fn) != "", "the JavaScript was not true", func(ctx context.Context) error {
			return w.awaitFunction(ctx, a.Fn)
		}},
	}
	for _, s := range steps {
		if !s.given {
			continue
		}
		if err := waitStep(ctx, a.StepLimit(), s.unmet, s.do); err != nil {
			return err
		}
	}
	return nil
}

func waitStep(ctx context.Context, limit time.Duration, unmet string, do func(context.Context) error) error {
	over := &fault.TimeLimitError{Limit: limit, Unmet: unmet}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, over)
	defer cancel()
	err := do(bounded)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if errors.Is(err, over) {
		return over
	}
	return err
}

// pageWait waits for conditions in one tab.
type pageWait struct{ tab WaitTab }

type waitArg struct {
	Text     string `json:"text,omitempty"`
	Gone     bool   `json:"gone"`
	Selector string `json:"selector,omitempty"`
	Timeout  int64  `json:"timeout"`
}

// waitPollInterval is how long a script waits before it is sent again, since frames may have come or gone.
const waitPollInterval = time.Second

// awaitInPage waits until something is visible, or no longer, in the page or its frames. The page may navigate
// meanwhile.
func (w pageWait) awaitInPage(ctx context.Context, arg waitArg) error {
	for {
		began := time.Now()
		found, err := w.shownInFrames(ctx, arg)
		var no *frame.ScriptError
		switch {
		case errors.As(err, &no):
			return no.Explain(fmt.Sprintf("selector %q", arg.Selector))
		case err != nil || found:
			return err
		}
		// Documents without scripts answer at once.
		if err := cancel.Sleep(ctx, waitPollInterval/10-time.Since(began)); err != nil {
			return err
		}
	}
}

// shownInFrames queries all processes concurrently. To be shown, one frame suffices; to be gone, all must agree.
func (w pageWait) shownInFrames(ctx context.Context, arg waitArg) (bool, error) {
	round, stop := context.WithCancel(ctx)
	defer stop()
	frames := w.tab.Frames()
	type reply struct {
		found bool
		err   error
	}
	replies := make(chan reply, len(frames))
	arg.Timeout = frame.ScriptLimit(ctx, waitPollInterval).Milliseconds()
	for _, f := range frames {
		go func() {
			found, err := frame.RunScript[bool](round, f,
				frame.Script{Fn: "waitFor", Arg: arg, Within: waitPollInterval + f.Timeout()})
			if round.Err() != nil {
				f.CancelQuiet()
			}
			replies <- reply{found, err}
		}()
	}
	all := true
	var result reply
	for range frames {
		r := <-replies
		if errors.Is(r.err, cdp.ErrDocumentGone) {
			r.err = nil // a new document: query it in the next round
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

func (w pageWait) awaitURL(ctx context.Context, pattern string) error {
	match, err := address.ParsePattern(pattern)
	if err != nil {
		return err
	}
	return w.tab.AwaitURL(ctx, match)
}
