package files_test

import (
	"os"
	"path/filepath"
	"testing"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/internal/test/browsertest"
)

// browser is the one of the whole test binary.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// transferFixture is a desk at a connection of its own, with the folders it works on.
type transferFixture struct {
	*files.Transfers
	browser   *page.Browser
	downloads string
	uploads   string
}

// open connects a desk, and closes both at the end.
func open(tb testing.TB, adjust func(*files.Options)) *transferFixture {
	tb.Helper()
	return openAt(tb, browser.Process(tb), adjust)
}

func openAt(tb testing.TB, p *chrome.Process, adjust func(*files.Options)) *transferFixture {
	tb.Helper()
	home, err := os.MkdirTemp("", "clank") //nolint:usetesting // whose removal is tried once, see below
	browsertest.Must(tb, err)
	tb.Cleanup(func() {
		// This browser outlives the desk, as none does in the program: it may make the folder of a download anew that was
		// given up as it began.
		browsertest.Eventually(tb, "the browser has left the folder", func() bool { return os.RemoveAll(home) == nil })
	})
	b := &transferFixture{downloads: filepath.Join(home, "downloads"), uploads: filepath.Join(home, "uploads")}
	browsertest.Must(tb, os.Mkdir(b.uploads, 0o700))
	opts := files.Options{Downloads: b.downloads, Uploads: files.UploadPolicy{Folders: []string{b.uploads}}}
	if adjust != nil {
		adjust(&opts)
	}
	if b.Transfers, err = files.NewTransfers(opts); err != nil {
		tb.Fatal(err)
	}
	b.browser, err = page.Connect(browsertest.Within(tb, browsertest.Patience), p.WebSocketURL, page.Options{Observers: []page.Observer{b.Transfers}})
	browsertest.Must(tb, err)
	tb.Cleanup(func() {
		// What was given up is let go while the browser can still be told.
		browsertest.Eventually(tb, "the browser has let its downloads go", func() bool {
			select {
			case <-b.browser.Done():
				return true
			default:
				return b.IsIdle()
			}
		})
		_ = b.browser.Close()
		// An empty folder the browser may make anew, a file in it not.
		staging, _ := filepath.Glob(filepath.Join(b.downloads, ".staging-*"))
		for _, dir := range staging {
			browsertest.Must(tb, os.WriteFile(filepath.Join(dir, "rest"), nil, 0o600))
		}
		browsertest.Must(tb, b.Close())
		if left, _ := filepath.Glob(filepath.Join(b.downloads, ".staging-*", "*")); len(left) > 0 {
			tb.Errorf("left behind: %s", left)
		}
	})
	return b
}

// tab opens a tab that is closed at the end.
func (b *transferFixture) tab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return b.tabIn(tb, page.TabOptions{URL: url})
}

func (b *transferFixture) tabIn(tb testing.TB, opts page.TabOptions) *page.Tab {
	tb.Helper()
	return browsertest.Tab(tb, b.browser, opts)
}

// refOf finds the ref of the element with this name.
func refOf(tb testing.TB, tab *page.Tab, name string) string {
	tb.Helper()
	snap, err := tab.Snapshot(browsertest.Within(tb, browsertest.Patience), page.SnapshotOptions{})
	browsertest.Must(tb, err)
	for _, r := range snap.Refs() {
		if r.Name == name {
			return r.Ref
		}
	}
	tb.Fatalf("no %q in\n%s", name, snap.Text)
	return ""
}
