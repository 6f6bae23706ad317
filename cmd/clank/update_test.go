package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"clank/internal/sqlite"
	"clank/internal/test/check"
)

func TestTheVersionIsPrintedForPrograms(t *testing.T) {
	t.Parallel()
	got := runCommand(t.Context(), newTestEnv(t, nil), "version", "--json")
	var b build
	check.Must(t, json.Unmarshal([]byte(got.stdout), &b))
	if b.Version != version || b.OS != runtime.GOOS || b.Arch != runtime.GOARCH || b.Go != runtime.Version() ||
		b.Schema != sqlite.SchemaVersion() {
		t.Errorf("got %+v", b)
	}
	for _, name := range []string{"version", "commit", "date", "modified", "go", "os", "arch", "schema"} {
		if !strings.Contains(got.stdout, `"`+name+`"`) {
			t.Errorf("no %s in %s", name, got.stdout)
		}
	}
}

func TestTheNewestReleaseIsReported(t *testing.T) {
	old := version
	t.Cleanup(func() { version = old })
	mux := http.NewServeMux()
	site := httptest.NewTLSServer(mux)
	t.Cleanup(site.Close)
	ours := runtime.GOOS + "_" + runtime.GOARCH
	for name, body := range map[string]string{
		"release": fmt.Sprintf(`{"tag_name": "v0.10.0", "html_url": "https://site.example/v0.10.0\u001b[2J", "assets": [
			{"name": "clank_0.10.0_plan9_mips.tar.gz", "browser_download_url": "https://site.example/plan9"},
			{"name": "clank_0.10.0_%s.tar.gz", "browser_download_url": "https://site.example/ours"}]}`, ours),
		"bare": `{"tag_name": "0.10.0"}`, "nothing": `{}`, "garbage": `<html>`, "endless": `{"tag_name": "` +
			strings.Repeat("v", 2<<20),
	} {
		mux.HandleFunc("/"+name, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(body)) })
	}
	mux.Handle("/plain", http.RedirectHandler("http://127.0.0.1:1/release", http.StatusFound))
	mux.Handle("/moved", http.RedirectHandler("/release", http.StatusFound))
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/halting", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"tag_name"`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	e := newTestEnv(t, map[string]string{"CLANK_RELEASES": site.URL + "/release"})
	e.Transport = site.Client().Transport
	for _, tt := range []struct {
		version string
		step    commandStep
	}{
		{"v0.9.1", commandStep{"update --check", exitNewer, "https://site.example/ours", ""}},
		{"v0.9.1", commandStep{"update --check --json", exitNewer, `"newer": true`, ""}},
		{"0.10.0", commandStep{"update --check", exitDone, "this is clank 0.10.0, the newest release", ""}},
		{"v0.11.0", commandStep{"update --check", exitDone, "the newest release", ""}},
		{"v0.9.1-3-gdeadbee", commandStep{"update --check", exitDone, "which is no release", ""}},
		{"abc123-dirty", commandStep{"update --check --json", exitDone, `"newer": false`, ""}},
		{"v0.9.1", commandStep{"update --check --from " + site.URL + "/moved", exitNewer, "v0.10.0", ""}},
		{"v0.9.1", commandStep{"update --check --from " + site.URL + "/bare", exitNewer, "nothing is made for", ""}},
		{"v0.9.1", commandStep{"update --check --from " + site.URL + "/nothing", exitFailed, "names no release", ""}},
		{"v0.9.1", commandStep{"update --check --from " + site.URL + "/garbage", exitFailed, "names no release", ""}},
		{"v0.9.1", commandStep{"update --check --from " + site.URL + "/endless", exitFailed, "names no release", ""}},
		{"v0.9.1", commandStep{"update --check --from " + site.URL + "/missing", exitFailed, "404", ""}},
		{"v0.9.1", commandStep{"update --check --from " + site.URL + "/plain", exitFailed, "https alone", ""}},
		{"v0.9.1", commandStep{
			"update --check --timeout 50ms --from " + site.URL + "/silent", exitTimeout, "within 50ms",
			"",
		}},
		{"v0.9.1", commandStep{
			"update --check --timeout 50ms --from " + site.URL + "/halting", exitTimeout, "within 50ms",
			"",
		}},
		{"v0.9.1", commandStep{"update --check --from http://127.0.0.1:1/", exitUsage, "https alone", ""}},
		{"v0.9.1", commandStep{"update --check --from nonsense", exitUsage, "https alone", ""}},
		{"v0.9.1", commandStep{"update --check --from https://127.0.0.1:1/", exitFailed, "connection refused (check this " +
			"machine's network", ""}},
		{"v0.9.1", commandStep{"update --check --timeout -1s", exitUsage, "--timeout must be longer than 0s", ""}},
		{"v0.9.1", commandStep{"update", exitUsage, "does not replace itself", ""}},
	} {
		version = tt.version
		runSteps(t, e, tt.step)
	}
	if got := runCommand(t.Context(), e, "update", "--check"); strings.Contains(got.stdout, "\x1b") {
		t.Errorf("a terminal would obey %q", got.stdout)
	}
	runSteps(t, newTestEnv(t, nil), commandStep{"update --check", exitUsage, "knows no address of releases", ""})
}
