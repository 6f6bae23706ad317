package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"clank/internal/budget"
)

// rowSource is a transaction, or a pool of connections.
type rowSource interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readSums(ctx context.Context, from rowSource, keys []budget.Key) ([]budget.Sum, error) {
	sums := make([]budget.Sum, len(keys))
	for i, k := range keys {
		row := from.QueryRowContext(ctx, "SELECT "+sumColumns+" FROM ledger_sum WHERE level = ? AND day = ? AND id = ?", k.Level, k.Day, k.ID)
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

// snapshot returns the sums of keys as they were at one moment.
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
	query := "SELECT " + sumColumns + " FROM ledger_sum WHERE level = ? AND (? = '' OR day = ?) ORDER BY day DESC, money DESC, id LIMIT ?"
	return list(ctx, db, "list the sums of the ledger", func(scan func(...any) error) (s budget.Sum, err error) {
		err = scan(sumFields(&s)...)
		return s, err
	}, query, level, day, day, limit)
}

// People implements [budget.Ledger].
func (db *DB) People(ctx context.Context, guild, day string, limit int) ([]budget.Sum, error) {
	query := "SELECT user, day, sum(calls), sum(steps), sum(tokens), sum(money) AS spent, sum(time), sum(unpriced)" +
		" FROM ledger WHERE guild = ? AND day = ? GROUP BY user ORDER BY spent DESC, user LIMIT ?"
	return list(ctx, db, "list what people have spent", func(scan func(...any) error) (budget.Sum, error) {
		s := budget.Sum{Key: budget.Key{Level: budget.LevelUser}}
		err := scan(concatFields([]any{&s.Key.ID, &s.Key.Day}, amountFields(&s.Amount), []any{&s.Unpriced})...)
		return s, err
	}, query, guild, day, limit)
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
