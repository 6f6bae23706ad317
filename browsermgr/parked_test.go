package browsermgr_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// heldPage has state that people leave on a page. Its frame and its shadow tree have a field each.
const heldPage = `<!doctype html><title>Held</title>
<label>Name <input name=name></label> <label>Note <textarea></textarea></label> <label>Day <input type=date></label>
<label><input type=checkbox> News</label> <label><input type=checkbox checked> Cookies</label>
<label><input type=radio name=size value=s checked> S</label> <label><input type=radio name=size value=l> L</label>
<select id=country><option>Peru<option>Norway<option>Chad</select>
<select id=many multiple><option>a<option>b<option>c</select>
<input id=untouched value=fresh>
<select id=goes onchange="location = '/before?' + this.value"><option>here<option>there</select>
<div id=host></div><iframe src="/frame"></iframe>
<div id=box style="height: 100px; overflow: auto"><p style="height: 900px">Box</p></div>
<div style="height: 4000px">Long</div>
<script>
	host.attachShadow({mode: "open"}).innerHTML = "<input>";
	heard = [];
	document.addEventListener("input", (e) => heard.push(e.target.name || e.target.id));
	loadedWith = sessionStorage.cart + history.state?.step;
	setTimeout(() => { // made late, as by scripts of an application
		const late = document.createElement("input");
		late.id = "late";
		host.after(late);
	}, 300);
</script>`

const holdAll = `async () => {
	while (!document.getElementById("late")) await new Promise(done => setTimeout(done, 20));
	const $ = (s) => document.querySelector(s);
	$("textarea").value = "two\nlines";
	$("[type=date]").value = "2026-11-24";
	document.querySelectorAll("[type=checkbox]").forEach((e) => e.click());
	$("[value=l]").click();
	country.value = "Chad";
	many.options[0].selected = many.options[2].selected = true;
	goes.options[1].selected = true;
	late.value = "late";
	host.shadowRoot.firstChild.value = "shadow";
	$("iframe").contentDocument.querySelector("input").value = "frame";
	$("iframe").contentDocument.querySelector("input").focus();
	box.scrollTop = 300;
	scrollTo(0, 1234);
	sessionStorage.cart = "3 things";
	history.replaceState({step: 2}, "");
	return "";
}`

const showAll = `() => {
	const $ = (s) => document.querySelector(s);
	return [$("[name=name]").value, $("textarea").value, $("[type=date]").value,
		[...document.querySelectorAll("[type=checkbox]")].map((e) => e.checked).join(), $("[type=radio]:checked").value, country.value,
		[...many.selectedOptions].map((o) => o.value).join(), goes.value, late.value, host.shadowRoot.firstChild.value,
		$("iframe").contentDocument.querySelector("input").value, untouched.value, document.activeElement.localName,
		$("iframe").contentDocument.activeElement.localName, box.scrollTop, scrollY].join("|");
}`

func heldSite(t *testing.T) string {
	t.Helper()
	return browsertest.Routes(t, map[string]any{
		"/": heldPage, "/frame": "<input>", "/before": "<title>Before</title><h1>Before</h1>",
		"/after": "<title>After</title><h1>After</h1>",
	})
}

// js checks the result of a function in the window's current tab, which is reopened if necessary.
func js(t *testing.T, w *browsermgr.Window, fn, want string) {
	t.Helper()
	check.Must(t, w.WithTab(t.Context(), func(tab *page.Tab) error {
		browsertest.WantJS(t, tab, fn, want)
		return nil
	}))
}

func park(t *testing.T, m *browsermgr.Manager, w *browsermgr.Window, must bool) bool {
	t.Helper()
	w.Rest()
	parked, err := w.Park(browsertest.Within(t, browsertest.Patience), must)
	check.Must(t, err)
	if _, open := m.Lookup(w.Key()); open == parked {
		t.Errorf("parked %t, and open %t", parked, open)
	}
	if tab, _ := w.Observed(); parked != (tab == nil) || parked && len(m.Tabs("")[w.Key()]) > 0 {
		t.Errorf("parked %t, with the tab %v", parked, tab)
	}
	return parked
}

const allHeld = `"Ada|two\nlines|2026-11-24|true,false|l|Chad|a,c|there|late|shadow|frame|fresh|iframe|input|300|1234"`

func TestAParkedPageComesBackAsItWas(t *testing.T) {
	for name, away := range map[string]func(t *testing.T, m *browsermgr.Manager, w *browsermgr.Window){
		"parked": func(t *testing.T, m *browsermgr.Manager, w *browsermgr.Window) {
			t.Helper()
			if !park(t, m, w, false) {
				t.Fatal("the page stays open")
			}
		},
		"its browser was stopped": func(t *testing.T, m *browsermgr.Manager, w *browsermgr.Window) {
			t.Helper()
			w.Rest()
			p, err := m.FindProfile("")
			check.Must(t, err)
			check.Must(t, check.Err(p.Stop(t.Context())))
		},
	} {
		t.Run(name, func(t *testing.T) {
			site := heldSite(t)
			m := sharedManager(t)
			w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site + "/before"})
			act(t, w, "navigate", map[string]any{"url": site + "/"})
			act(t, w, "navigate", map[string]any{"url": site + "/after"})
			act(t, w, string(actiontable.KindBack), nil)
			act(t, w, "type", map[string]any{"ref": refOf(t, w, "Name"), "text": "Ada"})
			js(t, w, holdAll, `""`)
			js(t, w, showAll, allHeld)
			away(t, m, w)
			js(t, w, showAll, allHeld)
			js(t, w, `() => [loadedWith, history.length, heard.includes("name"), heard.includes("country"), heard.includes("untouched")].join()`, `"3 things2,4,true,true,false"`)
			contains(t, act(t, w, "wait", map[string]any{"text": "Long"}), "opened again at "+site+"/ as it was")
			act(t, w, string(actiontable.KindForward), nil)
			js(t, w, `() => document.querySelector("h1").textContent`, `"After"`)
			act(t, w, string(actiontable.KindBack), nil)
			act(t, w, string(actiontable.KindBack), nil)
			js(t, w, `() => document.querySelector("h1").textContent`, `"Before"`)
		})
	}
}

// The frame and the field that a script makes arrive later than fields are waited for in a page that has loaded.
func TestAPageThatLoadsSlowlyComesBackAsItWas(t *testing.T) {
	var slow atomic.Bool
	restoring := make(chan struct{})
	release := sync.OnceFunc(func() { close(restoring) })
	site := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		late := func() {
			if slow.Load() {
				select {
				case <-restoring:
				case <-r.Context().Done():
				}
			}
		}
		switch r.URL.Path {
		case "/":
			browsertest.HTML(w, `<input id=first oninput="fetch('/restoring')"><iframe src=/frame></iframe>
				<script async src=/app.js></script>`)
		case "/restoring":
			time.AfterFunc(2500*time.Millisecond, release)
		case "/app.js":
			late()
			w.Header().Set("Content-Type", "text/javascript")
			_, _ = w.Write([]byte(`late = document.createElement("input"); late.id = "late"; document.body.append(late)`))
		default:
			late()
			browsertest.HTML(w, "<input>")
		}
	}).URL + "/"
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site})
	tab, _ := w.Observed()
	browsertest.Eventually(t, "it has loaded", tab.Loaded)
	js(t, w, `() => {
		first.value = "first";
		late.value = "late";
		document.querySelector("iframe").contentDocument.querySelector("input").value = "frame";
		return "";
	}`, `""`)
	if !park(t, m, w, false) {
		t.Fatal("the page stays open")
	}
	slow.Store(true)
	js(t, w, `() => [first, late, document.querySelector("iframe").contentDocument.querySelector("input")]
		.map((e) => e?.value).join()`, `"first,late,frame"`)
	contains(t, act(t, w, "wait", map[string]any{"loadState": "load"}), "opened again at "+site+" as it was")
}

func TestAllTabsOfAParkedWindowComeBackInTheirOrder(t *testing.T) {
	site := heldSite(t)
	m := sharedManager(t)
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site + "/before"})
	first, _ := w.Observed()
	act(t, w, "tabNew", map[string]any{"url": site + "/frame"})
	js(t, w, `() => { document.querySelector("input").value = "second"; return "" }`, `""`)
	act(t, w, "tabNew", map[string]any{"url": site + "/after"})
	act(t, w, "tabSelect", map[string]any{"tab": first.ID()})
	if !park(t, m, w, false) {
		t.Fatal("the page stays open")
	}
	js(t, w, `() => document.querySelector("h1").textContent`, `"Before"`)
	_, _, tabs := state(t, w)
	var order []string
	for _, line := range tabs {
		order = append(order, line[:1]+line[strings.LastIndex(line, "/"):])
	}
	if got, want := strings.Join(order, " "), "*/before  /frame  /after"; got != want {
		t.Errorf("the tabs are %s, want %s", got, want)
	}
	act(t, w, "tabSelect", map[string]any{"tab": strings.Fields(strings.TrimPrefix(tabs[1], "*"))[0]})
	js(t, w, `() => document.querySelector("input").value`, `"second"`)
}

// TestAPageStaysOpenThatCannotComeBackAsItIs tests what keeps a page from being parked unless it must be.
func TestAPageStaysOpenThatCannotComeBackAsItIs(t *testing.T) {
	const nothing = "nothing"
	pages := map[string]struct{ page, do string }{
		nothing:               {`<input type=password><input type=file><div contenteditable></div>`, `1`},
		"a text in an editor": {`<div contenteditable></div>`, `void document.querySelector("div").append("draft")`},
		"a password":          {`<input type=password>`, `void (document.querySelector("input").value = "hunter2")`},
		"a code": {
			`<input autocomplete=one-time-code>`,
			`void (document.querySelector("input").value = "123456")`,
		},
		"it asks before it is left": {`<p>Work</p>`, `void (onbeforeunload = () => "sure?")`},
		"a dialog":                  {`<p>Ask</p>`, `void setTimeout(() => alert("hello"))`},
		"a call": {`<p>Call</p>`, `(async () => {
			const [a, b] = [new RTCPeerConnection(), new RTCPeerConnection()];
			keep = [a, b];
			a.createDataChannel("x");
			a.onicecandidate = (e) => b.addIceCandidate(e.candidate);
			b.onicecandidate = (e) => a.addIceCandidate(e.candidate);
			await a.setLocalDescription();
			await b.setRemoteDescription(a.localDescription);
			await b.setLocalDescription();
			const connected = new Promise((done) => (a.onconnectionstatechange = () => a.connectionState === "connected" && done()));
			await a.setRemoteDescription(b.localDescription);
			await connected;
		})()`},
		"the answer to a form": {
			`<form method=post action="/posted"><button>Send</button></form>`,
			`void document.querySelector("form").requestSubmit()`,
		},
	}
	m := sharedManager(t)
	for name, of := range pages {
		t.Run(name, func(t *testing.T) {
			site := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/posted" {
					browsertest.HTML(w, "<h1>"+r.Method+"</h1>")
					return
				}
				browsertest.HTML(w, of.page)
			}).URL + "/"
			w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site})
			defer func() { check.Must(t, w.Close(t.Context())) }()
			act(t, w, "evaluate", map[string]any{"fn": of.do})
			tab, _ := w.Observed()
			if name == "the answer to a form" {
				browsertest.Eventually(t, "the answer is there", func() bool {
					return strings.HasSuffix(tab.URL(), "/posted") && tab.Loaded()
				})
			}
			if name == "a dialog" {
				browsertest.Eventually(t, "it opens", func() bool { return len(tab.Dialogs().Pending) > 0 })
			}
			if parked := park(t, m, w, false); parked != (name == nothing) {
				t.Fatalf("parked: %t", parked)
			}
			if name == nothing {
				return
			}
			if after, _ := w.Observed(); after != tab {
				t.Error("it is another tab")
			}
			if !park(t, m, w, true) {
				t.Error("it was not parked though it must")
			}
			js(t, w, `() => document.querySelector("[type=password], [autocomplete]")?.value ?? ""`, `""`)
		})
	}
}

func TestABrowserIsNotStoppedForIdlenessWhosePagesWouldLoseSomething(t *testing.T) {
	site := browsertest.Routes(t, map[string]any{"/": `<div contenteditable></div>`})
	var log check.Log
	m := manager(t, func(m *browsermgr.Manager) {
		m.IdleAfter, m.Logger = 200*time.Millisecond,
			slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	w := window(t, m, browsermgr.WindowOptions{Key: "a", URL: site + "/"})
	write := func(text string) {
		t.Helper()
		act(t, w, "evaluate", map[string]any{"fn": `void (document.querySelector("div").textContent = "` + text + `")`})
	}
	write("draft")
	w.Rest()
	was := m.Status()[0].PID
	eventually(t, "it was to be stopped", func() bool {
		return strings.Contains(log.String(), "an idle browser keeps running")
	})
	js(t, w, `() => document.querySelector("div").textContent`, `"draft"`)
	if now := m.Status()[0].PID; now != was {
		t.Errorf("the browser is another one: %d, was %d", now, was)
	}
	write("")
	eventually(t, "the browser is stopped", func() bool { return !m.Status()[0].Running })
}
