package sqlite

import (
	"context"
	"database/sql"

	"clank/llm"
	"clank/sessions"
)

var saveStepSQL = upsert("step", "task, n", "task, "+stepColumns)

// SaveStep implements [sessions.StepStore].
func (db *DB) SaveStep(ctx context.Context, r sessions.TaskRecord, s sessions.Session, step sessions.Step, views int) error {
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
		_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO view VALUES (?, ?, ?, ?)", r.ID, step.N, step.View.MediaType, blob(step.View.Data))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM view WHERE task = ?1 AND n NOT IN (SELECT n FROM view WHERE task = ?1 ORDER BY n DESC LIMIT ?2)",
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
	}, "SELECT "+stepColumns+", (SELECT media_type FROM view WHERE view.task = step.task AND view.n = step.n) FROM step WHERE task = ? ORDER BY n", taskID)
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
