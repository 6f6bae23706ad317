package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"

	"clank/internal/settings"
)

// LoadSettings implements [settings.Store].
func (db *DB) LoadSettings(ctx context.Context) (values map[string]json.RawMessage, version string, err error) {
	values = make(map[string]json.RawMessage)
	// One statement, so that values and version belong together.
	err = db.query(ctx, "load settings", func(scan func(...any) error) error {
		var n int64
		var key, value sql.NullString
		if err := scan(&n, &key, &value); err != nil {
			return err
		}
		version = settingsVersion(n)
		if key.Valid {
			values[key.String] = json.RawMessage(value.String)
		}
		return nil
	}, "SELECT version, key, value FROM setting_version LEFT JOIN setting")
	return values, version, err
}

// settingsVersion returns the version after so many saves.
func settingsVersion(saves int64) string {
	if saves == 0 {
		return ""
	}
	return strconv.FormatInt(saves, 10)
}

// SaveSettings implements [settings.Store].
func (db *DB) SaveSettings(ctx context.Context, values map[string]json.RawMessage, expectVersion string) (version string, err error) {
	err = db.write(ctx, "save settings", func(tx *transaction) error {
		var saves int64
		if err := tx.QueryRowContext(ctx, "SELECT version FROM setting_version").Scan(&saves); err != nil {
			return err
		}
		if settingsVersion(saves) != expectVersion {
			return settings.ErrConflict
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM setting"); err != nil {
			return err
		}
		for key, value := range values {
			if _, err := tx.ExecContext(ctx, "INSERT INTO setting VALUES (?, ?)", key, string(value)); err != nil {
				return err
			}
		}
		version = settingsVersion(saves + 1)
		_, err := tx.ExecContext(ctx, "UPDATE setting_version SET version = ?", saves+1)
		return err
	})
	if err != nil {
		return "", err
	}
	return version, nil
}
