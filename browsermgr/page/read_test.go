package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func TestReadLimitsTheText(t *testing.T) {
	srv := site(t, map[string]string{
		"/":      `<!doctype html><meta charset=utf-8><nav>Menu</nav><main><h1>Title</h1><p class=p>One</p><p class=p>Two 😀</p><p hidden>No</p><input type=password id=s value=hunter2></main>`,
		"/plain": `<!doctype html><p>Just this`,
		"/two":   `<!doctype html><article>First</article><article>Second</article>`,
	})
	tab := openTab(t, srv.URL)
	tests := []struct {
		path  string
		opts  page.ReadOptions
		want  string
		cut   bool
		found bool
	}{
		{"/", page.ReadOptions{}, "Title\n\nOne\n\nTwo 😀", false, true},
		{"/", page.ReadOptions{Selector: ".p"}, "One", false, true},
		{"/", page.ReadOptions{Selector: ".none"}, "", false, false},
		{"/", page.ReadOptions{Selector: "#s"}, "••••••••", false, true},
		{"/", page.ReadOptions{MaxChars: 7}, "Title\n\n", true, true},
		{"/", page.ReadOptions{Selector: ".p + .p", MaxChars: 5}, "Two ", true, true},
		{"/", page.ReadOptions{Selector: ".p + .p", MaxChars: 6}, "Two 😀", false, true},
		{"/plain", page.ReadOptions{}, "Just this", false, true},
		{"/two", page.ReadOptions{}, "First\nSecond", false, true},
	}
	at := "/"
	for _, tt := range tests {
		if tt.path != at {
			at = tt.path
			browsertest.Navigate(t, tab, srv.URL+at)
		}
		got, err := tab.Read(t.Context(), tt.opts)
		check.Must(t, err)
		if got.Truncated != tt.cut || got.Found != tt.found || strings.TrimRight(got.Text, "\n") != strings.TrimRight(tt.want,
			"\n") || got.URL != tab.URL() {
			t.Errorf("%s %+v: got %+v, want %q", tt.path, tt.opts, got, tt.want)
		}
	}
	check.Fails(t, check.Err(tab.Read(t.Context(), page.ReadOptions{Selector: "]["})), page.ErrInvalid)
	check.Fails(t, check.Err(tab.Read(t.Context(), page.ReadOptions{Ref: "e99"})), page.ErrUnknownRef)
}

func TestTheTextOfAPageHasThatOfItsShadowRoots(t *testing.T) {
	tab := openTab(t, site(t, map[string]string{"/": `<!doctype html><body><h1>Shop</h1><p>Before <b>bold</b></p>
		<shop-card><span slot=price>12 €</span><p>Slotted <em>body</em></p><i slot=none>Nowhere</i></shop-card><p>After</p>
		<template id=card><style>p { color: red }</style><h2>Card</h2><div>Price: <slot name=price></slot> only</div><slot></slot>
		<p hidden>Hidden</p><p style=visibility:hidden>Unseen</p>one<br>two<shop-badge></shop-badge></template>
		<script>
		customElements.define('shop-badge', class extends HTMLElement {
			constructor() { super().attachShadow({ mode: 'open' }).innerHTML = '<div>Badge</div><iframe width=100 height=50 srcdoc="Framed"></iframe>'; }
		});
		customElements.define('shop-card', class extends HTMLElement {
			constructor() { super().attachShadow({ mode: 'open' }).append(card.content.cloneNode(true)); }
		});
		</script>`}).URL+"/")
	act(t, tab, page.Action{Kind: actiontable.KindWait, LoadState: "load"}) // the frame's document, too
	want := "Shop\nBefore bold\nCard\nPrice: 12 € only\nSlotted body\none\ntwo\nBadge\nAfter"
	for _, tt := range []struct{ selector, want string }{
		{"", want}, {"h1", "Shop"}, {"shop-card", "Card\nPrice: 12 € only\nSlotted body\none\ntwo\nBadge"},
	} {
		got, err := tab.Read(t.Context(), page.ReadOptions{Selector: tt.selector})
		check.Must(t, err)
		text, frames, _ := strings.Cut(got.Text, "\n\n")
		if d := cmp.Diff(tt.want, text); d != "" {
			t.Errorf("%q (-want +got)\n%s", tt.selector, d)
		}
		if tt.selector == "" && !strings.Contains(frames, "Framed") {
			t.Errorf("got %q, want the frame in the shadow root", frames)
		}
	}
}

func TestTheTextOfAPageHasThatOfItsClosedShadowRoots(t *testing.T) {
	tab := openTab(t, site(t,
		map[string]string{"/": `<!doctype html><body><p>Before</p><shop-card></shop-card><div id=plain></div><p>After</p>
		<shop-late></shop-late><script>
		const closed = (host, html) => { host.attachShadow({ mode: 'closed' }).innerHTML = html; };
		customElements.define('shop-badge', class extends HTMLElement { constructor() { super(); closed(this, 'Badge'); } });
		customElements.define('shop-card', class extends HTMLElement { constructor() { super(); closed(this, '<div>Card</div><shop-badge></shop-badge>'); } });
		closed(plain, '<div>Plain</div>');
		plain.style.height = '20px';
		</script>`}).URL+"/")
	for _, tt := range []struct{ selector, want string }{
		{"shop-card", "Card\nBadge"}, {"", "Before\nCard\nBadge\nPlain\nAfter"}, {"#plain", "Plain"},
	} {
		got, err := tab.Read(t.Context(), page.ReadOptions{Selector: tt.selector})
		check.Must(t, err)
		if d := cmp.Diff(tt.want, got.Text); d != "" {
			t.Errorf("%q (-want +got)\n%s", tt.selector, d)
		}
	}
	browsertest.JS(t, tab, `customElements.define('shop-late', class extends HTMLElement { constructor() { super(); closed(this, 'Late'); } })`)
	if got, err := tab.Read(t.Context(), page.ReadOptions{}); err != nil || !strings.HasSuffix(got.Text, "After\nLate") {
		t.Errorf("got %q, %v, want what was defined since at the end", got.Text, err)
	}
}

func TestTheTextOfAPageHasOfClosedListsWhatIsChosen(t *testing.T) {
	tab := openTab(t, site(t, map[string]string{"/": `<!doctype html><body><p>Order</p>
		<label>Country <select id=c></select></label> <label>Back <select><option>Yes<option selected>No</select></label>
		<div>Month <select><optgroup label=Winter><option>Jan<option>Feb
			<option label=March selected>3</optgroup></select></div>
		<select multiple><option>Red<option>Blue</select><select hidden><option>Unseen<option>Not</select><p>Yes<br>No</p>
		<shop-list></shop-list><p>End</p><script>
		for (let i = 0; i < 200; i++) c.add(new Option('Country ' + i, i, i === 7, i === 7));
		document.querySelector('shop-list').attachShadow({mode: 'open'}).append(c.cloneNode(true));
		</script>`}).URL+"/")
	got, err := tab.Read(t.Context(), page.ReadOptions{})
	check.Must(t, err)
	want := "Order\nCountry \nCountry 7 (200 options) Back \nYes\nNo\nMonth \nMarch (3 options)\nRed\nBlue\nYes\nNo\n" +
		"Country 7 (200 options)\nEnd"
	if d := cmp.Diff(want, got.Text); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestTheTextOfAPageHasThatOfItsFrames(t *testing.T) {
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		pages := map[string]string{
			"/": `<h1>Top</h1>
				<iframe title=Pay src="` + withHost(srv, "pay.shop.localhost") + `/pay" style="width:400px;height:300px"></iframe>
				<p>Below</p><iframe title='Near "one"' srcdoc="<p>Near text"></iframe>
				<iframe title=Small width=1 height=1 src="` + foreign(srv) + `/deep"></iframe><iframe hidden srcdoc="<p>Not shown"></iframe>
				<iframe title=Blank src="` + foreign(srv) + `/blank"></iframe><iframe srcdoc="<p>Last text"></iframe>`,
			"/pay": `<p>Pay text</p><p style=display:none>Not seen</p><iframe title=Bank src="` + srv.URL +
				`/deep"></iframe>`,
			"/deep":   `<p>Deep text`,
			"/main":   `<p>Around</p><iframe title=Advert srcdoc="<p>Buy this"></iframe><main>Main part <iframe srcdoc="<article>Its article</article>around"></iframe></main>`,
			"/long":   `<p>Short</p><iframe title=Long srcdoc="<p>` + strings.Repeat("long ", 5000) + `"></iframe>`,
			"/hollow": `<iframe srcdoc="<p>Only frames"></iframe>`,
			"/stuck": `<p>Top</p><iframe title=Stuck src="` + foreign(srv) +
				`/loop"></iframe><iframe title=Fine srcdoc="<p>Fine text"></iframe>`,
			"/loop": `<p>Loop<script>onmessage = () => { for (;;); }</script>`,
		}
		browsertest.HTML(w, "<!doctype html>"+pages[r.URL.Path])
	})
	top := withHost(srv, "www.shop.localhost")
	port := srv.URL[strings.LastIndex(srv.URL, ":"):]
	tab := openTab(t, top+"/")
	read := func(opts page.ReadOptions) page.ReadResult {
		t.Helper()
		got, err := tab.Read(browsertest.Within(t, browsertest.Patience), opts)
		check.Must(t, err)
		return got
	}
	squeezed := regexp.MustCompile(`\n{2,}`)
	want := "Top\nBelow\n--- frame \"Pay\" of pay.shop.localhost" + port + " ---\nPay text\n--- frame \"Bank\" of " +
		"127.0.0.1" + port + " ---\nDeep text" +
		"\n--- frame \"Near \\\"one\\\"\" ---\nNear text\n--- frame ---\nLast text"
	var got string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the page reads\n%s\nwant\n%s", got, want)
		}
	})
	browsertest.Eventually(t, "the frames are read", func() bool {
		got = squeezed.ReplaceAllString(read(page.ReadOptions{}).Text, "\n")
		return got == want
	})
	if r := read(page.ReadOptions{MaxChars: 12}); !r.Truncated || len(r.Text) != 12 {
		t.Errorf("got %+v, want it cut", r)
	}
	if r := read(page.ReadOptions{Selector: "p"}); r.Text != "Below" {
		t.Errorf("got %q for a part", r.Text)
	}

	browsertest.Navigate(t, tab, top+"/main")
	if got, want := squeezed.ReplaceAllString(read(page.ReadOptions{}).Text, "\n"),
		"Main part\n--- frame ---\nIts article"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	browsertest.WantEqual(t, strings.TrimSpace(read(page.ReadOptions{WithoutFrames: true}).Text), "Main part")
	browsertest.Navigate(t, tab, top+"/hollow")
	if got := read(page.ReadOptions{WithoutFrames: true}).Text; !strings.Contains(got, "Only frames") {
		t.Errorf("got %q of a page that says nothing itself", got)
	}
	browsertest.Navigate(t, tab, top+"/long")
	if r := read(page.ReadOptions{}); !r.Truncated || len(r.Text) < 20_000 || len(r.Text) > 20_100 {
		t.Errorf("got %d characters, cut %v", len(r.Text), r.Truncated)
	}

	browsertest.Navigate(t, tab, top+"/stuck")
	browsertest.Eventually(t, "the frame is read", func() bool {
		return strings.Contains(read(page.ReadOptions{}).Text, "Loop")
	})
	js(t, tab, "(frames[0].postMessage('', '*'), 1)")
	browsertest.Eventually(t, "it hangs, and the rest is read in time", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		r, err := tab.Read(ctx, page.ReadOptions{})
		got = r.Text
		return err == nil && strings.Contains(got, `--- frame "Stuck" could not be read ---`)
	})
	check.Contains(t, got, "Top", "Fine text")
	check.Must(t, tab.Stop(browsertest.Within(t, browsertest.Patience)))
}

// closedPage has closed shadow roots made in the ways that pages do: in an empty box, in custom elements, nested, with
// slots, and around content without a slot.
const closedPage = `<div id=box style="width:300px;height:60px"></div><x-outer><b slot=t>Slotted</b> text</x-outer>
	<section id=lost><p>never shown</p></section><x-late></x-late><div></div><script>
	const shut = (host, html) => { const root = host.attachShadow({mode: 'closed'}); root.innerHTML = html; return root };
	window.hits = [];
	shut(box, '<button onclick="hits.push(1)">Boxed</button><input aria-label=Field>');
	customElements.define('x-inner', class extends HTMLElement { connectedCallback() { shut(this, '<a href=/deep>Deep</a>') } });
	customElements.define('x-outer', class extends HTMLElement { connectedCallback() { shut(this, '<slot name=t></slot><x-inner></x-inner><slot></slot>') } });
	shut(lost, '<button onclick="hits.push(2)">Instead</button>');
	</script>`

func TestClosedShadowRootsAreSeenAndActedUpon(t *testing.T) {
	tab := show(t, closedPage)
	want := `- button "Boxed" [ref=e1]
- textbox "Field" [ref=e2]
- text: Slotted
- link "Deep" [ref=e4]
- text: text
- button "Instead" [ref=e3]`
	browsertest.WantEqual(t, snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole}).Text, want)
	click(t, tab, "e1")
	click(t, tab, "e3")
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: "e2", Text: "typed"})
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: "e2", Text: " more", Slowly: true})
	browsertest.WantJS(t, tab, "hits", "[1,2]")
	check.Contains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `"Field" [active]`, ": typed more")
	act(t, tab, page.Action{Kind: actiontable.KindWait, Text: "Boxed", TimeoutMs: 5000})
	act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "a[href='/deep']"})
	if !strings.HasSuffix(tab.URL(), "/deep") {
		t.Errorf("got address %s, want the link followed", tab.URL())
	}
}

func TestClosedRootOfALaterElementIsSeen(t *testing.T) {
	tab := show(t, closedPage)
	snapshot(t, tab, page.SnapshotOptions{})
	js(t, tab, `customElements.define('x-late', class extends HTMLElement { constructor() { super(); shut(this, '<button>Late</button>') } }), document.body.append(document.createElement('x-late'))`)
	browsertest.WantEqual(t, strings.Count(snapshot(t, tab, page.SnapshotOptions{}).Text, `button "Late"`), 2)
}

func TestPagesWithoutClosedRootsCostNothingMore(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]int{}
	b := browser.Connect(t, page.Options{Options: cdp.Options{OnSent: func(method string, _ any) {
		mu.Lock()
		sent[method]++
		mu.Unlock()
	}}})
	tab := browsertest.Tab(t, b,
		page.TabOptions{URL: site(t, map[string]string{"/": form + `<div></div><span></span><div><p>x</p></div>`}).URL})
	snapshot(t, tab, page.SnapshotOptions{})
	count := func() (all, asked int) {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range sent {
			all += n
		}
		return all, sent["DOM.describeNode"]
	}
	before, _ := count()
	snapshot(t, tab, page.SnapshotOptions{})
	if after, asked := count(); after-before > 2 || asked > 1 {
		t.Errorf("got %d calls for a snapshot, %d questions about nodes; want two (listeners are asked for along with it), "+
			"and that about the document", after-before, asked)
	}
}

// outlineOf returns a snapshot without refs.
func outlineOf(t *testing.T, tab *page.Tab) string {
	t.Helper()
	return regexp.MustCompile(` \[ref=\w+\]`).ReplaceAllString(snapshot(t, tab, page.SnapshotOptions{}).Text, "")
}

func TestWhatOnlyAListenerMakesClickableHasARef(t *testing.T) {
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
- generic [listener]:
` + strings.Repeat("  - paragraph: Text\n", 30) + `- list:
  - listitem [listener]:
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
	for _, line := range []string{
		`generic "Plain" [listener]`, `generic "Hidden" [listener]`, `generic "Set" [listener]`,
		"text: Added",
	} {
		if !strings.Contains(got, "- "+line) {
			t.Errorf("%s is missing of what changed:\n%s", line, got)
		}
	}
	if click(t, tab, refOf(t, tab, "Plain")); jsString(t, tab, "hits.at(-1)") != "plain" {
		t.Error("what is listened to since is not clicked")
	}
}

// Not in parallel with others: Chromium does not draw the frames of a tab that another one covers.
func TestListenersAreFoundInFrames(t *testing.T) {
	var srv *httptest.Server
	srv = browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		name := r.URL.Query().Get("in")
		html := `<!doctype html><div id=a>Card ` + name + `</div><script>a.onclick = () => { a.textContent = 'Clicked ` +
			name + `' }</script>`
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

// The garbage makes V8 scavenge while elements have wrappers in both worlds: queried the wrong way, Chromium crashes
// here.
func TestLookingForListenersSurvivesScavenges(t *testing.T) {
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
		js(t, tab, "(() => { for (let i = 0; i < 40; i++) { const a = []; for (let n = 0; n < 5000; n++) a.push({ n "+
			"}) } })()")
		click(t, tab, ref)
	}
	browsertest.WantJS(t, tab, "hits", "4")
}
