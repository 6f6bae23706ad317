package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/cancel"
	"clank/sessions"
)

// scripted is a runner that ends every task in the same way.
type scripted struct {
	rec    sessions.Record
	events []sessions.Event
	err    error
	image  sessions.Image
}

func (s scripted) run(_ context.Context, _ sessions.Task, watch func(sessions.Event)) (sessions.Record, error) {
	for _, ev := range s.events {
		watch(ev)
	}
	return s.rec, s.err
}

func (s scripted) view(context.Context, string, int) (sessions.Image, error) { return s.image, nil }
func (s scripted) close(context.Context) error                               { return nil }

func testEnv(t *testing.T) (e *env, stdout, stderr *bytes.Buffer) {
	t.Helper()
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	home := t.TempDir()
	return &env{
		stdout: stdout, stderr: stderr, hurry: t.Context(),
		getenv: func(name string) string {
			if name == "CLANK_HOME" {
				return home
			}
			return ""
		},
	}, stdout, stderr
}

func TestEveryEndOfATaskHasItsExitCode(t *testing.T) {
	t.Parallel()
	for state, want := range map[sessions.TaskState]int{
		sessions.TaskDone:        exitDone,
		sessions.TaskLimited:     exitLimited,
		sessions.TaskStopped:     exitStopped,
		sessions.TaskFailed:      exitFailed,
		sessions.TaskInterrupted: exitFailed,
	} {
		e, _, stderr := testEnv(t)
		err := verdict(sessions.Record{State: state, Reason: "the reason"})
		if got := report(e, command{name: "browse"}, err); got != want {
			t.Errorf("%s: exit code = %d, want %d", state, got, want)
		}
		if said := strings.Contains(stderr.String(), "the reason"); said == (want == exitDone) {
			t.Errorf("%s: stderr = %q", state, stderr)
		}
	}
}

func TestWrongUsageExitsWithTwoAndSaysWhy(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ args, want string }{
		{"", "Usage"},
		{"nonsense", `no command "nonsense"`},
		{"browse", "say what to do"},
		{"browse --max-steps -1 x", "--max-steps -1"},
		{"browse --max-steps many x", "invalid value"},
		{"browse --no-such-flag x", "no-such-flag"},
		{"browse one two", `unexpected argument "two"`},
		{"browse --screenshot /no/such/dir/a.png x", "no directory /no/such/dir"},
		{"version now", `unexpected argument "now"`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			e, stdout, stderr := testEnv(t)
			if got := run(t.Context(), e, strings.Fields(tc.args)); got != exitUsage {
				t.Errorf("exit code = %d, want %d", got, exitUsage)
			}
			if !strings.Contains(stderr.String(), tc.want) || stdout.Len() > 0 {
				t.Errorf("stderr = %q (stdout %q), want it to contain %q", stderr, stdout, tc.want)
			}
		})
	}
}

func TestHelpGoesToStdoutAndNamesEveryFlag(t *testing.T) {
	t.Parallel()
	e, stdout, _ := testEnv(t)
	if got := run(t.Context(), e, []string{"browse", "--help"}); got != exitDone {
		t.Fatalf("exit code = %d", got)
	}
	for _, want := range []string{"--json", "--screenshot FILE", "--session ID", "--runtime NAME", "--model MODEL", "--max-steps N", "--headed", "130 stopped"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("help lacks %q:\n%s", want, stdout)
		}
	}
}

func TestFlagsMayStandBeforeAndAfterTheTask(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{{"--n", "3", "task"}, {"task", "--n", "3"}, {"--n=3", "--", "task"}} {
		fs := newFlags("x", "x")
		n := fs.Int("n", 0, "")
		e, _, _ := testEnv(t)
		if err := parse(e, fs, line, 1); err != nil || *n != 3 || len(fs.rest) != 1 || fs.rest[0] != "task" {
			t.Errorf("%v: n = %d, rest = %v, err = %v", line, *n, fs.rest, err)
		}
	}
	fs := newFlags("x", "x")
	e, _, _ := testEnv(t)
	if err := parse(e, fs, []string{"--", "--task"}, 1); err != nil || fs.rest[0] != "--task" {
		t.Errorf("after --: rest = %v, err = %v", fs.rest, err)
	}
}

func TestAnswerGoesToStdoutAndTheRestToStderr(t *testing.T) {
	t.Parallel()
	e, stdout, stderr := testEnv(t)
	think := sessions.Event{Step: &sessions.Step{N: 1, Kind: sessions.StepThink, Phase: sessions.Begun, Label: "think"}}
	step := func(n int, phase sessions.Phase, label string, failed bool) sessions.Event {
		return sessions.Event{Step: &sessions.Step{N: n, Kind: sessions.StepAct, Phase: phase, Label: label, Failed: failed, Text: "covered\nby much"}}
	}
	r := scripted{
		rec: sessions.Record{Task: sessions.Task{ID: "t", SessionID: "abc123"}, State: sessions.TaskDone, Answer: "42 lamps", Steps: 3},
		events: []sessions.Event{
			{Record: sessions.Record{State: sessions.TaskQueued, Position: 2}},
			think, step(2, sessions.Begun, "open shop", false), step(2, sessions.Done, "open shop", false),
			step(4, sessions.Begun, "click", true), step(4, sessions.Done, "click", true),
			{Step: &sessions.Step{N: 3, Kind: sessions.StepNotice, Label: "the page was reopened"}},
		},
	}
	if _, err := (browseFlags{}).work(t.Context(), e, r, sessions.Task{}); err != nil {
		t.Fatal(err)
	}
	if got, want := stdout.String(), "42 lamps\n"; got != want {
		t.Errorf("stdout = %q, want %q", got, want)
	}
	want := "waiting, number 2 in line\n1  open shop\n2  click: covered\nthe page was reopened\n3 steps, session abc123 (go on with --session abc123)\n"
	if got := stderr.String(); got != want {
		t.Errorf("stderr = %q, want %q", got, want)
	}
}

func TestJSONCarriesTheWholeOutcome(t *testing.T) {
	t.Parallel()
	e, stdout, _ := testEnv(t)
	begin := time.Unix(100, 0)
	r := scripted{rec: sessions.Record{
		Task: sessions.Task{ID: "t1", SessionID: "abc"}, State: sessions.TaskLimited, Answer: "half <b>", Reason: "step limit of 2",
		Steps: 2, Closed: true, Asked: begin, Ended: begin.Add(1500 * time.Millisecond),
	}}
	if _, err := (browseFlags{json: true}).work(t.Context(), e, r, sessions.Task{}); err != nil {
		t.Fatal(err)
	}
	var got outcome
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := outcome{State: "limited", Answer: "half <b>", Reason: "step limit of 2", TaskID: "t1", Steps: 2, Seconds: 1.5}
	if got != want {
		t.Errorf("outcome = %+v, want %+v", got, want)
	}
}

func TestScreenshotIsTheShownPictureOrElseTheLastView(t *testing.T) {
	t.Parallel()
	view := sessions.Image{Data: []byte("view")}
	seen := []sessions.Event{{Step: &sessions.Step{N: 4, View: &sessions.Image{}}}}
	for name, tc := range map[string]struct {
		r    scripted
		want string
	}{
		"shown": {scripted{rec: sessions.Record{State: sessions.TaskDone, Images: []sessions.Image{{Data: []byte("a")}, {Data: []byte("b")}}}, image: view}, "b"},
		"view":  {scripted{rec: sessions.Record{State: sessions.TaskDone}, events: seen, image: view}, "view"},
		"none":  {scripted{rec: sessions.Record{State: sessions.TaskDone}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e, _, _ := testEnv(t)
			file := filepath.Join(t.TempDir(), "x")
			_, err := browseFlags{screenshot: file}.work(t.Context(), e, tc.r, sessions.Task{})
			if got := err == nil; got != (tc.want != "") {
				t.Fatalf("error = %v", err)
			}
			if got, _ := os.ReadFile(file); string(got) != tc.want {
				t.Errorf("file = %q, want %q", got, tc.want)
			}
		})
	}
}

func TestStopBeforeAcceptanceExitsLikeAStop(t *testing.T) {
	t.Parallel()
	e, _, stderr := testEnv(t)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(&cancel.Cause{Reason: cancel.ShuttingDown})
	_, err := (browseFlags{}).work(ctx, e, scripted{err: errors.New("gone")}, sessions.Task{})
	if got := report(e, command{name: "browse"}, err); got != exitStopped {
		t.Errorf("exit code = %d, want %d (%s)", got, exitStopped, stderr)
	}
}

func TestLiveLineIsRewrittenAndTakenAway(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	p := &progress{w: &b, live: true, width: 20}
	ev := func(label string) sessions.Event {
		return sessions.Event{Step: &sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.Begun, Label: label}}
	}
	p.watch(ev("open something with a very long name"))
	p.watch(ev("b"))
	p.clear()
	if got, want := b.String(), "\r\x1b[K1 open something w…\r\x1b[K2 b …\r\x1b[K"; got != want {
		t.Errorf("terminal got %q, want %q", got, want)
	}
}

func TestScreenshotHasTheFormatItsNamePromises(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 2, 2)), nil); err != nil {
		t.Fatal(err)
	}
	shot := sessions.Image{MediaType: "image/jpeg", Data: b.Bytes()}
	for name, want := range map[string]string{"a.png": "png", "a.PNG": "png", "a.jpg": "jpeg", "a": "jpeg", "a.webp": "jpeg"} {
		data, err := asFile(shot, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, err := image.DecodeConfig(bytes.NewReader(data)); got != want || err != nil {
			t.Errorf("%s is %s (%v), want %s", name, got, err, want)
		}
	}
	if _, err := asFile(sessions.Image{MediaType: "image/jpeg", Data: []byte("x")}, "a.png"); err == nil {
		t.Error("a broken picture was written")
	}
}
