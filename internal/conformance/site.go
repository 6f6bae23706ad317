package main

import (
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
		"/other": `<title>Other</title><h1>Other page</h1><a href="/form">back to the form</a>`,
		"/popup": `<title>Popup</title><a href="/other" target="_blank">open</a>`,
		"/drag": `<title>Drag</title><div id="from" draggable="true" style="width:80px;height:80px;background:red" role="button" aria-label="Thing">x</div>
<div id="to" style="width:200px;height:200px;margin-top:40px;background:blue" role="region" aria-label="Place"
 ondragover="event.preventDefault()" ondrop="event.preventDefault();said.textContent='dropped'">y</div><p id="said"></p>`,
		"/cover": `<title>Cover</title><button id="b" onclick="said.textContent='clicked'">Under</button><p id="said"></p>
<div id="veil" style="position:fixed;inset:0;background:#fff8">veil</div>`,
		"/late": `<title>Late</title><p id="p">early text</p><script>setTimeout(()=>{p.textContent='Late Text';location.hash='late'},300)</script>`,
	}
}
