package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/transfer"
	"clank/consent"
	"clank/internal/discordtest"
	"clank/llm/llmtest"
	"clank/sessions"
)

func TestWhoIsAskedBeforeAProgramIsKept(t *testing.T) {
	t.Parallel()
	program := transfer.Download{Executable: true, Target: "T", URL: "https://get.test/x.exe", SuggestedFilename: "x.exe"}
	room := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u"}
	for _, tt := range []struct {
		name    string
		d       transfer.Download
		owner   string
		tasks   []sessions.Record
		clicked bool // an action that downloads a program was allowed before
		asked   string
	}{
		{name: "no program", d: transfer.Download{Target: "T"}, owner: "s1"},
		{name: "nobody's tab", d: program},
		{name: "a task in a room", d: program, owner: "s1", tasks: []sessions.Record{{Task: sessions.Task{SessionID: "s1", Origin: room}}}, asked: "executable g c s1 work get.test x.exe"},
		{name: "other tasks", d: program, owner: "s1", tasks: []sessions.Record{{Task: sessions.Task{SessionID: "s2", Origin: room}}}, asked: "executable   s1 work get.test x.exe"},
		{name: "the task may", d: program, owner: "s1", tasks: []sessions.Record{{Task: sessions.Task{SessionID: "s1", Origin: room, Allow: []string{"executable"}}}}},
		{name: "the click was allowed", d: program, owner: "s1", clicked: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, set, f := newTestAsker(t)
			k.running = func(context.Context) ([]sessions.Record, error) { return tt.tasks, nil }
			p := &programs{asker: k, owner: func(string) (string, string) { return tt.owner, "work" }}
			if tt.clicked {
				set.Asking.Executable = "allow"
				q := sessions.Question{Classes: []string{"executable"}}
				if _, err := p.Ask(t.Context(), sessions.Session{ID: "s1"}, sessions.Task{}, q); err != nil {
					t.Fatal(err)
				}
				set.Asking.Executable = "ask"
			}
			ctx, cancel := context.WithCancel(t.Context())
			var err error
			go func() {
				defer cancel()
				err = p.keep(t.Context(), tt.d)
			}()
			asked := ""
			for {
				ev, over := f.Next(ctx)
				if over != nil {
					break
				}
				if q := ev.Question; !ev.Over {
					asked = strings.Join([]string{string(q.Class), q.Guild, q.Channel, q.Session, q.Profile, q.Origin, q.Detail}, " ")
					if err := k.desk.Answer(q.ID, consent.Answer{By: "@ada"}); err != nil {
						t.Error(err)
					}
				}
			}
			if asked != tt.asked {
				t.Errorf("asked %q, want %q", asked, tt.asked)
			}
			if _, denied := errors.AsType[*consent.Denied](err); denied != (tt.asked != "") || err != nil && !denied {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOneClickIsOneProgram(t *testing.T) {
	t.Parallel()
	p := &programs{clicked: map[string]time.Time{"s1": time.Now(), "s2": time.Now().Add(-agreedFor)}}
	if !p.agreed("s1") || p.agreed("s1") || p.agreed("s2") || p.agreed("s3") {
		t.Error("a click counts for more than its download")
	}
}

func TestDownloadsComeFromWherePagesMayGo(t *testing.T) {
	t.Parallel()
	r := newRange(t)
	for address, allowed := range map[string]bool{
		"https://example.com/x": true, "data:text/plain,x": true, "BLOB:https://example.com/1": true, "file:///etc/passwd": false,
		"http://169.254.169.254/latest": false, "ftp://example.com/x": false,
	} {
		if err := r.app.mayDownload(address); (err == nil) != allowed {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// offering is a site with a link to a program whose address does not say so.
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

func TestTheRoomIsAskedBeforeAProgramIsKept(t *testing.T) {
	t.Parallel()
	for label, want := range map[string]int{"Allow": 1, "No": 0} {
		t.Run(label, func(t *testing.T) {
			r := newRange(t)
			site := offering(t)
			decided := make(chan struct{})
			r.script([]llmtest.Turn{openPage(site + "/"), clickOn(`link "Read on"`), func(req llmtest.Request) llmtest.Reply {
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
			kept, err := filepath.Glob(filepath.Join(r.app.place, "downloads", "*setup.exe"))
			if err != nil || len(kept) != want {
				t.Errorf("kept %q (%v), want %d", kept, err, want)
			}
		})
	}
}

// settled waits until no download is under way.
func (r *range_) settled(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for time.Now().Before(deadline) {
		var files []string
		_ = filepath.WalkDir(filepath.Join(r.app.place, "downloads"), func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasSuffix(path, "setup.exe") {
				files = append(files, path)
			}
			return nil
		})
		if len(files) == 0 && len(r.app.asker.desk.Pending()) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // files of another process cannot be waited for
	}
	t.Error("a download stays under way")
}
