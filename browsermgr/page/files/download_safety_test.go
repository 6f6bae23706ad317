package files_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
	"clank/internal/test/browsertest"
)

// serveUnsafeFiles serves files that are not what they seem, and one without an end.
func serveUnsafeFiles(tb testing.TB) string {
	tb.Helper()
	mux := http.NewServeMux()
	offer := func(path, name, content string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", name))
			fmt.Fprint(w, content)
		})
	}
	offer("/invoice", "invoice.pdf", "MZ\x90\x00 this program cannot be run")
	offer("/setup", "setup.exe", "MZ\x90\x00")
	offer("/paper", "paper.pdf", "%PDF-1.7\n")
	offer("/trick", "photo_\u202egnp.exe", "MZ\x90\x00")
	mux.HandleFunc("/flood", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", "attachment; filename=flood.bin")
		chunk := make([]byte, 64<<10)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
			select {
			case <-time.After(time.Millisecond): // about 60 MB a second: as much as a fast line brings
			case <-r.Context().Done():
			}
		}
	})
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		browsertest.HTML(w, `<!doctype html><title>Depot</title><a href=/invoice>Invoice</a> <a href=/setup>Setup</a> <a href=/paper>Paper</a> <a href=/trick>Trick</a> <a href=/flood>Flood</a>`)
	})
	return browsertest.Serve(tb, mux.ServeHTTP).URL
}

func TestADownloadSaysWhatItReallyIs(t *testing.T) {
	b, site := open(t, nil), serveUnsafeFiles(t)
	tab := b.tab(t, site)
	for _, tt := range []struct {
		click, name, mediaType, warning string
		executable                      bool
	}{
		{"Invoice", "invoice.pdf", "application/x-msdownload", "named .pdf, and its content is a program", true},
		{"Setup", "setup.exe", "application/x-msdownload", "", true},
		{"Paper", "paper.pdf", "application/pdf", "", false},
		{"Trick", ".exe", "application/x-msdownload", "", true},
	} {
		got := b.press(t, tab, tt.click)
		if len(got) != 1 || got[0].Path == "" {
			t.Fatalf("%s: got %+v, want a file", tt.click, got)
		}
		d := got[0]
		if !strings.HasSuffix(d.SuggestedFilename, tt.name) || strings.Contains(d.SuggestedFilename, "\u202e") || d.Type != tt.mediaType ||
			d.Executable != tt.executable || !strings.Contains(d.Warning, tt.warning) || tt.warning == "" && d.Warning != "" {
			t.Errorf("%s: got %+v", tt.click, d)
		}
		if info, err := os.Stat(d.Path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v; want it to be nobody's program", tt.click, info.Mode(), err)
		}
	}
}

func TestADownloadIsKeptOnlyWithApproval(t *testing.T) {
	var asked []files.Download
	var mu sync.Mutex
	refusal := errors.New("programs are not saved here")
	b, site := open(t, func(o *files.Options) {
		o.Approve = func(_ context.Context, d files.Download) error {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, d)
			if d.Executable {
				return refusal
			}
			return nil
		}
	}), serveUnsafeFiles(t)
	tab := b.tab(t, site)
	if got := b.press(t, tab, "Invoice"); len(got) != 1 || !strings.Contains(got[0].Error, refusal.Error()) || got[0].Path != "" {
		t.Errorf("got %+v, want it refused", got)
	}
	b.empty(t)
	browsertest.WantError(t, browsertest.Err(b.Download(t.Context(), tab, refOf(t, tab, "Setup"), "plain.txt", 0)),
		refusal)
	b.empty(t)
	if got := b.press(t, tab, "Paper"); len(got) != 1 || got[0].Path == "" || got[0].Error != "" {
		t.Errorf("got %+v, want it saved", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 3 || asked[0].Path != "" || !asked[0].Executable || !strings.HasSuffix(asked[0].URL, "/invoice") || asked[2].Executable {
		t.Errorf("asked about %+v", asked)
	}
}

func TestTheQuestionEndsWhenNobodyWaitsForTheFile(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	b, site := open(t, func(o *files.Options) {
		o.Approve = func(ctx context.Context, _ files.Download) error {
			close(asked)
			<-ctx.Done()
			close(ended)
			return nil // too late
		}
	}), serveUnsafeFiles(t)
	tab := b.tab(t, site)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped by a person")
	go func() {
		<-asked
		cancel(stop)
	}()
	browsertest.WantError(t, browsertest.Err(b.Download(ctx, tab, refOf(t, tab, "Paper"), "paper.pdf", 0)), nil,
		stop.Error())
	<-ended
	b.empty(t)
}

func TestADownloadWithoutEndIsCancelledAtTheLimit(t *testing.T) {
	const limit = 4 << 20
	b, site := open(t, func(o *files.Options) { o.MaxBytes = limit }), serveUnsafeFiles(t)
	tab := b.tab(t, site)
	var most atomic.Int64
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(5 * time.Millisecond):
			}
			var sum int64
			_ = filepath.WalkDir(b.downloads, func(_ string, e fs.DirEntry, err error) error {
				if err == nil {
					if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
						sum += info.Size()
					}
				}
				return nil
			})
			most.Store(max(most.Load(), sum))
		}
	}()
	got := b.press(t, tab, "Flood")
	close(quit)
	<-done
	if len(got) != 1 || !strings.Contains(got[0].Error, "larger than allowed: at most 4194304 bytes") || got[0].Path != "" {
		t.Errorf("got %+v, want it cancelled", got)
	}
	t.Logf("limit=%d most_on_disk=%d", limit, most.Load())
	b.empty(t)
}

func TestAPageGetsTheFileThatWasChecked(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	secret := filepath.Join(t.TempDir(), "secret")
	file := filepath.Join(b.uploads, "a.txt")
	browsertest.Must(t, errors.Join(os.WriteFile(file, []byte("open"), 0o600), os.WriteFile(secret, []byte("secret"), 0o600)))
	tab := b.tab(t, s.URL+"/upload")
	browsertest.Must(t, b.Upload(t.Context(), tab, files.UploadRequest{Paths: []string{"a.txt"}, Element: "#one"}))
	browsertest.Must(t, errors.Join(os.Remove(file), os.Symlink(secret, file)))
	res, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindEvaluate, Fn: "(async () => one.files[0].name + ' ' + await one.files[0].text())()"})
	if err != nil || string(res.Value) != `"a.txt open"` {
		t.Errorf("got %v, %v; want the file as it was", res.Value, err)
	}
	small := open(t, func(o *files.Options) { o.MaxUpload = 3 })
	browsertest.Must(t, os.WriteFile(filepath.Join(small.uploads, "b"), []byte("1234"), 0o600))
	err = small.Upload(t.Context(), small.tab(t, s.URL+"/upload"), files.UploadRequest{Paths: []string{"b"}, Element: "#one"})
	browsertest.WantError(t, err, page.ErrInvalid, "larger than may be uploaded")
}

func TestCopiesOfUploadsGoWithTheDesk(t *testing.T) {
	for name, external := range map[string]bool{"ours": false, "another's": true} {
		t.Run(name, func(t *testing.T) {
			b, s := open(t, func(o *files.Options) { o.ForeignBrowser = external }), openShop(t)
			browsertest.Must(t, os.WriteFile(filepath.Join(b.uploads, "a.txt"), []byte("open"), 0o600))
			tab := b.tab(t, s.URL+"/upload")
			for range 25 {
				browsertest.Must(t, b.Upload(t.Context(), tab, files.UploadRequest{Paths: []string{"a.txt"}, Element: "#one"}))
			}
			if n := b.copies(t); n != 20 {
				t.Errorf("%d copies are kept, want 20", n)
			}
			browsertest.Must(t, b.Close())
			if n := b.copies(t); n != 0 {
				t.Errorf("%d copies are left", n)
			}
		})
	}
}

// copies counts what is kept for pages.
func (b *transferFixture) copies(tb testing.TB) (n int) {
	tb.Helper()
	err := filepath.WalkDir(b.downloads, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "a.txt" {
			n++
		}
		return err
	})
	browsertest.Must(tb, err)
	return n
}
