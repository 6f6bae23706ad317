// Package tabname gives the tabs of a profile names that outlive what Chromium calls them: t1, t2, … which are never used
// again, and labels of the caller's. It remembers which tab was used last.
//
// It knows what it is told: it asks no browser, and does not open or close tabs.
package tabname

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"clank/browsermgr/fault"
)

// Page is a tab as the browser has it.
type Page struct {
	Target string // Chromium's id
	ID     string // t<n>, the name it is to have unless that was used before
	URL    string
	Title  string
	Popup  bool // opened by a page: it is new for sure, and takes nobody's place
}

// Tab is a page with its names.
type Tab struct {
	Page // its ID is the one that was given here

	Label string
}

// Name is what a person or a model should call the tab: its label, or its ID.
func (t Tab) Name() string { return cmp.Or(t.Label, t.ID) }

// Book is the tabs of one profile. The zero value is ready for use. It is safe for concurrent use.
type Book struct {
	mu     sync.Mutex
	tabs   []Tab
	used   map[string]struct{} // IDs ever given
	last   int                 // the highest number ever given
	sticky string              // target of the tab used last
}

// Sync takes over which tabs there are, in the order given. If a tab has gone and another is there in its stead, that one
// takes over its names: if only these two changed, or they are the only ones of their address that did.
func (b *Book) Sync(pages []Page) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[string]Tab{}
	for _, t := range b.tabs {
		known[t.Target] = t
	}
	here := map[string]bool{}
	var fresh []Page
	for _, p := range pages {
		here[p.Target] = true
		if _, ok := known[p.Target]; !ok {
			fresh = append(fresh, p)
		}
	}
	var gone []Tab
	for _, t := range b.tabs {
		if !here[t.Target] {
			gone = append(gone, t)
		}
	}
	for target, old := range heirs(gone, fresh) {
		known[target] = old
		if b.sticky == old.Target {
			b.sticky = target
		}
	}
	tabs := make([]Tab, len(pages))
	for i, p := range pages {
		old, ok := known[p.Target]
		if !ok {
			old.ID = b.number(p.ID)
		}
		p.ID = old.ID
		tabs[i] = Tab{Page: p, Label: old.Label}
	}
	b.tabs = tabs
}

// heirs says, by target, which tab a new one replaces.
func heirs(gone []Tab, fresh []Page) map[string]Tab {
	candidates := slices.DeleteFunc(slices.Clone(fresh), func(p Page) bool { return p.Popup })
	if len(gone) == 1 && len(fresh) == 1 && len(candidates) == 1 {
		return map[string]Tab{candidates[0].Target: gone[0]}
	}
	out := map[string]Tab{}
	for _, old := range gone {
		same := func(p Page) bool { return p.URL == old.URL }
		i := slices.IndexFunc(candidates, same)
		if i < 0 || slices.ContainsFunc(candidates[i+1:], same) ||
			slices.ContainsFunc(gone, func(t Tab) bool { return t.Target != old.Target && t.URL == old.URL }) {
			continue
		}
		out[candidates[i].Target] = old
	}
	return out
}

// number gives out an ID: the one wished for, or the next. The caller holds b.mu.
func (b *Book) number(wish string) string {
	digits, ok := strings.CutPrefix(wish, "t")
	n, err := strconv.Atoi(digits)
	if _, taken := b.used[wish]; !ok || err != nil || n < 1 || taken {
		n = b.last + 1
	}
	b.last = max(b.last, n)
	id := "t" + strconv.Itoa(n)
	if b.used == nil {
		b.used = map[string]struct{}{}
	}
	b.used[id] = struct{}{}
	return id
}

// Reset forgets all tabs, for another browser. Their IDs are not used again.
func (b *Book) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tabs, b.sticky = nil, ""
}

// Forget drops a tab that was closed on purpose: nobody takes over its names.
func (b *Book) Forget(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tabs = slices.DeleteFunc(b.tabs, func(t Tab) bool { return t.Target == target })
	if b.sticky == target {
		b.sticky = ""
	}
}

// Tabs lists the tabs that people see: those of the browser's own, such as its settings, are left out.
func (b *Book) Tabs() []Tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.visible()
}

func (b *Book) visible() []Tab {
	return slices.DeleteFunc(slices.Clone(b.tabs), func(t Tab) bool { return Internal(t.URL) })
}

// Find returns the tab with that target.
func (b *Book) Find(target string) (Tab, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(target)
	if i < 0 {
		return Tab{}, false
	}
	return b.tabs[i], true
}

func (b *Book) index(target string) int {
	return slices.IndexFunc(b.tabs, func(t Tab) bool { return t.Target == target })
}

// Choose makes a tab the one that is meant when none is named.
func (b *Book) Choose(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index(target) >= 0 {
		b.sticky = target
	}
}

// Default is the tab that was used last, or else the first; false if there is none.
func (b *Book) Default() (Tab, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tabs := b.visible()
	if i := slices.IndexFunc(tabs, func(t Tab) bool { return t.Target == b.sticky }); i >= 0 {
		return tabs[i], true
	}
	if len(tabs) == 0 {
		return Tab{}, false
	}
	return tabs[0], true
}

var labelPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`) })

// CheckLabel refuses what cannot be a label, with an error that wraps [fault.ErrInvalid].
func CheckLabel(label string) error {
	if !labelPattern().MatchString(label) {
		return fault.Invalidf("label %q: use 1 to 64 letters, digits, _ . : or -", label)
	}
	return nil
}

// Label gives a tab a label, which another one loses if it has it.
func (b *Book) Label(target, label string) (Tab, error) {
	if err := CheckLabel(label); err != nil {
		return Tab{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.index(target)
	if at < 0 {
		return Tab{}, fmt.Errorf("%w: it was closed before it could be labelled", ErrNotFound)
	}
	for i := range b.tabs {
		if b.tabs[i].Label == label {
			b.tabs[i].Label = ""
		}
	}
	b.tabs[at].Label = label
	return b.tabs[at], nil
}

// Internal says whether an address is one of the browser's own pages, which nobody is shown.
func Internal(url string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(url), ":")
	switch scheme {
	case "chrome", "chrome-untrusted", "devtools", "edge", "brave", "vivaldi", "opera":
		return true
	}
	return false
}
