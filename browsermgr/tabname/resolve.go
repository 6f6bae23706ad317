package tabname

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of [Book.Resolve].
var (
	// ErrNotFound says that no tab has that name. Clients know the text.
	ErrNotFound = errors.New("tab not found")
	// ErrAmbiguous says that several tabs could be meant.
	ErrAmbiguous = errors.New("ambiguous tab target")
)

// shortNumber is how many digits alone are taken for a number, not for the beginning of one of Chromium's ids.
const shortNumber = 6

// Resolve finds the tab that a caller names by Chromium's id, by its ID, its label or a beginning of Chromium's id, in
// any case. Whole names come first. The error wraps [ErrNotFound] or [ErrAmbiguous].
func (b *Book) Resolve(name string) (Tab, error) {
	tabs := b.Tabs()
	name = strings.TrimSpace(name)
	number := name != "" && strings.Trim(name, "0123456789") == ""
	found := pick(tabs, func(t Tab) bool { return name != "" && (t.Target == name || t.ID == name || t.Label == name) })
	if len(found) == 0 && (!number || len(name) > shortNumber) {
		found = pick(tabs, func(t Tab) bool {
			return name != "" && len(name) <= len(t.Target) && strings.EqualFold(t.Target[:len(name)], name)
		})
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return Tab{}, fmt.Errorf("%w: %q fits %s; name one of them by its tabId", ErrAmbiguous, name, list(found))
	case number:
		return Tab{}, fmt.Errorf("%w: %q is a number, and numbers are not tab targets: use a tabId such as t1, a label or a targetId; open: %s",
			ErrNotFound, name, list(tabs))
	}
	return Tab{}, fmt.Errorf("%w: %q; open: %s", ErrNotFound, name, list(tabs))
}

func pick(tabs []Tab, fits func(Tab) bool) []Tab {
	var out []Tab
	for _, t := range tabs {
		if fits(t) {
			out = append(out, t)
		}
	}
	return out
}

func list(tabs []Tab) string {
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
