package watches

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	tellAfter = 3  // failures in a row
	endAfter  = 12 // failures in a row, which is a week and more
	shownDiff = 6  // lines of each side
	lineShown = 160
)

// visit does what is due for a watch. It writes nothing down when ctx ends; its
// errors are those of the store.
func (r *Runner) visit(ctx context.Context, w Watch) error {
	refused := r.may(ctx, w)
	var err error
	switch now := time.Now(); {
	case !w.Until.After(now):
		w, err = r.save(ctx, w, func(w *Watch) {
			w.State, w.Reason = Ended, "its time was over"
			w.Pending = &Notice{At: now, Kind: Over, Text: "The time of this watch is over."}
		})
	case refused != nil:
		w, err = r.save(ctx, w, func(w *Watch) {
			w.Problem, w.Next = clip(line(refused.Error()), 300), after(*w, now)
		})
	default:
		w, err = r.check(ctx, w)
	}
	if err == nil && refused == nil {
		r.deliver(ctx, w)
	}
	if ctx.Err() != nil || errors.Is(err, ErrEnded) || errors.Is(err, ErrNotFound) {
		err = nil // somebody ended it meanwhile
	}
	return err
}

// may asks whether the owner of w is still allowed what they were when it began.
func (r *Runner) may(ctx context.Context, w Watch) error {
	if r.May == nil {
		return nil
	}
	return r.May(ctx, w)
}

// check reads the page, compares, and writes down what it found.
func (r *Runner) check(ctx context.Context, w Watch) (Watch, error) {
	found, err := r.assess(ctx, w)
	if ctx.Err() != nil {
		return w, context.Cause(ctx)
	}
	now := time.Now()
	if err != nil {
		r.logger().InfoContext(ctx, "watched page not read", "watch", w.ID, "failures", w.Failures+1, "error", err)
		return r.save(ctx, w, func(w *Watch) { w.failed(err, now) })
	}
	return r.save(ctx, w, func(w *Watch) {
		w.Seen, w.Scripts = found.seen, found.scripts
		w.Failures, w.Problem, w.Checked = 0, "", now
		w.Next = after(*w, now)
		if found.news != nil {
			found.news.At = now
			w.Pending = found.news
		}
	})
}

// failed notes that the page could not be read.
func (w *Watch) failed(err error, now time.Time) {
	w.Failures, w.Problem = w.Failures+1, clip(line(err.Error()), 300)
	w.Next = after(*w, now)
	switch w.Failures {
	case tellAfter:
		w.Pending = &Notice{At: now, Kind: Trouble, Text: "The page could not be looked at several times in a row: " + w.Problem +
			". It is tried again, less and less often."}
	case endAfter:
		w.State, w.Reason = Ended, w.Problem
		w.Pending = &Notice{At: now, Kind: Over, Text: "This watch has ended, because the page could not be looked at for a long time: " + w.Problem + "."}
	}
}

// save changes a watch that is still active.
func (r *Runner) save(ctx context.Context, w Watch, change func(*Watch)) (Watch, error) {
	return r.Store.UpdateWatch(ctx, w.ID, func(w *Watch) error {
		if w.State != Active {
			return ErrEnded
		}
		change(w)
		return nil
	})
}

// deliver tells the owner what there is to tell. What could not be told stays,
// and is tried again with the next look.
func (r *Runner) deliver(ctx context.Context, w Watch) {
	if w.Pending == nil {
		return
	}
	told := *w.Pending
	if err := r.Tell(ctx, w, told); err != nil {
		r.logger().WarnContext(ctx, "owner of a watch not told", "watch", w.ID, "error", err)
		return
	}
	// From here on a stop must not make it be told twice.
	rest, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := r.Store.UpdateWatch(rest, w.ID, func(w *Watch) error {
		w.Told, w.Last = time.Now(), &told
		if w.Pending != nil && w.Pending.At.Equal(told.At) && w.Pending.Kind == told.Kind {
			w.Pending = nil
		}
		return nil
	})
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.logger().ErrorContext(ctx, "watch cannot be written down", "watch", w.ID, "error", err)
	}
}

// finding is what a look brought.
type finding struct {
	seen    Seen
	scripts bool
	news    *Notice // nil if there are none
}

// assess looks at a page, a second time if something seems to be new.
func (r *Runner) assess(ctx context.Context, w Watch) (finding, error) {
	page, scripts, err := r.look(ctx, w)
	if err != nil {
		return finding{}, err
	}
	f := finding{seen: w.Seen, scripts: scripts}
	w.Scripts = scripts
	switch w.Kind {
	case Changes, Judged:
		return f, r.assessText(ctx, w, page, &f)
	case Below, Above, Contains, Lacks:
	}
	return f, r.assessState(ctx, w, page, &f)
}

// assessState is for conditions that hold or not at every look.
func (r *Runner) assessState(ctx context.Context, w Watch, page Look, f *finding) error {
	met, value, err := w.holds(lines(page.Text))
	if err != nil {
		return err
	}
	if met == w.Seen.Met {
		f.seen.Value = value
		return nil
	}
	if page, err = r.again(ctx, w); err != nil {
		return err
	}
	if met, value, err = w.holds(lines(page.Text)); err != nil {
		return err
	}
	f.seen.Met, f.seen.Value, f.seen.Title = met, value, clip(line(page.Title), 200)
	if !met || w.Seen.Met {
		return nil
	}
	text := "It is so: " + w.Words() + "."
	if value != "" {
		text = fmt.Sprintf("It is %s now; it was %s.", value, w.Seen.Value)
	}
	f.news = &Notice{Kind: Happened, Text: text, Title: f.seen.Title}
	return nil
}

// assessText is for conditions that need an earlier look.
func (r *Runner) assessText(ctx context.Context, w Watch, page Look, f *finding) error {
	part := beside(lines(page.Text), w.Near)
	if len(part) == 0 {
		return missing(w)
	}
	if compare(w.Seen.Lines, part, w.Seen.Noise).empty() {
		return nil
	}
	page, err := r.again(ctx, w)
	if err != nil {
		return err
	}
	settled := beside(lines(page.Text), w.Near)
	if len(settled) == 0 {
		return missing(w)
	}
	f.seen.Noise = noiseIn(w.Seen.Noise, w.Seen.Lines, part, settled)
	d := compare(w.Seen.Lines, settled, f.seen.Noise)
	if d.empty() {
		return nil
	}
	f.seen.Lines, f.seen.Title = settled, clip(line(page.Title), 200)
	text := "The page has changed."
	if w.Kind == Judged {
		v, err := r.judge(ctx, w, Question{Look: page, Added: d.added, Removed: d.removed})
		if err != nil {
			return err
		}
		f.seen.Met = v.Met
		if !v.Met || w.Seen.Met {
			return nil
		}
		text = clip(line(v.Why), 400)
	}
	f.news = &Notice{Kind: Happened, Text: text, Diff: d.shown(), Title: f.seen.Title}
	return nil
}

// judge asks the model, within its time.
func (r *Runner) judge(ctx context.Context, w Watch, q Question) (Verdict, error) {
	if r.Judge == nil {
		return Verdict{}, errors.New("no model is there to judge the condition")
	}
	limited, cancel := context.WithTimeoutCause(ctx, lookTime, fmt.Errorf("the model did not judge it within %s", lookTime))
	defer cancel()
	v, err := r.Judge(limited, w, q)
	return v, ended(limited, err)
}

// shown is a difference as people read it, in short.
func (d delta) shown() []string {
	var out []string
	add := func(mark string, list []string) {
		for _, l := range list[:min(len(list), shownDiff)] {
			out = append(out, mark+" "+clip(l, lineShown))
		}
		if n := len(list) - shownDiff; n > 0 {
			out = append(out, fmt.Sprintf("%s … and %d more", mark, n))
		}
	}
	add("-", d.removed)
	add("+", d.added)
	return slices.Clip(out)
}

// again reads the page once more after a while.
func (r *Runner) again(ctx context.Context, w Watch) (Look, error) {
	wait := r.Settle
	if wait == 0 {
		wait = settleTime
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return Look{}, context.Cause(ctx)
	case <-timer.C:
	}
	page, _, err := r.look(ctx, w)
	return page, err
}

// look reads the page, with a browser if it has to be. scripts says that it had.
func (r *Runner) look(ctx context.Context, w Watch) (page Look, scripts bool, err error) {
	select { // however many there are before it: that is no fault of the page
	case <-ctx.Done():
		return Look{}, false, context.Cause(ctx)
	case r.slots <- struct{}{}:
	}
	defer func() { <-r.slots }()
	ctx, cancel := context.WithTimeoutCause(ctx, lookTime, fmt.Errorf("it was not read within %s", lookTime))
	defer cancel()
	if !w.Scripts {
		if page, err = r.Read(ctx, w); err == nil || !errors.Is(err, ErrNeedsBrowser) {
			return page, false, ended(ctx, err)
		}
		if r.Browse == nil {
			return page, false, err
		}
	} else if r.Browse == nil {
		return page, true, ErrNeedsBrowser
	}
	page, err = r.Browse(ctx, w)
	if err == nil && strings.TrimSpace(page.Text) == "" {
		err = errors.New("the page shows no text")
	}
	return page, true, ended(ctx, err)
}

// ended is the cause of ctx where that is why something failed.
func ended(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
