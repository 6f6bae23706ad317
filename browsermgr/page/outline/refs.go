package outline

import (
	"fmt"
	"strconv"
	"strings"

	"clank/browsermgr/fault"
)

// Ref is a ref of a snapshot.
type Ref struct {
	Ref  string
	Role string
	Name string
	// Nth counts refs of the same role and name, from 0; Dup reports that there are several.
	Nth int
	Dup bool
}

// ListRefs lists the refs in a snapshot's text in order of appearance.
func ListRefs(text string) []Ref {
	type key struct{ role, name string }
	var refs []Ref
	count := map[key]int{}
	for text := range strings.Lines(text) {
		l, ok := scanLine(strings.TrimSuffix(text, "\n"))
		if !ok || l.refStart == 0 {
			continue
		}
		k := key{strings.ToLower(l.role), l.name()}
		nth := max(count[k], l.nth) // lines before it may have been omitted
		refs = append(refs, Ref{Ref: l.ref(), Role: k.role, Name: k.name, Nth: nth})
		count[k] = nth + 1
	}
	for i, r := range refs {
		refs[i].Dup = count[key{r.Role, r.Name}] > 1
	}
	return refs
}

// RefInfo describes a ref in the form of the control API.
type RefInfo struct {
	Role string `json:"role"`
	Name string `json:"name,omitempty"`
	// Nth distinguishes refs of the same role and name, from 0; nil if there is only one.
	Nth *int `json:"nth,omitempty"`
}

// RefsByName returns a map of refs by name.
func RefsByName(refs []Ref) map[string]RefInfo {
	out := make(map[string]RefInfo, len(refs))
	for _, r := range refs {
		info := RefInfo{Role: r.Role, Name: r.Name}
		if r.Dup {
			info.Nth = &r.Nth
		}
		out[r.Ref] = info
	}
	return out
}

// Stats holds statistics of a snapshot.
type Stats struct {
	Lines       int `json:"lines"`
	Chars       int `json:"chars"` // UTF-16 units
	Refs        int `json:"refs"`
	Interactive int `json:"interactive"` // refs with an interactive role
}

// MeasureText returns the statistics of a text with these refs.
func MeasureText(text string, refs []Ref) Stats {
	s := Stats{Lines: strings.Count(text, "\n") + 1, Chars: utf16Len(text), Refs: len(refs)}
	for _, r := range refs {
		if isInteractive(r.Role) {
			s.Interactive++
		}
	}
	return s
}

// isInteractive reports whether elements of a role can be acted on.
func isInteractive(role string) bool {
	switch role {
	case "button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option",
		"radio",
		"searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem":
		return true
	}
	return false
}

// maxRefNumber bounds the numbers in a ref; larger ones are mistakes.
const maxRefNumber = 1 << 30

// RefKey is a parsed ref: an element of a document, 0 being the main one, or a node of an accessibility tree.
type RefKey struct {
	Document int
	Number   int
	InTree   bool
}

// String returns the ref as in snapshots.
func (k RefKey) String() string {
	if k.InTree {
		return fmt.Sprintf("ax%d", k.Number)
	}
	if k.Document == 0 {
		return fmt.Sprintf("e%d", k.Number)
	}
	return fmt.Sprintf("f%de%d", k.Document, k.Number)
}

// ParseRef parses a ref as people and models write it: e12, @e12, ref=e12, [ref=e12], 12, f1e5, ax3, ignoring case. The
// error wraps [fault.ErrInvalid].
func ParseRef(text string) (RefKey, error) {
	bad := func() (RefKey, error) {
		return RefKey{}, fault.Invalidf("%q is not a ref: take one such as e12 or f1e5 from a snapshot", text)
	}
	s := strings.ToLower(strings.TrimSpace(text))
	if inner, ok := strings.CutPrefix(s, "["); ok {
		if s, ok = strings.CutSuffix(inner, "]"); !ok {
			return bad()
		}
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "@"), "ref=")
	var key RefKey
	if rest, ok := strings.CutPrefix(s, "ax"); ok {
		key.InTree, s = true, rest
	} else if rest, ok := strings.CutPrefix(s, "f"); ok {
		frame, rest, ok := strings.Cut(rest, "e")
		if !ok || !parseCount(frame, &key.Document) {
			return bad()
		}
		s = rest
	} else {
		s = strings.TrimPrefix(s, "e")
	}
	if !parseCount(s, &key.Number) {
		return bad()
	}
	return key, nil
}

// parseCount parses a positive decimal number without sign or leading zero.
func parseCount(s string, into *int) bool {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return false
	}
	n, err := strconv.Atoi(s)
	if err != nil || n > maxRefNumber {
		return false
	}
	*into = n
	return true
}
