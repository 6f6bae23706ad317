package control

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/emulate"
	"clank/browsermgr/page/files"
	"clank/browsermgr/record"
)

// actPerformer runs the actions of one request.
type actPerformer struct {
	settings Settings
	approver *requestApprover
	held     *heldTab
}

// actOutcome is the outcome of an action.
type actOutcome struct {
	value     json.RawMessage
	navigated bool
	closed    bool
	dialog    bool
	results   []entryAnswer
	aborted   *abortedAnswer
	downloads []files.Download
	notes     []string // side effects, in sentences
}

// entryAnswer is the outcome of one action of a batch.
type entryAnswer struct {
	OK        bool            `json:"ok"`
	Error     string          `json:"error,omitempty"`
	Reason    string          `json:"reason,omitempty"` // as in error answers
	Result    json.RawMessage `json:"result,omitempty"`
	Navigated bool            `json:"navigated,omitempty"`
	URL       string          `json:"url,omitempty"`
	// Results are the outcomes of a nested batch, []entryAnswer.
	Results any `json:"results,omitempty"`
}

// abortedAnswer says why a batch ended before its last action.
type abortedAnswer struct {
	Reason      string `json:"reason"` // navigation, closed or dialog
	AfterAction int    `json:"afterAction"`
	URL         string `json:"url,omitempty"`
	Skipped     int    `json:"skipped"`
}

// runSingle runs an action that is not a batch.
func (p actPerformer) runSingle(ctx context.Context, a actRequest) (actOutcome, error) {
	switch {
	case a.noWait:
		return actOutcome{}, nil
	case a.Kind == actiontable.KindClose:
		return actOutcome{closed: true}, p.held.Close(ctx)
	}
	var res page.Result
	var got []files.Download
	before := p.held.URL()
	work := func() error {
		return p.approver.DoApproved(ctx, p.held.Profile.Name, p.held.Tab, a.Action, func() (err error) {
			ctx, done := p.withLimit(ctx, a.Action)
			defer done()
			res, got, err = performAction(ctx, p.held, a.Action)
			return err
		})
	}
	var err error
	if a.Kind == actiontable.KindResize {
		err = work() // it does not navigate, and is allowed at any address
	} else {
		err = p.held.WithPolicy(ctx, work)
	}
	if spec, _ := actiontable.Lookup(actiontable.API, a.Kind); errors.Is(err, page.ErrTabGone) && spec.MayClose {
		// The action made the page close itself.
		return actOutcome{closed: true}, nil
	}
	out := actOutcome{
		value: res.Value, navigated: res.Navigated && !isFragmentNavigation(before, res), dialog: res.BlockedByDialog,
		downloads: got,
	}
	out.notes = append(p.held.Lease.TakeNotes(), resultNotes(res, got)...)
	return out, err
}

// withLimit applies the default time limit to an action that names none.
func (p actPerformer) withLimit(ctx context.Context, a page.Action) (context.Context, context.CancelFunc) {
	limit := p.settings.ActionTimeout()
	if limit == 0 || a.TimeoutMs > 0 || a.TimeMs > 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, limit, &fault.TimeLimitError{Limit: limit})
}

// resultNotes describes side effects in the same sentences that agents get.
func resultNotes(res page.Result, got []files.Download) []string {
	res.Value = nil // answered in its own field
	notes := browsermgr.ResultNotes(res, got)
	for _, tab := range res.Opened {
		if tab.Err() != nil { // as a tab does whose address was a file
			continue
		}
		notes = append(notes, "a new tab opened: "+browsermgr.TabLine(tab))
	}
	return notes
}

// isFragmentNavigation reports whether only the fragment changed, so that refs stay valid.
func isFragmentNavigation(before string, res page.Result) bool {
	was, _, _ := strings.Cut(before, "#")
	is, _, _ := strings.Cut(res.URL, "#")
	return was == is && before != res.URL && res.Status == 0
}

// batch runs actions in order. It ends early when the request is abandoned, when an action fails and stopOnError is
// set, and when the page that the rest was meant for is gone.
func (p actPerformer) batch(ctx context.Context, a actRequest) (actOutcome, error) {
	out := actOutcome{results: []entryAnswer{}}
	for i, entry := range a.actions {
		answer, did := p.runEntry(ctx, entry)
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		out.results = append(out.results, answer)
		out.navigated = out.navigated || did.navigated
		out.downloads = append(out.downloads, did.downloads...)
		out.notes = append(out.notes, did.notes...)
		out.closed, out.dialog = did.closed, did.dialog
		if left := len(a.actions) - i - 1; left > 0 {
			out.aborted = p.abort(did, i+1, left)
		}
		if out.aborted != nil || !answer.OK && a.stopOnError {
			break
		}
	}
	return out, nil
}

// abort returns why the rest of a batch cannot run; nil if it can.
func (p actPerformer) abort(did actOutcome, after, left int) *abortedAnswer {
	switch {
	case did.closed:
		return &abortedAnswer{Reason: "closed", AfterAction: after, Skipped: left}
	case did.dialog:
		return &abortedAnswer{Reason: "dialog", AfterAction: after, URL: p.held.URL(), Skipped: left}
	case did.navigated:
		return &abortedAnswer{Reason: "navigation", AfterAction: after, URL: p.held.URL(), Skipped: left}
	}
	return nil
}

// runEntry runs one action of a batch.
func (p actPerformer) runEntry(ctx context.Context, a actRequest) (entryAnswer, actOutcome) {
	var did actOutcome
	var err error
	switch {
	case a.evaluates() && !p.settings.EvaluateEnabled():
		err = evaluateDisabled()
	case a.Kind == actiontable.KindBatch:
		did, err = p.batch(ctx, a)
	default:
		did, err = p.runSingle(ctx, a)
	}
	if isPendingDialog(err) {
		did.dialog = true
	}
	answer := entryAnswer{OK: err == nil, Result: did.value, Navigated: did.navigated}
	if did.results != nil {
		answer.Results = did.results
		if i := len(did.results) - 1; i >= 0 && !did.results[i].OK {
			answer.OK, answer.Error = false, did.results[i].Error
		}
	}
	if err != nil {
		answer.Error, answer.Reason = RedactCredentials(err.Error()), ClassifyError(err).Reason
	}
	if did.navigated && !did.closed {
		answer.URL = p.held.URL()
	}
	return answer, did
}

// performAction runs an action in the tab, adds it to a running trace and collects the downloads it started.
func performAction(ctx context.Context, h *heldTab, a page.Action) (res page.Result, got []files.Download, err error) {
	end := traceAction(ctx, h, string(a.Kind), a)
	defer func() { end(err) }()
	if state, ok := findObserver[*emulate.Emulator](h); ok && a.Kind == actiontable.KindResize {
		return resizeViewport(ctx, h, state, a)
	}
	if files, ok := findObserver[*files.Transfers](h); ok {
		return files.PerformAction(ctx, h.Tab, a)
	}
	res, err = h.Tab.Act(ctx, a)
	return res, nil, err
}

// resizeViewport changes only the viewport: an emulated device keeps its other properties.
func resizeViewport(ctx context.Context, h *heldTab, s *emulate.Emulator,
	a page.Action,
) (page.Result, []files.Download, error) {
	err := h.Tab.RunExclusive(ctx, a.Limit(), func(ctx context.Context) error {
		if err := s.SetViewport(ctx, h.Tab, a.Width, a.Height); err != nil {
			return err
		}
		_, err := h.Tab.MainFrame().AwaitQuiet(ctx, true)
		return err
	})
	return page.Result{URL: h.Tab.URL()}, nil, err
}

// navigateTab navigates the tab within limit, adds that to a running trace and collects the downloads it started.
func navigateTab(ctx context.Context, h *heldTab, url string,
	limit time.Duration,
) (res page.Result, got []files.Download, err error) {
	end := traceAction(ctx, h, "navigate", map[string]string{"url": url})
	defer func() { end(err) }()
	res, err = h.Lease.Navigate(h.Tab, url, func() (page.Result, error) {
		files, ok := findObserver[*files.Transfers](h)
		if !ok {
			return h.Tab.NavigateWithin(ctx, url, limit)
		}
		var err error
		res, got, err = files.Navigate(ctx, h.Tab, url, limit)
		return res, err
	})
	return res, got, err
}

func traceAction(ctx context.Context, h *heldTab, action string, params any) func(error) {
	tracer, ok := findObserver[*record.Tracer](h)
	if !ok {
		return func(error) {}
	}
	return tracer.BeginAction(ctx, h.Tab, action, params)
}
