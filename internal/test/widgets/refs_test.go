package widgets_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/npm"
)

// documents are pages without a library.
var documents = []string{"../peers/testdata/*.html", "../../../browsermgr/page/testdata/names/*.html"}

// refLook tells of an element to which playwright gives a ref: nothing if it cannot be acted on, "ours" if the snapshot
// of this number gives it one too, why it need not, or else what it is.
const refLook = `(element, role) => {
	const acts = new Set(('button checkbox combobox link listbox menuitem menuitemcheckbox menuitemradio option radio scrollbar ' +
		'searchbox slider spinbutton switch tab textbox treeitem').split(' ')).has(role);
	const first = is => is(element) && !is(element.parentElement);
	const points = e => e && getComputedStyle(e).cursor === 'pointer';
	const focusable = element.tabIndex >= 0 && !element.matches(':is(a, area):not([href], [tabindex])');
	if (!acts && !focusable && !first(points) && !first(e => e?.isContentEditable)) return '';
	const ours = e => e?.ours === %[1]d;
	if (ours(element)) return 'ours';
	const control = 'a[href], button, [role=button], [role=combobox], [role=link], [role=option]';
	const field = '[role=spinbutton], [role=combobox]';
	const hidden = element.closest('[aria-hidden="true"]');
	const { width, height } = hidden?.getBoundingClientRect() ?? {};
	const box = element.getBoundingClientRect();
	const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
	const host = element.getRootNode().host, at = host?.getBoundingClientRect();
	const inMiddle = at && box.left <= at.x + at.width / 2 && at.x + at.width / 2 <= box.right &&
		box.top <= at.y + at.height / 2 && at.y + at.height / 2 <= box.bottom;
	const exceptions = {
		'in the middle of a custom element that has a ref': inMiddle && ours(host),
		'in a frame that markup makes a picture': element.matches('iframe[role]'),
		'in a label whose control has a ref': !acts && !focusable && ours(element.closest('label')?.control),
		'in a control that has a ref': !acts && !focusable && ours(element.parentElement?.closest(control)),
		'hidden from all by markup, and a pixel in size': width <= 1 && height <= 1,
		'hidden from all by markup, and behind an open dialog or list, where no click reaches it':
			hidden && hit && !hit.contains(hidden) && !hidden.contains(hit) && document.querySelector('[role=dialog], [role=listbox]'),
		'for the mouse alone, by markup, and done in the field beside it as well':
			hidden === element && element.tabIndex < 0 && ours(element.closest(':has(' + field + ')')?.querySelector(field)),
	};
	const what = role + ' ' + element.outerHTML.slice(0, 300);
	return Object.keys(exceptions).find(reason => exceptions[reason]) ?? 'missing: ' + what;
}`

// refComparison counts what elements of pages that others can act on are to us.
type refComparison struct {
	tab              *page.Tab
	playwright       *npm.Playwright
	pages, snapshots int
	elements         map[string]int
}

// compare counts the elements of a page. What the page changes between the two snapshots is looked at again.
func (c *refComparison) compare(t *testing.T, when string) {
	t.Helper()
	c.pages++
	var looks []string
	var err error
	isMissing := func(look string) bool { return strings.HasPrefix(look, "missing: ") }
	for range 10 { // what closes is animated
		looks, err = c.look(t.Context())
		if err == nil && !slices.ContainsFunc(looks, isMissing) {
			break
		}
	}
	check.Must(t, err)
	for _, look := range looks {
		kind, what, _ := strings.Cut(look, ": ")
		if isMissing(look) {
			t.Errorf("no ref %s: %s", when, what)
		}
		if kind != "" {
			c.elements[kind]++
		}
	}
}

// look takes both snapshots.
func (c *refComparison) look(ctx context.Context) (looks []string, err error) {
	c.snapshots++
	snap, err := c.tab.Snapshot(ctx, page.SnapshotOptions{})
	if err != nil {
		return nil, err
	}
	mark := page.Action{Kind: actiontable.KindEvaluate, Fn: fmt.Sprintf("element => { element.ours = %d }", c.snapshots)}
	for _, ref := range snap.Refs() {
		mark.Ref = ref.Ref
		if _, err := c.tab.Act(ctx, mark); err != nil {
			return nil, err
		}
	}
	return looks, c.playwright.Call("elements",
		map[string]any{"url": c.tab.URL(), "look": fmt.Sprintf(refLook, c.snapshots)}, &looks)
}

// TestRefsOfPlaywright compares element by element: what can be acted on and has a ref of playwright's has one of ours.
// It looks at each page as it comes, and again after the steps of its task.
func TestRefsOfPlaywright(t *testing.T) {
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("playwright-core and the libraries are installed from the network: make bench-peers does that")
	}
	dir, err := filepath.Abs(cache)
	check.Must(t, err)
	var files []string
	for _, pattern := range documents {
		more, err := filepath.Glob(pattern)
		if err != nil || len(more) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(more), err)
		}
		files = append(files, more...)
	}
	site := browsertest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if i, err := strconv.Atoi(r.URL.Path[1:]); err == nil {
			http.ServeFile(w, r, files[i])
			return
		}
		show(dir)(w, r)
	})
	module, _, err := npm.InstallPlaywright(t.Context(), filepath.Join(dir, "../peers"))
	check.Must(t, err)
	tab := browsertest.Tab(t, browser.Connect(t, page.Options{}), page.TabOptions{})
	p, err := npm.StartPlaywright(t.Context(), module, fmt.Sprintf("http://127.0.0.1:%d", browser.Process(t).Port))
	check.Must(t, err)
	defer p.Close()
	check.Must(t, tab.Activate(t.Context())) // behind the tab of playwright's nothing is drawn, and no animation ends
	c := &refComparison{tab: tab, playwright: p, elements: map[string]int{}}
	for i, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			browsertest.Navigate(t, tab, site.URL+"/"+strconv.Itoa(i))
			c.compare(t, "at first")
		})
	}
	for _, l := range libraries(t, dir) {
		check.Must(t, l.bundle(t.Context(), dir))
		for _, task := range l.tasks {
			t.Run(l.name+"/"+task.name, func(t *testing.T) {
				browsertest.Navigate(t, tab, site.URL+"/"+l.name+"/"+task.name)
				c.compare(t, "at first")
				user := &policy{tab: tab}
				for _, step := range task.steps {
					if strings.Contains(step, "load ") { // uploads and downloads need a place for files
						break
					}
					if err := user.do(t.Context(), step); err != nil {
						t.Logf("%s: %v", step, err) // TestWidgets judges that
						break
					}
				}
				c.compare(t, "in the end")
			})
		}
	}
	all := 0
	for kind, n := range c.elements {
		all += n
		if kind != "ours" {
			t.Logf("%d are %s", n, kind)
		}
	}
	if c.elements["ours"] < c.pages {
		t.Errorf("%d elements on %d pages: what was compared?", c.elements["ours"], c.pages)
	}
	t.Logf("refs: pages=%d playwright=%d missing=%d", c.pages, all, c.elements["missing"])
}
