package page_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

func TestSnapshotGrammar(t *testing.T) {
	tests := []struct {
		name string
		html string
		want string
	}{
		{"heading and text", `<h2>Hello <b>you</b></h2><p>Some  text`, "- heading \"Hello you\" [level=2] [ref=e1]\n- paragraph: Some text"},
		{"link in text", `<p>See <a href=/x>this</a> page`, "- paragraph:\n  - text: See\n  - link \"this\" [ref=e1]\n  - text: page"},
		{
			"labelled fields", `<label>Name <input required value=Ada></label><label for=b>Mail</label><input id=b type=email placeholder=you@example.com>`,
			"- textbox \"Name\" [required] [ref=e1]: Ada\n- textbox \"Mail\" [ref=e2]:\n  - /placeholder: you@example.com",
		},
		{"placeholder as name", `<input placeholder="Search here" type=search>`, `- searchbox "Search here" [ref=e1]`},
		{
			"labelledby hidden", `<span id=x hidden>Pick one</span><select aria-labelledby=x><option>A<option selected>B</select>`,
			"- combobox \"Pick one\" [ref=e1]: B\n  - option \"A\" [ref=e2]\n  - option \"B\" [selected] [ref=e3]",
		},
		{
			"states", `<input type=checkbox checked aria-label=A><button disabled aria-pressed=true>B</button><button aria-expanded=false>C</button>`,
			"- checkbox \"A\" [checked] [ref=e1]\n- button \"B\" [disabled] [pressed] [ref=e2]\n- button \"C\" [expanded=false] [ref=e3]",
		},
		{
			"table", `<table><tr><th>Name<th>Age<tr><td>Ada<td>36</table>`,
			"- table:\n  - row:\n    - columnheader \"Name\" [ref=e1]\n    - columnheader \"Age\" [ref=e2]\n  - row:\n    - cell \"Ada\" [ref=e3]\n    - cell \"36\" [ref=e4]",
		},
		{
			"hidden content", `<div style=display:none>a</div><div style=visibility:hidden>b<i style=visibility:visible>seen</i></div><div aria-hidden=true>c</div><div inert><button>d</button></div><template>e</template>`,
			"- text: seen",
		},
		{
			"clickable card", `<div style=cursor:pointer><span>Clickable</span> Card</div><div onclick=1>Two</div><div tabindex=0>Three</div>`,
			"- generic \"Clickable Card\" [ref=e1] [cursor:pointer]\n- generic \"Two\" [ref=e2] [onclick]\n- generic \"Three\" [ref=e3] [tabindex]",
		},
		{
			"image and icon buttons", `<img src="data:," alt="A cat"><button><img src="data:," alt=Close></button><style>i::before{content:"Menu"}</style><button class=x title="More"></button>`,
			"- img \"A cat\"\n- button \"Close\" [ref=e1]\n- button \"More\" [ref=e2]",
		},
		{"quotes and odd names", "<button>say \"hi\" \\ \U0001F600</button>", `- button "say \"hi\" \\ ` + "\U0001F600" + `" [ref=e1]`},
		{"text that looks like structure", `<p>- button "Fake" [ref=e99]`, `- paragraph: - button "Fake" [ref=e99]`},
		{"closed details", `<details><summary>More</summary><button>In</button></details>`, "- group:\n  - button \"More\" [expanded=false] [ref=e1]"},
		{"role none", `<ul role=none><li role=presentation><a href=#>x</a></ul>`, `- link "x" [ref=e1]`},
		{"focus", `<input aria-label=F autofocus>`, `- textbox "F" [active] [ref=e1]`},
	}
	b := browser.Connect(t, page.Options{})
	pages := map[string]string{}
	for _, tt := range tests {
		pages["/"+strings.ReplaceAll(tt.name, " ", "-")] = "<!doctype html><meta charset=utf-8><body>" + tt.html
	}
	srv := site(t, pages)
	tab := browsertest.Tab(t, b, page.TabOptions{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			browsertest.Navigate(t, tab, srv.URL+"/"+strings.ReplaceAll(tt.name, " ", "-"))
			got := snapshot(t, tab, page.SnapshotOptions{})
			browsertest.WantEqual(t, got.Text, tt.want)
		})
	}
}

func TestSnapshotMasksSecrets(t *testing.T) {
	tab := show(t, `<input type=password value=hunter2 aria-label=a><input autocomplete="one-time-code" value=123456 aria-label=b>
		<input autocomplete="section-x current-password" value=hunter3 aria-label=c><label>Key<input type=password value=hunter4></label>`)
	for _, opts := range []page.SnapshotOptions{{}, {Interactive: true}} {
		got := snapshot(t, tab, opts).Text
		for _, secret := range []string{"hunter", "123456"} {
			if strings.Contains(got, secret) {
				t.Errorf("snapshot shows a secret: %s", got)
			}
		}
		if n := strings.Count(got, "••••••••"); n != 4 {
			t.Errorf("got %d masks, want 4 in %s", n, got)
		}
	}
	text, err := tab.Text(t.Context(), refOf(t, tab, `"a"`))
	if err != nil || strings.Contains(text, "hunter") {
		t.Errorf("got text %q, %v; want a mask", text, err)
	}
}

func TestSnapshotEntersShadowRootsInFlatOrder(t *testing.T) {
	tab := show(t, `<x-card><b slot=title>Title</b><a href=/l>light</a></x-card><script>
		customElements.define('x-card', class extends HTMLElement { connectedCallback() {
			this.attachShadow({mode: 'open'}).innerHTML = '<button>first</button><slot name=title></slot><p><slot></slot></p>';
		}})</script>`)
	want := "- button \"first\" [ref=e1]\n- text: Title\n- paragraph:\n  - link \"light\" [ref=e2]"
	browsertest.WantEqual(t, snapshot(t, tab, page.SnapshotOptions{}).Text, want)
	click(t, tab, "e1")
	act(t, tab, page.Action{Kind: actiontable.KindClick, Selector: "button"})
}

func TestSnapshotOptions(t *testing.T) {
	tab := show(t, `<main><nav><ul><li><a href=/a>A</a><li><a href=/a>Again</a><li><a href=/b>B</a></ul></nav>
		<section id=s><h1>H</h1><button>Go</button></section></main>`)
	zero, two := 0, 2
	tests := []struct {
		name string
		opts page.SnapshotOptions
		want string
	}{
		{"interactive", page.SnapshotOptions{Interactive: true}, "- link \"A\" [ref=e1]\n- link \"Again\" [ref=e2]\n- link \"B\" [ref=e3]\n- button \"Go\" [ref=e5]"},
		{"compact", page.SnapshotOptions{Compact: true}, "- main:\n  - navigation:\n    - listitem:\n      - link \"A\" [ref=e1]\n    - listitem:\n      - link \"Again\" [ref=e2]\n    - listitem:\n      - link \"B\" [ref=e3]\n  - heading \"H\" [level=1] [ref=e4]\n  - button \"Go\" [ref=e5]"},
		{"depth 0", page.SnapshotOptions{Depth: &zero}, "- main"},
		{"depth 2", page.SnapshotOptions{Depth: &two}, "- main:\n  - navigation:\n    - list\n  - heading \"H\" [level=1] [ref=e4]\n  - button \"Go\" [ref=e5]"},
		{"selector", page.SnapshotOptions{Selector: "#s"}, "- heading \"H\" [level=1] [ref=e4]\n- button \"Go\" [ref=e5]"},
		{"selector without a match", page.SnapshotOptions{Selector: "#nope"}, "(empty)"},
		{"depth 0 through wrappers", page.SnapshotOptions{Selector: "#s", Depth: &zero}, "- heading \"H\" [level=1] [ref=e4]\n- button \"Go\" [ref=e5]"},
	}
	snapshot(t, tab, page.SnapshotOptions{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			browsertest.WantEqual(t, snapshot(t, tab, tt.opts).Text, tt.want)
		})
	}
	urls := snapshot(t, tab, page.SnapshotOptions{URLs: true}).Text
	browsertest.WantContains(t, urls, "\n\nLinks:\n1. A -> http://127.0.0.1", "\n2. B -> ")
	if _, err := tab.Snapshot(t.Context(), page.SnapshotOptions{Selector: "]["}); err == nil {
		t.Error("got no error for a malformed selector")
	}
}

func TestSnapshotCutsOnWholeLines(t *testing.T) {
	tab := show(t, strings.Repeat("<p>A paragraph with \U0001F600 in it</p><button>Press</button>", 200))
	whole := snapshot(t, tab, page.SnapshotOptions{})
	for _, limit := range []int{1, 20, 100, 500, 5000} {
		got := snapshot(t, tab, page.SnapshotOptions{MaxChars: limit})
		if n := len([]rune(got.Text)); n > limit || !got.Truncated {
			t.Errorf("limit %d: got %d characters, truncated %v", limit, n, got.Truncated)
		}
		body, _, _ := strings.Cut(got.Text, "\n\n")
		if limit >= 100 && (!strings.Contains(got.Text, "TRUNCATED") || !strings.HasPrefix(whole.Text, body+"\n")) {
			t.Errorf("limit %d: not cut on a line:\n%s", limit, got.Text)
		}
	}
	if got := snapshot(t, tab, page.SnapshotOptions{MaxChars: len(whole.Text)}); got.Truncated || got.Text != whole.Text {
		t.Error("a snapshot that fits was cut")
	}
}

func TestSnapshotListsRefs(t *testing.T) {
	tab := show(t, `<button>A</button><button>B</button><button>A</button>`)
	want := []page.Ref{
		{Ref: "e1", Role: "button", Name: "A", Dup: true},
		{Ref: "e2", Role: "button", Name: "B"},
		{Ref: "e3", Role: "button", Name: "A", Nth: 1, Dup: true},
	}
	browsertest.WantEqual(t, snapshot(t, tab, page.SnapshotOptions{}).Refs(), want)
}

func TestTextReadsTheMainPart(t *testing.T) {
	tab := show(t, `<nav>Menu</nav><article><h1>Title</h1><p id=p>Body text</p></article><a href=/x>Out</a><a href=/x>Twice</a><button value=b>Buy</button>`)
	text, err := tab.Text(t.Context(), "")
	if err != nil || strings.Contains(text, "Menu") {
		t.Errorf("got %q, %v; want the article only", text, err)
	}
	browsertest.WantContains(t, text, "Title", "Body text")
	text, err = tab.Text(t.Context(), refOf(t, tab, `heading "Title"`))
	if err != nil || text != "Title" {
		t.Errorf("got %q, %v; want the heading's text", text, err)
	}
	text, err = tab.Text(t.Context(), refOf(t, tab, `button "Buy"`))
	if err != nil || text != "Buy" {
		t.Errorf("got %q, %v; want what the button says", text, err)
	}
	links, err := tab.Links(t.Context())
	if err != nil || len(links) != 1 || links[0].Text != "Out" {
		t.Errorf("got %v, %v; want one link", links, err)
	}
}
