package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// fixtureRows returns the statements of testdata/rows.sql by the number of their migration.
func fixtureRows(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/rows.sql")
	check.Must(t, err)
	rows := map[string]string{}
	mark := regexp.MustCompile(`(?m)^-- (\d{4})$`)
	at := mark.FindAllSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		rows[string(text[m[2]:m[3]])] = string(text[m[1]:end])
	}
	return rows
}

// oldDatabase makes a database as the version with the first n migrations has left it, with rows of its time.
func oldDatabase(t *testing.T, path string, n int) {
	t.Helper()
	names, err := sqlite.MigrationNames()
	check.Must(t, err)
	rows := fixtureRows(t)
	db, err := sql.Open("sqlite", path)
	check.Must(t, err)
	for _, name := range names[:n] {
		script, err := os.ReadFile(name)
		check.Must(t, err)
		if _, err := db.ExecContext(t.Context(), string(script)+rows[filepath.Base(name)[:4]]); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	_, err = db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = 0x636c6e6b", n))
	check.Must(t, errors.Join(err, db.Close()))
}

// separator is between the columns of a row.
const separator = "\x01"

// tables returns the rows of each table, as texts of their values by column.
func tables(t *testing.T, path string) map[string][]string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	check.Must(t, err)
	defer db.Close()
	all := map[string][]string{}
	for _, name := range column(t, db, "SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main' AND "+
		"name NOT LIKE 'sqlite_%'") {
		all[name] = []string{}
		columns := column(t, db, "SELECT name FROM pragma_table_info('"+name+"')")
		values := make([]string, len(columns))
		for i, c := range columns {
			values[i] = fmt.Sprintf(`'%s=' || quote("%[1]s")`, c)
		}
		all[name] = append(all[name], column(t, db, "SELECT "+strings.Join(values, "||char(1)||")+" FROM "+name)...)
		slices.Sort(all[name])
	}
	return all
}

// column returns the values of the only column of a query.
func column(t *testing.T, db *sql.DB, query string) (values []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	check.Must(t, err)
	defer rows.Close()
	for rows.Next() {
		var v string
		check.Must(t, rows.Scan(&v))
		values = append(values, v)
	}
	check.Must(t, rows.Err())
	return values
}

func TestADatabaseOfEachVersionIsBroughtUpToDateWithItsRows(t *testing.T) {
	t.Parallel()
	names, err := sqlite.MigrationNames()
	check.Must(t, err)
	for n := 1; n <= len(names); n++ {
		t.Run(filepath.Base(names[n-1]), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "clank.db")
			oldDatabase(t, path, n)
			before := tables(t, path)
			db, err := sqlite.Open(t.Context(), path)
			check.Must(t, err)
			if got, err := db.Task(t.Context(), "canary-t1"); err != nil || got.Answer != "canary answer" ||
				len(got.Images) != 1 {
				t.Errorf("task = %+v, %v", got, err)
			}
			if got, err := db.Tasks(t.Context(), sessions.TaskQuery{Words: "weather"}); err != nil || len(got) != 1 ||
				got[0].ID != "t2" {
				t.Errorf("a search finds %v, %v", got, err)
			}
			check.Must(t, db.Close())
			check.Must(t, check.Err(sqlite.Check(t.Context(), path)))
			after := tables(t, path)
			for table, rows := range before {
				for i, row := range rows {
					if len(after[table]) != len(rows) || !containsAll(after[table][i], strings.Split(row, separator)) {
						t.Errorf("%s had\n%s\nand has\n%s", table, row, strings.Join(after[table], "\n"))
					}
				}
			}
		})
	}
}

func containsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// isOfIndex reports whether a table is one of the index, which belongs to another.
func isOfIndex(table string) bool { return strings.HasPrefix(table, "history_") }

// impersonal are the columns of texts that tell nothing of people: kinds and states, days, models, processes.
var impersonal = regexp.MustCompile(`^(kind|runtime|state|process|model|phase|tool|limited_by|media_type|profile|purpose|day|` +
	`level|account)$`)

func TestEachTableSaysWhatItHoldsOfPeople(t *testing.T) {
	t.Parallel()
	names, err := sqlite.MigrationNames()
	check.Must(t, err)
	path := filepath.Join(t.TempDir(), "clank.db")
	oldDatabase(t, path, len(names))
	check.Must(t, open(t, path).Close())
	for table, rows := range tables(t, path) {
		if isOfIndex(table) {
			continue
		}
		if !slices.Contains(sqlite.RuledTables(), table) {
			t.Errorf("table %s has no rule: say in tableRules what is exported and deleted of a person and a server", table)
		}
		if strings.Contains(table, "setting") || table == "history" {
			continue // of the operator or a server's managers, and an index
		}
		tells := map[string]bool{} // of the canary, by column of texts
		for _, row := range rows {
			for value := range strings.SplitSeq(row, separator) {
				if column, text, _ := strings.Cut(value, "="); strings.HasPrefix(text, "'") || strings.HasPrefix(text, "X'") {
					tells[column] = tells[column] || ofCanary.MatchString(text)
				}
			}
		}
		for column, does := range tells {
			if !does && !impersonal.MatchString(column) {
				t.Errorf("%s.%s holds nothing of the canary: put something into testdata/rows.sql, so that it is forgotten", table,
					column)
			}
		}
	}
}

// ofCanary matches rows with something of the canary, in blobs too, or of a session where they have been.
var ofCanary = regexp.MustCompile(`(?i)canary|63616E617279|'s3'`)

func TestWhoIsForgottenIsNowhereInTheFilesAndOthersAreAsTheyWere(t *testing.T) {
	t.Parallel()
	names, err := sqlite.MigrationNames()
	check.Must(t, err)
	for name, tt := range map[string]struct {
		subject sqlite.Subject
		gone    string
		allowed []string // where it is all the same
		keeps   []string // tables with as many rows as before, which tell nobody
	}{
		"person": {
			sqlite.Subject{Person: "canary-user"},
			"canary",
			[]string{"canary-guildcanary-user", "canary-guild"},
			[]string{"audit", "ledger", "calls_begun", "left_out"},
		},
		"server": {sqlite.Subject{Server: "canary-guild"}, "canary-guild", nil, []string{"audit", "ledger", "calls_begun"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "clank.db")
			oldDatabase(t, path, len(names))
			check.Must(t, open(t, path).Close())
			before := tables(t, path)
			db := open(t, path)
			check.Must(t, check.Err(db.Erase(t.Context(), tt.subject)))
			for _, file := range []string{path, path + "-wal"} {
				data, err := os.ReadFile(file)
				check.Must(t, err)
				data = bytes.ToLower(data)
				for _, allowed := range tt.allowed { // that they are not heard in calls
					data = bytes.ReplaceAll(data, []byte(allowed), nil)
				}
				if at := bytes.Index(data, []byte(tt.gone)); at >= 0 {
					t.Errorf("%s has %q", filepath.Base(file), data[max(0, at-60):min(len(data), at+60)])
				}
			}
			check.Must(t, db.Close())
			after := tables(t, path)
			for table, rows := range before {
				for _, row := range rows {
					if !ofCanary.MatchString(row) && !isOfIndex(table) && !slices.Contains(after[table], row) {
						t.Errorf("%s has lost %s", table, row)
					}
				}
				if slices.Contains(tt.keeps, table) && len(after[table]) != len(rows) {
					t.Errorf("%s has %v, want as many rows as before", table, after[table])
				}
			}
			check.Must(t, check.Err(open(t, path).Session(t.Context(), "s2"))) // somebody else's session
		})
	}
}

func TestOldRowsAreDeletedFromAllGrowingTables(t *testing.T) {
	t.Parallel()
	names, err := sqlite.MigrationNames()
	check.Must(t, err)
	path := filepath.Join(t.TempDir(), "clank.db")
	oldDatabase(t, path, len(names))
	db := open(t, path)
	later := noon.AddDate(1, 0, 0)
	for range 2 { // a session goes after its last task
		check.Must(t, check.Err(db.Prune(t.Context(), later, 0, 100)))
	}
	check.Must(t, errors.Join(
		db.PruneRecords(t.Context(), later), check.Err(db.PruneWatches(t.Context(), later)),
		db.Forget(t.Context(), "2027-01-01"),
		db.Close()))
	left := map[string]int{}
	for table, rows := range tables(t, path) {
		if len(rows) > 0 && !isOfIndex(table) {
			left[table] = len(rows)
		}
	}
	// A watch that goes on stays, as do settings, what somebody has chosen, and what is corrected at the next start.
	want := map[string]int{
		"guild": 2, "guild_settings": 2, "left_out": 2, "open_messages": 3, "setting": 1, "setting_version": 1, "watch": 1,
	}
	check.Diff(t, "rows", left, want)
}

func TestTheDataOfAPersonIsExported(t *testing.T) {
	t.Parallel()
	names, err := sqlite.MigrationNames()
	check.Must(t, err)
	path := filepath.Join(t.TempDir(), "clank.db")
	oldDatabase(t, path, len(names))
	db := open(t, path)
	files := map[string]string{}
	got, err := db.Export(t.Context(), sqlite.Subject{Person: "canary-user"}, func(name string, data []byte) error {
		files[name] = string(data)
		return nil
	})
	check.Must(t, err)
	counts := map[string]int{}
	for table, rows := range got {
		counts[table] = len(rows)
	}
	want := map[string]int{
		"audit": 6, "ledger": 1, "ledger_sum": 1, "calls_begun": 1, "open_messages": 1, "watch": 1, "view": 1, "picture": 1,
		"step": 1,
		"task": 2, "session": 1, "left_out": 1,
	}
	check.Diff(t, "rows", counts, want)
	check.Diff(t, "files", slices.Sorted(maps.Keys(files)), []string{"picture/canary-t1-0.png", "view/canary-t1-1.jpeg"})
	people, err := db.FindPeople(t.Context(), "canary")
	if diff := cmp.Diff([]sqlite.Person{{ID: "canary-user", Name: "Canary"}}, people); err != nil || diff != "" {
		t.Errorf("found %v (-want +got):\n%s", err, diff)
	}
}
