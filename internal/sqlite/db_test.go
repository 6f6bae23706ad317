package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/internal/test/sqlitetest"
	"clank/internal/watches"
	"clank/llm"
	"clank/sessions"
	"clank/voice"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path)
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, db.Close()) })
	return db
}

func openNew(t *testing.T) *sqlite.DB {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "clank.db"))
}

func TestTheDatabaseIsAStore(t *testing.T) {
	sessionstest.TestStore(t, func(t *testing.T) sessions.Store { t.Helper(); return openNew(t) })
	sqlitetest.TestWatches(t, func(t *testing.T) watches.Store { t.Helper(); return openNew(t) })
	sqlitetest.TestLedger(t, func(t *testing.T) budget.Ledger { t.Helper(); return openNew(t) })
}

func session(id string) sessions.Session {
	return sessions.Session{ID: id, State: sessions.SessionRunning, Created: noon, LastUsed: noon}
}

func task(id, session string, state sessions.TaskState) sessions.TaskRecord {
	return sessions.TaskRecord{Task: sessions.Task{ID: id, SessionID: session, Prompt: "p"}, State: state, Asked: noon}
}

func TestSavedDataSurvivesReopening(t *testing.T) {
	// A name with everything that a file name and a URL treat differently.
	path := filepath.Join(t.TempDir(), "a new folder", "näme?#%41[x]&.db")
	db := open(t, path)
	check.Must(t, db.SaveTask(t.Context(), task("t1", "s1", sessions.TaskDone), session("s1")))
	check.Must(t, db.Close())
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("the file is not where it was asked for: %v", err)
	}
	db = open(t, path)
	if got, err := db.Task(t.Context(), "t1"); err != nil || got.Prompt != "p" {
		t.Errorf("task = %+v, %v", got, err)
	}
}

func TestOnlyItsUserCanReadTheFileAndNothingElseIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	db := open(t, filepath.Join(dir, "clank.db"))
	check.Must(t, db.SaveSession(t.Context(), session("s1")))
	files, err := os.ReadDir(dir)
	check.Must(t, err)
	for _, f := range files {
		info, err := f.Info()
		check.Must(t, err)
		if got := info.Mode().Perm(); got&0o077 != 0 {
			t.Errorf("%s has mode %o", f.Name(), got)
		}
	}
	check.Must(t, db.Close())
	if files, err = os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "clank.db" {
		t.Errorf("left behind: %v, %v, want clank.db alone", files, err)
	}
}

// refused opens path and copies it, which must fail with all these words and change nothing.
func refused(t *testing.T, path string, words ...string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	db, err := sqlite.Open(t.Context(), path)
	if err == nil {
		db.Close()
		t.Fatal("it was opened")
	}
	words = append(words, filepath.Base(path))
	check.Contains(t, err.Error(), words...)
	_, err = sqlite.Snapshot(t.Context(), path, filepath.Join(t.TempDir(), "copy"))
	check.Fails(t, err, nil, words...)
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file was changed")
	}
}

func TestADamagedFileIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Run("something else", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "clank.db")
		check.Must(t, os.WriteFile(path, []byte(strings.Repeat("my diary\n", 1000)), 0o600))
		refused(t, path, "damaged or no database", "move it away")
	})
	t.Run("cut off", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "clank.db")
		db := open(t, path)
		for i := range 50 {
			check.Must(t, db.SaveSession(t.Context(), session(strconv.Itoa(i))))
		}
		check.Must(t, db.Close())
		check.Must(t, os.Truncate(path, 5000))
		refused(t, path, "damaged or no database", "move it away")
	})
	t.Run("overwritten in the middle", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "clank.db")
		db := open(t, path)
		check.Must(t, db.QuickCheck(t.Context()))
		check.Must(t, db.SaveSession(t.Context(), session("overwritten")))
		check.Must(t, db.Close())
		data, err := os.ReadFile(path)
		check.Must(t, err)
		copy(data[bytes.LastIndex(data, []byte("overwritten"))&^4095:], strings.Repeat("x", 4096))
		check.Must(t, os.WriteFile(path, data, 0o600))
		check.Fails(t, open(t, path).QuickCheck(t.Context()), nil, "damaged or no database", "clank restore --replace", path)
	})
}

func TestAForeignOrNewerDatabaseIsRefused(t *testing.T) {
	for pragma, words := range map[string][]string{
		"PRAGMA application_id = 0": {"another program"}, "PRAGMA user_version = 1000": {"newer version", "1000"},
	} {
		path := filepath.Join(t.TempDir(), "clank.db")
		db := open(t, path)
		check.Must(t, errors.Join(db.Exec(t.Context(), pragma), db.Close()))
		refused(t, path, words...)
	}
}

func TestAPlaceThatCannotBeWrittenIsNamed(t *testing.T) {
	t.Run("below a file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "file")
		check.Must(t, os.WriteFile(file, nil, 0o600))
		check.Fails(t, check.Err(sqlite.Open(t.Context(), filepath.Join(file, "clank.db"))), nil, file)
	})
	t.Run("in a folder that is read-only", func(t *testing.T) {
		dir := t.TempDir()
		check.Must(t, os.Chmod(dir, 0o500))
		check.ObeyModes(t)
		check.Fails(t, check.Err(sqlite.Open(t.Context(), filepath.Join(dir, "clank.db"))),
			nil, "cannot be written", "check who owns", "clank.db")
	})
}

func TestAWriteThatFailsSaysWhyAndLosesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db, other := open(t, path), open(t, path)
	check.Must(t, db.SaveTask(t.Context(), task("kept", "s1", sessions.TaskDone), session("s1")))
	check.Must(t, db.Exec(t.Context(), "PRAGMA busy_timeout = 1"))
	big := task("big", "s1", sessions.TaskDone)
	big.Answer = strings.Repeat("x", 1<<20)
	for _, tc := range []struct {
		want     string
		by       *sqlite.DB
		do, undo string
	}{
		{"free some space", db, "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000"}, // no more than there are
		{"another program has kept clank's database locked", other, "BEGIN IMMEDIATE", "ROLLBACK"},
	} {
		check.Must(t, tc.by.Exec(t.Context(), tc.do))
		err := db.SaveTask(t.Context(), big, session("s1"))
		if fault, ok := errors.AsType[*sessions.StoreError](err); !ok || !strings.Contains(fault.Text, tc.want) {
			t.Errorf("err = %v, want one that says %q", err, tc.want)
		}
		check.Must(t, tc.by.Exec(t.Context(), tc.undo))
	}
	check.Must(t, db.SaveTask(t.Context(), big, session("s1")))
	all, err := db.Tasks(t.Context(), sessions.TaskQuery{})
	if err != nil || len(all) != 2 {
		t.Errorf("tasks = %d, %v, want 2", len(all), err)
	}
}

func TestAFileThatIsRemovedOrReplacedIsWrittenNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	for _, replace := range []bool{false, true} {
		if replace {
			check.Must(t, os.WriteFile(path, nil, 0o600))
		} else {
			check.Must(t, os.Remove(path))
		}
		err := db.SaveTask(t.Context(), task("t", "s1", sessions.TaskDone), session("s1"))
		fault, ok := errors.AsType[*sessions.StoreError](err)
		if !ok || !strings.Contains(fault.Text, "removed or replaced while clank ran") {
			t.Errorf("replaced %t: %v", replace, err)
		}
		check.Fails(t, db.CheckWritable(t.Context()), nil, "removed or replaced")
	}
}

func TestAfterAFailedWriteItIsTriedWhetherOthersSucceed(t *testing.T) {
	db := openNew(t)
	check.Must(t, db.CheckWritable(t.Context()))
	for _, setting := range []string{"PRAGMA query_only = 1", "PRAGMA query_only = 0"} {
		check.Must(t, db.Exec(t.Context(), setting))
		err := db.SaveSession(t.Context(), session("s1"))
		if now := db.CheckWritable(t.Context()); (err == nil) != (now == nil) {
			t.Errorf("after %s: %v, although the last write ended with %v", setting, now, err)
		}
	}
}

func TestAWriterThatWaitsObeysItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	a, b := open(t, path), open(t, path)
	check.Must(t, a.Exec(t.Context(), "BEGIN IMMEDIATE"))
	cause := errors.New("enough")
	ctx, done := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer done()
	begun := time.Now()
	check.Fails(t, b.SaveSession(ctx, session("s1")), cause)
	if took := time.Since(begun); took > 10*time.Second { // a lock is waited for longer
		t.Errorf("it took %v, want about 50ms", took)
	}
	check.Must(t, a.Exec(t.Context(), "ROLLBACK"))
	check.Must(t, b.SaveSession(t.Context(), session("s1")))
}

func TestPruningGivesRoomBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	for i := range 20 {
		step := sessions.Step{
			N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, At: noon,
			View: &llm.Image{MediaType: "image/png", Data: make([]byte, 50_000)},
		}
		check.Must(t, db.SaveStep(t.Context(), task(strconv.Itoa(i), "s1", sessions.TaskDone), session("s1"), step, 1))
	}
	size := func() int64 {
		t.Helper()
		check.Must(t, db.Exec(t.Context(), "PRAGMA wal_checkpoint(truncate)"))
		info, err := os.Stat(path)
		check.Must(t, err)
		return info.Size()
	}
	before := size()
	if n, err := db.Prune(t.Context(), noon.Add(time.Hour), 0, 100); n != 20 || err != nil {
		t.Fatalf("pruned %d, %v, want 20", n, err)
	}
	if after := size(); after > before/4 {
		t.Errorf("the file has %d bytes, had %d", after, before)
	}
}

func TestWhatIsRedactedIsNowhereInTheFiles(t *testing.T) {
	const word = "Tr0ub4dor"
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	other := open(t, path) // what others have read does not keep it
	s, r := session("s1"), task("t1", "s1", sessions.TaskRunning)
	for n := range 30 {
		r.Prompt, s.Memory = "it is "+word, []byte(`"`+strings.Repeat(word+" ", 3000*(n%3))+`"`)
		step := sessions.Step{N: n + 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: word, At: noon}
		check.Must(t, db.SaveStep(t.Context(), r, s, step, 1))
	}
	check.Must(t, check.Err(other.Steps(t.Context(), "t1")))
	secrets, _ := sessions.Secrets{}.With(word)
	check.Must(t, db.Redact(t.Context(), "s1", secrets))
	files, err := filepath.Glob(path + "*")
	check.Must(t, err)
	for _, name := range files {
		data, err := os.ReadFile(name)
		check.Must(t, err)
		if n := strings.Count(strings.ToLower(string(data)), strings.ToLower(word)); n > 0 {
			t.Errorf("%s has it %d times", filepath.Base(name), n)
		}
	}
	if len(files) < 2 {
		t.Errorf("there is no log: %q", files)
	}
}

func TestWhatIsThereBeforeSearchIsFoundByIt(t *testing.T) {
	db := openNew(t)
	step := sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "open the shop", At: noon}
	for i, private := range []bool{false, true} {
		r := task(strconv.Itoa(i), "s1", sessions.TaskDone)
		r.Origin.Private = private
		check.Must(t, db.SaveStep(t.Context(), r, session("s1"), step, 1))
	}
	script, err := os.ReadFile("migrations/0015_search.sql")
	check.Must(t, err)
	check.Must(t, db.Exec(t.Context(), `DROP TRIGGER task_inserted; DROP TRIGGER task_updated; DROP TRIGGER step_updated;
		 DROP TABLE history; DROP TABLE searchable; DROP VIEW task_words;`+string(script)))
	for _, words := range []string{"shop", "p"} {
		if got, err := db.Tasks(t.Context(), sessions.TaskQuery{Words: words}); len(got) != 1 || err != nil {
			t.Errorf("%q finds %d tasks and %v, want one", words, len(got), err)
		}
	}
}

func TestCallStartsSurviveARestartForADay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, hours := range []int{-30, -20, -1} {
		at := now.Add(time.Duration(hours) * time.Hour)
		call := voice.PastCall{Guild: "g", User: "ada", At: at}
		check.Must(t, db.RecordCall(t.Context(), call, now.Add(-24*time.Hour)))
	}
	check.Must(t, db.Close())
	db = open(t, path)
	for _, tc := range []struct {
		since time.Time
		want  []int // hours before
	}{
		{now.Add(-48 * time.Hour), []int{20, 1}},
		{now.Add(-5 * time.Hour), []int{1}},
		{now, nil},
	} {
		all, err := db.CallsSince(t.Context(), tc.since)
		check.Must(t, err)
		var got []int
		for _, c := range all {
			if got = append(got, int(now.Sub(c.At).Hours())); c.Guild != "g" || c.User != "ada" {
				t.Errorf("a call of %q on %q", c.User, c.Guild)
			}
		}
		check.Diff(t, fmt.Sprintf("since %v", tc.since), got, tc.want)
	}
}

func TestWhoIsLeftOutIsKeptOverARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "clank.db")
	db := open(t, path)
	ada, bob, elsewhere := voice.PrivacyKey{Guild: "g", User: "ada"}, voice.PrivacyKey{Guild: "g", User: "bob"},
		voice.PrivacyKey{User: "ada"}
	for _, k := range []voice.PrivacyKey{bob, ada, elsewhere, ada} {
		check.Must(t, db.SetOptedOut(t.Context(), k, true))
	}
	for range 2 { // taking back what is not there is no error
		check.Must(t, db.SetOptedOut(t.Context(), bob, false))
	}
	check.Must(t, db.Close())
	got, err := open(t, path).ListOptedOut(t.Context())
	check.Must(t, err)
	check.Diff(t, "left out", got, []voice.PrivacyKey{elsewhere, ada})
}

func TestAStatementThatWasDoneOnceIsPrepared(t *testing.T) {
	db := openNew(t)
	if db.SavesSessionsPrepared() {
		t.Error("it is prepared before it was done")
	}
	for _, title := range []string{"first", "second", "third"} { // read, prepared, used
		check.Must(t, db.SaveSession(t.Context(), sessions.Session{ID: "s", Title: title, State: sessions.SessionIdle}))
		if got, err := db.Session(t.Context(), "s"); err != nil || got.Title != title || !db.SavesSessionsPrepared() {
			t.Errorf("saved %q, read %q, %v; prepared %v", title, got.Title, err, db.SavesSessionsPrepared())
		}
	}
}

func TestMoneySurvivesRestarts(t *testing.T) {
	sqlitetest.TestMoney(t, 4, func(t *testing.T) func() budget.Ledger {
		t.Helper()
		path := filepath.Join(t.TempDir(), "clank.db")
		var last *sqlite.DB
		return func() budget.Ledger {
			if last != nil {
				if err := last.Close(); err != nil {
					t.Error(err)
				}
			}
			last = open(t, path)
			return last
		}
	})
}

// BenchmarkLedger measures the overhead of the budget for every model call.
func BenchmarkLedger(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "clank.db"))
	check.Must(b, err)
	defer db.Close()
	e := budget.Entry{At: noon, Day: "2026-03-01", Amount: budget.Amount{Calls: 1, Money: 5}}
	e.Account.Task, e.Account.Session, e.Account.User, e.Account.Guild = "t", "s", "u", "g"
	for b.Loop() {
		id, err := db.Reserve(b.Context(), e, func([]budget.Sum) error { return nil })
		if err == nil {
			err = db.Settle(b.Context(), id, e.Amount, budget.StateSettled, false)
		}
		check.Must(b, err)
	}
}

// BenchmarkSaveStep measures the storage of a step, which happens twice per step.
func BenchmarkSaveStep(b *testing.B) {
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "clank.db"))
	check.Must(b, err)
	defer db.Close()
	step := sessions.Step{
		Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "click", At: noon,
		View: &llm.Image{MediaType: "image/jpeg", Data: make([]byte, 60_000)},
	}
	r, s := task("t", "s", sessions.TaskRunning), session("s")
	for b.Loop() {
		step.N++
		check.Must(b, db.SaveStep(b.Context(), r, s, step, 20))
	}
}

// TestMigrationsAreNumbered checks that no number is used twice, which would make the order random.
func TestMigrationsAreNumbered(t *testing.T) {
	names, err := sqlite.MigrationNames()
	check.Must(t, err)
	for i, name := range names {
		if want := fmt.Sprintf("migrations/%04d_", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s has not the number %d", name, i+1)
		}
	}
}
