package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
)

func downloadsComeFromAllowedPlaces(t *testing.T, r *serverFixture) {
	t.Helper()
	for address, allowed := range map[string]bool{
		"https://example.com/x": true, "data:text/plain,x": true, "BLOB:https://example.com/1": true, "file:///etc/passwd": false,
		"http://169.254.169.254/latest": false, "ftp://example.com/x": false,
	} {
		if err := r.server.CheckDownloadSource(address); (err == nil) != allowed {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// offering returns a site with a link to a program whose address does not say so.
func offering(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/file" {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, `<!doctype html><title>Offer</title><a href="/file">Read on</a>`)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Disposition", `attachment; filename="setup.exe"`)
		_, _ = io.WriteString(w, "MZ"+strings.Repeat("\x00", 512))
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func roomIsAskedToKeep(t *testing.T, whole *serverFixture) {
	t.Helper()
	if testing.Short() {
		t.Skip("one step after the other, with a browser")
	}
	for want, label := range []string{"No", "Allow"} { // as many are kept then
		t.Run(label, func(t *testing.T) {
			r := whole.inNewRoom(t)
			site := offering(t)
			decided := make(chan struct{})
			r.setScript([]llmtest.Turn{openPage(site + "/"), clickOn(`link "Read on"`), func(req llmtest.Request) llmtest.Reply {
				<-decided
				return llmtest.Say("done")(req)
			}})
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				defer close(decided)
				r.askedInRoom(t, r.ada, "Keep a file that may be a program", label)
			}()
			r.command(t, r.ada, discordtest.Args{"task": "read on"})
			<-answered
			r.settled(t)
			kept, err := filepath.Glob(filepath.Join(r.server.StateDir, "downloads", "*setup.exe"))
			if err != nil || len(kept) != want {
				t.Errorf("kept %q (%v), want %d", kept, err, want)
			}
		})
	}
}

// settled waits until no download is under way.
func (r *serverFixture) settled(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		var files []string
		_ = filepath.WalkDir(filepath.Join(r.server.StateDir, "downloads"), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasSuffix(path, "setup.exe") {
				files = append(files, path)
			}
			return nil
		})
		if len(files) == 0 && len(r.server.Approver.Approvals.Pending()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // files of another process cannot be waited for
	}
	t.Error("a download stays under way")
}
