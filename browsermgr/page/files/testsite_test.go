package files_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"clank/internal/test/browsertest"
)

// shop is a page of things to download, and a server whose slow files end when the test says so.
type shop struct {
	*httptest.Server
	slow chan struct{} // closed to let the slow file end
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
<button onclick="setTimeout(() => { a = document.createElement('a'); a.href = '/file'; a.download = ''; document.body.append(a); a.click() }, 0)">Later</button>
<button onclick="window.open('/file')">Window</button>
<form action=/file method=post><button>Form</button></form>
<script>keep = (href, name) => { const a = document.createElement('a'); a.href = href; a.download = name; a.click() }</script>`

func openShop(tb testing.TB) *shop {
	tb.Helper()
	s := &shop{slow: make(chan struct{})}
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
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
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
			<input type=file id=many multiple aria-label=Many><input type=file id=off disabled aria-label=Off>
			<label>CV <input type=file id=cv hidden></label><input type=file id=hidden style="display:none"><button onclick="document.getElementById('hidden').click()">Choose</button>
			<button onclick="document.getElementById('many').click()">ChooseMany</button>
			<button onclick="setTimeout(() => document.getElementById('hidden').click(), 50)">Soon</button>
			<button>Nothing</button><button onclick="alert('wait')">Alert</button>
			<div id=box></div><script>box.attachShadow({mode: 'open'}).innerHTML = '<input type=file id=inner>'</script>`)
	})
	mux.HandleFunc("/frame", func(w http.ResponseWriter, r *http.Request) {
		browsertest.HTML(w, fmt.Sprintf(`<!doctype html><title>Outer</title><iframe width=600 height=400 src="%s/upload"></iframe>`, browsertest.LocalhostURL(r)))
	})
	s.Server = browsertest.Serve(tb, mux.ServeHTTP)
	return s
}
