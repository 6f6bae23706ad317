package profile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Errors of [TabNames.Resolve].
var (
	// ErrTabNotFound says that no tab has that name. Clients know the text.
	ErrTabNotFound = errors.New("tab not found")
	// ErrAmbiguousTab says that several tabs could be meant.
	ErrAmbiguousTab = errors.New("ambiguous tab target")
)

// maxNumberDigits is how many digits alone are taken for a number, not for the beginning of one of Chromium's ids.
const maxNumberDigits = 6

// Resolve finds the tab that a caller names by Chromium's id, by its ID, its label or a beginning of Chromium's id, in
// any case. Whole names come first. The error wraps [ErrTabNotFound] or [ErrAmbiguousTab].
func (b *TabNames) Resolve(name string) (NamedTab, error) {
	tabs := b.Tabs()
	name = strings.TrimSpace(name)
	number := name != "" && strings.Trim(name, "0123456789") == ""
	found := filterTabs(tabs, func(t NamedTab) bool { return name != "" && (t.Target == name || t.ID == name || t.Label == name) })
	if len(found) == 0 && (!number || len(name) > maxNumberDigits) {
		found = filterTabs(tabs, func(t NamedTab) bool {
			return name != "" && len(name) <= len(t.Target) && strings.EqualFold(t.Target[:len(name)], name)
		})
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return NamedTab{}, fmt.Errorf("%w: %q fits %s; name one of them by its tabId", ErrAmbiguousTab, name, listTabNames(found))
	case number:
		return NamedTab{}, fmt.Errorf("%w: %q is a number, and numbers are not tab targets: use a tabId such as t1, a label or a targetId; open: %s",
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
