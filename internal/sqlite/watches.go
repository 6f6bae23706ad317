package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"clank/internal/watches"
)

const watchColumns = "id, " + originColumns + ", url, what, condition, every, until, state, reason, created, next, " +
	"checked, told, failures, problem, scripts, seen, pending, last"

var (
	saveWatchSQL         = upsert("watch", "id", watchColumns)
	insertWatchSQL, _, _ = strings.Cut(saveWatchSQL, " ON CONFLICT ")
)

// watchRow is a watch with the fields that are stored in another form.
type watchRow struct {
	watches.Watch

	until, created, next, checked, notified int64
	condition, seen, pending, last          string
}

func (r *watchRow) fields() []any {
	return concatFields([]any{&r.ID}, originFields(&r.Origin), []any{
		&r.URL, &r.What, &r.condition, &r.Every, &r.until, &r.State, &r.Reason, &r.created, &r.next, &r.checked, &r.notified,
		&r.Failures, &r.Problem,
		&r.NeedsBrowser, &r.seen, &r.pending, &r.last,
	})
}

func newWatchRow(w watches.Watch) (*watchRow, error) {
	r := &watchRow{
		Watch: w, until: toMicros(w.Until), created: toMicros(w.Created), next: toMicros(w.NextCheck),
		checked: toMicros(w.CheckedAt), notified: toMicros(w.NotifiedAt),
	}
	for text, value := range map[*string]any{
		&r.condition: w.Condition, &r.seen: w.Seen, &r.pending: w.PendingNotice,
		&r.last: w.LastNotice,
	} {
		b, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		*text = string(b)
	}
	return r, nil
}

func (r *watchRow) watch() (watches.Watch, error) {
	r.Until, r.Created, r.NextCheck = fromMicros(r.until), fromMicros(r.created), fromMicros(r.next)
	r.CheckedAt, r.NotifiedAt = fromMicros(r.checked), fromMicros(r.notified)
	err := errors.Join(
		json.Unmarshal([]byte(r.condition), &r.Condition), json.Unmarshal([]byte(r.seen), &r.Seen),
		json.Unmarshal([]byte(r.pending), &r.PendingNotice),
		json.Unmarshal([]byte(r.last), &r.LastNotice))
	return r.Watch, err
}

// AddWatch implements [watches.Store].
func (db *DB) AddWatch(ctx context.Context, w watches.Watch, perOwner, total int) error {
	row, err := newWatchRow(w)
	if err != nil {
		return err
	}
	owner := watches.OwnerOf(w.Origin)
	return db.writeDurable(ctx, "add watch", func(tx *transaction) error {
		var own, all int
		err := tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(discord = ? AND user = ?), 0) FROM watch WHERE "+
			"state = ?",
			owner.Discord, owner.User, watches.StateActive).Scan(&all, &own)
		if err != nil {
			return err
		}
		if own >= perOwner || all >= total {
			return watches.ErrTooMany
		}
		_, err = tx.ExecContext(ctx, insertWatchSQL, row.fields()...)
		return err
	})
}

// Watch implements [watches.Store].
func (db *DB) Watch(ctx context.Context, id string) (watches.Watch, error) {
	found, err := db.watches(ctx, "read watch", "WHERE id = ?", id)
	return only(found, err, watches.ErrNotFound)
}

// Watches implements [watches.Store].
func (db *DB) Watches(ctx context.Context, q watches.Query) ([]watches.Watch, error) {
	var w conditions
	if q.Owner != nil {
		w.and("discord = ? AND user = ?", q.Owner.Discord, q.Owner.User)
	}
	w.is("guild", q.Guild)
	if q.Active {
		w.and("state = ?", watches.StateActive)
	}
	most := cmp.Or(q.Limit, watches.DefaultQueryLimit)
	return db.watches(ctx, "list watches", w.String()+" ORDER BY created DESC, rowid DESC LIMIT ?",
		append(w.args, most)...)
}

func (db *DB) watches(ctx context.Context, act, rest string, args ...any) ([]watches.Watch, error) {
	return list(ctx, db, act, func(scan func(...any) error) (watches.Watch, error) {
		var r watchRow
		if err := scan(r.fields()...); err != nil {
			return watches.Watch{}, err
		}
		return r.watch()
	}, "SELECT "+watchColumns+" FROM watch "+rest, args...)
}

// UpdateWatch implements [watches.Store].
func (db *DB) UpdateWatch(ctx context.Context, id string, change func(*watches.Watch) error) (watches.Watch, error) {
	var w watches.Watch
	var refused error
	err := db.write(ctx, "save watch", func(tx *transaction) error {
		var r watchRow
		err := tx.QueryRowContext(ctx, "SELECT "+watchColumns+" FROM watch WHERE id = ?", id).Scan(r.fields()...)
		if errors.Is(err, sql.ErrNoRows) {
			refused = watches.ErrNotFound
			return refused
		}
		if err != nil {
			return err
		}
		if w, err = r.watch(); err != nil {
			return err
		}
		if refused = change(&w); refused != nil {
			return refused
		}
		row, err := newWatchRow(w)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, saveWatchSQL, row.fields()...)
		return err
	})
	if refused != nil {
		return watches.Watch{}, refused
	}
	if err != nil {
		return watches.Watch{}, err
	}
	return w, nil
}

// PruneWatches implements [watches.Store].
func (db *DB) PruneWatches(ctx context.Context, before time.Time) (int, error) {
	var n int64
	err := db.write(ctx, "forget watches", func(tx *transaction) error {
		res, err := tx.ExecContext(ctx, "DELETE FROM watch WHERE state = ? AND created < ? AND checked < ?",
			watches.StateEnded, toMicros(before), toMicros(before))
		if err != nil {
			return err
		}
		n, err = res.RowsAffected()
		return err
	})
	return int(n), err
}
