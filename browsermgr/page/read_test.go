package page_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"

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
		browsertest.Must(t, err)
		if got.Truncated != tt.cut || got.Found != tt.found || strings.TrimRight(got.Text, "\n") != strings.TrimRight(tt.want, "\n") || got.URL != tab.URL() {
			t.Errorf("%s %+v: got %+v, want %q", tt.path, tt.opts, got, tt.want)
		}
	}
	browsertest.WantError(t, browsertest.Err(tab.Read(t.Context(), page.ReadOptions{Selector: "]["})), page.ErrInvalid)
	browsertest.WantError(t, browsertest.Err(tab.Read(t.Context(), page.ReadOptions{Ref: "e99"})), page.ErrUnknownRef)
}

func TestTheTextOfAPageHasThatOfItsShadowRoots(t *testing.T) {
	t.Parallel()
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
		browsertest.Must(t, err)
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
	t.Parallel()
	tab := openTab(t, site(t, map[string]string{"/": `<!doctype html><body><p>Before</p><shop-card></shop-card><div id=plain></div><p>After</p>
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
		browsertest.Must(t, err)
		if d := cmp.Diff(tt.want, got.Text); d != "" {
			t.Errorf("%q (-want +got)\n%s", tt.selector, d)
		}
	}
	browsertest.JS(t, tab, `customElements.define('shop-late', class extends HTMLElement { constructor() { super(); closed(this, 'Late'); } })`)
	if got, err := tab.Read(t.Context(), page.ReadOptions{}); err != nil || !strings.HasSuffix(got.Text, "After\nLate") {
		t.Errorf("got %q, %v, want what was defined since at the end", got.Text, err)
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
			"/pay":    `<p>Pay text</p><p style=display:none>Not seen</p><iframe title=Bank src="` + srv.URL + `/deep"></iframe>`,
			"/deep":   `<p>Deep text`,
			"/main":   `<p>Around</p><iframe title=Advert srcdoc="<p>Buy this"></iframe><main>Main part <iframe srcdoc="<article>Its article</article>around"></iframe></main>`,
			"/long":   `<p>Short</p><iframe title=Long srcdoc="<p>` + strings.Repeat("long ", 5000) + `"></iframe>`,
			"/hollow": `<iframe srcdoc="<p>Only frames"></iframe>`,
			"/stuck":  `<p>Top</p><iframe title=Stuck src="` + foreign(srv) + `/loop"></iframe><iframe title=Fine srcdoc="<p>Fine text"></iframe>`,
			"/loop":   `<p>Loop<script>onmessage = () => { for (;;); }</script>`,
		}
		browsertest.HTML(w, "<!doctype html>"+pages[r.URL.Path])
	})
	top := withHost(srv, "www.shop.localhost")
	port := srv.URL[strings.LastIndex(srv.URL, ":"):]
	tab := openTab(t, top+"/")
	read := func(opts page.ReadOptions) page.ReadResult {
		t.Helper()
		got, err := tab.Read(browsertest.Within(t, browsertest.Patience), opts)
		browsertest.Must(t, err)
		return got
	}
	squeezed := regexp.MustCompile(`\n{2,}`)
	want := "Top\nBelow\n--- frame \"Pay\" of pay.shop.localhost" + port + " ---\nPay text\n--- frame \"Bank\" of 127.0.0.1" + port + " ---\nDeep text" +
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
	if got, want := squeezed.ReplaceAllString(read(page.ReadOptions{}).Text, "\n"), "Main part\n--- frame ---\nIts article"; got != want {
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
	browsertest.Eventually(t, "the frame is read", func() bool { return strings.Contains(read(page.ReadOptions{}).Text, "Loop") })
	js(t, tab, "(frames[0].postMessage('', '*'), 1)")
	browsertest.Eventually(t, "it hangs, and the rest is read in time", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		r, err := tab.Read(ctx, page.ReadOptions{})
		got = r.Text
		return err == nil && strings.Contains(got, `--- frame "Stuck" could not be read ---`)
	})
	browsertest.WantContains(t, got, "Top", "Fine text")
	browsertest.Must(t, tab.Stop(browsertest.Within(t, browsertest.Patience)))
}
