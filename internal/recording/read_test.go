package recording_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

const begin = `{"kind":"begin","at":"2026-11-21T10:00:00Z","begin":{"format":1,"task":{"id":"t1","prompt":"x"},"runtime":"r","session":"s"}}` + "\n"

// recorded returns the directory of a small run.
func recorded(tb testing.TB) string {
	tb.Helper()
	rec := &recording.Recorder{Dir: tb.TempDir()}
	m := &script{replies: []llm.Reply{
		use("browser_open", `{"url":"http://shop.test/"}`),
		use("browser_screenshot", `{"show":true}`), say("Lamps."),
	}}
	check.Must(tb, work(tb, agent(rec, m), "t1", "look for lamps"))
	return filepath.Join(rec.Dir, "t1")
}

// exported returns the same run as a zip.
func exported(tb testing.TB, dir string) []byte {
	tb.Helper()
	var b bytes.Buffer
	check.Must(tb, recording.ExportRun(&b, dir))
	return b.Bytes()
}

// file writes data to a file and returns its name.
func file(tb testing.TB, data []byte) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "run.zip")
	check.Must(tb, os.WriteFile(name, data, 0o600))
	return name
}

// zipped returns a zip with these files.
func zipped(tb testing.TB, files ...string) []byte {
	tb.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		// packing takes long under the race detector
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: zip.Store})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		check.Must(tb, err)
	}
	check.Must(tb, z.Close())
	return b.Bytes()
}

func TestExportReadsAsTheDirectoryDoes(t *testing.T) {
	t.Parallel()
	dir := recorded(t)
	whole := exported(t, dir)
	b, z := open(t, dir), open(t, file(t, whole))
	equal(t, "entries", b.Entries, z.Entries)
	steps := z.Steps()
	_, name, _ := strings.Cut(steps[len(steps)-1].Images[0].MediaType, ";file=")
	files, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	check.Must(t, err)
	if data, err := fs.ReadFile(files, "pictures/"+name); err != nil || !bytes.Equal(data, screen) {
		t.Errorf("picture %q: %v", data, err)
	}
}

func TestInvalidRunsAreRefused(t *testing.T) {
	t.Parallel()
	whole := exported(t, recorded(t))
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"cut off":             {whole[:len(whole)/2], "whole zip"},
		"no zip":              {[]byte("hello"), "whole zip"},
		"a name that climbs":  {zipped(t, "run.jsonl", begin, "../../etc/passwd", "x"), "no part of a run"},
		"an absolute name":    {zipped(t, "run.jsonl", begin, "/etc/passwd", "x"), "no part of a run"},
		"a picture that runs": {zipped(t, "run.jsonl", begin, "pictures/a.sh", "x"), "no part of a run"},
		"a name twice":        {zipped(t, "run.jsonl", begin, "run.jsonl", begin), "no part of a run"},
		"something else":      {zipped(t, "pictures/"+strings.Repeat("a", 32)+".png", "x"), "no run"},
		"a bomb":              {zipped(t, "run.jsonl", strings.Repeat("\n", 49<<20)), "larger than"},
		"empty":               {zipped(t, "run.jsonl", ""), "nothing was recorded"},
		"garbage":             {zipped(t, "run.jsonl", begin+"{]\n"), "line 2"},
		"another beginning":   {zipped(t, "run.jsonl", `{"kind":"step","step":{}}`+"\n"), "does not begin"},
		"a later format":      {zipped(t, "run.jsonl", strings.Replace(begin, `"format":1`, `"format":2`, 1)), "format is 2"},
		"a missing message":   {zipped(t, "run.jsonl", begin+`{"kind":"call","call":{"messages":[0]}}`+"\n"), "no message 0"},
		"an empty step":       {zipped(t, "run.jsonl", begin+`{"kind":"step"}`+"\n"), "says nothing"},
	} {
		_, err := recording.OpenRecording(file(t, c.data))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	check.Fails(t, check.Err(recording.OpenRecording(filepath.Join(t.TempDir(), "none"))), recording.ErrRunNotFound)
}

func TestRunThatCrashedIsReadAsFarAsItCame(t *testing.T) {
	t.Parallel()
	dir := recorded(t)
	name := filepath.Join(dir, "run.jsonl")
	raw, err := os.ReadFile(name)
	check.Must(t, err)
	all := open(t, dir).Entries
	for cut := len(begin) * 3; cut < len(raw); cut += 997 {
		check.Must(t, os.WriteFile(name, raw[:cut], 0o600))
		b := open(t, dir)
		if !b.Cut {
			t.Fatalf("cut at %d: it counts as whole", cut)
		}
		if d := cmp.Diff(all[:len(b.Entries)], b.Entries); d != "" {
			t.Fatalf("cut at %d: %s", cut, d)
		}
	}
	// The next run of the task goes on behind what is whole.
	rec := &recording.Recorder{Dir: filepath.Dir(dir)}
	check.Must(t, work(t, agent(rec, &script{replies: []llm.Reply{say("again")}}), "t1", "look"))
	steps := open(t, dir).Steps()
	check.Equal(t, "after the crash the answer", steps[len(steps)-1].Text, "again")
}

func TestFindKnowsTasksAndSessions(t *testing.T) {
	t.Parallel()
	dir := recorded(t)
	shelf := filepath.Dir(dir)
	for _, id := range []string{"t1", "st1"} {
		if got, err := recording.FindRuns(shelf, id); err != nil || !cmp.Equal(got, []string{dir}) {
			t.Errorf("%s: %v, %v", id, got, err)
		}
	}
	for _, id := range []string{"t2", "../t1", "", "."} {
		check.Fails(t, check.Err(recording.FindRuns(shelf, id)), recording.ErrRunNotFound)
	}
	rec := &recording.Recorder{Dir: shelf}
	var z bytes.Buffer
	if err := rec.Export(&z, "t1"); err != nil || !rec.Has("t1") || !bytes.Equal(z.Bytes()[:2], []byte("PK")) {
		t.Errorf("export: %v", err)
	}
	check.Fails(t, rec.Export(&z, "../t1"), recording.ErrRunNotFound)
	if list, err := recording.ListRuns(filepath.Join(shelf, "none")); err != nil || len(list) != 0 {
		t.Errorf("no directory: %v, %v", list, err)
	}
}

// tasks is a store that knows some tasks.
type tasks struct {
	sessions.Store

	known map[string]bool
}

func (s tasks) Prune(context.Context, time.Time, int, int) (int, error) { return 1, nil }

func (s tasks) Task(_ context.Context, id string) (sessions.TaskRecord, error) {
	if !s.known[id] {
		return sessions.TaskRecord{}, sessions.ErrNotFound
	}
	return sessions.TaskRecord{}, nil
}

func TestBundlesGoWithTheirTasks(t *testing.T) {
	t.Parallel()
	rec := &recording.Recorder{Dir: t.TempDir()}
	for _, id := range []string{"old", "new"} {
		check.Must(t, work(t, agent(rec, &script{replies: []llm.Reply{say("x")}}), id, "look"))
	}
	store := rec.PruningStore(tasks{known: map[string]bool{"new": true}})
	if n, err := store.Prune(t.Context(), time.Now(), 0, 10); n != 1 || err != nil {
		t.Errorf("Prune: %d, %v", n, err)
	}
	list, err := recording.ListRuns(rec.Dir)
	if err != nil || len(list) != 1 || list[0].Task != "new" {
		t.Errorf("left: %v, %v", list, err)
	}
}

func FuzzParse(f *testing.F) {
	raw, err := os.ReadFile(filepath.Join(recorded(f), "run.jsonl"))
	check.Must(f, err)
	f.Add(raw)
	f.Add([]byte(begin))
	f.Add([]byte(begin + `{"kind":"call","call":{"messages":[-1]}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := recording.ParseRecording(raw)
		if err != nil {
			return
		}
		b.Start()
		b.Steps()
	})
}

func BenchmarkStep(b *testing.B) {
	rec := &recording.Recorder{Dir: b.TempDir()}
	long := strings.Repeat("- listitem: Lamp number one, made of glass and brass [ref=e7]\n", 300) // 18 KB
	m := &script{}
	settle := func(picture string) { // as the disk has time to do while a model thinks
		b.StopTimer()
		defer b.StartTimer()
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
			if _, err := os.Stat(filepath.Join(rec.Dir, "t1", "pictures", picture)); err == nil {
				return
			}
		}
		b.Error("the picture is not written")
	}
	backend := rec.Backend("r", stepper{model: rec.Model(m), page: long, n: b.N, script: m, settle: settle})
	b.ResetTimer()
	check.Must(b, work(b, backend, "t1", "look"))
}

// stepper asks for n steps, each with a page state more.
type stepper struct {
	sessions.Backend

	model  llm.Model
	script *script
	page   string
	n      int
	settle func(picture string)
}

func (s stepper) Run(ctx context.Context, _ sessions.Session, _ sessions.Task) iter.Seq2[sessions.Step, error] {
	return func(yield func(sessions.Step, error) bool) {
		view := bytes.Repeat([]byte("picture "), 10_000)
		var talk []llm.Message
		for i := range s.n {
			if i%30 == 0 {
				talk = nil
			}
			talk = append(talk, llm.UserText(s.page+time.Duration(i).String()))
			s.script.replies = []llm.Reply{use("browser_click", `{"ref":"e7"}`)}
			if _, err := s.model.Generate(ctx, llm.Request{Messages: talk}, nil); err != nil {
				yield(sessions.Step{}, err)
				return
			}
			view[i%len(view)]++
			step := sessions.Step{
				N: i, Kind: sessions.StepAct, Phase: sessions.PhaseDone,
				View: &llm.Image{MediaType: "image/png", Data: bytes.Clone(view)},
			}
			if !yield(step, nil) {
				return
			}
			s.settle(fmt.Sprintf("%x", sha256.Sum256(view))[:32] + ".png")
		}
	}
}

func TestLinksAndPipesInADirectoryLeadNowhere(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	check.Must(t, os.WriteFile(secret, []byte(begin+"the key\n"), 0o600))
	picture := filepath.Join("pictures", strings.Repeat("a", 32)+".png")
	for name, plant := range map[string]func(dir string) error{
		"a link for the record": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "run.jsonl")), os.Symlink(secret, filepath.Join(dir, "run.jsonl")))
		},
		"a link for a picture": func(dir string) error { return os.Symlink(secret, filepath.Join(dir, picture)) },
		"a link for all pictures": func(dir string) error {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "pictures")),
				os.Symlink(filepath.Dir(secret), filepath.Join(dir, "pictures")))
		},
		"a pipe for the record": func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "run.jsonl")), check.MakePipe(filepath.Join(dir, "run.jsonl")))
		},
		"a pipe for a picture": func(dir string) error { return check.MakePipe(filepath.Join(dir, picture)) },
	} {
		dir := recorded(t)
		check.Must(t, plant(dir))
		var out bytes.Buffer
		check.Fails(t, recording.ExportRun(&out, dir), nil, "export the run: ")
		if _, err := recording.ListRuns(filepath.Dir(dir)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(out.String(), "the key") {
			t.Errorf("%s: the export holds what it leads to", name)
		}
	}
}

func TestAStepIsReportedOnceDespiteNoticesInBetween(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	var lines strings.Builder
	add := func(e recording.Entry) {
		at = at.Add(time.Second)
		e.At = at
		raw, err := json.Marshal(e)
		check.Must(t, err)
		lines.Write(append(raw, '\n'))
	}
	step := func(n int, kind sessions.StepKind, phase sessions.Phase) {
		add(recording.Entry{
			Kind: recording.KindStep,
			Step: &sessions.Step{N: n, Kind: kind, Phase: phase, Usage: llm.Usage{Calls: n}},
		})
	}
	leg := &recording.RunStart{Format: 1, Task: sessions.Task{ID: "t1"}, Runtime: "r", Session: "s1"}
	add(recording.Entry{Kind: recording.KindBegin, Begin: leg})
	step(1, sessions.StepAct, sessions.PhaseBegun)
	step(2, sessions.StepNotice, sessions.PhaseDone)
	step(1, sessions.StepAct, sessions.PhaseDone)
	step(3, sessions.StepAct, sessions.PhaseBegun) // the program ended
	add(recording.Entry{Kind: recording.KindBegin, Begin: leg})
	step(3, sessions.StepAct, sessions.PhaseDone) // of another backend, which counts from 1
	dir := t.TempDir()
	check.Must(t, os.WriteFile(filepath.Join(dir, "run.jsonl"), []byte(lines.String()), 0o600))
	type told struct {
		N      int
		Phase  sessions.Phase
		Millis float64
	}
	var got []told
	account := open(t, dir).Report()
	for _, s := range account.Steps {
		got = append(got, told{s.N, s.Phase, s.Millis})
	}
	want := []told{
		{2, sessions.PhaseDone, 0},
		{1, sessions.PhaseDone, 2000},
		{3, sessions.PhaseBegun, 0},
		{3, sessions.PhaseDone, 0},
	}
	equal(t, "steps", want, got)
}
