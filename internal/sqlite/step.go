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
func (db *DB) Steps(ctx context.Context, taskID string) (steps []sessions.Step, err error) {
	err = db.query(ctx, "read steps", func(scan func(...any) error) error {
		var row stepRow
		var view sql.NullString
		if err := scan(append(row.fields(), &view)...); err != nil {
			return err
		}
		if view.Valid {
			row.View = &llm.Image{MediaType: view.String}
		}
		steps = append(steps, row.step())
		return nil
	}, "SELECT "+stepColumns+", (SELECT media_type FROM view WHERE view.task = step.task AND view.n = step.n) FROM step WHERE task = ? ORDER BY n", taskID)
	return steps, err
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
