package page_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"
	"clank/internal/browsertest"

	"github.com/go-rod/rod/lib/proto"
)

// teller has sessions tell of the worlds of their documents, and asks them for more.
type teller struct{ more []proto.Request }

func (o teller) Attach(*page.Tab, *frame.Frame) []proto.Request {
	return append([]proto.Request{proto.RuntimeEnable{}}, o.more...)
}

func (teller) Event(*page.Tab, *frame.Frame, cdp.Event) {}

// worlds opens a page to go on from to one with a frame in the same process. made counts the worlds that are asked for.
func worlds(t *testing.T, more ...proto.Request) (tab *page.Tab, url string, made *atomic.Int32) {
	t.Helper()
	srv := site(t, map[string]string{
		"/":  `<title>One</title>`,
		"/2": `<title>Two</title><button onclick="this.textContent='Pressed'">Out here</button><iframe srcdoc="<button onclick=this.textContent='Pressed'>In there</button>"></iframe>`,
	})
	made = new(atomic.Int32)
	b := browser.Connect(t, page.Options{Observers: []page.Observer{teller{more}}, Sent: func(method string) {
		if method == (proto.PageCreateIsolatedWorld{}).ProtoReq() {
			made.Add(1)
		}
	}})
	return browsertest.Tab(t, b, page.TabOptions{URL: srv.URL}), srv.URL + "/2", made
}

// works sees to it that a page and its frame can be read and worked.
func works(t *testing.T, tab *page.Tab) {
	t.Helper()
	shows := func(text string) func() bool {
		return func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, text) }
	}
	browsertest.Eventually(t, "the frame is read", shows("In there"))
	click(t, tab, refOf(t, tab, "In there"))
	browsertest.Eventually(t, "the frame is worked", shows("Pressed"))
	click(t, tab, refOf(t, tab, "Out here"))
	if text := snapshot(t, tab, page.SnapshotOptions{}).Text; strings.Count(text, "Pressed") != 2 {
		t.Errorf("got\n%s\nwant both buttons pressed", text)
	}
}

func TestScriptsComeWithTheDocument(t *testing.T) {
	tab, url, made := worlds(t)
	// A machine that is busy enough tells of the world so late that one is asked for, but not each time.
	for tries := 20; ; tries-- {
		made.Store(0)
		browsertest.Navigate(t, tab, url)
		if got := tab.Title(); got != "Two" {
			t.Fatalf("got title %q, want it known", got)
		}
		snapshot(t, tab, page.SnapshotOptions{})
		if made.Load() == 0 {
			break
		}
		if tries == 0 {
			t.Fatal("each document had a world made for it")
		}
	}
	works(t, tab)
}

func TestScriptsAreSentToADocumentThatCameWithoutThem(t *testing.T) {
	tab, url, _ := worlds(t,
		proto.PageRemoveScriptToEvaluateOnNewDocument{Identifier: "1"},
		proto.PageAddScriptToEvaluateOnNewDocument{Source: "0", WorldName: "clank"})
	for range 2 {
		browsertest.Navigate(t, tab, url)
		works(t, tab)
	}
}
