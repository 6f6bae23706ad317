package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"

	"github.com/google/go-cmp/cmp"
)

// exitCodeOf returns the code with which an error ends the program.
func exitCodeOf(err error) int {
	if err == nil {
		return exitDone
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.Code
	}
	return exitFailed
}

// fakeTaskRunner is a runner that ends every task in the same way.
type fakeTaskRunner struct {
	rec    sessions.TaskRecord
	events []sessions.Event
	err    error
	image  llm.Image
}

func (s fakeTaskRunner) Run(_ context.Context, _ sessions.Task,
	watch func(sessions.Event),
) (sessions.TaskRecord, error) {
	for _, ev := range s.events {
		watch(ev)
	}
	return s.rec, s.err
}

func (s fakeTaskRunner) View(context.Context, string, int) (llm.Image, error) {
	return s.image, nil
}

func (s fakeTaskRunner) SendFile(_ context.Context, name string, _ io.Reader) (sessions.File, error) {
	return sessions.File{Name: name}, nil
}

func (s fakeTaskRunner) Download(context.Context, string, sessions.File) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("")), nil
}

func (s fakeTaskRunner) Close(context.Context) error { return nil }

func TestEveryEndOfATaskHasItsExitCode(t *testing.T) {
	t.Parallel()
	for state, want := range map[sessions.TaskState]int{
		sessions.TaskDone:        exitDone,
		sessions.TaskLimited:     exitLimited,
		sessions.TaskStopped:     exitStopped,
		sessions.TaskFailed:      exitFailed,
		sessions.TaskInterrupted: exitFailed,
	} {
		err := exitErrorOf(sessions.TaskRecord{State: state, Reason: "the reason"})
		check.Equal(t, fmt.Sprintf("%s: exit code", state), exitCodeOf(err), want)
		if said := err != nil && strings.Contains(err.Error(), "the reason"); said == (want == exitDone) {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestAnswerGoesToStdoutAndTheRestToStderr(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	var stdout, stderr bytes.Buffer
	e.Stdout, e.Stderr = &stdout, &stderr
	think := sessions.Event{Step: &sessions.Step{
		N: 1, Kind: sessions.StepThink, Phase: sessions.PhaseBegun,
		Label: "think",
	}}
	step := func(n int, phase sessions.Phase, label string, failed bool) sessions.Event {
		return sessions.Event{Step: &sessions.Step{
			N: n, Kind: sessions.StepAct, Phase: phase, Label: label, Failed: failed,
			Text: "covered\nby much",
		}}
	}
	r := fakeTaskRunner{
		rec: sessions.TaskRecord{
			Task: sessions.Task{ID: "t", SessionID: "abc123"}, State: sessions.TaskDone,
			Answer: "42 lamps", Steps: 3,
		},
		events: []sessions.Event{
			{Record: sessions.TaskRecord{State: sessions.TaskQueued, Position: 2}},
			think, step(2, sessions.PhaseBegun, "open shop", false), step(2, sessions.PhaseDone, "open shop", false),
			step(4, sessions.PhaseBegun, "click", true), step(4, sessions.PhaseDone, "click", true),
			{Step: &sessions.Step{N: 3, Kind: sessions.StepNotice, Label: "the page was reopened"}},
		},
	}
	check.Must(t, check.Err((browseFlags{}).runAndPrint(t.Context(), e, r, sessions.Task{})))
	check.Equal(t, "stdout", stdout.String(), "42 lamps\n")
	want := "waiting, number 2 in line\n1  open shop\n2  click: covered\nthe page was reopened\n3 steps, session abc123 " +
		"(go on with --session abc123)\n"
	check.Equal(t, "stderr", stderr.String(), want)
}

func TestJSONContainsTheWholeOutcome(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	var stdout bytes.Buffer
	e.Stdout = &stdout
	begin := time.Unix(100, 0)
	r := fakeTaskRunner{rec: sessions.TaskRecord{
		Task: sessions.Task{ID: "t1", SessionID: "abc"}, State: sessions.TaskLimited, Answer: "half <b>",
		Reason: "step limit of 2",
		Images: []llm.Image{{Caption: "the cart"}, {}},
		Steps:  2, Closed: true, Asked: begin, Ended: begin.Add(1500 * time.Millisecond),
	}}
	check.Must(t, check.Err((browseFlags{json: true}).runAndPrint(t.Context(), e, r, sessions.Task{})))
	var got browseOutcome
	check.Must(t, json.Unmarshal(stdout.Bytes(), &got))
	want := browseOutcome{
		State: "limited", Answer: "half <b>", Reason: "step limit of 2", TaskID: "t1", Steps: 2, Seconds: 1.5, Images: 2,
		Captions: []string{"the cart", ""},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestScreenshotIsTheShownPictureOrElseTheLastView(t *testing.T) {
	t.Parallel()
	view := llm.Image{Data: []byte("view")}
	seen := []sessions.Event{{Step: &sessions.Step{N: 4, View: &llm.Image{}}}}
	for name, tc := range map[string]struct {
		r    fakeTaskRunner
		want string
	}{
		"shown": {fakeTaskRunner{
			rec:   sessions.TaskRecord{State: sessions.TaskDone, Images: []llm.Image{{Data: []byte("a")}, {Data: []byte("b")}}},
			image: view,
		}, "a|b"},
		"view": {fakeTaskRunner{rec: sessions.TaskRecord{State: sessions.TaskDone}, events: seen, image: view}, "view"},
		"none": {fakeTaskRunner{rec: sessions.TaskRecord{State: sessions.TaskDone}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newTestEnv(t, nil)
			file := filepath.Join(t.TempDir(), "x")
			_, err := browseFlags{screenshot: file}.runAndPrint(t.Context(), e, tc.r, sessions.Task{})
			if got := err == nil; got != (tc.want != "") {
				t.Fatalf("error = %v", err)
			}
			first, second, _ := strings.Cut(tc.want, "|")
			for name, want := range map[string]string{file: first, file + "-2": second} {
				if got, _ := os.ReadFile(name); string(got) != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
		})
	}
}

func TestStopBeforeAcceptanceExitsLikeAStop(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	ctx, stop := context.WithCancelCause(t.Context())
	stop(&cancel.Cause{Reason: cancel.ShuttingDown})
	_, err := (browseFlags{}).runAndPrint(ctx, e, fakeTaskRunner{err: errors.New("gone")}, sessions.Task{})
	check.Fails(t, err, nil, "interrupted")
	check.Equal(t, "exit code", exitCodeOf(err), exitStopped)
	for _, args := range [][]string{{"doctor"}, {"browse", "read"}, {"setup"}} { // when the database is opened
		got := runCommand(ctx, newTestEnv(t, nil), args...)
		if want := (commandResult{"", "clank " + args[0] + ": interrupted\n", exitStopped}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestScreenshotHasTheFormatItsNamePromises(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	check.Must(t, jpeg.Encode(&b, image.NewRGBA(image.Rect(0, 0, 2, 2)), nil))
	shot := llm.Image{MediaType: "image/jpeg", Data: b.Bytes()}
	for name, want := range map[string]string{
		"a.png": "png", "a.PNG": "png", "a.jpg": "jpeg", "a": "jpeg",
		"a.webp": "jpeg",
	} {
		data, err := encodeForFile(shot, name)
		check.Must(t, err)
		if _, got, err := image.DecodeConfig(bytes.NewReader(data)); got != want || err != nil {
			t.Errorf("%s is %s (%v), want %s", name, got, err, want)
		}
	}
	check.Fails(t, check.Err(encodeForFile(llm.Image{MediaType: "image/jpeg", Data: []byte("x")}, "a.png")),
		image.ErrFormat)
}

func TestACommandLineCountsAsTypedAndAScriptDoesNot(t *testing.T) {
	place := t.TempDir()
	e := &commandEnv{Getenv: func(name string) string { return map[string]string{"CLANK_HOME": place}[name] }}
	task, err := browseFlags{}.buildTask(e, `open shop.test, click "Buy"`)
	if err != nil || !task.Typed {
		t.Errorf("typed %v, %v; want the person's own words", task.Typed, err)
	}
	shelf := recording.ScriptStore{Dir: filepath.Join(place, "scripts")}
	check.Must(t, shelf.Save(recording.Script{Name: "buy", Steps: []string{"open shop.test", `click "Buy"`}}, false))
	task, err = browseFlags{script: "buy"}.buildTask(e, "")
	if err != nil || task.Typed || !strings.Contains(task.Prompt, "Buy") {
		t.Errorf("a script: %+v, %v; want steps that nobody typed", task, err)
	}
}

func TestTheServerIsToldWhetherAPersonTypedTheTask(t *testing.T) {
	for _, typed := range []bool{true, false} {
		var got api.TaskRequest
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
				t.Error(err)
			}
			http.Error(w, `{"error":"enough"}`, http.StatusTeapot)
		}))
		r := remoteRunner{&api.Client{Base: srv.URL, Token: "token"}, &commandEnv{}}
		check.Fails(t,
			check.Err(r.Run(t.Context(), sessions.Task{Prompt: "read", Typed: typed}, func(sessions.Event) {})), nil, "enough")
		srv.Close()
		if got.Prompt != "read" || got.Typed != typed {
			t.Errorf("the server was told %+v, want typed %v", got, typed)
		}
	}
}

func TestAnInterruptStopsATaskThatTheServerIsAccepting(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	stopped := false
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/tasks":
			interrupt(errInterrupted)
			_ = json.NewEncoder(w).Encode(api.TaskStarted{TaskID: "t1"})
		case "/api/tasks/t1/stop":
			stopped = true
			_, _ = w.Write([]byte("{}"))
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	r := remoteRunner{&api.Client{Base: srv.URL, Token: "token"}, &commandEnv{}}
	_, err := browseFlags{}.runAndPrint(ctx, newTestEnv(t, nil), r, sessions.Task{Prompt: "read"})
	check.Equal(t, "exit code", exitCodeOf(err), exitStopped)
	if check.Fails(t, err, nil, "stopped"); !stopped {
		t.Error("the task goes on in the server")
	}
}

func TestWithoutAServerTheDatabaseIsRead(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	var db *sqlite.DB
	err := withServerOrDatabase(t.Context(), e, nil, func(d *sqlite.DB) error {
		db = d
		_, err := d.Sessions(t.Context(), sessions.SessionQuery{})
		return err
	})
	check.Must(t, err)
	check.Fails(t, check.Err(db.Sessions(context.Background(), sessions.SessionQuery{})), nil, "database is closed")
	why := errors.New("why")
	check.Fails(t, withServerOrDatabase(t.Context(), e, nil, func(*sqlite.DB) error { return why }), why)
	check.Fails(t, check.Err(requireServer(e, "it is needed for this")), nil, "start it first: it is needed for this")
}

func TestTheServerThatOwnsTheHomeIsAskedWithItsSecret(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		check.Equal(t, "asked with", r.Header.Get("Authorization"), "Bearer secret")
		_, _ = w.Write([]byte("[]"))
	}))
	defer srv.Close()
	h, err := server.OpenHome(e.Getenv)
	check.Must(t, err)
	check.Must(t, errors.Join(h.Claim(), check.Err(h.PublishAddress(srv.URL, "secret"))))
	defer h.Release()
	asked := false
	err = withServerOrDatabase(t.Context(), e, func(c *api.Client) error {
		asked = true
		_, err := c.Sessions(t.Context())
		return err
	}, nil)
	if err != nil || !asked {
		t.Errorf("asked %v, %v", asked, err)
	}
	check.Must(t, check.Err(requireServer(e, "")))
}

func TestAnUnwritableHomeIsNotReportedAsInUse(t *testing.T) {
	e := newTestEnv(t, nil)
	check.Must(t, os.MkdirAll(filepath.Join(e.Getenv("CLANK_HOME"), "clank.lock"), 0o700)) // nobody can lock that
	got := runCommand(t.Context(), e, "serve")
	if got.code != exitFailed || strings.Contains(got.stderr, "end that one") ||
		!strings.Contains(got.stderr, "that can be written") {
		t.Errorf("got %+v", got)
	}
}
