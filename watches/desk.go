package watches

import (
	"context"
	"fmt"
	"time"

	"clank/cancel"
	"clank/sessions"
)

// Add begins a watch. Of w it takes Origin, URL, What, the Condition, Every and
// Until; zero values stand for the page's changes, every hour, for 30 days. The
// page is read once: what cannot be read is not watched. The watch that is
// returned says in Seen what there is now. Errors are [ErrInvalid],
// [ErrTooMany], and those of reading.
func (r *Runner) Add(ctx context.Context, w Watch) (Watch, error) {
	r.open()
	limits, now := r.Limits(), time.Now()
	if limits.PerOwner == 0 {
		return Watch{}, invalid("the settings allow no watches")
	}
	w = Watch{Origin: w.Origin, URL: w.URL, What: w.What, Condition: w.Condition, Every: w.Every, Until: w.Until, State: Active, Created: now}
	w, err := normal(w, limits.Least, now)
	if err != nil {
		return Watch{}, err
	}
	if w.Kind == Judged && r.Judge == nil {
		return Watch{}, invalid("no model is there to judge the condition; wait for a change, a number or a text instead")
	}
	if err := r.room(ctx, w, limits); err != nil {
		return Watch{}, err
	}
	w.ID = newID()
	if w, err = r.first(ctx, w); err != nil {
		return Watch{}, fmt.Errorf("watch %s: %w", clip(w.URL, 200), err)
	}
	w.Checked = time.Now()
	w.Next = w.Checked.Add(w.Every)
	if err := r.Store.AddWatch(ctx, w, limits.PerOwner, limits.total()); err != nil {
		return Watch{}, err
	}
	r.poke()
	return w, nil
}

// room says early what the store would say in the end.
func (r *Runner) room(ctx context.Context, w Watch, limits Limits) error {
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

func (l Limits) total() int {
	if l.Total == 0 {
		return defaultTotal
	}
	return l.Total
}

// first reads the page for the first time.
func (r *Runner) first(ctx context.Context, w Watch) (Watch, error) {
	page, scripts, err := r.look(ctx, w)
	if err != nil {
		return w, err
	}
	w.Scripts, w.Seen.Title = scripts, clip(line(page.Title), 200)
	all := lines(page.Text)
	if w.Seen.Met, w.Seen.Value, err = w.holds(all); err != nil {
		return w, err
	}
	switch w.Kind {
	case Changes, Judged:
		if w.Seen.Lines = beside(all, w.Near); len(w.Seen.Lines) == 0 {
			return w, missing(w)
		}
	case Below, Above, Contains, Lacks:
	}
	if w.Kind == Judged {
		v, err := r.judge(ctx, w, Question{Look: page, First: true})
		if err != nil {
			return w, err
		}
		w.Seen.Met = v.Met
	}
	return w, nil
}

func missing(w Watch) error {
	if w.Near == "" {
		return fmt.Errorf("there is no text on the page: %w", ErrNeedsBrowser)
	}
	return fmt.Errorf("the words %q are not on the page", w.Near)
}

// List returns watches, newest first.
func (r *Runner) List(ctx context.Context, q Query) ([]Watch, error) { return r.Store.Watches(ctx, q) }

// End ends a watch for good, if by, who asks from there, may do so (see
// [Watch.MayEnd]). Errors are [ErrNotFound], [ErrEnded] and [ErrForbidden].
func (r *Runner) End(ctx context.Context, id string, from sessions.Origin, by cancel.Actor) (Watch, error) {
	r.open()
	w, err := r.Store.UpdateWatch(ctx, id, func(w *Watch) error {
		if err := w.MayEnd(from, by); err != nil {
			return err
		}
		if w.State != Active {
			return ErrEnded
		}
		w.State, w.Reason, w.Pending = Ended, "ended by "+who(by), nil
		return nil
	})
	if err != nil {
		return Watch{}, err
	}
	r.poke()
	return w, nil
}

func who(by cancel.Actor) string {
	if by.Name == "" {
		return "a person"
	}
	return by.Name
}
