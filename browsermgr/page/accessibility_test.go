package page_test

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
)

// nodeOf finds the first node of a role and name.
func nodeOf(t *testing.T, nodes []page.AccessibilityNode, role, name string) page.AccessibilityNode {
	t.Helper()
	for _, n := range nodes {
		if n.Role == role && n.Name == name {
			return n
		}
	}
	t.Fatalf("no %s %q in %+v", role, name, nodes)
	return page.AccessibilityNode{}
}

func tree(t *testing.T, tab *page.Tab, limit int) []page.AccessibilityNode {
	t.Helper()
	nodes, err := tab.AccessibilityTree(t.Context(), limit, 0)
	browsertest.Must(t, err)
	return nodes
}

func TestTreeHasAllFramesAndItsRefsAct(t *testing.T) {
	tab := openTab(t, framed(t).URL)
	browsertest.Eventually(t, "the frames are seen", func() bool { return strings.Contains(snapshot(t, tab, page.SnapshotOptions{}).Text, "Deep button") })
	nodes := tree(t, tab, 0)
	top, deep := nodeOf(t, nodes, "heading", "Top"), nodeOf(t, nodes, "button", "Deep button")
	if nodes[0].Ref != "ax1" || nodes[0].Depth != 0 || top.BackendDOMNodeID == 0 || deep.Depth <= top.Depth {
		t.Errorf("got %+v, %+v, %+v", nodes[0], top, deep)
	}
	for _, name := range []string{"Near button", "Far button", "Deep button"} {
		click(t, tab, nodeOf(t, nodes, "button", name).Ref)
	}
	act(t, tab, page.Action{Kind: actiontable.KindType, Ref: strings.ToUpper(nodeOf(t, nodes, "textbox", "Far field").Ref), Text: "via tree"})
	browsertest.WantContains(t, snapshot(t, tab, page.SnapshotOptions{}).Text, `button "Pressed"`, `button "Pressed deep"`, ": via tree")
	field := nodeOf(t, tree(t, tab, 0), "textbox", "Far field")
	if field.Value != "via tree" {
		t.Errorf("got %+v, want its value", field)
	}
}

func TestTreeLimits(t *testing.T) {
	tab := show(t, strings.Repeat("<button>B</button>", 1200))
	for limit, want := range map[int]int{0: 500, 1: 1, -3: 1, 7: 7, 5000: 2000} {
		if got := len(tree(t, tab, limit)); got != want {
			t.Errorf("limit %d: got %d nodes, want %d", limit, got, want)
		}
	}
}

func TestTreeRefsAreElementsToo(t *testing.T) {
	tab := show(t, rows)
	refs := snapshot(t, tab, page.SnapshotOptions{Refs: page.RefsRole}).Refs()
	nodes := tree(t, tab, 0)
	first := nodeOf(t, nodes, "button", "Delete").Ref
	js(t, tab, "l.append(l.firstElementChild)")
	click(t, tab, first)
	click(t, tab, refs[1].Ref)
	browsertest.WantJS(t, tab, "hits.join('')", `"ab"`)
	js(t, tab, "l.lastElementChild.remove()")
	for _, ref := range []string{first, "ax9999"} {
		_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: ref})
		if !errors.Is(err, page.ErrUnknownRef) {
			t.Fatalf("%s: got %v, want an unknown ref", ref, err)
		}
		wantError(t, err, "Unknown ref "+ref, "new snapshot")
	}
	browsertest.Must(t, browsertest.Err(tab.Reload(t.Context())))
	_, err := tab.Act(t.Context(), page.Action{Kind: actiontable.KindClick, Ref: nodes[1].Ref})
	wantError(t, err, "Unknown ref")
}

func TestTreeMasksSecrets(t *testing.T) {
	tab := show(t, `<input type=password value=hunter2 aria-label=a><input autocomplete="one-time-code" value=123456 aria-label=b><input value=open aria-label=c>`)
	for _, n := range tree(t, tab, 0) {
		for _, secret := range []string{"hunter", "123456"} {
			if strings.Contains(n.Name+n.Value+n.Description, secret) {
				t.Errorf("the tree shows a secret: %+v", n)
			}
		}
	}
	browsertest.WantEqual(t, nodeOf(t, tree(t, tab, 0), "textbox", "c").Value, "open")
}
