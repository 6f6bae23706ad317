package controltest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// testSite is a web site on loopback with the pages that the cases need. It records requests.
type testSite struct {
	*httptest.Server
	near *httptest.Server // the same pages on another port: another origin, but the same site

	mu   sync.Mutex
	hits map[string]int
	over chan struct{} // closed and replaced to end the endless files
}

// newTestSite starts a site. The caller closes it.
func newTestSite() *testSite {
	s := &testSite{hits: map[string]int{}, over: make(chan struct{})}
	mux := http.NewServeMux()
	for path, html := range sitePages() {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html>"+html)
		})
	}
	serveOdd(mux)
	// drip sends a file that never ends, and records when the client has gone.
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="drip.bin"`)
		_, _ = w.Write(make([]byte, 64<<10))
		_ = http.NewResponseController(w).Flush()
		s.mu.Lock()
		over := s.over
		s.mu.Unlock()
		select {
		case <-r.Context().Done():
			s.recordHit("/drip ended")
		case <-over:
		}
	})
	mux.HandleFunc("/scope", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		other := "http://localhost:" + r.Host[strings.LastIndex(r.Host, ":")+1:]
		_, _ = io.WriteString(w, strings.NewReplacer("OTHER", other, "NEAR", s.near.URL).Replace(scopePage))
	})
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.recordHit(r.URL.Path)
		mux.ServeHTTP(w, r)
	})
	s.near = httptest.NewServer(serve)
	s.Server = httptest.NewServer(serve)
	return s
}

// Close ends both servers.
func (s *testSite) Close() {
	s.Server.Close()
	s.near.Close()
}

// EndDrips ends the endless files that are being sent.
func (s *testSite) EndDrips() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.over)
	s.over = make(chan struct{})
}

func (s *testSite) recordHit(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits[path]++
}

// Hits returns the number of requests for a path.
func (s *testSite) Hits(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

// serveOdd serves everything that is not a plain page.
func serveOdd(mux *http.ServeMux) {
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "[%q, %q]", r.Header.Get("X-One"), r.Header.Get("X-Two"))
	})
	mux.HandleFunc("/locked", func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "lovelace" {
			w.Header().Set("WWW-Authenticate", `Basic realm="site"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	mux.HandleFunc("/answer", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "forty-two") })
	mux.HandleFunc("/leap", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	mux.HandleFunc("/stuck", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/inner/{document}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, strings.ReplaceAll(innerPage, "DOCUMENT", r.PathValue("document")))
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="report.txt"`)
		_, _ = io.WriteString(w, "the report")
	})
}

// scopePage has a target of its own and one in each of three frames: same-origin, cross-site, and cross-origin on the
// same site. change runs a script in one of the documents, where target is the element and hit reports a click to the
// site.
const scopePage = `<!doctype html><title>Scope</title><button onclick="hit('outside')">Outside</button>
<section id="scope" aria-label="Scope"><div><div><button id="target" onclick="hit('page')">Go page</button><button>Next</button></div></div></section>
<script>
window.ready = 0;
const hit = name => fetch('/hit/' + name), replies = [];
addEventListener('message', e => e.data === 'ready' ? window.ready++ : replies.shift()(true));
function change(where, script) {
  if (where === 'page') { new Function('target', 'hit', script)(document.getElementById('target'), hit); return true }
  return new Promise(done => { replies.push(done); document.getElementById(where).contentWindow.postMessage(script, '*') });
}
</script>
<iframe id="same" name="Same" src="/inner/same"></iframe><iframe id="other" name="Other" src="OTHER/inner/other"></iframe>
<iframe id="near" name="Near" src="NEAR/inner/near"></iframe>`

const innerPage = `<!doctype html><title>Inner</title><p>Inner</p><div><button id="target" onclick="hit('DOCUMENT')">Go DOCUMENT</button></div>
<script>
const hit = name => fetch('/hit/' + name);
addEventListener('message', e => {
  new Function('target', 'hit', e.data)(document.getElementById('target'), hit);
  parent.postMessage('done', '*');
});
addEventListener('load', () => parent.postMessage('ready', '*'));
</script>`

func sitePages() map[string]string {
	return map[string]string{
		"/plain": `<title>Plain</title><h1>Plain</h1><p>nothing to do here</p>`,
		"/form": `<title>Form</title><h1>Register</h1>
<label>Name <input id="name" value="before"></label>
<label>Country <select id="country"><option value="pe">Peru<option value="no">Norway</select></label>
<label>Many <select id="many" multiple><option>a<option>b<option>c</select></label>
<label><input type="checkbox" id="news"> News</label>
<button id="save" onclick="said.textContent='saved'" ondblclick="said.textContent='saved twice'"
  oncontextmenu="said.textContent='context';return false">Save</button>
<p id="said"></p><div style="height:3000px"></div><button id="far" onclick="said.textContent='far'">Far</button>`,
		"/other":  `<title>Other</title><h1>Other page</h1><a href="/form">back to the form</a> <a id="below" href="#below">below</a>`,
		"/talk":   `<title>Talk</title><script>console.debug('talk debug');console.log('talk log');console.warn('talk warn');console.error('talk error')</script>`,
		"/broken": `<title>Broken</title><script>setTimeout(() => { throw new TypeError('on purpose') })</script>`,
		"/files": `<title>Files</title><a href="/file" id="get">Get the report</a>
<a id="blob" download="blob.txt">Get a blob</a><script>blob.href=URL.createObjectURL(new Blob(['from a blob']))</script>
<label>File <input type="file" id="one" onchange="said.textContent=[...this.files].map(f=>f.name).join()"></label>
<label>Files <input type="file" id="several" multiple onchange="said.textContent=[...this.files].map(f=>f.name).join()"></label>
<button id="choose" onclick="one.click()">Choose</button><p id="said"></p>`,
		"/dialogs": `<title>Dialogs</title><button id="alert" onclick="alert('Are you there?');said.textContent='answered'">Alert</button>
<button id="prompt" onclick="said.textContent=String(prompt('Your name?','nobody'))">Prompt</button>
<button id="confirm" onclick="said.textContent=String(confirm('Sure?'))">Confirm</button><p id="said"></p>`,
		"/world": `<title>World</title><main><h1>World</h1><button onclick="said.textContent='saved'">Save</button> <a href="/docs">Docs</a>
<div style="cursor:pointer" onclick="said.textContent='card'">Clickable Card</div><p id="only">only this</p><p id="said"></p></main>
<iframe title="Child" srcdoc="<button>Inside</button>"></iframe>`,
		"/rows": `<title>Rows</title>` + repeatHTML(60, func(i int) string {
			return fmt.Sprintf("<p>row %d <button>edit %d</button></p>", i, i)
		}),
		"/login": `<title>Login</title><label>User <input value="ada"></label><label>Password <input type="password" value="hunter2"></label>`,
		"/colours": `<title>Colours</title><style>body{margin:0;height:1500px;position:relative}div{position:absolute;width:100px;height:100px}</style>
<div style="background:red;top:0;left:0"></div><div id="end" style="background:blue;top:1400px;left:0"></div>`,
		"/popup": `<title>Popup</title><a href="/other" target="_blank">open</a>`,
		"/drag": `<title>Drag</title><div id="from" draggable="true" style="width:80px;height:80px;background:red" role="button" aria-label="Thing">x</div>
<div id="to" style="width:200px;height:200px;margin-top:40px;background:blue" role="region" aria-label="Place"
 ondragover="event.preventDefault()" ondrop="event.preventDefault();said.textContent='dropped'">y</div><p id="said"></p>`,
		"/cover": `<title>Cover</title><button id="b" onclick="said.textContent='clicked'">Under</button><p id="said"></p>
<div id="veil" style="position:fixed;inset:0;background:#fff8">veil</div>`,
		"/drips":  `<title>Drips</title><a id="drip" href="/drip">Drip</a><form action="/drip"><input id="word" name="word" aria-label="Word"></form>`,
		"/astray": `<title>Astray</title><a href="http://10.0.0.1/" id="link">away</a>`,
		"/parted": `<title>Parted</title><p>still here</p><iframe src="http://10.0.0.2/" title="Private"></iframe>`,
		"/frozen": `<title>Frozen</title>`,
		"/freeze": `<title>Freeze</title><script>onload = () => fetch('/frozen').then(() => { for (;;); })</script>`,
		"/late":   `<title>Late</title><p id="p">early text</p><script>setTimeout(()=>{p.textContent='Late Text';location.hash='late'},300)</script>`,
	}
}

func repeatHTML(n int, part func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(part(i))
	}
	return b.String()
}
