package profile

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"clank/browsermgr/fault"
)

// OpenTab is a tab of the browser.
type OpenTab struct {
	Target string // CDP target id
	ID     string // t<n>: its ID unless that was used before
	URL    string
	Title  string
	Popup  bool // opened by a page, so it does not replace another tab
}

// NamedTab is a tab with its names.
type NamedTab struct {
	OpenTab // with the assigned ID

	Label string
}

// Name returns the name to show to a person or a model: the label or, without one, the ID.
func (t NamedTab) Name() string { return cmp.Or(t.Label, t.ID) }

// TabNames holds the names of the tabs of one profile. The zero value is ready for use. It is safe for concurrent use.
type TabNames struct {
	mu         sync.Mutex
	tabs       []NamedTab
	lastNumber int    // highest number ever assigned
	lastUsed   string // target of the tab used last
}

// Sync updates the list to the browser's present tabs, in the order given. If one tab has gone and another is new, the
// new one gets its names, provided that only these two changed, or are the only ones of their address that did.
func (b *TabNames) Sync(pages []OpenTab) {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := map[string]NamedTab{}
	for _, t := range b.tabs {
		known[t.Target] = t
	}
	here := map[string]bool{}
	var fresh []OpenTab
	for _, p := range pages {
		here[p.Target] = true
		if _, ok := known[p.Target]; !ok {
			fresh = append(fresh, p)
		}
	}
	var gone []NamedTab
	for _, t := range b.tabs {
		if !here[t.Target] {
			gone = append(gone, t)
		}
	}
	for target, old := range replacements(gone, fresh) {
		known[target] = old
		if b.lastUsed == old.Target {
			b.lastUsed = target
		}
	}
	tabs := make([]NamedTab, len(pages))
	for i, p := range pages {
		old, ok := known[p.Target]
		if !ok {
			old.ID = b.assignID(p.ID)
		}
		p.ID = old.ID
		tabs[i] = NamedTab{OpenTab: p, Label: old.Label}
	}
	b.tabs = tabs
}

// replacements returns, by target, the tab that a new one replaces.
func replacements(gone []NamedTab, fresh []OpenTab) map[string]NamedTab {
	candidates := slices.DeleteFunc(slices.Clone(fresh), func(p OpenTab) bool { return p.Popup })
	if len(gone) == 1 && len(fresh) == 1 && len(candidates) == 1 {
		return map[string]NamedTab{candidates[0].Target: gone[0]}
	}
	out := map[string]NamedTab{}
	for _, old := range gone {
		same := func(p OpenTab) bool { return p.URL == old.URL }
		i := slices.IndexFunc(candidates, same)
		if i < 0 || slices.ContainsFunc(candidates[i+1:], same) ||
			slices.ContainsFunc(gone, func(t NamedTab) bool { return t.Target != old.Target && t.URL == old.URL }) {
			continue
		}
		out[candidates[i].Target] = old
	}
	return out
}

// assignID assigns an ID: the requested one, or the next if that is not above all assigned before. The caller holds
// b.mu.
func (b *TabNames) assignID(wish string) string {
	digits, ok := strings.CutPrefix(wish, "t")
	n, err := strconv.Atoi(digits)
	if !ok || err != nil || n <= b.lastNumber {
		n = b.lastNumber + 1
	}
	b.lastNumber = n
	return "t" + strconv.Itoa(n)
}

// Reset removes all tabs, for another browser. Their IDs are not reused.
func (b *TabNames) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tabs, b.lastUsed = nil, ""
}

// Forget removes a tab that was closed on purpose, so that no other gets its names.
func (b *TabNames) Forget(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tabs = slices.DeleteFunc(b.tabs, func(t NamedTab) bool { return t.Target == target })
	if b.lastUsed == target {
		b.lastUsed = ""
	}
}

// Tabs lists the tabs, without the browser's own pages such as its settings.
func (b *TabNames) Tabs() []NamedTab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.visible()
}

func (b *TabNames) visible() []NamedTab {
	return slices.DeleteFunc(slices.Clone(b.tabs), func(t NamedTab) bool { return isBrowserPage(t.URL) })
}

// Find returns the tab with that target id.
func (b *TabNames) Find(target string) (NamedTab, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.index(target)
	if i < 0 {
		return NamedTab{}, false
	}
	return b.tabs[i], true
}

func (b *TabNames) index(target string) int {
	return slices.IndexFunc(b.tabs, func(t NamedTab) bool { return t.Target == target })
}

// MarkUsed makes a tab the default.
func (b *TabNames) MarkUsed(target string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.index(target) >= 0 {
		b.lastUsed = target
	}
}

// Default returns the tab used last, or else the first; false if there is none.
func (b *TabNames) Default() (NamedTab, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	tabs := b.visible()
	if i := slices.IndexFunc(tabs, func(t NamedTab) bool { return t.Target == b.lastUsed }); i >= 0 {
		return tabs[i], true
	}
	if len(tabs) == 0 {
		return NamedTab{}, false
	}
	return tabs[0], true
}

var tabLabelPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`) })

// CheckTabLabel returns an error that wraps [fault.ErrInvalid] if the label is invalid.
func CheckTabLabel(label string) error {
	if !tabLabelPattern().MatchString(label) {
		return fault.Invalidf("label %q: use 1 to 64 letters, digits, _ . : or -", label)
	}
	return nil
}

// Label sets a tab's label and removes it from another tab.
func (b *TabNames) Label(target, label string) (NamedTab, error) {
	if err := CheckTabLabel(label); err != nil {
		return NamedTab{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at := b.index(target)
	if at < 0 {
		return NamedTab{}, fmt.Errorf("%w: it was closed before it could be labelled", ErrTabNotFound)
	}
	for i := range b.tabs {
		if b.tabs[i].Label == label {
			b.tabs[i].Label = ""
		}
	}
	b.tabs[at].Label = label
	return b.tabs[at], nil
}

// isBrowserPage reports whether an address is one of the browser's own pages, which are hidden.
func isBrowserPage(url string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(url), ":")
	return slices.Contains([]string{"chrome", "chrome-untrusted", "devtools", "edge", "brave", "vivaldi", "opera"}, scheme)
}

// Errors of [TabNames.Resolve].
var (
	// ErrTabNotFound is returned if no tab has that name. Clients match on the text.
	ErrTabNotFound = errors.New("tab not found")
	// ErrAmbiguousTab is returned if several tabs match.
	ErrAmbiguousTab = errors.New("ambiguous tab target")
)

// maxNumberDigits is how many digits count as a number rather than the beginning of a target id.
const maxNumberDigits = 6

// Resolve finds a tab by target id, ID, label or a prefix of its target id, ignoring case. Complete names take
// precedence. The error wraps [ErrTabNotFound] or [ErrAmbiguousTab].
func (b *TabNames) Resolve(name string) (NamedTab, error) {
	tabs := b.Tabs()
	name = strings.TrimSpace(name)
	number := name != "" && strings.Trim(name, "0123456789") == ""
	found := filterTabs(tabs, func(t NamedTab) bool {
		return name != "" && (t.Target == name || t.ID == name || t.Label == name)
	})
	if len(found) == 0 && (!number || len(name) > maxNumberDigits) {
		found = filterTabs(tabs, func(t NamedTab) bool {
			return name != "" && len(name) <= len(t.Target) && strings.EqualFold(t.Target[:len(name)], name)
		})
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return NamedTab{}, fmt.Errorf("%w: %q fits %s; name one of them by its tabId", ErrAmbiguousTab, name,
			listTabNames(found))
	case number:
		return NamedTab{}, fmt.Errorf("%w: %q is a number, and numbers are not tab targets: use a tabId such as t1, a "+
			"label or a targetId; open: %s",
			ErrTabNotFound, name, listTabNames(tabs))
	}
	return NamedTab{}, fmt.Errorf("%w: %q; open: %s", ErrTabNotFound, name, listTabNames(tabs))
}

func filterTabs(tabs []NamedTab, fits func(NamedTab) bool) []NamedTab {
	return slices.DeleteFunc(slices.Clone(tabs), func(t NamedTab) bool { return !fits(t) })
}

func listTabNames(tabs []NamedTab) string {
	if len(tabs) == 0 {
		return "none"
	}
	names := make([]string, len(tabs))
	for i, t := range tabs {
		names[i] = t.ID
		if t.Label != "" {
			names[i] += " (" + t.Label + ")"
		}
	}
	return strings.Join(names, ", ")
}
