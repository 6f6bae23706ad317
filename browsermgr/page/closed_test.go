package page_test

import (
	"strings"
	"sync"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// closedPage has closed roots in the ways that pages make them: in an empty box, in custom elements, one in another, with
// slots, and around content that has no place in it.
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
- link "Deep" [ref=e3]
- text: text
- button "Instead" [ref=e4]`
	browsertest.WantEqual(t, snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole}).Text, want)
	click(t, tab, "e1")
	click(t, tab, "e4")
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: "e2", Text: "typed"})
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: "e2", Text: " more", Slowly: true})
	browsertest.WantJS(t, tab, "hits", "[1,2]")
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `"Field" [active]`, ": typed more")
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
	b := browser.Connect(t, page.Options{OnSent: func(method string) {
		mu.Lock()
		sent[method]++
		mu.Unlock()
	}})
	tab := browsertest.Tab(t, b, page.TabOptions{URL: site(t, map[string]string{"/": form + `<div></div><span></span><div><p>x</p></div>`}).URL})
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
		t.Errorf("got %d calls for a snapshot, %d questions about nodes; want two (listeners are asked for along with it), and that about the document", after-before, asked)
	}
}
