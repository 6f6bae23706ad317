package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Subject is the person or Discord server, by ID, whose data is exported or deleted. Exactly one field is set.
type Subject struct{ Person, Server string }

// tableRule describes what a table holds about people and servers. The conditions take the ID as ?1; an empty
// condition means that the table holds nothing about them.
type tableRule struct {
	table          string
	person, server string
	anonymize      string // assignments that anonymize the rows instead of deleting them
	keptForPerson  bool   // exported, but not deleted
}

// Conditions on data that belongs to a subject through another table: they select ids.
const (
	sessionsOfPerson = "SELECT id FROM session WHERE user = ?1"
	tasksOfPerson    = "SELECT id FROM task WHERE user = ?1 OR session IN (" + sessionsOfPerson + ")"
	namesOfPerson    = "SELECT user_name FROM session WHERE user = ?1 UNION SELECT user_name FROM task WHERE user = ?1" +
		" UNION SELECT user_name FROM watch WHERE user = ?1"
	tasksOfServer = "SELECT id FROM task WHERE guild = ?1 OR session IN (SELECT id FROM session WHERE guild = ?1)"

	// by the id, such as in a setting that was changed
	auditNames = "data GLOB '*[^0-9A-Za-z_-]' || ?1 || '[^0-9A-Za-z_-]*'"

	blankOrigin = "guild = CASE guild WHEN ?1 THEN '' ELSE guild END, user = ''"
)

func rowsOfTasks(table, column string) tableRule {
	in := column + " IN (%s)"
	return tableRule{table: table, person: fmt.Sprintf(in, tasksOfPerson), server: fmt.Sprintf(in, tasksOfServer)}
}

// tableRules covers every table of the current schema, in the order in which rows are deleted.
var tableRules = []tableRule{
	{
		table: "audit", server: "guild = ?1 OR " + auditNames,
		person: "user = ?1 OR task IN (" + tasksOfPerson + ") OR " + auditNames + " OR EXISTS (" +
			"SELECT 1 FROM (" + namesOfPerson + ") WHERE user_name <> '' AND (" +
			"ltrim(json_extract(data, '$.by'), '@') = user_name OR " +
			"instr(', ' || json_extract(data, '$.whose') || ', ', ', ' || user_name || ', ')))",
		// keep that something happened, and when
		anonymize: blankOrigin + ", channel = '', session = '', task = '', data = '{}'",
	},
	{
		table: "ledger", person: "user = ?1", server: "guild = ?1",
		anonymize: blankOrigin + ", channel = '', session = '', task = ''", // keep the amounts spent
	},
	{table: "ledger_sum", person: "level = 'user' AND id = ?1", server: "level = 'guild' AND id = ?1"},
	{table: "calls_begun", person: "user = ?1", server: "guild = ?1", anonymize: blankOrigin},
	{
		table: "open_messages", person: "json_extract(CAST(data AS TEXT), '$.user') = ?1",
		server: "?1 IN (json_extract(CAST(data AS TEXT), '$.guild'), " +
			"json_extract(CAST(data AS TEXT), '$.paused.origin.guild'))",
	},
	{table: "watch", person: "user = ?1", server: "guild = ?1"},
	rowsOfTasks("view", "task"), rowsOfTasks("picture", "task"), rowsOfTasks("step", "task"),
	rowsOfTasks("searchable", "task"),
	rowsOfTasks("task", "id"),
	{table: "session", person: "user = ?1", server: "guild = ?1"},
	// deleting the row would end the opt-out
	{table: "left_out", person: "user = ?1", server: "guild = ?1", keptForPerson: true},
	{table: "guild_settings", server: "guild = ?1"},
	{table: "guild", server: "guild = ?1"},
	{table: "setting"}, // belongs to the operator
	{table: "setting_version"},
	{table: "history"}, // index of searchable, updated with it
}

// condition returns the condition for the subject's rows, and the subject's ID.
func (r tableRule) condition(s Subject) (where, id string) {
	if s.Person != "" {
		return r.person, s.Person
	}
	return r.server, s.Server
}

// Export returns the rows about a subject by table, as values by column. Images are passed to file under the names
// used in the rows.
func (db *DB) Export(ctx context.Context, s Subject,
	file func(name string, data []byte) error,
) (map[string][]map[string]any, error) {
	all := map[string][]map[string]any{}
	for _, r := range tableRules {
		where, id := r.condition(s)
		if where == "" || r.table == "searchable" { // contains words of tasks
			continue
		}
		rows, err := db.export(ctx, r.table, where, id, file)
		if err != nil {
			return nil, fmt.Errorf("export from %s: %w", r.table, db.explain(ctx, err))
		}
		all[r.table] = rows
	}
	return all, nil
}

func (db *DB) export(ctx context.Context, table, where, id string,
	file func(string, []byte) error,
) ([]map[string]any, error) {
	rows, err := db.readers.QueryContext(ctx, "SELECT * FROM "+table+" WHERE "+where, id) //nolint:gosec // from tableRules
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	list := []map[string]any{}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c] = exportedValue(values[i])
		}
		if kind, is := row["media_type"].(string); is {
			name := fmt.Sprintf("%s/%v-%v.%s", table, row["task"], row["n"], path.Base(kind))
			data, _ := values[slices.Index(columns, "data")].([]byte) // only tables with blobs have a column "data"
			if err := file(name, data); err != nil {
				return nil, err
			}
			row["data"] = name
		}
		list = append(list, row)
	}
	return list, rows.Err()
}

// exportedValue returns a value; JSON stored as text or blob becomes JSON.
func exportedValue(v any) any {
	text, is := v.(string)
	if data, blob := v.([]byte); blob {
		text, is = string(data), true
	}
	if is && (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return v
}

// Erase deletes the data about a subject and overwrites it in the file; nobody else may use the database meanwhile.
// It returns the number of rows deleted or anonymized in each table.
func (db *DB) Erase(ctx context.Context, s Subject) (gone map[string]int, err error) {
	gone = map[string]int{}
	err = db.write(ctx, "forget what is kept of "+s.Person+s.Server, func(tx *transaction) error {
		if s.Person != "" { // a model's memory of other people's sessions may contain their words
			_, err := tx.Tx.ExecContext(ctx, "UPDATE session SET memory = NULL, others = NULL, title = '', url = ''"+
				" WHERE user <> ?1 AND id IN (SELECT session FROM task WHERE user = ?1)", s.Person)
			if err != nil {
				return err
			}
		}
		for _, r := range tableRules {
			where, id := r.condition(s)
			if where == "" || r.keptForPerson && s.Person != "" {
				continue
			}
			statement := "DELETE FROM " + r.table + " WHERE "
			if r.anonymize != "" {
				statement = "UPDATE " + r.table + " SET " + r.anonymize + " WHERE "
			}
			n, err := rowsChanged(tx.Tx.ExecContext(ctx, statement+where, id))
			if err != nil {
				return fmt.Errorf("%s: %w", r.table, err)
			}
			if n > 0 {
				gone[r.table] = n
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, statement := range []string{
		"INSERT INTO history (history) VALUES ('rebuild')", "VACUUM",
		"PRAGMA wal_checkpoint(truncate)",
	} {
		if _, err := db.writer.ExecContext(ctx, statement); err != nil {
			return gone, fmt.Errorf("overwrite what was forgotten: %w", db.explain(ctx, err))
		}
	}
	return gone, nil
}

// Person is a known person, with a name that they have used.
type Person struct{ ID, Name string }

// FindPeople returns the people with an ID, or who have used a name.
func (db *DB) FindPeople(ctx context.Context, idOrName string) ([]Person, error) {
	const known = "SELECT user, user_name FROM session UNION SELECT user, user_name FROM task UNION SELECT user, " +
		"user_name FROM watch"
	return list(ctx, db, "look for people", func(scan func(...any) error) (p Person, err error) {
		return p, scan(&p.ID, &p.Name)
	}, "SELECT user, user_name FROM ("+known+") WHERE user <> '' AND (user = ?1 OR lower(user_name) = lower(?1)) "+
		"ORDER BY 1, 2", idOrName)
}

// SettingsNaming returns the keys of settings whose texts contain an ID as a word, in the forms of [access.ParseIDs]
// and [access.ParseGrants].
func (db *DB) SettingsNaming(ctx context.Context, id string) (keys []string, err error) {
	found := regexp.MustCompile(`(^|[\s,:@#&!])` + regexp.QuoteMeta(id) + `($|[\s,>])`)
	return keys, db.query(ctx, "look into the settings", func(scan func(...any) error) error {
		var key string
		var value []byte
		if err := scan(&key, &value); err != nil {
			return err
		}
		var text string // IDs are in texts alone
		if json.Unmarshal(value, &text) == nil && found.MatchString(text) {
			keys = append(keys, key)
		}
		return nil
	}, "SELECT key, value FROM setting WHERE instr(value, ?1) ORDER BY key", id)
}
