package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"clank/browseagent"
	"clank/computeruse"
	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/test/computerusetest"
	"clank/llm"
	"clank/llm/plain"
	"clank/sessions"
)

// envFromList returns the world of a command that runs in this process.
func envFromList(t *testing.T, environ []string) *commandEnv {
	t.Helper()
	return &commandEnv{
		Stdout: io.Discard, Stderr: io.Discard, AbortContext: t.Context(),
		Getenv: func(name string) string {
			for _, v := range slices.Backward(environ) {
				if value, found := strings.CutPrefix(v, name+"="); found {
					return value
				}
			}
			return ""
		},
	}
}

// runInProcess returns a command that runs in this process, with a home of its own.
func runInProcess(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	got := runCommand(t.Context(), envFromList(t, environ), args...)
	return got.code, got.stdout, got.stderr
}

// recordedShop returns a site of one product, the word on whose button can change.
func recordedShop(t *testing.T) (url string, changed *atomic.Bool) {
	t.Helper()
	changed = &atomic.Bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		word := "Light it"
		if changed.Load() {
			word = "Switch on"
		}
		fmt.Fprintf(w, `<!doctype html><meta charset=utf-8><title>Lamp</title><link rel=icon href=data:,><label>Name <input></label>
<button onclick="this.after('lit for '+document.querySelector('input').value)">%s</button>`, word)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, changed
}

// openServer opens the parts of the program, which keep nothing if they are ephemeral.
func openServer(t *testing.T, e *commandEnv, ephemeral bool) (a *server.Server, end func()) {
	t.Helper()
	h, err := server.OpenHome(e.Getenv)
	check.Must(t, err)
	a, err = server.Open(t.Context(), h, server.Options{
		Getenv: e.Getenv, Logger: e.newLogger("error", logText), AbortContext: t.Context(), Ephemeral: ephemeral,
		ShopAddr: "127.0.0.1:0",
	})
	check.Must(t, err)
	return a, func() {
		if err := a.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
}

// withServer does something with the parts of the program, which are opened for that alone.
func withServer(t *testing.T, environ []string, do func(a *server.Server)) {
	t.Helper()
	e := envFromList(t, environ)
	a, end := openServer(t, e, false)
	defer end()
	do(a)
}

// recordRun works a task with the parts of the program, recorded.
func recordRun(t *testing.T, dir string, a *server.Server, id, prompt string) {
	t.Helper()
	rec := a.NewRecorder()
	m := plain.New(plain.Options{Places: a.NamedPages(), Scripts: recording.ScriptStore{Dir: a.Home.ScriptsDir()}.Steps})
	agent := &browseagent.Agent{
		Browser:  rec.Browser(a.WindowBrowser(true)),
		Model:    func(context.Context, string) (llm.Model, error) { return rec.Model(m), nil },
		Settings: func() browseagent.Settings { return browseagent.Settings{StepTimeout: patience} },
	}
	task := sessions.Task{ID: id, SessionID: "s" + id, Prompt: prompt}
	for step, err := range rec.Backend(browseagent.Runtime, agent).Run(t.Context(), sessions.Session{ID: "s" + id}, task) {
		check.Must(t, err)
		if step.Kind == sessions.StepAnswer && step.Failed {
			t.Fatal(step.Text)
		}
	}
	if err := agent.Close(t.Context(), "s"+id); err != nil {
		t.Error(err)
	}
	check.Equal(t, "folder of runs", rec.Dir, filepath.Join(dir, "runs"))
}

func TestRunsAreShownExportedReplayedAndSavedAsScripts(t *testing.T) {
	inHalf(t, true)
	t.Parallel()
	home, environ := newTestHome(t)
	shop, shopChanged := recordedShop(t)
	screen, screenChanged := lampSite(t)
	withServer(t, environ, func(a *server.Server) {
		recordRun(t, home, a, "t1", "open "+shop+`, type "Ada" into Name, click "Light it", read`)
		recordLampRun(t, a, "screen", screen)
	})
	t.Run("of a page", func(t *testing.T) { shownAndReplayed(t, home, environ, shop) })
	t.Run("of the screen", func(t *testing.T) { screenShownAndReplayed(t, home, environ, screenChanged) })
	shopChanged.Store(true)
	code, out, told := runInProcess(t, environ, "sessions", "replay", "--json", "t1")
	var found replayOutcome
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != exitDiffers || found.Summary.Different == 0 {
		t.Errorf("replay of a page that has changed: exit %d, %v:\n%s%s", code, err, out, told)
	}
	runInProcess(t, environ, "config", "set", "agentStack.runtimeConfig.browser.executablePath", "/nowhere")
	code, out, told = runInProcess(t, environ, "sessions", "replay", "t1")
	if code != exitFailed || !strings.Contains(out, "0 steps played") {
		t.Errorf("replay without a browser: exit %d:\n%s%s", code, out, told)
	}
}

// shownAndReplayed has a run that worked a page by its elements shown, exported, replayed and saved as a script.
func shownAndReplayed(t *testing.T, home string, environ []string, site string) {
	t.Helper()
	code, out, told := runInProcess(t, environ, "sessions", "show", "t1")
	for _, want := range []string{
		"run t1 of session st1, local_browser_agent with plain:steps", `click "Light it"`,
		"at Lamp " + site, "lit for Ada", "4 steps, 5 calls",
	} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("show: exit %d, no %q in:\n%s%s", code, want, out, told)
		}
	}
	zip := filepath.Join(filepath.Dir(home), "run.zip")
	if code, _, told := runInProcess(t, environ, "sessions", "export", "st1", zip); code != exitDone {
		t.Fatalf("export: exit %d: %s", code, told)
	}
	if code, _, told := runInProcess(t, environ, "sessions", "export", "st1", zip); code != exitFailed ||
		!strings.Contains(told, "exists") {
		t.Errorf("export over a file: exit %d: %s", code, told)
	}
	if code, out, told := runInProcess(t, environ, "sessions", "replay", zip); code != exitDone ||
		!strings.Contains(out, "4 steps played: 4 as recorded") {
		t.Errorf("replay: exit %d:\n%s%s", code, out, told)
	}
	if code, out, told := runInProcess(t, environ, "sessions", "script", "t1", "light"); code != exitDone ||
		!strings.Contains(out, `type "{name}" into the "Name" field`) {
		t.Errorf("script: exit %d:\n%s%s", code, out, told)
	}
	if code, out, told := runInProcess(t, environ, "sessions", "scripts", "run", "--json", "light",
		"name = Eve"); code != exitDone || !strings.Contains(out, "lit for Eve") {
		t.Errorf("scripts run: exit %d:\n%s%s", code, out, told)
	} else {
		var done browseOutcome
		if err := json.Unmarshal([]byte(out), &done); err != nil {
			t.Error(err)
		}
		for _, id := range []string{done.TaskID, done.SessionID} { // from the record, or else from the database
			if code, out, told := runInProcess(t, environ, "sessions", "show", id); code != exitDone ||
				!strings.Contains(out, `click "Light it"`) {
				t.Errorf("show %s: exit %d:\n%s%s", id, code, out, told)
			}
		}
	}
}

// fakeRun puts a small record into the home.
func fakeRun(t *testing.T, home, id string, entries ...recording.Entry) {
	t.Helper()
	entries = append([]recording.Entry{
		{Kind: recording.KindBegin, Begin: &recording.RunStart{
			Format: recording.FormatVersion, Session: "s1",
			Task: sessions.Task{ID: id, Prompt: "look \x1b[31m"},
		}},
	}, entries...)
	dir := filepath.Join(home, "runs", id)
	check.Must(t, os.MkdirAll(dir, 0o700))
	var raw []byte
	for _, e := range entries {
		line, err := json.Marshal(e)
		check.Must(t, err)
		raw = append(append(raw, line...), '\n')
	}
	check.Must(t, os.WriteFile(filepath.Join(dir, "run.jsonl"), raw, 0o600))
}

func TestCommandsForRunsSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	fakeRun(t, home, "t1", recording.Entry{
		Kind: recording.KindStep,
		Step: &sessions.Step{N: 1, Kind: sessions.StepAct, Phase: sessions.PhaseBegun, Label: "open \x1b[2Jx"},
	})
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"show", exitUsage, "<id|file> is missing"},
		{"show none", exitFailed, "there is no run of a task or session none"},
		{"show t1", exitDone, "(did not end)"},
		{"show s1", exitDone, "the record ends in the middle"},
		{"show --json t1", exitDone, `"cut": true`},
		{"export", exitUsage, "<id> is missing"},
		{"export none", exitFailed, "there is no run"},
		{"replay", exitUsage, "<id|file> is missing"},
		{"replay t1", exitFailed, "nothing to replay"},
		{"replay t1 --against a=b", exitUsage, "not understood"},
		{"replay t1 --allow nonsense", exitUsage, "nonsense"},
		{"replay " + filepath.Join(home, "runs", "t1", "run.jsonl"), exitFailed, "whole zip"},
		{"script t1", exitUsage, "<name> is missing"},
		{"script t1 x", exitFailed, "has not ended"},
		{"scripts", exitDone, "no script is saved"},
		{"scripts show x", exitFailed, "there is no such script"},
		{"scripts delete x", exitFailed, "there is no such script"},
		{"scripts run", exitUsage, "<name> is missing"},
		{"scripts run x", exitFailed, "there is no such script"},
		{"scripts nonsense", exitUsage, "nonsense\": delete, list, rename, run, show"},
		{"frobnicate", exitUsage, "export, list"},
	} {
		code, out, told := runInProcess(t, []string{"CLANK_HOME=" + home},
			append([]string{"sessions"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(out+told, c.want) {
			t.Errorf("sessions %s: exit %d, want %d and %q:\n%s%s", c.args, code, c.code, c.want, out, told)
		}
		if strings.Contains(out+told, "\x1b") {
			t.Errorf("sessions %s lets a page speak to the terminal: %q", c.args, out)
		}
	}
}

func TestAnEphemeralServerUsesTheSettingsOfTheHome(t *testing.T) {
	t.Parallel()
	dir, environ := newTestHome(t)
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "clank.db"))
	check.Must(t, err)
	_, err = db.SaveSettings(t.Context(),
		map[string]json.RawMessage{"agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask": json.RawMessage(
			"23")}, "")
	check.Must(t, errors.Join(err, db.Close()))
	e := envFromList(t, environ)
	a, end := openServer(t, e, true)
	defer end()
	if got := a.Settings.Current().MaxSteps; got != 23 {
		t.Errorf("at most %d steps, want the 23 of the home", got)
	}
}

// lampSite returns a page whose field and button stand where points say.
func lampSite(t *testing.T) (url string, changed *atomic.Bool) {
	t.Helper()
	changed = &atomic.Bool{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		page := `<!doctype html><meta charset=utf-8><title>Lamp</title><link rel=icon href=data:,><style>body > * {position:fixed;left:20px;width:200px;height:30px}</style>
<input aria-label="Your name" style="top:20px"><button style="top:80px" onclick="out.textContent='lit for '+document.querySelector('input').value"><b>Light it</b></button><p id=out style="top:140px"></p>`
		if changed.Load() {
			page = strings.Replace(page, "Light it", "Switch on", 1)
		}
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(srv.Close)
	return srv.URL, changed
}

// recordScreenRun has a mind that follows a script work the screen, recorded.
func recordScreenRun(t *testing.T, a *server.Server, id string, turns ...computeruse.Turn) {
	t.Helper()
	rec := a.NewRecorder()
	mind := rec.ComputerUseModel(
		&computerusetest.Model{Script: func(_ context.Context, n int, _ computeruse.Input) (computeruse.Turn, error) {
			return turns[n], nil
		}})
	agent := &computeruse.Agent{
		Browser:  a.WindowBrowser(true),
		Model:    func(context.Context, string) (computeruse.Model, error) { return mind, nil },
		Settings: func() computeruse.Settings { return computeruse.Settings{StepTimeout: patience} },
	}
	task := sessions.Task{ID: id, SessionID: "s" + id, Prompt: "light the lamp"}
	for step, err := range rec.Backend(computeruse.RuntimeOpenAI, agent).Run(t.Context(), sessions.Session{ID: "s" + id},
		task) {
		check.Must(t, err)
		if step.Failed {
			t.Fatal(step.Text)
		}
	}
	if err := agent.Close(t.Context(), "s"+id); err != nil {
		t.Error(err)
	}
}

// recordLampRun lights the lamp by what is seen on the screen, recorded.
func recordLampRun(t *testing.T, a *server.Server, id, site string) {
	t.Helper()
	act := func(id string, actions ...computeruse.Action) computeruse.Turn {
		return computeruse.Turn{Calls: []computeruse.Call{{ID: id, Actions: actions}}, Stop: llm.StopTools}
	}
	recordScreenRun(t, a, id,
		act("c1", computeruse.Action{Kind: computeruse.ActNavigate, URL: site}),
		act("c2", computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 60, Y: 35}},
			computeruse.Action{Kind: computeruse.ActType, Text: "Ada"}),
		act("c3", computeruse.Action{Kind: computeruse.ActClick, At: &image.Point{X: 60, Y: 95}}),
		computeruse.Turn{
			Tools: []llm.ToolCall{{ID: "f1", Name: computeruse.ToolReadText, Input: []byte(`{}`)}},
			Stop:  llm.StopTools,
		},
		computeruse.Turn{Text: "it is lit", Stop: llm.StopEnd},
	)
}

// screenShownAndReplayed has the run of recordLampRun shown, replayed and saved as a script.
func screenShownAndReplayed(t *testing.T, home string, environ []string, changed *atomic.Bool) {
	t.Helper()
	_, out, _ := runInProcess(t, environ, "sessions", "show", "screen")
	check.Contains(t, out, `click "Your name" at 60, 35`, `type "Ada" into "Your name"`, `click "Light it" at 60, 95`,
		"lit for Ada")
	if code, out, told := runInProcess(t, environ, "sessions", "replay", "screen"); code != exitDone ||
		!strings.Contains(out, "5 steps played: 5 as recorded") {
		t.Errorf("replay: exit %d:\n%s%s", code, out, told)
	}
	if code, out, told := runInProcess(t, environ, "sessions", "script", "screen", "screen-light"); code != exitDone ||
		!strings.Contains(out, `type "{your_name}" into "Your name"`) {
		t.Errorf("script: exit %d:\n%s%s", code, out, told)
	}
	changed.Store(true)
	if code, out, told := runInProcess(t, environ, "sessions", "replay", "screen"); code != exitDiffers ||
		!strings.Contains(out, `now:  click "Switch on" at 60, 95`) {
		t.Errorf("replay of a page that has changed: exit %d:\n%s%s", code, out, told)
	}
}
