package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"clank/internal/budget"
)

var _ budget.Ledger = (*DB)(nil)

const (
	amountColumns = "calls, steps, tokens, money, time, talk"
	entryColumns  = "at, day, task, session, guild, channel, user, purpose, model, state, " + amountColumns + ", unpriced"
	sumColumns    = "level, id, day, " + amountColumns + ", held_calls, held_steps, held_tokens, held_money, held_time, " +
		"held_talk, unpriced"
)

var (
	reserveSQL = insert("ledger", entryColumns)
	addUpSQL   = accumulate("ledger_sum", "level, day, id", sumColumns)
)

// insert returns a statement that inserts a row with these columns.
func insert(table, columns string) string {
	return "INSERT INTO " + table + " (" + columns + ") VALUES (?" + strings.Repeat(", ?", strings.Count(columns, ",")) +
		")"
}

// accumulate returns a statement that inserts a row or, if its key exists, adds the values to the columns after the
// three key columns.
func accumulate(table, key, columns string) string {
	names := strings.Split(columns, ", ")[3:]
	set := make([]string, 0, len(names))
	for _, n := range names {
		set = append(set, n+" = "+n+" + excluded."+n)
	}
	return insert(table, columns) + " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(set, ", ")
}

func amountFields(a *budget.Amount) []any {
	return []any{&a.Calls, &a.Steps, &a.Tokens, &a.Money, &a.Time, &a.Talk}
}

func keyFields(k *budget.Key) []any { return []any{&k.Level, &k.ID, &k.Day} }

func sumFields(s *budget.Sum) []any {
	return concatFields(keyFields(&s.Key), amountFields(&s.Amount), amountFields(&s.Held), []any{&s.Unpriced})
}

// entryRow is a ledger entry with the fields that are stored in another form.
type entryRow struct {
	budget.Entry
	at int64
}

func (r *entryRow) fields() []any {
	a := &r.Account
	return concatFields([]any{
		&r.at, &r.Day, &a.Task, &a.Session, &a.Guild, &a.Channel, &a.User, &a.Purpose, &r.Model,
		&r.State,
	},
		amountFields(&r.Amount), []any{&r.Unpriced})
}

// entry returns the entry that was read.
func (r *entryRow) entry() budget.Entry {
	r.At = fromMicros(r.at)
	return r.Entry
}

// Reserve implements [budget.Ledger].
func (db *DB) Reserve(ctx context.Context, e budget.Entry, may func([]budget.Sum) error) (id int64, err error) {
	e.State = budget.StateHeld
	err = db.write(ctx, "reserve in the ledger", func(tx *transaction) error {
		sums, err := readSums(ctx, tx, e.Keys())
		if err != nil {
			return err
		}
		if err := may(sums); err != nil {
			return &callerError{err}
		}
		row := entryRow{Entry: e, at: toMicros(e.At)}
		result, err := tx.ExecContext(ctx, reserveSQL, row.fields()...)
		if err != nil {
			return err
		}
		if id, err = result.LastInsertId(); err != nil {
			return err
		}
		return addUp(ctx, tx, e, budget.Sum{Amount: e.Amount, Held: e.Amount, Unpriced: unpricedCount(e.Unpriced)})
	})
	if no := (*callerError)(nil); errors.As(err, &no) {
		return 0, no.err
	}
	return id, err
}

// callerError marks an error of the caller's function.
type callerError struct{ err error }

func (r *callerError) Error() string { return r.err.Error() }

func unpricedCount(unpriced bool) int64 {
	if unpriced {
		return 1
	}
	return 0
}

// addUp adds d to each sum that e counts towards.
func addUp(ctx context.Context, tx *transaction, e budget.Entry, d budget.Sum) error {
	for _, key := range e.Keys() {
		d.Key = key
		if _, err := tx.ExecContext(ctx, addUpSQL, sumFields(&d)...); err != nil {
			return err
		}
	}
	return nil
}

// Settle implements [budget.Ledger].
func (db *DB) Settle(ctx context.Context, id int64, real budget.Amount, state budget.EntryState, unpriced bool) error {
	return db.write(ctx, fmt.Sprintf("settle entry %d of the ledger", id), func(tx *transaction) error {
		var row entryRow
		err := tx.QueryRowContext(ctx, "SELECT "+entryColumns+" FROM ledger WHERE id = ?", id).Scan(row.fields()...)
		if errors.Is(err, sql.ErrNoRows) {
			return budget.ErrNoEntry
		}
		if err != nil || row.State != budget.StateHeld {
			return err
		}
		e := row.entry()
		fields := concatFields(amountFields(&real), []any{&state, &unpriced, &id})
		_, err = tx.ExecContext(ctx, "UPDATE ledger SET calls = ?, steps = ?, tokens = ?, money = ?, time = ?, talk = ?, "+
			"state = ?, unpriced = ? WHERE id = ?",
			fields...)
		if err != nil {
			return err
		}
		return addUp(ctx, tx, e, budget.Sum{
			Amount: real.Sub(e.Amount), Held: budget.Amount{}.Sub(e.Amount),
			Unpriced: unpricedCount(unpriced) - unpricedCount(e.Unpriced),
		})
	})
}

// Abandon implements [budget.Ledger].
func (db *DB) Abandon(ctx context.Context) (entries int, err error) {
	err = db.write(ctx, "go through what is held in the ledger", func(tx *transaction) error {
		result, err := tx.ExecContext(ctx, "UPDATE ledger SET state = ? WHERE state = 'held'", budget.StateEstimated)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil || n == 0 {
			return err
		}
		entries = int(n)
		_, err = tx.ExecContext(ctx, "UPDATE ledger_sum SET held_calls = 0, held_steps = 0, held_tokens = 0, held_money = "+
			"0, held_time = 0, held_talk = 0")
		return err
	})
	return entries, err
}

// Forget implements [budget.Ledger].
func (db *DB) Forget(ctx context.Context, before string) error {
	return db.write(ctx, "forget old entries of the ledger", func(tx *transaction) error {
		statements := []string{
			"DELETE FROM ledger WHERE day < ? AND state <> 'held'",
			"DELETE FROM ledger_sum WHERE level IN ('user', 'guild') AND day < ?",
			"DELETE FROM ledger_sum WHERE level = 'task' AND id <> '' AND held_calls + held_steps + held_time = 0" +
				" AND id NOT IN (SELECT task FROM ledger WHERE day >= ?) AND id NOT IN (SELECT id FROM task)",
			"DELETE FROM ledger_sum WHERE level = 'session' AND id <> '' AND held_calls + held_steps + held_time = 0" +
				" AND id NOT IN (SELECT session FROM ledger WHERE day >= ?) AND id NOT IN (SELECT id FROM session)",
		}
		for _, s := range statements {
			if _, err := tx.ExecContext(ctx, s, before); err != nil {
				return err
			}
		}
		return nil
	})
}

// rowSource is a transaction or a connection pool.
type rowSource interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readSums(ctx context.Context, from rowSource, keys []budget.Key) ([]budget.Sum, error) {
	sums := make([]budget.Sum, len(keys))
	for i, k := range keys {
		row := from.QueryRowContext(ctx, "SELECT "+sumColumns+" FROM ledger_sum WHERE level = ? AND day = ? AND id = ?",
			k.Level, k.Day, k.ID)
		if err := row.Scan(sumFields(&sums[i])...); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		sums[i].Key = k
	}
	return sums, nil
}

// Sums implements [budget.Ledger].
func (db *DB) Sums(ctx context.Context, keys []budget.Key) ([]budget.Sum, error) {
	sums, err := db.snapshot(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the sums of the ledger: %w", db.explain(ctx, err))
	}
	return sums, nil
}

// snapshot returns consistent sums of keys.
func (db *DB) snapshot(ctx context.Context, keys []budget.Key) ([]budget.Sum, error) {
	tx, err := db.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	sums, err := readSums(ctx, tx, keys)
	return sums, errors.Join(err, tx.Rollback())
}

// All implements [budget.Ledger].
func (db *DB) All(ctx context.Context, level budget.Level, day string, limit int) ([]budget.Sum, error) {
	query := "SELECT " + sumColumns + " FROM ledger_sum WHERE level = ? AND (? = '' OR day = ?) ORDER BY day DESC, " +
		"money DESC, id LIMIT ?"
	return list(ctx, db, "list the sums of the ledger", func(scan func(...any) error) (s budget.Sum, err error) {
		err = scan(sumFields(&s)...)
		return s, err
	}, query, level, day, day, limit)
}

// People implements [budget.Ledger].
func (db *DB) People(ctx context.Context, guild, day string, limit int) ([]budget.Sum, error) {
	query := "SELECT user, day, sum(calls), sum(steps), sum(tokens), sum(money) AS spent, sum(time), sum(talk), " +
		"sum(unpriced) FROM ledger WHERE guild = ? AND day = ? GROUP BY user ORDER BY spent DESC, user LIMIT ?"
	return list(ctx, db, "list what people have spent", func(scan func(...any) error) (budget.Sum, error) {
		s := budget.Sum{Key: budget.Key{Level: budget.LevelUser}}
		err := scan(concatFields([]any{&s.Key.ID, &s.Key.Day}, amountFields(&s.Amount), []any{&s.Unpriced})...)
		return s, err
	}, query, guild, day, limit)
}

// costColumns are the columns by which costs can be grouped.
var costColumns = map[budget.CostKey]string{
	budget.CostByModel: "ledger.model", budget.CostByGuild: "ledger.guild", budget.CostByUser: "ledger.user",
	budget.CostByRuntime: "coalesce(task.runtime, '')",
}

// Costs implements [budget.Ledger].
func (db *DB) Costs(ctx context.Context, by budget.CostKey, since, user string) ([]budget.Cost, error) {
	query := "SELECT day, " + costColumns[by] + " AS what, sum(ledger.calls), sum(ledger.steps), sum(tokens), " +
		"sum(money), sum(time), sum(talk), sum(ledger.unpriced) FROM ledger LEFT JOIN task ON task.id = ledger.task" +
		" WHERE day >= ? AND ? IN ('', ledger.user) AND (ledger.calls > 0 OR money > 0)" +
		" GROUP BY day, what ORDER BY day, what"
	return list(ctx, db, "read what was spent", func(scan func(...any) error) (c budget.Cost, err error) {
		err = scan(concatFields([]any{&c.Day, &c.ID}, amountFields(&c.Amount), []any{&c.Unpriced})...)
		return c, err
	}, query, since, user)
}

// Calls implements [budget.Ledger].
func (db *DB) Calls(ctx context.Context, limit int) ([]budget.Entry, error) {
	query := "SELECT id, " + entryColumns + " FROM ledger WHERE calls > 0 ORDER BY id DESC LIMIT ?"
	return list(ctx, db, "list the last calls", func(scan func(...any) error) (budget.Entry, error) {
		var row entryRow
		err := scan(concatFields([]any{&row.ID}, row.fields())...)
		return row.entry(), err
	}, query, limit)
}
