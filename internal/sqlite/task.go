package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"clank/llm"
	"clank/sessions"
)

var saveTaskSQL = upsert("task", "id", taskColumns+", process")

// SaveTask implements [sessions.TaskStore].
func (db *DB) SaveTask(ctx context.Context, r sessions.TaskRecord, s sessions.Session) error {
	return db.writeDurable(ctx, "save task", func(tx *transaction) error { return db.saveTask(ctx, tx, r, s) })
}

func (db *DB) saveTask(ctx context.Context, tx *transaction, r sessions.TaskRecord, s sessions.Session) error {
	if err := db.saveSession(ctx, tx, s); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, saveTaskSQL, append(newTaskRow(r).fields(), db.process.id)...); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM picture WHERE task = ?", r.ID); err != nil {
		return err
	}
	for i, p := range r.Images {
		if _, err := tx.ExecContext(ctx, "INSERT INTO picture VALUES (?, ?, ?, ?, ?)",
			r.ID, i, p.MediaType, blob(p.Data), p.Caption); err != nil {
			return err
		}
	}
	return nil
}

// blob returns data, or an empty value that is not NULL.
func blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// Task implements [sessions.TaskStore].
func (db *DB) Task(ctx context.Context, id string) (sessions.TaskRecord, error) {
	found, err := db.tasks(ctx, "read task", "WHERE id = ?", id)
	r, err := only(found, err, sessions.ErrNotFound)
	if err != nil {
		return r, err
	}
	r.Images, err = list(ctx, db, "read the pictures of a task", func(scan func(...any) error) (p llm.Image, err error) {
		err = scan(&p.MediaType, &p.Data, &p.Caption)
		return p, err
	}, "SELECT media_type, data, caption FROM picture WHERE task = ? ORDER BY n", id)
	return r, err
}

// Tasks implements [sessions.TaskStore].
func (db *DB) Tasks(ctx context.Context, q sessions.TaskQuery) ([]sessions.TaskRecord, error) {
	var w conditions
	w.is("session", q.Session)
	w.is("kind", string(q.Kind))
	w.is("guild", q.Guild)
	w.seenBy(q.SeenBy)
	w.is("channel", q.Channel)
	w.is("user", q.User)
	w.is("runtime", q.Runtime)
	w.is("model", q.Model)
	addIn(&w, "state", q.States)
	if q.MinUSD > 0 {
		w.and("usd >= ?", q.MinUSD)
	}
	if match := matchOf(q.Words); match != "" {
		// The unary plus keeps SQLite from using the id index, which would read all matching tasks before sorting.
		w.and("+id IN (SELECT task FROM history JOIN searchable ON searchable.id = history.rowid WHERE history MATCH ?)",
			match)
	}
	if !q.Since.IsZero() {
		w.and("asked >= ?", toMicros(q.Since))
	}
	if !q.Before.IsZero() {
		w.and("asked < ?", toMicros(q.Before))
	}
	return db.tasks(ctx, "list tasks", w.String()+" ORDER BY asked DESC, id LIMIT ?",
		append(w.args, cmp.Or(q.Limit, sessions.DefaultLimit))...)
}

func (db *DB) tasks(ctx context.Context, act, rest string, args ...any) ([]sessions.TaskRecord, error) {
	return list(ctx, db, act, func(scan func(...any) error) (sessions.TaskRecord, error) {
		var row taskRow
		err := scan(row.fields()...)
		return row.record(), err
	}, "SELECT "+taskColumns+" FROM task "+rest, args...)
}

const unfinishedStates = "state IN ('queued', 'running')"

// Recover implements [sessions.TaskStore].
func (db *DB) Recover(ctx context.Context, reason string, now time.Time) (tasks, parked int, err error) {
	err = db.write(ctx, "recover unfinished tasks", func(tx *transaction) error {
		left, err := db.deadOwners(ctx, tx)
		if err != nil {
			return err
		}
		tasks, parked = 0, 0
		for _, process := range left {
			n, err := rowsChanged(tx.ExecContext(ctx, "UPDATE task SET state = 'interrupted', reason = ?, ended = ? WHERE "+
				"process = ? AND "+unfinishedStates,
				reason, toMicros(now), process))
			if err != nil {
				return err
			}
			tasks += n
			n, err = rowsChanged(tx.ExecContext(ctx, "UPDATE session SET state = 'parked', shared = 0 WHERE process = ? AND "+
				"state IN ('idle', 'running')", process))
			if err != nil {
				return err
			}
			parked += n
		}
		return nil
	})
	return tasks, parked, err
}

// deadOwners returns the processes that have unfinished work but do not work on it: those that have ended, and this
// one, which has just started.
func (db *DB) deadOwners(ctx context.Context, tx *transaction) (left []string, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT process FROM task WHERE "+unfinishedStates+
		" UNION SELECT process FROM session WHERE state IN ('idle', 'running')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		if id == db.process.id || !isAlive(ctx, presenceFile(db.path, id)) {
			left = append(left, id)
		}
	}
	return left, rows.Err()
}

// rowsChanged returns the number of rows that a statement changed.
func rowsChanged(r sql.Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	return int(n), err
}

// Prune implements [sessions.TaskStore].
func (db *DB) Prune(ctx context.Context, before time.Time, keep, limit int) (n int, err error) {
	var old int64
	if !before.IsZero() {
		old = toMicros(before)
	}
	err = db.write(ctx, "prune", func(tx *transaction) error {
		var tooOld, all int
		row := tx.QueryRowContext(ctx, "SELECT count(*) FILTER (WHERE asked < ?), count(*) FROM task WHERE NOT "+
			unfinishedStates, old)
		if err := row.Scan(&tooOld, &all); err != nil {
			return err
		}
		over := 0
		if keep > 0 {
			over = all - keep
		}
		n, err = rowsChanged(tx.ExecContext(ctx, "DELETE FROM task WHERE id IN (SELECT id FROM task WHERE NOT "+
			unfinishedStates+
			" ORDER BY asked, id DESC LIMIT ?)", min(max(tooOld, over, 0), limit)))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM session WHERE id IN (SELECT id FROM session AS s WHERE state IN "+
			"('parked', 'closed') AND last_used < ? AND NOT EXISTS (SELECT 1 FROM task WHERE session = s.id) LIMIT ?)", old,
			limit)
		return err
	})
	if err != nil || n == 0 {
		return n, err
	}
	if _, err := db.writer.ExecContext(ctx, "PRAGMA incremental_vacuum(2000)"); err != nil {
		return n, db.explain(ctx, err)
	}
	return n, nil
}

var saveStepSQL = upsert("step", "task, n", "task, "+stepColumns)

// SaveStep implements [sessions.StepStore].
func (db *DB) SaveStep(ctx context.Context, r sessions.TaskRecord, s sessions.Session, step sessions.Step,
	views int,
) error {
	return db.write(ctx, "save step", func(tx *transaction) error {
		if err := db.saveTask(ctx, tx, r, s); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, saveStepSQL, append([]any{r.ID}, newStepRow(step).fields()...)...); err != nil {
			return err
		}
		if step.View == nil {
			return nil
		}
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO view VALUES (?, ?, ?, ?)", r.ID, step.N, step.View.MediaType,
			blob(step.View.Data))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM view WHERE task = ?1 AND n NOT IN (SELECT n FROM view WHERE task = ?1 "+
			"ORDER BY n DESC LIMIT ?2)",
			r.ID, max(views, 0))
		return err
	})
}

// Steps implements [sessions.StepStore].
func (db *DB) Steps(ctx context.Context, taskID string) ([]sessions.Step, error) {
	return list(ctx, db, "read steps", func(scan func(...any) error) (sessions.Step, error) {
		var row stepRow
		var view sql.NullString
		err := scan(append(row.fields(), &view)...)
		if view.Valid {
			row.View = &llm.Image{MediaType: view.String}
		}
		return row.step(), err
	}, "SELECT "+stepColumns+", (SELECT media_type FROM view WHERE view.task = step.task AND view.n = step.n) FROM step "+
		"WHERE task = ? ORDER BY n", taskID)
}

// View implements [sessions.StepStore].
func (db *DB) View(ctx context.Context, taskID string, n int) (v llm.Image, err error) {
	err = db.query(ctx, "read a view", func(scan func(...any) error) error { return scan(&v.MediaType, &v.Data) },
		"SELECT media_type, data FROM view WHERE task = ? AND n = ?", taskID, n)
	if err == nil && v.MediaType == "" {
		err = sessions.ErrNotFound
	}
	return v, err
}
