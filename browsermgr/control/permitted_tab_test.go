package control_test

import (
	"strings"
	"testing"
)

func TestRoutesThatReadOrWorkAPageAreGuarded(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/two")
	c.ok("POST", "/storage/local/set", map[string]any{"key": "k", "value": "v"})
	c.ok("POST", "/cookies/set", map[string]any{"cookie": map[string]any{"name": "crumb", "value": "1", "url": site}})
	c.ok("POST", "/trace/start", nil)
	p.set("two")
	for _, step := range []struct{ route, body string }{
		{"GET /console?clear=1", ""},
		{"GET /errors?clear=1", ""},
		{"GET /requests?clear=1", ""},
		{"GET /har", ""},
		{"GET /cookies", ""},
		{"GET /storage/local", ""},
		{"GET /snapshot", ""},
		{"GET /snapshot?format=aria", ""},
		{"GET /text", ""},
		{"GET /screencast", ""},
		{"POST /cookies/clear", ""},
		{"POST /storage/local/clear", ""},
		{"POST /storage/local/set", `{"key":"k","value":"changed"}`},
		{"POST /pdf", ""},
		{"POST /screenshot", ""},
		{"POST /response/body", `{"url":"**"}`},
		{"POST /wait/download", ""},
		{"POST /download", `{"ref":"e1","path":"refused.txt"}`},
		{"POST /download", `{"currentDocument":true,"expectedUrl":"` + site + `/two","path":"refused.txt"}`},
		{"POST /act", `{"kind":"evaluate","fn":"document.title = 'ran'"}`},
		{"POST /act", `{"kind":"batch","actions":[{"kind":"evaluate","fn":"document.title = 'ran'"}]}`},
		{"POST /act", `{"kind":"click","selector":"a"}`},
		{"POST /highlight", `{"ref":"e1"}`},
		{"POST /trace/start", ""},
		{"POST /trace/stop", ""},
		{"POST /tabs/focus", `{"targetId":"` + target + `"}`},
		{"POST /tabs/action", `{"action":"select","index":0}`},
	} {
		method, path, _ := strings.Cut(step.route, " ")
		refusedByPolicy(t, step.route, c.do(method, path, step.body))
	}
	c.ok("POST", "/act", `{"kind":"resize","width":640,"height":480}`)
	p.set("")
	a := c.ok("POST", "/act", map[string]any{"kind": "evaluate", "targetId": target, "fn": "[document.title, localStorage.getItem('k'), document.cookie, innerWidth].join()"})
	if a.body["result"] != "Two,v,crumb=1,640" {
		t.Errorf("what was refused has been done: %s", a.text)
	}
	c.ok("POST", "/trace/stop", nil)
	c.ok("POST", "/cookies/clear", nil)
	c.ok("POST", "/storage/local/clear", nil)
	p.set("two")
	c.ok("POST", "/act", map[string]any{"kind": "close", "targetId": target})
}

func TestAPageThatShowsADialogIsGuardedToo(t *testing.T) {
	p := &fakePolicy{}
	c := guarded(t, p)
	target := c.open("/ask")
	c.ok("POST", "/act", map[string]any{"kind": "click", "ref": c.ref(target, "Ask")})
	p.set("ask")
	refusedByPolicy(t, "snapshot", c.do("GET", "/snapshot", nil))
	p.set("")
	if a := c.ok("GET", "/snapshot", nil); a.body["blockedByDialog"] != true {
		t.Errorf("snapshot: %s", a.text)
	}
	c.ok("POST", "/hooks/dialog", map[string]any{"accept": true})
}
