package files_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// browser is the one for all tests of the package.
var browser browsertest.Shared

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// transferFixture holds Transfers on its own connection, with their folders.
type transferFixture struct {
	*files.Transfers
	browser   *page.Browser
	downloads string
	uploads   string
}

// host decides what the test sets, and allows the rest.
type host struct {
	files.AllowAll

	approve  func(ctx context.Context, d files.Download) error
	room     func(staged int64) error
	checkURL func(url string) error
}

func (h host) Approve(ctx context.Context, d files.Download) error {
	if h.approve == nil {
		return nil
	}
	return h.approve(ctx, d)
}

func (h host) Room(staged int64) error {
	if h.room == nil {
		return nil
	}
	return h.room(staged)
}

func (h host) CheckURL(url string) error {
	if h.checkURL == nil {
		return nil
	}
	return h.checkURL(url)
}

// open connects a fixture, and closes it when the test ends.
func open(tb testing.TB, adjust func(*files.Options)) *transferFixture {
	tb.Helper()
	return openAt(tb, browser.Process(tb), adjust)
}

func openAt(tb testing.TB, p *chrome.Process, adjust func(*files.Options)) *transferFixture {
	tb.Helper()
	home, err := os.MkdirTemp("", "clank") //nolint:usetesting // whose removal is tried once, see below
	check.Must(tb, err)
	tb.Cleanup(func() {
		// Unlike in the program, this browser outlives the Transfers: it may recreate the folder of a download that
		// was given up as it began.
		browsertest.Eventually(tb, "the browser has left the folder", func() bool { return os.RemoveAll(home) == nil })
	})
	b := &transferFixture{downloads: filepath.Join(home, "downloads"), uploads: filepath.Join(home, "uploads")}
	check.Must(tb, os.Mkdir(b.uploads, 0o700))
	opts := files.Options{Downloads: b.downloads, Uploads: files.UploadPolicy{Folders: []string{b.uploads}}}
	if adjust != nil {
		adjust(&opts)
	}
	if b.Transfers, err = files.NewTransfers(opts); err != nil {
		tb.Fatal(err)
	}
	b.browser, err = page.Connect(browsertest.Within(tb, browsertest.Patience), p.WebSocketURL,
		page.Options{Observers: []page.Observer{b.Transfers}})
	check.Must(tb, err)
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
			check.Must(tb, os.WriteFile(filepath.Join(dir, "rest"), nil, 0o600))
		}
		check.Must(tb, b.Close())
		if left, _ := filepath.Glob(filepath.Join(b.downloads, ".staging-*", "*")); len(left) > 0 {
			tb.Errorf("left behind: %s", left)
		}
	})
	return b
}

// tab opens a tab that is closed when the test ends.
func (b *transferFixture) tab(tb testing.TB, url string) *page.Tab {
	tb.Helper()
	return b.tabIn(tb, page.TabOptions{URL: url})
}

func (b *transferFixture) tabIn(tb testing.TB, opts page.TabOptions) *page.Tab {
	tb.Helper()
	return browsertest.Tab(tb, b.browser, opts)
}

// refOf returns the ref of the element with this name.
func refOf(tb testing.TB, tab *page.Tab, name string) string {
	tb.Helper()
	snap, err := tab.Snapshot(browsertest.Within(tb, browsertest.Patience), page.SnapshotOptions{})
	check.Must(tb, err)
	for _, r := range snap.Refs() {
		if r.Name == name {
			return r.Ref
		}
	}
	tb.Fatalf("no %q in\n%s", name, snap.Text)
	return ""
}

// shop is a page of downloads, with a server whose slow files end on request.
type shop struct {
	*httptest.Server
	slow  chan struct{} // closed to let the slow file end
	asked chan struct{} // gets a value when the slow file is first asked for
}

const shelf = `<!doctype html><meta charset=utf-8><title>Shelf</title>
<a download href=/file>Anchor</a><a href=/file>Attachment</a><a href=/file target=_blank rel=opener>Blank</a><a href=/file target=_blank>Elsewhere</a>
<a href=/slow>Slow</a><a href=/cut>Cut</a><a download="../../evil.txt" href="data:text/plain,evil">Evil</a>
<button onclick="window.n = (window.n || 0) + 1">Plain</button>
<button onclick="keep(window.URL.createObjectURL(new Blob(['blob'])), 'blob.txt')">Export blob</button>
<button onclick="keep('data:text/plain,data', 'data.txt')">Download data</button>
<button onclick="keep('data:text/plain,1', 'same.txt'); setTimeout(() => keep('data:text/plain,2', 'same.txt'), 100)">Download twice</button>
<button onclick="f = document.createElement('iframe'); f.src = '/file'; document.body.append(f)">Frame</button>
<button onclick="fetch('/file').then(r => r.blob()).then(b => keep(window.URL.createObjectURL(b), 'fetched.txt'))">Fetched</button>
<button onclick="setTimeout(async () => keep(window.URL.createObjectURL(await (await fetch('/slow')).blob()), 'made.bin'), 1000)">Prepared</button>
<button onclick="setTimeout(() => { a = document.createElement('a'); a.href = '/file'; a.download = ''; document.body.append(a); a.click() }, 0)">Later</button>
<button onclick="window.open('/file')">Window</button>
<a href=/inline>Inline</a><a href=/inline target=_blank>Inline beside</a>
<a href=/thanks>Thanks</a><a href=/page>Page</a>
<form action=/file method=post><button>Form</button></form>
<script>keep = (href, name) => { const a = document.createElement('a'); a.href = href; a.download = name; a.click() }</script>`

func openShop(tb testing.TB) *shop {
	tb.Helper()
	s := &shop{slow: make(chan struct{}), asked: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { browsertest.HTML(w, shelf) })
	mux.HandleFunc("/file", func(w http.ResponseWriter, r *http.Request) {
		// The answer takes longer than the click that asks for it.
		select {
		case <-time.After(60 * time.Millisecond):
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Disposition", `attachment; filename="file.txt"`)
		fmt.Fprint(w, "file")
	})
	mux.HandleFunc("/inline", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		fmt.Fprint(w, "inline")
	})
	mux.HandleFunc("/page", func(w http.ResponseWriter, _ *http.Request) { browsertest.HTML(w, `<title>Page</title>`) })
	mux.HandleFunc("/thanks", func(w http.ResponseWriter, _ *http.Request) {
		browsertest.HTML(w, `<title>Thanks</title><script>setTimeout(() => { location = '/file' }, 500)</script>`)
	})
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.asked <- struct{}{}:
		default:
		}
		w.Header().Set("Content-Disposition", `attachment; filename="slow.bin"`)
		_, _ = w.Write(make([]byte, 64<<10))
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.slow:
			fmt.Fprint(w, "end")
		case <-r.Context().Done():
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="cut.bin"`)
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write(make([]byte, 32<<10))
	})
	mux.HandleFunc("/upload", func(w http.ResponseWriter, _ *http.Request) {
		browsertest.HTML(w, `<!doctype html><title>Upload</title><script>window.seen = []</script>
			<label>One <input type=file id=one oninput="seen.push('input')" onchange="seen.push('change')"></label>
			<input type=file id=folder webkitdirectory><button onclick="folder.click()">ChooseFolder</button>
			<input type=file id=many multiple aria-label=Many><input type=file id=off disabled aria-label=Off>
			<label>CV <input type=file id=cv hidden></label><input type=file id=hidden style="display:none"><button onclick="document.getElementById('hidden').click()">Choose</button>
			<button onclick="document.getElementById('many').click()">ChooseMany</button>
			<button onclick="setTimeout(() => document.getElementById('hidden').click(), 50)">Soon</button>
			<button>Nothing</button><button onclick="alert('wait')">Alert</button>
			<div id=box></div><script>box.attachShadow({mode: 'open'}).innerHTML = '<input type=file id=inner>'</script>`)
	})
	mux.HandleFunc("/frame", func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, fmt.Sprintf(
			`<!doctype html><title>Outer</title><iframe width=600 height=400 src="%s/upload"></iframe>`,
			browsertest.LocalhostURL(r)))
	})
	s.Server = browsertest.Serve(tb, mux.ServeHTTP)
	return s
}
