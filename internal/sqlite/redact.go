package sqlite

import (
	"context"
	"fmt"
	"time"

	"clank/sessions"
)

// emptyWait bounds waiting for readers of the write-ahead log.
const emptyWait = time.Second

// Redact implements [sessions.StepStore]. Replaced values are overwritten in the file (secure_delete), and the
// write-ahead log that still contains them is truncated.
func (db *DB) Redact(ctx context.Context, sessionID string, secrets sessions.Secrets) error {
	const act = "take a password out of what is stored"
	err := db.write(ctx, act, func(tx *transaction) error {
		list, err := rowsOf(ctx, tx, func(scan func(...any) error) (*sessionRow, error) {
			row := &sessionRow{}
			return row, scan(row.fields()...)
		}, "SELECT "+sessionColumns+" FROM session WHERE id = ?", sessionID)
		if err != nil || len(list) == 0 {
			return err
		}
		s := newSessionRow(secrets.MaskSession(list[0].session()))
		if _, err := tx.ExecContext(ctx, "UPDATE session SET title = ?, url = ?, memory = ?, others = ? WHERE id = ?",
			s.Title, s.URL, s.memory, s.others, sessionID); err != nil {
			return err
		}
		tasks, err := rowsOf(ctx, tx, func(scan func(...any) error) (*taskRow, error) {
			row := &taskRow{}
			return row, scan(row.fields()...)
		}, "SELECT "+taskColumns+" FROM task WHERE session = ?", sessionID)
		if err != nil {
			return err
		}
		for _, t := range tasks {
			r := newTaskRow(secrets.MaskTask(t.record()))
			if _, err := tx.ExecContext(ctx, "UPDATE task SET prompt = ?, answer = ?, reason = ?, files = ?, downloads = ? "+
				"WHERE id = ?",
				r.Prompt, r.Answer, r.Reason, r.files, r.downloads, r.ID); err != nil {
				return err
			}
			if err := redactSteps(ctx, tx, r.ID, secrets); err != nil {
				return err
			}
			if err := redactCaptions(ctx, tx, r.ID, secrets); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// A log that another process is reading is truncated by the next call, or by a later writer.
	waiting, cancel := context.WithTimeout(ctx, emptyWait)
	defer cancel()
	var busy, pages, moved int
	err = db.writer.QueryRowContext(waiting, "PRAGMA wal_checkpoint(truncate)").Scan(&busy, &pages, &moved)
	if err != nil && waiting.Err() == nil {
		return fmt.Errorf("%s: %w", act, db.explain(ctx, err))
	}
	return nil
}

func redactSteps(ctx context.Context, tx *transaction, task string, secrets sessions.Secrets) error {
	steps, err := rowsOf(ctx, tx, func(scan func(...any) error) (*stepRow, error) {
		row := &stepRow{}
		return row, scan(row.fields()...)
	}, "SELECT "+stepColumns+" FROM step WHERE task = ?", task)
	if err != nil {
		return err
	}
	for _, row := range steps {
		s := newStepRow(secrets.MaskStep(row.step()))
		_, err := tx.ExecContext(ctx, "UPDATE step SET input = ?, label = ?, text = ?, url = ?, title = ?,"+
			" limited_by = ? WHERE task = ? AND n = ?", s.input, s.Label, s.Text, s.URL, s.Title, s.Limit, task, s.N)
		if err != nil {
			return err
		}
	}
	return nil
}

func redactCaptions(ctx context.Context, tx *transaction, task string, secrets sessions.Secrets) error {
	captions, err := rowsOf(ctx, tx, func(scan func(...any) error) (caption string, err error) {
		return caption, scan(&caption)
	}, "SELECT caption FROM picture WHERE task = ? AND caption <> ''", task)
	for _, was := range captions {
		if is := secrets.Mask(was); is != was && err == nil {
			_, err = tx.ExecContext(ctx, "UPDATE picture SET caption = ? WHERE task = ? AND caption = ?", is, task, was)
		}
	}
	return err
}

// rowsOf returns the result of read for each row, within a transaction.
func rowsOf[T any](
	ctx context.Context, tx *transaction, read func(scan func(...any) error) (T, error), query string, args ...any,
) (all []T, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
