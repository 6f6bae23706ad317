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
	"clank/internal/test/check"

	"github.com/go-rod/rod/lib/proto"
)

// press clicks the element with this name and returns the downloads.
func (b *transferFixture) press(tb testing.TB, tab *page.Tab, name string) []files.Download {
	tb.Helper()
	ref := refOf(tb, tab, name)
	_, got, err := b.PerformAction(browsertest.Within(tb, browsertest.Patience), tab,
		page.Action{Kind: actiontable.KindClick, Ref: ref})
	check.Must(tb, err)
	return got
}

func content(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	check.Must(tb, err)
	return string(data)
}

func TestActionReportsTheDownloadsItStarted(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	tests := []struct{ click, name, content, url string }{
		{"Anchor", "file.txt", "file", s.URL + "/file"},
		{"Attachment", "file.txt", "file", s.URL + "/file"},
		{"Blank", "file.txt", "file", s.URL + "/file"},
		{"Elsewhere", "file.txt", "file", s.URL + "/file"},
		{"Window", "file.txt", "file", s.URL + "/file"},
		{"Form", "file.txt", "file", s.URL + "/file"},
		{"Frame", "file.txt", "file", s.URL + "/file"},
		{"Later", "file.txt", "file", s.URL + "/file"},
		{"Export blob", "blob.txt", "blob", "blob:" + s.URL},
		{"Fetched", "fetched.txt", "file", "blob:" + s.URL},
		{"Download data", "data.txt", "data", "data:text/plain,data"},
	}
	late := 0
	for _, tt := range tests {
		t.Run(tt.click, func(t *testing.T) {
			got := b.press(t, tab, tt.click)
			// On a busy machine a download may take longer to begin than its action waits: it is told with the next
			// one.
			if len(got) == 0 {
				late++
			}
			for end := time.Now().Add(browsertest.Patience); len(got) == 0 && time.Now().Before(end); {
				got = b.press(t, tab, "Plain")
			}
			if len(got) != 1 {
				t.Fatalf("got %+v, want one download", got)
			}
			d := got[0]
			if d.SuggestedFilename != tt.name || !strings.HasPrefix(d.URL, tt.url) || content(t, d.Path) != tt.content {
				t.Errorf("got %+v", d)
			}
			if filepath.Dir(d.Path) != b.real(t) || !strings.HasSuffix(d.Path, "-"+tt.name) {
				t.Errorf("got path %s, want it in %s under its own name", d.Path, b.downloads)
			}
		})
	}
	if late > len(tests)/2 {
		t.Errorf("got %d of %d downloads with a later action", late, len(tests))
	}
	check.Equal(t, "downloads listed", len(b.Downloads(tab)), len(tests))
}

// real returns the real path of the downloads folder.
func (b *transferFixture) real(tb testing.TB) string {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(b.downloads)
	check.Must(tb, err)
	return dir
}

func TestTwoDownloadsOfOneNameGetTwoPaths(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	got := b.press(t, tab, "Download twice")
	if len(got) != 2 || got[0].Path == got[1].Path || content(t, got[0].Path)+content(t, got[1].Path) != "12" {
		t.Errorf("got %+v, want two files", got)
	}
	evil := b.press(t, tab, "Evil")
	if len(evil) != 1 || filepath.Dir(evil[0].Path) != b.real(t) {
		t.Errorf("got %+v, want it to stay in the folder", evil)
	}
}

func TestActionWithoutDownloadIsNotDelayed(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	ref := refOf(t, tab, "Plain")
	fastest := time.Hour
	for tries := 0; tries < 50 && fastest > 200*time.Millisecond; tries++ {
		start := time.Now()
		_, got, err := b.PerformAction(t.Context(), tab, page.Action{Kind: actiontable.KindClick, Ref: ref})
		if err != nil || got != nil {
			t.Fatalf("got %+v, %v", got, err)
		}
		fastest = min(fastest, time.Since(start))
	}
	if fastest > 200*time.Millisecond {
		t.Errorf("the fastest of many clicks took %s", fastest)
	}
}

func TestDownloadThatComesLateIsReportedWithTheNextAction(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	_, first, err := b.PerformAction(t.Context(), tab,
		page.Action{Kind: actiontable.KindEvaluate, Fn: "setTimeout(() => keep('data:text/plain,late', 'late.txt'), 50)"})
	check.Must(t, err)
	browsertest.Eventually(t, "the download", func() bool {
		all := b.Downloads(tab)
		return len(all) == 1 && all[0].Path != ""
	})
	if got := append(first, b.press(t, tab, "Plain")...); len(got) != 1 || content(t, got[0].Path) != "late" {
		t.Errorf("got %+v", got)
	}
	browsertest.WantEqual(t, b.press(t, tab, "Plain"), nil)
}

func TestScriptThatSavesAFileIsWaitedFor(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	// Chromium takes its time on a busy machine; here the script does.
	_, got, err := b.PerformAction(t.Context(), tab, page.Action{Kind: actiontable.KindEvaluate, Fn: `(() => {
		const a = Object.assign(document.createElement('a'), { download: 'made.txt', href: URL.createObjectURL(new Blob(['made'])) });
		setTimeout(() => a.click(), 700);
	})()`})
	if err != nil || len(got) != 1 || content(t, got[0].Path) != "made" {
		t.Errorf("got %+v, %v; want the file", got, err)
	}
}

func TestNavigationToAFileIsADownload(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	res, got, err := b.Navigate(t.Context(), tab, s.URL+"/file", 20*time.Second)
	if err != nil || len(got) != 1 || content(t, got[0].Path) != "file" {
		t.Fatalf("got %+v, %+v, %v; want the file", res, got, err)
	}
	if res.URL != s.URL+"/" || res.Navigated {
		t.Errorf("got %+v, want the page to stay", res)
	}
	if _, got, err = b.Navigate(t.Context(), tab, s.URL, 20*time.Second); err != nil || got != nil {
		t.Errorf("got %+v, %v; want a page", got, err)
	}
}

func TestDownloadSavesUnderThePathGiven(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	check.Must(t, os.Mkdir(filepath.Join(b.downloads, "sub"), 0o700))
	check.Must(t, os.WriteFile(filepath.Join(b.downloads, "old.txt"), []byte("old"), 0o600))
	for _, path := range []string{"a.txt", "sub/b.txt", "old.txt", filepath.Join(b.downloads, "c.txt")} {
		got, err := b.Download(t.Context(), tab, refOf(t, tab, "Attachment"), path, 0)
		check.Must(t, err)
		if want := filepath.Join(b.real(t), strings.TrimPrefix(path, b.downloads)); got.Path != want ||
			content(t, want) != "file" {
			t.Errorf("got %+v, want it at %s", got, want)
		}
	}
	_, err := b.Download(t.Context(), tab, refOf(t, tab, "Attachment"), "../x", 0)
	if !errors.Is(err, page.ErrInvalid) ||
		!strings.HasPrefix(err.Error(), "Invalid path: must stay within downloads directory") {
		t.Errorf("got %v", err)
	}
	_, err = b.Download(t.Context(), tab, refOf(t, tab, "Plain"), "p.txt", time.Millisecond)
	check.Fails(t, err, context.DeadlineExceeded, "no download began")
	check.Fails(t, check.Err(b.Download(t.Context(), tab, "e999", "p.txt", 0)), page.ErrUnknownRef)
}

func TestDownloadOfWhatOpensInlineEndsAtOnceAndSaysWhere(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	for _, tt := range []struct{ link, want string }{
		{"Inline", s.URL + "/inline (text/plain) in the tab"},
		{"Inline beside", s.URL + "/inline (text/plain) in the new tab t"},
		{"Page", s.URL + "/page (text/html) in the tab"},
	} {
		tab := b.tab(t, s.URL)
		start := time.Now()
		check.Fails(t, check.Err(b.Download(t.Context(), tab, refOf(t, tab, tt.link), "inline.txt", 0)),
			files.ErrOpenedInline, tt.want)
		if took := time.Since(start); took > files.MaxTimeout/4 {
			t.Errorf("%s: told after %s", tt.link, took)
		}
	}
	tab := b.tab(t, s.URL)
	ref := refOf(t, tab, "Thanks")
	if got, err := b.Download(t.Context(), tab, ref, "thanks.txt", 0); err != nil || content(t, got.Path) != "file" {
		t.Errorf("got %+v, %v from a page that begins the download itself", got, err)
	}
}

func TestClickThatDownloadsNothingIsToldSoonUnlessThePageAwaitsAResponse(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab, patient := b.tab(t, s.URL), b.tab(t, s.URL)
	held, prepared := refOf(t, patient, "Prepared"), make(chan error, 1)
	go func() {
		_, err := b.Download(t.Context(), patient, held, "made.bin", 0)
		prepared <- err
	}()
	<-s.asked
	start := time.Now()
	check.Fails(t, check.Err(b.Download(t.Context(), tab, refOf(t, tab, "Plain"), "p.txt", 0)), files.ErrNoDownload,
		"of the click: take a new snapshot")
	if took := time.Since(start); took > files.MaxTimeout/4 {
		t.Errorf("told after %s", took)
	}
	close(s.slow)
	check.Must(t, <-prepared)
}

func TestNewerWaitTakesThePlaceOfTheOlder(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	first := make(chan error, 1)
	go func() {
		_, err := b.WaitDownload(t.Context(), tab, "", 0)
		first <- err
	}()
	type outcome struct {
		d   files.Download
		err error
	}
	second := make(chan outcome, 1)
	browsertest.Eventually(t, "the first wait", func() bool { return b.HasWaiter(tab) })
	go func() {
		d, err := b.WaitDownload(t.Context(), tab, "second.txt", 0)
		second <- outcome{d, err}
	}()
	check.Fails(t, <-first, files.ErrSuperseded, "superseded")
	if got := b.press(t, tab, "Download data"); len(got) != 0 {
		t.Errorf("got %+v reported, want it to go to who waits", got)
	}
	if got := <-second; got.err != nil || content(t, got.d.Path) != "data" || filepath.Base(got.d.Path) != "second.txt" {
		t.Errorf("got %+v", got)
	}
}

func TestCancelledWaitTakesNoLaterDownload(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	stop := errors.New("stopped by @ada")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.WaitDownload(ctx, tab, "mine.txt", 0)
		done <- err
	}()
	browsertest.Eventually(t, "the wait", func() bool { return b.HasWaiter(tab) })
	cancel(stop)
	check.Fails(t, <-done, stop)
	got := b.press(t, tab, "Download data")
	if len(got) != 1 || filepath.Base(got[0].Path) == "mine.txt" {
		t.Errorf("got %+v, want the download to be the action's", got)
	}
}

// empty waits until no download is in progress, and reports whether the folder is empty.
func (b *transferFixture) empty(tb testing.TB) {
	tb.Helper()
	browsertest.Eventually(tb, "no file is left", func() bool {
		var files []string
		_ = filepath.WalkDir(b.downloads, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				files = append(files, path)
			}
			return nil
		})
		return len(files) == 0
	})
}

func TestTheDocumentThatIsShownCanBeSaved(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL+"/#here")
	got, err := b.DownloadDocument(t.Context(), tab, s.URL, "shelf.html", 0)
	check.Must(t, err)
	if data, err := os.ReadFile(got.Path); err != nil || string(data) != shelf || filepath.Base(got.Path) != "shelf.html" {
		t.Errorf("saved %+v with %d bytes, %v", got, len(data), err)
	}
	check.Fails(t, check.Err(b.DownloadDocument(t.Context(), tab, s.URL+"/other", "x", 0)),
		files.ErrOtherDocument)
}

func TestCallerWhoLeavesCancelsTheTransfer(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	ref := refOf(t, tab, "Slow")
	stop := errors.New("stopped by @ada")
	for name, call := range map[string]func(context.Context) error{
		"download": func(ctx context.Context) error { _, err := b.Download(ctx, tab, ref, "slow.bin", 0); return err },
		"action": func(ctx context.Context) error {
			_, got, err := b.PerformAction(ctx, tab, page.Action{Kind: actiontable.KindClick, Ref: ref})
			if len(got) == 1 {
				return errors.Join(err, errors.New(got[0].Error))
			}
			return err
		},
		"navigation": func(ctx context.Context) error {
			_, got, err := b.Navigate(ctx, tab, s.URL+"/slow", 20*time.Second)
			if len(got) == 1 {
				return errors.Join(err, errors.New(got[0].Error))
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			done := make(chan error, 1)
			before := len(b.Downloads(tab))
			go func() { done <- call(ctx) }()
			browsertest.Eventually(t, "it begins", func() bool { return len(b.Downloads(tab)) > before })
			cancel(stop)
			check.Fails(t, <-done, nil, stop.Error())
			b.empty(t)
		})
	}
}

func TestDownloadThatFailsSaysWhy(t *testing.T) {
	refused := errors.New("browser navigation blocked by policy")
	b, s := open(t, func(o *files.Options) {
		o.MaxBytes = 50_000
		o.Host = host{checkURL: func(url string) error {
			if strings.Contains(url, "data:") {
				return refused
			}
			return nil
		}}
	}), openShop(t)
	tab := b.tab(t, s.URL)
	for name, want := range map[string]string{
		"Cut": "larger than allowed", "Slow": "larger than allowed",
		"Download data": "blocked by policy",
	} {
		got := b.press(t, tab, name)
		if len(got) != 1 || !strings.Contains(got[0].Error, want) || got[0].Path != "" {
			t.Errorf("%s: got %+v, want %q", name, got, want)
		}
	}
	check.Fails(t, check.Err(b.Download(t.Context(), tab, refOf(t, tab, "Download data"), "x", 0)),
		refused)
	b.empty(t)
	full := open(t, func(o *files.Options) {
		o.Host = host{room: func(staged int64) error {
			if staged > 50_000 {
				return errors.New("the disk is nearly full")
			}
			return nil
		}}
	})
	if got := full.press(t, full.tab(t, s.URL), "Slow"); len(got) != 1 || !strings.Contains(got[0].Error, "nearly full") ||
		got[0].Path != "" {
		t.Errorf("got %+v with a full disk", got)
	}
	full.empty(t)
	whole := open(t, nil)
	tab = whole.tab(t, s.URL)
	if got := whole.press(t, tab, "Cut"); len(got) != 1 || !strings.Contains(got[0].Error, "broke off") {
		t.Errorf("got %+v, want it to have broken off", got)
	}
	whole.empty(t)
}

func TestOutputThatCannotBeWrittenIsAnError(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab := b.tab(t, s.URL)
	sub := filepath.Join(b.downloads, "sub")
	check.Must(t, os.Mkdir(sub, 0o700))
	done := make(chan error, 1)
	go func() {
		_, err := b.Download(t.Context(), tab, refOf(t, tab, "Slow"), "sub/slow.bin", 0)
		done <- err
	}()
	browsertest.Eventually(t, "it begins", func() bool { return len(b.Downloads(tab)) > 0 })
	// What is in its place by now leads elsewhere.
	outside := t.TempDir()
	check.Must(t, errors.Join(os.Remove(sub), os.Symlink(outside, sub)))
	close(s.slow)
	check.Fails(t, <-done, nil, "Invalid path")
	if files, _ := os.ReadDir(outside); len(files) != 0 {
		t.Errorf("got %v written outside", files)
	}
	check.Must(t, os.Remove(sub))
	b.empty(t)
}

func TestDownloadOutlivesItsTab(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	tab, other := b.tab(t, s.URL), b.tab(t, s.URL)
	done := make(chan error, 1)
	go func() {
		_, err := b.Download(t.Context(), tab, refOf(t, tab, "Slow"), "slow.bin", 0)
		done <- err
	}()
	browsertest.Eventually(t, "it begins", func() bool { return len(b.Downloads(tab)) > 0 })
	tab.MainFrame().Post(proto.PageCrash{})
	browsertest.Eventually(t, "the crash", func() bool { return errors.Is(tab.Err(), page.ErrTabCrashed) })
	if got := b.press(t, other, "Download data"); len(got) != 1 {
		t.Errorf("got %+v in the other tab", got)
	}
	close(s.slow)
	check.Must(t, <-done)
	// A wait in a tab that closes ends.
	go func() {
		_, err := b.WaitDownload(t.Context(), other, "", 0)
		done <- err
	}()
	browsertest.Eventually(t, "the wait", func() bool { return b.HasWaiter(other) })
	check.Must(t, other.Close(t.Context()))
	check.Fails(t, <-done, page.ErrTabGone)
}

func TestIncognitoContextsAreCapturedToo(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	id, err := b.browser.NewContext(t.Context(), "")
	check.Must(t, err)
	t.Cleanup(func() { _ = b.browser.CloseContext(context.Background(), id) })
	tab := b.tabIn(t, page.TabOptions{URL: s.URL, ContextID: id})
	got := b.press(t, tab, "Attachment")
	if len(got) != 1 || content(t, got[0].Path) != "file" {
		t.Fatalf("got %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := b.Download(ctx, tab, refOf(t, tab, "Slow"), "s.bin", 0)
		done <- err
	}()
	browsertest.Eventually(t, "it begins", func() bool { return len(b.Downloads(tab)) == 2 })
	cancel()
	check.Fails(t, <-done, context.Canceled)
	check.Must(t, os.Remove(got[0].Path))
	b.empty(t)
}

func TestBrowserOfSomebodyElseIsLeftAlone(t *testing.T) {
	b, s := open(t, func(o *files.Options) { o.ForeignBrowser = true }), openShop(t)
	tab := b.tab(t, s.URL)
	browsertest.WantEqual(t, b.press(t, tab, "Plain"), nil)
	check.Fails(t, check.Err(b.WaitDownload(t.Context(), tab, "", 0)), files.ErrNotCaptured)
	check.Fails(t, check.Err(b.Download(t.Context(), tab, "e1", "x", 0)), files.ErrNotCaptured)
	if _, err := os.Stat(b.downloads); !os.IsNotExist(err) {
		t.Errorf("the folder was made: %v", err)
	}
}

func TestBrowserThatDiesLeavesNothing(t *testing.T) {
	own := browsertest.Launch(t)
	b, s := openAt(t, own, nil), openShop(t)
	tab, other := b.tab(t, s.URL), b.tab(t, s.URL)
	done := make(chan error, 2)
	ref := refOf(t, tab, "Slow")
	go func() {
		_, err := b.Download(t.Context(), tab, ref, "slow.bin", 0)
		done <- err
	}()
	go func() {
		_, err := b.WaitDownload(t.Context(), other, "", 0)
		done <- err
	}()
	browsertest.Eventually(t, "it begins", func() bool { return len(b.Downloads(tab)) > 0 && b.HasWaiter(other) })
	browsertest.Kill(t, own)
	for range 2 {
		check.Fails(t, <-done, page.ErrBrowserGone)
	}
	check.Fails(t, check.Err(b.WaitDownload(t.Context(), tab, "", 0)), page.ErrBrowserGone)
	check.Must(t, b.Close())
	b.empty(t)
}

// serveUnsafeFiles serves files whose names and contents do not match, and an endless one.
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
		if !strings.HasSuffix(d.SuggestedFilename, tt.name) || strings.Contains(d.SuggestedFilename, "\u202e") ||
			d.Type != tt.mediaType ||
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
		o.Host = host{approve: func(_ context.Context, d files.Download) error {
			mu.Lock()
			defer mu.Unlock()
			asked = append(asked, d)
			if d.Executable {
				return refusal
			}
			return nil
		}}
	}), serveUnsafeFiles(t)
	tab := b.tab(t, site)
	if got := b.press(t, tab, "Invoice"); len(got) != 1 || !strings.Contains(got[0].Error, refusal.Error()) ||
		got[0].Path != "" {
		t.Errorf("got %+v, want it refused", got)
	}
	b.empty(t)
	check.Fails(t, check.Err(b.Download(t.Context(), tab, refOf(t, tab, "Setup"), "plain.txt", 0)),
		refusal)
	b.empty(t)
	if got := b.press(t, tab, "Paper"); len(got) != 1 || got[0].Path == "" || got[0].Error != "" {
		t.Errorf("got %+v, want it saved", got)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(asked) != 3 || asked[0].Path != "" || !asked[0].Executable || !strings.HasSuffix(asked[0].URL, "/invoice") ||
		asked[2].Executable {
		t.Errorf("asked about %+v", asked)
	}
}

func TestTheQuestionEndsWhenNobodyWaitsForTheFile(t *testing.T) {
	asked, ended := make(chan struct{}), make(chan struct{})
	b, site := open(t, func(o *files.Options) {
		o.Host = host{approve: func(ctx context.Context, _ files.Download) error {
			close(asked)
			<-ctx.Done()
			close(ended)
			return nil // too late
		}}
	}), serveUnsafeFiles(t)
	tab := b.tab(t, site)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped by a person")
	go func() {
		<-asked
		cancel(stop)
	}()
	check.Fails(t, check.Err(b.Download(ctx, tab, refOf(t, tab, "Paper"), "paper.pdf", 0)), nil,
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
	if len(got) != 1 || !strings.Contains(got[0].Error, "larger than allowed: at most 4.19 MB") ||
		got[0].Path != "" {
		t.Errorf("got %+v, want it cancelled", got)
	}
	t.Logf("limit=%d most_on_disk=%d", limit, most.Load())
	b.empty(t)
}

func TestAPageGetsTheFileThatWasChecked(t *testing.T) {
	b, s := open(t, nil), openShop(t)
	secret := filepath.Join(t.TempDir(), "secret")
	file := filepath.Join(b.uploads, "a.txt")
	check.Must(t, errors.Join(os.WriteFile(file, []byte("open"), 0o600), os.WriteFile(secret, []byte("secret"), 0o600)))
	tab := b.tab(t, s.URL+"/upload")
	check.Must(t, b.Upload(t.Context(), tab, files.UploadRequest{Paths: []string{"a.txt"}, Element: "#one"}))
	check.Must(t, errors.Join(os.Remove(file), os.Symlink(secret, file)))
	res, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindEvaluate, Fn: "(async () => one.files[0].name + " +
		"' ' + await one.files[0].text())()"})
	if err != nil || string(res.Value) != `"a.txt open"` {
		t.Errorf("got %v, %v; want the file as it was", res.Value, err)
	}
	small := open(t, func(o *files.Options) { o.MaxUpload = 3 })
	check.Must(t, os.WriteFile(filepath.Join(small.uploads, "b"), []byte("1234"), 0o600))
	err = small.Upload(t.Context(), small.tab(t, s.URL+"/upload"),
		files.UploadRequest{Paths: []string{"b"}, Element: "#one"})
	check.Fails(t, err, page.ErrInvalid, "larger than may be uploaded")
}

func TestCopiesOfUploadsGoWithTheDesk(t *testing.T) {
	for name, external := range map[string]bool{"ours": false, "another's": true} {
		t.Run(name, func(t *testing.T) {
			b, s := open(t, func(o *files.Options) { o.ForeignBrowser = external }), openShop(t)
			check.Must(t, os.WriteFile(filepath.Join(b.uploads, "a.txt"), []byte("open"), 0o600))
			tab := b.tab(t, s.URL+"/upload")
			for range 25 {
				check.Must(t, b.Upload(t.Context(), tab, files.UploadRequest{Paths: []string{"a.txt"}, Element: "#one"}))
			}
			check.Equal(t, "copies are kept", b.copies(t), 20)
			check.Must(t, b.Close())
			check.Equal(t, "copies are left", b.copies(t), 0)
		})
	}
}

// copies counts the copies kept for pages.
func (b *transferFixture) copies(tb testing.TB) (n int) {
	tb.Helper()
	err := filepath.WalkDir(b.downloads, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Name() == "a.txt" {
			n++
		}
		return err
	})
	check.Must(tb, err)
	return n
}
