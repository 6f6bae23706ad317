package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr/control/client"
	"clank/internal/test/check"
)

func TestExitCodesDistinguishFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		answer string
		want   int
		stderr string
	}{
		"invalid": {
			400, `{"error":"click requires ref or selector","code":"ACT_INVALID_REQUEST"}`, 1,
			`{"error":"click requires ref or selector","code":"ACT_INVALID_REQUEST"}` + "\n",
		},
		"no tab":       {404, `{"error":"tab not found: t9"}`, 4, "tab not found: t9"},
		"no route":     {404, `{"error":"route not found: POST /act"}`, 1, "route not found"},
		"no such page": {404, "404 page not found\n", 1, "404 page not found"},
		"covered":      {500, `{"error":"click: e1 button \"Buy\" is covered by dialog (not interactable)","code":"ACT_OPERATION_FAILED"}`, 1, "covered"},
		"named twice":  {500, `{"error":"click: covered"}`, 1, `{"error":"covered"}` + "\n"},
		"of a tab":     {500, `{"error":"tab t2: snapshot of tab t2: no"}`, 1, `{"error":"no"}`},
		"named inside": {500, `{"error":"click: evaluate: fn: no","reason":"x"}`, 1, `{"error":"fn: no","reason":"x"}`},
		"no profile":   {404, `{"error":"profile \"x\" not found"}`, 4, "not found"},
		"no ref":       {500, `{"error":"Unknown ref e1: take a new snapshot"}`, 4, "Unknown ref e1"},
		"secret":       {401, `Unauthorized`, 5, "refused the secret"},
		"policy": {
			400, `{"error":"browser navigation blocked by policy","reason":"navigation_blocked"}`, 5,
			"blocked by policy",
		},
		"quarantine": {409, `{"error":"tab is closed off","reason":"navigation_blocked"}`, 5, "closed off"},
		"endpoint":   {400, `{"error":"browser endpoint blocked by policy"}`, 5, "blocked"},
		"evaluate is off": {
			403, `{"error":"browser.evaluateEnabled=false","code":"ACT_EVALUATE_DISABLED"}`, 5,
			"evaluateEnabled",
		},
		"another tab": {
			403, `{"error":"action targetId must match request targetId","code":"ACT_TARGET_ID_MISMATCH"}`, 1,
			"must match",
		},
		"late": {500, `{"error":"not interactable: not done within 8s: covered","reason":"timeout"}`, 124, "covered"},
		"late server": {
			500, `{"error":"navigate: the server did not answer within 1s","reason":"timeout"}`, 124, "did not answer",
		},
		"late body":      {500, `{"error":"Response body read timed out after 500ms"}`, 124, "timed out"},
		"gateway":        {504, ``, 124, "504"},
		"ambiguous":      {409, `{"error":"two tabs match"}`, 1, "two tabs"},
		"not for driver": {501, `{"error":"not for this driver"}`, 1, "driver"},
		"its own fault":  {500, "boom \x1b[31m\nred", 1, "boom [31m red"},
		"garbage":        {200, "<html>", 1, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := newScriptedServer(t, tc.status, tc.answer)
			got := runBrowser(t, address, "click e1 --json")
			if got.code != tc.want || !strings.Contains(got.stderr, tc.stderr) || got.stdout != "" {
				t.Errorf("got %+v, want code %d and %q", got, tc.want, tc.stderr)
			}
			check.Lacks(t, got.stderr, "listens", "\x1b")
			if plain := runBrowser(t, address, "click e1"); plain.code != tc.want || strings.Contains(plain.stderr, "ACT_") ||
				strings.Contains(plain.stderr, "interactable)") {
				t.Errorf("got %+v without --json, want no code", plain)
			}
		})
	}
}

func TestAnUnreachableServerIsReported(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	address := "http://" + l.Addr().String()
	l.Close()
	for _, line := range []string{"tabs", "doctor", "doctor --json", "snapshot --json"} {
		got := runBrowser(t, address, line)
		if got.code != 3 || !strings.Contains(got.stderr+got.stdout, "clank serve") {
			t.Errorf("%s: got %+v, want code 3 and how to start it", line, got)
		}
		if strings.HasSuffix(line, "--json") && !json.Valid([]byte(got.stdout)) {
			t.Errorf("%s: got %q, want JSON", line, got.stdout)
		}
	}
}

func TestTheDoctorNamesAMissingSecret(t *testing.T) {
	address, _ := newScriptedServer(t, 401, "Unauthorized")
	got := runBrowser(t, address, "doctor")
	if got.code != 5 || !strings.Contains(got.stdout, "FAIL  Secret") {
		t.Errorf("got %+v, want code 5 and the check of the secret", got)
	}
}

func TestAFailedCaptureSaysSo(t *testing.T) {
	for _, line := range []string{"snapshot", "screenshot", "pdf", "har", "trace stop"} {
		address, _ := newScriptedServer(t, 500, `{"error":"Frame changed; retry","code":"X","reason":"Y"}`)
		got := runBrowser(t, address, line+" --json")
		var told struct {
			OK, Captured        *bool
			Error, Code, Reason string
		}
		if err := json.Unmarshal([]byte(got.stdout), &told); err != nil {
			t.Fatalf("%s: %v in %q", line, err, got.stdout)
		}
		if got.code != 1 || told.OK == nil || *told.OK || told.Captured == nil || *told.Captured ||
			told.Error != "Frame changed; retry" || told.Code != "X" || told.Reason != "Y" {
			t.Errorf("%s: got %+v", line, got)
		}
	}
}

// newSilentServer returns a server that answers nothing and tells when it was asked and when the client left.
func newSilentServer(t *testing.T) (address string, arrived, left chan struct{}) {
	t.Helper()
	arrived, left = make(chan struct{}, 1), make(chan struct{}, 1)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		arrived <- struct{}{}
		<-r.Context().Done()
		left <- struct{}{}
	}))
	t.Cleanup(s.Close)
	return s.URL, arrived, left
}

func TestASlowServer(t *testing.T) {
	address, _, left := newSilentServer(t)
	got := runBrowser(t, address, "snapshot --timeout 500 --json")
	if got.code != 124 || !strings.Contains(got.stderr, "within 500ms") ||
		!strings.Contains(got.stdout, `"captured": false`) {
		t.Errorf("got %+v, want code 124", got)
	}
	<-left
}

func TestAnInterruptEndsTheRequest(t *testing.T) {
	address, arrived, left := newSilentServer(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		cancel(errors.New("interrupt"))
	}()
	got := runCommand(ctx, envForServer(t, address), "browser", "wait", "--time", "30000", "--json")
	check.Equal(t, "run command", got, commandResult{"", `{"error":"interrupted"}` + "\n", 130})
	<-left
}

func TestAnInterruptEndsTheReadingOfTheInput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	stdin, never := io.Pipe()
	defer never.Close()
	e := envForServer(t, "http://127.0.0.1:1")
	e.Stdin = readerFunc(func(b []byte) (int, error) {
		cancel()
		return stdin.Read(b)
	})
	if got := runCommand(ctx, e, "browser", "batch", "--actions-file", "-"); got.code != 130 {
		t.Errorf("got %+v, want code 130", got)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestAServerThatDiesWithinItsAnswer(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"ok":true,`)
		panic(http.ErrAbortHandler)
	}))
	defer s.Close()
	got := runBrowser(t, s.URL, "click e1")
	if got.code != 1 || !strings.Contains(got.stderr, "connection broke") {
		t.Errorf("got %+v, want that the connection broke", got)
	}
}

func TestAHugeAnswer(t *testing.T) {
	address, _ := newScriptedServer(t, 200, `{"snapshot":"`+strings.Repeat("- button\\n", 1<<20)+`"}`)
	got := runBrowser(t, address, "snapshot --max-chars 0")
	if got.code != 0 || len(got.stdout) != 9<<20 {
		t.Errorf("got code %d and %d bytes, %s", got.code, len(got.stdout), got.stderr)
	}
}

func TestActionsFromTheInput(t *testing.T) {
	answer := `{"results":[{"ok":true}]}`
	exactly := "[" + strings.Repeat(" ", 1_000_000-3) + "1]"
	for name, tc := range map[string]struct {
		stdin string
		want  int
	}{
		"small": {`[{"kind":"close"}]`, 0}, "as large as it may be": {exactly, 0}, "too large": {exactly + " ", 2},
		"empty": {"", 2}, "endless": {strings.Repeat("[", 2_000_000), 2},
	} {
		t.Run(name, func(t *testing.T) {
			address, asks := newScriptedServer(t, 200, answer)
			e := envForServer(t, address)
			e.Stdin = strings.NewReader(tc.stdin)
			got := runCommand(t.Context(), e, "browser", "batch", "--actions-file", "-")
			if sent := len(asks()); got.code != tc.want || sent != map[int]int{0: 1}[tc.want] {
				t.Errorf("got %+v after %d requests, want code %d", got, sent, tc.want)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "actions.json")
	check.Must(t, os.WriteFile(file, []byte(`[{"kind":"close"}]`), 0o600))
	address, asks := newScriptedServer(t, 200, answer)
	if got := runBrowser(t, address, "batch --actions-file "+file); got.code != 0 ||
		asks()[0].body != `{"actions":[{"kind":"close"}],"kind":"batch"}` {
		t.Errorf("got %+v", got)
	}
}

func TestFilesForTheOutput(t *testing.T) {
	for name, tc := range map[string]struct{ line, answer, file, stdout string }{
		"snapshot": {"snapshot", `{"snapshot":"- a","imagePath":"/i"}`, "- a\n", "OUT\n"},
		"json": {
			"snapshot --json", `{"ok":true,"snapshot":"- a","refs":{},"imagePath":"/i"}`, "- a\n",
			"{\n  \"captured\": true,\n  \"imagePath\": \"/i\",\n  \"ok\": true,\n  \"out\": \"OUT\"\n}\n",
		},
		"nodes": {"snapshot --format aria", `{"nodes":[{"ref":"ax1"}]}`, "[\n  {\n    \"ref\": \"ax1\"\n  }\n]\n", "OUT\n"},
		"har":   {"har", `{"har":{"log":1}}`, "{\"log\":1}\n", "OUT\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			address, _ := newScriptedServer(t, 200, tc.answer)
			got := runBrowser(t, address, tc.line+" --out "+out)
			if want := strings.ReplaceAll(tc.stdout, "OUT", out); got.stdout != want || got.code != 0 {
				t.Errorf("got %+v, want %q", got, want)
			}
			if file, err := os.ReadFile(out); string(file) != tc.file || err != nil {
				t.Errorf("got file %q %v, want %q", file, err, tc.file)
			}
		})
	}
	address, _ := newScriptedServer(t, 200, `{"snapshot":"- a"}`)
	dir := t.TempDir()
	for out, want := range map[string]string{
		"/nowhere/at/all": "write /nowhere/at/all: no such file or directory: make the directory /nowhere/at first",
		dir:               "write " + dir + ": is a directory: name a file in it",
	} {
		if got := runBrowser(t, address, "snapshot --out "+out); got.code != 1 || !strings.Contains(got.stderr, want) {
			t.Errorf("got %+v, want %q", got, want)
		}
	}
	if got := runBrowser(t, address, "snapshot --out="); got.code != 2 || !strings.Contains(got.stderr, "--out needs") {
		t.Errorf("got %+v, want that the name is missing", got)
	}
	address, _ = newScriptedServer(t, 200, `{"snapshot":""}`)
	out := filepath.Join(t.TempDir(), "out")
	if got := runBrowser(t, address, "snapshot --out "+out); got.code != 1 {
		t.Errorf("got %+v, want a failed capture", got)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a failed capture left a file")
	}
}

func TestAnOutputThatCannotBeWritten(t *testing.T) {
	address, _ := newScriptedServer(t, 200, `{"snapshot":"- a"}`)
	e := envForServer(t, address)
	var stderr bytes.Buffer
	e.Stdout, e.Stderr = fullWriter{errors.New("no space left")}, &stderr
	code := runCommandLine(t.Context(), e, []string{"browser", "snapshot"})
	if code != 1 || !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("got %d %q, want that nothing can be written", code, stderr.String())
	}
}

func TestTheServerIsFoundWhereItAnnouncedItself(t *testing.T) {
	address, asks := newScriptedServer(t, 200, `{"running":false}`)
	e := newTestEnv(t, nil)
	check.Must(t, check.Err(client.Announce(e.Getenv("CLANK_HOME"), address, "of the file")))
	if got := runCommand(t.Context(), e, "browser", "tabs"); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if got := runCommand(t.Context(), e, "browser", "tabs", "--token", "given", "--url", address); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if got := asks(); len(got) != 2 || got[0].auth != "Bearer of the file" || got[1].auth != "Bearer given" {
		t.Errorf("got %+v, want each with its secret", got)
	}
	if got := runCommand(t.Context(), e, "browser", "tabs", "--url", "ws://127.0.0.1:18789"); got.code != 2 ||
		!strings.Contains(got.stderr, "http address") {
		t.Errorf("got %+v, want that it is no http address", got)
	}
}

func TestCtrlC(t *testing.T) {
	t.Parallel()
	address, arrived, left := newSilentServer(t)
	home, environ := newTestHome(t)
	p := startProgram(t, home, append(environ, "CLANK_BROWSER_URL="+address), "browser", "wait", "--time", "30000")
	<-arrived
	p.interrupt(t)
	if code := p.exitCode(t); code != 130 || p.stderr.text() != "clank browser wait: interrupted\n" {
		t.Errorf("got code %d %q", code, p.stderr.text())
	}
	<-left
}
