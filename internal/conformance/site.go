package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// site is a web site on loopback with the pages that the checks need. It notes who asked for what.
type site struct {
	*httptest.Server

	mu   sync.Mutex
	hits map[string]int
}

func newSite() *site {
	s := &site{hits: map[string]int{}}
	mux := http.NewServeMux()
	for path, html := range pages() {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<!doctype html>"+html)
		})
	}
	serveOdd(mux)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.hits[r.URL.Path]++
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	}))
	return s
}

// hit is how often a path was asked for.
func (s *site) hit(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits[path]
}

// serveOdd serves what is more than a page.
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
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "and so on")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/file", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Disposition", `attachment; filename="report.txt"`)
		_, _ = io.WriteString(w, "the report")
	})
}

func pages() map[string]string {
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
		"/other":  `<title>Other</title><h1>Other page</h1><a href="/form">back to the form</a>`,
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
		"/popup": `<title>Popup</title><a href="/other" target="_blank">open</a>`,
		"/drag": `<title>Drag</title><div id="from" draggable="true" style="width:80px;height:80px;background:red" role="button" aria-label="Thing">x</div>
<div id="to" style="width:200px;height:200px;margin-top:40px;background:blue" role="region" aria-label="Place"
 ondragover="event.preventDefault()" ondrop="event.preventDefault();said.textContent='dropped'">y</div><p id="said"></p>`,
		"/cover": `<title>Cover</title><button id="b" onclick="said.textContent='clicked'">Under</button><p id="said"></p>
<div id="veil" style="position:fixed;inset:0;background:#fff8">veil</div>`,
		"/late": `<title>Late</title><p id="p">early text</p><script>setTimeout(()=>{p.textContent='Late Text';location.hash='late'},300)</script>`,
	}
}
