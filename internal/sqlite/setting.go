package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"clank/internal/settings"
	"clank/internal/telemetry"
	"clank/voice"
)

// LoadSettings implements [settings.Store].
func (db *DB) LoadSettings(ctx context.Context) (values map[string]json.RawMessage, version string, err error) {
	values = make(map[string]json.RawMessage)
	// A single statement, so that values and version belong together.
	err = db.query(ctx, "load settings", func(scan func(...any) error) error {
		var n int64
		var key, value sql.NullString
		if err := scan(&n, &key, &value); err != nil {
			return err
		}
		version = settingsVersion(n)
		if key.Valid {
			values[key.String] = storedJSON(value.String)
		}
		return nil
	}, "SELECT version, key, value FROM setting_version LEFT JOIN setting")
	return values, version, err
}

// storedJSON returns a stored value. Invalid JSON is replaced by a value that no setting accepts and that explains
// itself where it is shown.
func storedJSON(value string) json.RawMessage {
	if raw := json.RawMessage(value); json.Valid(raw) {
		return raw
	}
	raw, _ := json.Marshal(map[string]string{"damaged": value}) // strings always marshal
	return raw
}

// settingsVersion returns the version after a number of saves.
func settingsVersion(saves int64) string {
	if saves == 0 {
		return ""
	}
	return strconv.FormatInt(saves, 10)
}

// SaveSettings implements [settings.Store].
func (db *DB) SaveSettings(ctx context.Context, values map[string]json.RawMessage,
	expectVersion string,
) (version string, err error) {
	err = db.writeDurable(ctx, "save settings", func(tx *transaction) error {
		var saves int64
		if err := tx.QueryRowContext(ctx, "SELECT version FROM setting_version").Scan(&saves); err != nil {
			return err
		}
		if settingsVersion(saves) != expectVersion {
			return settings.ErrConflict
		}
		if err := auditSettings(ctx, tx, values); err != nil {
			return err
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

// auditSettings records a change of the operator's settings.
func auditSettings(ctx context.Context, tx *transaction, values map[string]json.RawMessage) error {
	before := make(map[string]json.RawMessage)
	rows, err := tx.QueryContext(ctx, "SELECT key, value FROM setting")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		before[key] = storedJSON(value)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return auditChanges(ctx, tx, "", before, values)
}

// auditChanges records a change of the operator's settings, or of a server's: by key the old and the new value; null
// is the default.
func auditChanges(ctx context.Context, tx *transaction, guild string, before, after map[string]json.RawMessage) error {
	type change struct {
		From json.RawMessage `json:"from"`
		To   json.RawMessage `json:"to"`
	}
	changes := make(map[string]change)
	for _, values := range []map[string]json.RawMessage{before, after} {
		for key := range values {
			if string(before[key]) != string(after[key]) {
				changes[key] = change{From: before[key], To: after[key]}
			}
		}
	}
	if len(changes) == 0 {
		return nil
	}
	data, err := json.Marshal(map[string]any{"changes": changes})
	if err != nil {
		return err
	}
	return addRecord(ctx, tx, telemetry.Record{At: time.Now(), Kind: telemetry.KindSettings, Guild: guild, Data: data})
}

// LoadGuildSettings implements [settings.GuildStore].
func (db *DB) LoadGuildSettings(ctx context.Context) (map[string]settings.GuildValues, error) {
	all := make(map[string]settings.GuildValues)
	err := db.query(ctx, "load the settings of servers", func(scan func(...any) error) error {
		var guild, data string
		var v settings.GuildValues
		if err := scan(&guild, &v.Version, &data); err != nil {
			return err
		}
		if err := json.Unmarshal([]byte(data), &v.Values); err != nil {
			return err
		}
		all[guild] = v
		return nil
	}, "SELECT guild, version, data FROM guild_settings")
	return all, err
}

// SaveGuildSettings implements [settings.GuildStore].
func (db *DB) SaveGuildSettings(ctx context.Context, guild string, v settings.GuildValues) error {
	data, err := json.Marshal(v.Values)
	if err != nil {
		return err
	}
	return db.write(ctx, "save the settings of a server", func(tx *transaction) error {
		if err := auditGuild(ctx, tx, guild, v.Values); err != nil {
			return err
		}
		const save = "INSERT INTO guild_settings VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET version = excluded.version, " +
			"data = excluded.data WHERE guild_settings.version = excluded.version - 1"
		done, err := tx.ExecContext(ctx, save, guild, v.Version, string(data))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return cmp.Or(err, settings.ErrConflict)
		}
		return nil
	})
}

// auditGuild records a change of a server's settings.
func auditGuild(ctx context.Context, tx *transaction, guild string, values map[string]json.RawMessage) error {
	var before map[string]json.RawMessage
	var data string
	err := tx.QueryRowContext(ctx, "SELECT data FROM guild_settings WHERE guild = ?", guild).Scan(&data)
	if err == nil {
		err = json.Unmarshal([]byte(data), &before)
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return auditChanges(ctx, tx, guild, before, values)
}

// DeleteGuildSettings implements [settings.GuildStore].
func (db *DB) DeleteGuildSettings(ctx context.Context, guild string) error {
	return db.write(ctx, "delete the settings of a server", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM guild_settings WHERE guild = ?", guild)
		return err
	})
}

// AddGuilds records that a bot account is on these servers.
func (db *DB) AddGuilds(ctx context.Context, account string, guilds []string) error {
	return db.write(ctx, "keep which servers clank is on", func(tx *transaction) error {
		for _, g := range guilds {
			if _, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO guild VALUES (?, ?)", account, g); err != nil {
				return err
			}
		}
		return nil
	})
}

// Guilds returns the servers recorded for a bot account.
func (db *DB) Guilds(ctx context.Context, account string) ([]string, error) {
	return list(ctx, db, "read which servers clank was on", func(scan func(...any) error) (guild string, err error) {
		return guild, scan(&guild)
	}, "SELECT guild FROM guild WHERE account = ?", account)
}

// RemoveGuild removes a server from all accounts.
func (db *DB) RemoveGuild(ctx context.Context, guild string) error {
	return db.write(ctx, "forget a server", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM guild WHERE guild = ?", guild)
		return err
	})
}

// ListOptedOut implements [voice.PrivacyStore].
func (db *DB) ListOptedOut(ctx context.Context) ([]voice.PrivacyKey, error) {
	return list(ctx, db, "read who is left out of calls", func(scan func(...any) error) (k voice.PrivacyKey, err error) {
		err = scan(&k.Guild, &k.User)
		return k, err
	}, "SELECT guild, user FROM left_out ORDER BY guild, user")
}

// SetOptedOut implements [voice.PrivacyStore].
func (db *DB) SetOptedOut(ctx context.Context, k voice.PrivacyKey, out bool) error {
	statement := "DELETE FROM left_out WHERE guild = ? AND user = ?"
	if out {
		statement = "INSERT INTO left_out VALUES (?, ?) ON CONFLICT DO NOTHING"
	}
	return db.write(ctx, "save who is left out of calls", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, statement, k.Guild, k.User)
		return err
	})
}

// CallsSince returns the calls that began since a time, oldest first.
func (db *DB) CallsSince(ctx context.Context, since time.Time) ([]voice.PastCall, error) {
	return list(ctx, db, "read when calls were begun", func(scan func(...any) error) (c voice.PastCall, err error) {
		var at int64
		err = scan(&at, &c.Guild, &c.User)
		c.At = fromMicros(at)
		return c, err
	}, "SELECT at, guild, user FROM calls_begun WHERE at >= ? ORDER BY at", toMicros(since))
}

// RecordCall records the start of a call, and deletes calls that began before keep.
func (db *DB) RecordCall(ctx context.Context, c voice.PastCall, keep time.Time) error {
	return db.write(ctx, "note that a call was begun", func(tx *transaction) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM calls_begun WHERE at < ?", toMicros(keep)); err != nil {
			return err
		}
		const insert = "INSERT INTO calls_begun (at, guild, user) VALUES (?, ?, ?)"
		_, err := tx.ExecContext(ctx, insert, toMicros(c.At), c.Guild, c.User)
		return err
	})
}

// SaveOpenMessage implements [bot.MessageStore].
func (db *DB) SaveOpenMessage(ctx context.Context, work string, data []byte) error {
	return db.write(ctx, "save where work is shown", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO open_messages VALUES (?, ?) ON CONFLICT DO UPDATE SET data = "+
			"excluded.data", work, data)
		return err
	})
}

// DeleteOpenMessage implements [bot.MessageStore].
func (db *DB) DeleteOpenMessage(ctx context.Context, work string) error {
	return db.write(ctx, "forget where work was shown", func(tx *transaction) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM open_messages WHERE work = ?", work)
		return err
	})
}

// OpenMessages implements [bot.MessageStore].
func (db *DB) OpenMessages(ctx context.Context) (map[string][]byte, error) {
	found := map[string][]byte{}
	err := db.query(ctx, "read where work was shown", func(scan func(...any) error) error {
		var work string
		var data []byte
		if err := scan(&work, &data); err != nil {
			return err
		}
		found[work] = data
		return nil
	}, "SELECT work, data FROM open_messages")
	return found, err
}
