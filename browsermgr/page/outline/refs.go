package outline

import "strings"

// Ref is one ref of a snapshot.
type Ref struct {
	Ref  string
	Role string
	Name string
	// Nth counts refs of the same role and name, from 0; Dup says that there is more than one.
	Nth int
	Dup bool
}

// ListRefs lists the refs of a snapshot's text in order of appearance.
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
		nth := max(count[k], l.nth) // lines before it may have been left out
		refs = append(refs, Ref{Ref: l.ref(), Role: k.role, Name: k.name, Nth: nth})
		count[k] = nth + 1
	}
	for i, r := range refs {
		refs[i].Dup = count[key{r.Role, r.Name}] > 1
	}
	return refs
}

// RefInfo is what the control API tells of a ref.
type RefInfo struct {
	Role string `json:"role"`
	Name string `json:"name,omitempty"`
	// Nth tells refs of the same role and name apart, from 0; nil where there is only one.
	Nth *int `json:"nth,omitempty"`
}

// RefsByName returns the same by ref.
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

// Stats measures a snapshot.
type Stats struct {
	Lines       int `json:"lines"`
	Chars       int `json:"chars"` // UTF-16 units
	Refs        int `json:"refs"`
	Interactive int `json:"interactive"` // refs with an interactive role
}

// MeasureText measures a text with these refs.
func MeasureText(text string, refs []Ref) Stats {
	s := Stats{Lines: strings.Count(text, "\n") + 1, Chars: utf16Len(text), Refs: len(refs)}
	for _, r := range refs {
		if isInteractive(r.Role) {
			s.Interactive++
		}
	}
	return s
}

// isInteractive says whether elements of a role are there to be acted upon.
func isInteractive(role string) bool {
	switch role {
	case "button", "checkbox", "combobox", "link", "listbox", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio",
		"searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem":
		return true
	}
	return false
}
