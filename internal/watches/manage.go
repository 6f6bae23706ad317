package watches

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"clank/cancel"
	"clank/internal/untrusted"
	"clank/sessions"
)

// Add creates a watch from the Origin, URL, What, Condition, Every and Until of w; zero values mean any change of the
// page, every hour, for 30 days. It reads the page once, and fails if that is not possible. The returned watch
// contains the current state in Seen. Errors are [ErrInvalid], [ErrTooMany], and those of reading.
func (r *Runner) Add(ctx context.Context, w Watch) (Watch, error) {
	r.initOnce()
	limits, now := r.Host.Limits(), time.Now()
	if limits.PerOwner == 0 {
		return Watch{}, invalidWatch("the settings allow no watches")
	}
	w = Watch{
		Origin: w.Origin, URL: w.URL, What: w.What, Condition: w.Condition, Every: w.Every, Until: w.Until,
		State: StateActive, Created: now,
	}
	w, err := normalizeWatch(w, limits.MinInterval, now)
	if err != nil {
		return Watch{}, err
	}
	if err := r.checkOwnerLimit(ctx, w, limits); err != nil {
		return Watch{}, err
	}
	w.ID = "w" + sessions.RandomID(7)
	if w, err = r.firstCheck(ctx, w); err != nil {
		return Watch{}, err
	}
	w.CheckedAt = time.Now()
	w.NextCheck = w.CheckedAt.Add(w.Every)
	if err := r.Store.AddWatch(ctx, w, limits.PerOwner, cmp.Or(limits.Total, defaultTotal)); err != nil {
		return Watch{}, err
	}
	r.wakeRun()
	return w, nil
}

// checkOwnerLimit checks early what the store checks in the end.
func (r *Runner) checkOwnerLimit(ctx context.Context, w Watch, limits Limits) error {
	owner := OwnerOf(w.Origin)
	have, err := r.Store.Watches(ctx, Query{Owner: &owner, Active: true, Limit: limits.PerOwner})
	if err != nil {
		return err
	}
	if len(have) >= limits.PerOwner {
		return fmt.Errorf("%w: %d are allowed for each person; end one first", ErrTooMany, limits.PerOwner)
	}
	return nil
}

// firstCheck reads the page for the first time.
func (r *Runner) firstCheck(ctx context.Context, w Watch) (Watch, error) {
	page, scripts, err := r.readPage(ctx, w)
	if err != nil {
		return w, err
	}
	w.NeedsBrowser, w.Seen.Title = scripts, untrusted.ShortenLine(page.Title, 200)
	all := comparableLines(page.Text)
	if w.Seen.Met, w.Seen.Value, err = w.holds(all); err != nil {
		return w, err
	}
	switch w.Kind {
	case KindChanges, KindJudged:
		if w.Seen.Lines = linesNear(all, w.Near); len(w.Seen.Lines) == 0 {
			return w, missingCondition(w)
		}
	case KindBelow, KindAbove, KindContains, KindLacks:
	}
	if w.Kind == KindJudged {
		v, err := r.judge(ctx, w, JudgeQuestion{Reading: page, First: true})
		if err != nil {
			return w, err
		}
		w.Seen.Met = v.Met
	}
	return w, nil
}

func missingCondition(w Watch) error {
	if w.Near == "" {
		return fmt.Errorf("there is no text on the page: %w", ErrNeedsBrowser)
	}
	return fmt.Errorf("the words %q are not on the page", w.Near)
}

// List returns watches, newest first.
func (r *Runner) List(ctx context.Context, q Query) ([]Watch, error) { return r.Store.Watches(ctx, q) }

// End ends a watch for good, if the person at from may do so (see [Watch.MayEnd]); by is recorded as the reason.
// Errors are [ErrNotFound], [ErrAlreadyEnded] and [ErrForbidden].
func (r *Runner) End(ctx context.Context, id string, from sessions.Origin, by cancel.Actor) (Watch, error) {
	r.initOnce()
	w, err := r.Store.UpdateWatch(ctx, id, func(w *Watch) error {
		if err := w.MayEnd(from); err != nil {
			return err
		}
		if w.State != StateActive {
			return ErrAlreadyEnded
		}
		w.State, w.Reason, w.PendingNotice = StateEnded, "ended by "+cmp.Or(by.Name, "a person"), nil
		return nil
	})
	if err != nil {
		return Watch{}, err
	}
	r.wakeRun()
	return w, nil
}
