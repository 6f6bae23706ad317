package watches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/cancel"
	"clank/internal/untrusted"
	"clank/sessions"
)

const (
	notifyAfterFailures = 3  // consecutive failures
	endAfterFailures    = 12 // consecutive failures, which take a week or more
	maxDiffLines        = 6  // lines of each side
	maxDiffLineChars    = 160
)

// runCheck performs a due check. It stores nothing when ctx ends; its errors are those of the store.
func (r *Runner) runCheck(ctx context.Context, w Watch) error {
	refused := r.Host.CheckAllowed(ctx, w)
	var err error
	switch now := time.Now(); {
	case !w.Until.After(now):
		w, err = r.save(ctx, w, func(w *Watch) {
			w.State, w.Reason = StateEnded, "its time was over"
			w.PendingNotice = &Notice{At: now, Kind: NoticeEnded, Text: "The time of this watch is over."}
		})
	case refused != nil:
		w, err = r.save(ctx, w, func(w *Watch) {
			w.Problem, w.NextCheck = untrusted.ShortenLine(refused.Error(), 300), nextCheckTime(*w, now)
		})
	default:
		w, err = r.check(ctx, w)
	}
	if err == nil && refused == nil {
		r.deliverNotice(ctx, w)
	}
	if ctx.Err() != nil || errors.Is(err, ErrAlreadyEnded) || errors.Is(err, ErrNotFound) {
		err = nil // it was ended in the meantime
	}
	return err
}

// check reads the page, compares it, and stores the result.
func (r *Runner) check(ctx context.Context, w Watch) (Watch, error) {
	found, err := r.assess(ctx, w)
	if ctx.Err() != nil {
		return w, context.Cause(ctx)
	}
	now := time.Now()
	if err != nil {
		r.logger().InfoContext(ctx, "watched page not read", "watch", w.ID, "failures", w.Failures+1, "error", err)
		return r.save(ctx, w, func(w *Watch) { w.recordFailure(err, now) })
	}
	return r.save(ctx, w, func(w *Watch) {
		w.Seen, w.NeedsBrowser = found.seen, found.scripts
		w.Failures, w.Problem, w.CheckedAt = 0, "", now
		w.NextCheck = nextCheckTime(*w, now)
		if found.news != nil {
			found.news.At = now
			w.PendingNotice = found.news
		}
	})
}

// recordFailure records that the page could not be read.
func (w *Watch) recordFailure(err error, now time.Time) {
	w.Failures, w.Problem = w.Failures+1, untrusted.ShortenLine(err.Error(), 300)
	w.NextCheck = nextCheckTime(*w, now)
	switch w.Failures {
	case notifyAfterFailures:
		w.PendingNotice = &Notice{At: now, Kind: NoticeTrouble, Text: fmt.Sprintf("The page could not be looked at several "+
			"times in a row: %v. It is tried again, less and less often.", w.Problem)}
	case endAfterFailures:
		w.State, w.Reason = StateEnded, w.Problem
		w.PendingNotice = &Notice{
			At: now, Kind: NoticeEnded,
			Text: fmt.Sprintf("This watch has ended, because the page could not be "+
				"looked at for a long time: %v.", w.Problem),
		}
	}
}

// save changes a watch that is still active.
func (r *Runner) save(ctx context.Context, w Watch, change func(*Watch)) (Watch, error) {
	return r.Store.UpdateWatch(ctx, w.ID, func(w *Watch) error {
		if w.State != StateActive {
			return ErrAlreadyEnded
		}
		change(w)
		return nil
	})
}

// deliverNotice sends the pending notice to the owner. If that fails, the next check tries again.
func (r *Runner) deliverNotice(ctx context.Context, w Watch) {
	if w.PendingNotice == nil {
		return
	}
	told := *w.PendingNotice
	if err := r.Host.Notify(ctx, w, told); err != nil {
		r.logger().WarnContext(ctx, "owner of a watch not told", "watch", w.ID, "error", err)
		return
	}
	// The notice was sent, so storing that must not be interrupted.
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := r.Store.UpdateWatch(rest, w.ID, func(w *Watch) error {
		w.NotifiedAt, w.LastNotice = time.Now(), &told
		if w.PendingNotice != nil && w.PendingNotice.At.Equal(told.At) && w.PendingNotice.Kind == told.Kind {
			w.PendingNotice = nil
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.logger().ErrorContext(ctx, "watch cannot be written down", "watch", w.ID, "error", err)
	}
}

// checkResult is the result of a check.
type checkResult struct {
	seen    Seen
	scripts bool
	news    *Notice // nil if there is nothing to notify
}

// assess checks a page, and reads it a second time if something seems to be new.
func (r *Runner) assess(ctx context.Context, w Watch) (checkResult, error) {
	page, scripts, err := r.readPage(ctx, w)
	if err != nil {
		return checkResult{}, err
	}
	f := checkResult{seen: w.Seen, scripts: scripts}
	w.NeedsBrowser = scripts
	switch w.Kind {
	case KindChanges, KindJudged:
		return f, r.assessText(ctx, w, page, &f)
	case KindBelow, KindAbove, KindContains, KindLacks:
	}
	return f, r.assessState(ctx, w, page, &f)
}

// assessState checks conditions that depend only on the current page.
func (r *Runner) assessState(ctx context.Context, w Watch, page Reading, f *checkResult) error {
	met, value, err := w.holds(comparableLines(page.Text))
	if err != nil {
		return err
	}
	if met == w.Seen.Met {
		f.seen.Value = value
		return nil
	}
	if page, err = r.recheck(ctx, w); err != nil {
		return err
	}
	if met, value, err = w.holds(comparableLines(page.Text)); err != nil {
		return err
	}
	f.seen.Met, f.seen.Value, f.seen.Title = met, value, untrusted.ShortenLine(page.Title, 200)
	if !met || w.Seen.Met {
		return nil
	}
	text := fmt.Sprintf("It is so: %v.", w.Describe())
	if value != "" {
		text = fmt.Sprintf("It is %s now; it was %s.", value, w.Seen.Value)
	}
	f.news = &Notice{Kind: NoticeMet, Text: text, Title: f.seen.Title}
	return nil
}

// assessText checks conditions that compare with an earlier check.
func (r *Runner) assessText(ctx context.Context, w Watch, page Reading, f *checkResult) error {
	part := linesNear(comparableLines(page.Text), w.Near)
	if len(part) == 0 {
		return missingCondition(w)
	}
	if comparePages(w.Seen.Lines, part, w.Seen.Noise).empty() {
		return nil
	}
	page, err := r.recheck(ctx, w)
	if err != nil {
		return err
	}
	settled := linesNear(comparableLines(page.Text), w.Near)
	if len(settled) == 0 {
		return missingCondition(w)
	}
	f.seen.Noise = findNoise(w.Seen.Noise, w.Seen.Lines, part, settled)
	d := comparePages(w.Seen.Lines, settled, f.seen.Noise)
	if d.empty() {
		return nil
	}
	f.seen.Lines, f.seen.Title = settled, untrusted.ShortenLine(page.Title, 200)
	text := "The page has changed."
	if w.Kind == KindJudged {
		v, err := r.judge(ctx, w, JudgeQuestion{Reading: page, Added: d.added, Removed: d.removed})
		if err != nil {
			return err
		}
		f.seen.Met = v.Met
		if !v.Met || w.Seen.Met {
			return nil
		}
		text = untrusted.ShortenLine(v.Why, 400)
	}
	f.news = &Notice{Kind: NoticeMet, Text: text, Diff: d.summary(), Title: f.seen.Title}
	return nil
}

// judge asks the model, with a timeout.
func (r *Runner) judge(ctx context.Context, w Watch, q JudgeQuestion) (Verdict, error) {
	limited, cancel := context.WithTimeoutCause(ctx, checkTimeout,
		fmt.Errorf("the model did not judge it within %v", sessions.DurationText(checkTimeout)))
	defer cancel()
	v, err := r.Host.Judge(limited, w, q)
	return v, causeIfEnded(limited, err)
}

// summary returns a short description of the changes.
func (d pageDiff) summary() []string {
	var out []string
	add := func(mark string, list []string) {
		for _, l := range list[:min(len(list), maxDiffLines)] {
			out = append(out, mark+" "+untrusted.Shorten(l, maxDiffLineChars))
		}
		if n := len(list) - maxDiffLines; n > 0 {
			out = append(out, mark+" "+fmt.Sprintf("… and %d more", n))
		}
	}
	add("-", d.removed)
	add("+", d.added)
	return slices.Clip(out)
}

// recheck reads the page again after RecheckAfter.
func (r *Runner) recheck(ctx context.Context, w Watch) (Reading, error) {
	if err := cancel.Sleep(ctx, cmp.Or(r.RecheckAfter, defaultRecheck)); err != nil {
		return Reading{}, err
	}
	page, _, err := r.readPage(ctx, w)
	return page, err
}

// readPage reads the page, with a browser if necessary. scripts reports whether it was.
func (r *Runner) readPage(ctx context.Context, w Watch) (page Reading, scripts bool, err error) {
	select { // waiting for a slot does not count towards the timeout
	case <-ctx.Done():
		return Reading{}, false, context.Cause(ctx)
	case r.slots <- struct{}{}:
	}
	defer func() { <-r.slots }()
	ctx, cancel := context.WithTimeoutCause(ctx, checkTimeout,
		fmt.Errorf("it was not read within %v", sessions.DurationText(checkTimeout)))
	defer cancel()
	if !w.NeedsBrowser {
		if page, err = r.Host.Read(ctx, w); err == nil || !errors.Is(err, ErrNeedsBrowser) {
			return page, false, causeIfEnded(ctx, err)
		}
	}
	page, err = r.Host.Browse(ctx, w)
	if err == nil && strings.TrimSpace(page.Text) == "" {
		err = errors.New("the page shows no text")
	}
	return page, true, causeIfEnded(ctx, err)
}

// causeIfEnded replaces an error by the cause of ctx if ctx has ended.
func causeIfEnded(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
