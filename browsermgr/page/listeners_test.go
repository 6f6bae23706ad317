package page_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/internal/test/browsertest"
)

// outlineOf returns a snapshot without its refs.
func outlineOf(t *testing.T, tab *page.Tab) string {
	t.Helper()
	return regexp.MustCompile(` \[ref=\w+\]`).ReplaceAllString(snapshot(t, tab, page.SnapshotOptions{}).Text, "")
}

func TestWhatOnlyAListenerMakesClickableHasARef(t *testing.T) {
	t.Parallel()
	tab := openTab(t, site(t, map[string]string{"/": `<!doctype html><body>
		<div id=plain>Plain</div><div id=added>Added</div><div id=set><span>Set</span></div><div id=far>Moved over</div>
		<button id=button>Button</button><div id=host></div><div id=pointer style=cursor:pointer>Pointer</div>
		<section id=root>` + strings.Repeat("<p>Text</p>", 30) + `</section><ul><li id=item>Item <button>Delete</button></ul><div id=hidden hidden>Hidden</div>
		<script>
		document.onclick = document.body.onclick = onclick = () => {};
		window.hits = [];
		const hit = (e) => hits.push(e.currentTarget.id);
		for (const id of ['added', 'button', 'pointer', 'root', 'item', 'hidden']) document.getElementById(id).addEventListener('click', hit);
		document.getElementById('set').onclick = hit;
		far.onmousemove = hit;
		const inner = host.attachShadow({ mode: 'closed' });
		inner.innerHTML = '<div>In the shadow</div>';
		inner.firstChild.onpointerdown = () => hits.push('shadow');
		</script>`}).URL+"/")
	want := `- text: Plain
- generic "Added" [listener]
- generic "Set" [listener]
- text: Moved over
- button "Button"
- generic "In the shadow" [listener]
- generic "Pointer" [cursor:pointer]
` + strings.Repeat("- paragraph: Text\n", 30) + `- list:
  - listitem "Item Delete" [listener]:
    - text: Item
    - button "Delete"`
	browsertest.WantEqual(t, outlineOf(t, tab), want)
	for _, name := range []string{"Added", "Set", "In the shadow", `"Delete"`} {
		click(t, tab, refOf(t, tab, name))
	}
	if got, want := jsString(t, tab, "hits.join()"), "added,set,shadow,item"; got != want {
		t.Errorf("got clicks on %s, want %s", got, want)
	}

	js(t, tab, `(added.removeEventListener('click', hit), hidden.hidden = false, plain.addEventListener('mousedown', hit), 1)`)
	got := outlineOf(t, tab)
	for _, line := range []string{`generic "Plain" [listener]`, `generic "Hidden" [listener]`, `generic "Set" [listener]`, "text: Added"} {
		if !strings.Contains(got, "- "+line) {
			t.Errorf("%s is missing of what changed:\n%s", line, got)
		}
	}
	if click(t, tab, refOf(t, tab, "Plain")); jsString(t, tab, "hits.at(-1)") != "plain" {
		t.Error("what is listened to since is not clicked")
	}
}

func TestListenersAreFoundInFrames(t *testing.T) {
	t.Parallel()
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("in")
		html := `<!doctype html><div id=a>Card ` + name + `</div><script>a.onclick = () => { a.textContent = 'Clicked ` + name + `' }</script>`
		if name == "top" {
			html += `<iframe srcdoc="<div id=b>Card near</div><script>b.onclick = () => { b.textContent = 'Clicked near' }</script>"></iframe>
				<iframe src="` + withHost(srv, "login.shop.localhost") + `/?in=fellow"></iframe><iframe src="` + foreign(srv) + `/?in=far"></iframe>`
		}
		browsertest.HTML(w, html)
	})
	tab := openTab(t, withHost(srv, "www.shop.localhost")+"/?in=top")
	for _, name := range []string{"top", "near", "fellow", "far"} {
		browsertest.Eventually(t, "the card "+name+" can be clicked", func() bool {
			return strings.Contains(outlineOf(t, tab), `"Card `+name+`" [listener]`)
		})
		click(t, tab, refOf(t, tab, "Card "+name))
		browsertest.Eventually(t, "the card "+name+" is clicked", func() bool {
			return strings.Contains(outlineOf(t, tab), `"Clicked `+name+`" [listener]`)
		})
	}
}

// The garbage makes V8 scavenge while elements have objects in both worlds: asked the wrong way, Chromium crashes here.
func TestLookingForListenersSurvivesScavenges(t *testing.T) {
	t.Parallel()
	tab := openTab(t, site(t, map[string]string{"/": `<!doctype html><body><div id=open></div><div id=shut></div><script>
		window.hits = 0;
		for (const mode of ['open', 'closed']) {
			const root = document.getElementById(mode === 'open' ? 'open' : 'shut').attachShadow({ mode });
			for (let i = 0; i < 5; i++) {
				const button = document.createElement('button');
				button.textContent = mode + i;
				button.onclick = () => { hits++ };
				root.append(button);
			}
		}
		</script>`}).URL+"/")
	for range 4 {
		ref := refOf(t, tab, "closed4")
		js(t, tab, "(() => { for (let i = 0; i < 40; i++) { const a = []; for (let n = 0; n < 5000; n++) a.push({ n }) } })()")
		click(t, tab, ref)
	}
	browsertest.WantJS(t, tab, "hits", "4")
}
