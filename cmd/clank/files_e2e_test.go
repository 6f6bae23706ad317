package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/llmtest"
)

// officeSite takes one file and offers another.
type officeSite struct {
	*httptest.Server
	offer []byte

	mu    sync.Mutex
	taken string // name and digest of what it was given last
}

func newOfficeSite(t *testing.T) *officeSite {
	t.Helper()
	s := &officeSite{offer: largeFile(2)}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Office</title><form method="post" action="/apply" enctype="multipart/form-data">
			<label>Attachment <input type="file" name="f" onchange="form.submit()"></label></form>`)
	})
	mux.HandleFunc("POST /apply", func(w http.ResponseWriter, r *http.Request) {
		f, head, err := r.FormFile("f")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, _ := io.ReadAll(f)
		s.mu.Lock()
		s.taken = fmt.Sprintf("%s %x", head.Filename, sha256.Sum256(data))
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, `<!doctype html><title>Thanks</title><p>We have it.</p><a href="/receipt">Receipt</a>`)
	})
	mux.HandleFunc("GET /receipt", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Disposition", `attachment; filename="receipt.pdf"`)
		_, _ = w.Write(s.offer)
	})
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// given returns name and digest of what the site was given since it was last asked.
func (s *officeSite) given() (file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, s.taken = s.taken, ""
	return file
}

// largeFile returns 8 MiB that no other seed gives.
func largeFile(seed byte) []byte {
	data := make([]byte, 8<<20)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	copy(data, "%PDF-1.7\n")
	return data
}

// inboundFile finds how a model is told to name the file that came with its task.
var inboundFile = regexp.MustCompile(`media://inbound/[0-9bcdfghjkmnp-z]{8}`)

// uploadTurn is a turn that gives the newest file field of the page the file that came with the task.
func uploadTurn(tool string) llmtest.Turn {
	return func(req llmtest.Request) llmtest.Reply {
		args := map[string]any{
			"ref":   shownRef(req, `"Attachment"`),
			"paths": []string{inboundFile.FindString(string(req.Body))},
		}
		return toolTurn(tool, args)(req)
	}
}

// filesTravel tests that a large file comes from Discord into a form, and another from a page into Discord, whoever
// works the browser.
func filesTravel(t *testing.T, whole *serverFixture) {
	t.Helper()
	cv := discordtest.File{Name: "cv.pdf", ContentType: "application/pdf", Data: largeFile(1)}
	site := newOfficeSite(t)
	screen := func(toolset string) []llmtest.Turn { // of the tools that the vendor brings itself
		return []llmtest.Turn{
			toolTurn(toolset+"navigate", map[string]any{"url": site.URL}), toolTurn(toolset+"read_page", map[string]any{}),
			uploadTurn("page_upload"), toolTurn(toolset+"navigate", map[string]any{"url": site.URL + "/receipt"}),
			llmtest.Say("They have it."),
		}
	}
	for _, tt := range []struct {
		runtime, model, task string
		script               []llmtest.Turn
	}{
		{"", "plain:steps", "open " + site.URL + ", upload cv.pdf into Attachment, click Receipt", nil},
		{"local_browser_agent", scriptedModel, "apply there", []llmtest.Turn{
			openPage(site.URL), uploadTurn("browser_upload"), clickOn(`link "Receipt"`), llmtest.Say("They have it."),
		}},
		{"openai_computer_use", scriptedModel, "apply there", screen("")},
		{"anthropic_computer_use", scriptedModel, "apply there", screen("browser.")},
		{"gemini_computer_use", scriptedModel, "apply there", screen("")},
	} {
		t.Run(tt.model+" "+tt.runtime, func(t *testing.T) {
			r := whole.inNewRoom(t)
			r.updateSettings(map[string]any{keyModel: tt.model})
			r.script.Set(tt.script)
			args := discordtest.Args{"task": tt.task, "file": cv}
			asked := make(chan struct{})
			if tt.runtime != "" {
				args["runtime"] = tt.runtime
			}
			go func() {
				defer close(asked)
				if tt.script != nil { // nobody typed where the file goes
					r.askedInRoom(t, r.ada, "Hand over files", "Allow")
				}
			}()
			m := r.command(t, r.ada, args)
			<-asked
			check.Contains(t, m.Content, "receipt.pdf (8.39 MB)")
			check.Equal(t, "the site has", site.given(), fmt.Sprintf("cv.pdf %x", sha256.Sum256(cv.Data)))
			file, err := r.discord.WaitMessage(testDeadline(t), r.room, func(m discordtest.Message) bool {
				return len(m.Attachments) == 1 && strings.HasPrefix(m.Attachments[0].Filename, "receipt")
			})
			check.Must(t, err)
			check.Equal(t, "Discord has", sha256.Sum256(file.Attachments[0].Data), sha256.Sum256(site.offer))
		})
	}
}

// filesTravelFromTheTerminal tests the same beside a server, from the terminal.
func filesTravelFromTheTerminal(t *testing.T, r *serverFixture) {
	t.Helper()
	r.openDashboard(t)
	site, dir := newOfficeSite(t), t.TempDir()
	cv, sent := filepath.Join(dir, "cv.pdf"), largeFile(3)
	check.Must(t, os.WriteFile(cv, sent, 0o600))
	check.Must(t, os.WriteFile(filepath.Join(dir, "receipt.pdf"), []byte("mine"), 0o600))
	task := "open " + site.URL + ", upload cv.pdf into Attachment, click Receipt"
	got := runCommand(t.Context(), r.env, "browse", "--model", "plain:steps", "--file", cv, "--downloads", dir, task)
	if got.code != exitDone {
		t.Fatalf("got %+v", got)
	}
	check.Equal(t, "the site has", site.given(), fmt.Sprintf("cv.pdf %x", sha256.Sum256(sent)))
	path := filepath.Join(dir, "receipt (2).pdf") // what was there stays
	data, err := os.ReadFile(path)
	if err != nil || sha256.Sum256(data) != sha256.Sum256(site.offer) {
		t.Errorf("%s has %d bytes, %v; want the receipt", path, len(data), err)
	}
	check.Contains(t, got.stderr, "downloaded "+path)
	for _, tc := range [][3]string{
		{"--file", filepath.Join(dir, "none"), "no such file"},
		{"--file", dir, "a directory"},
		{"--downloads", cv, "no such directory"},
	} {
		if got := runCommand(t.Context(), r.env, "browse", task, tc[0], tc[1]); got.code != exitUsage ||
			!strings.Contains(got.stderr, tc[2]) {
			t.Errorf("%q: got %+v, want wrong usage", tc, got)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.server.Inbox.Dir, ".received", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q is left, %v", left, err)
	}
}
