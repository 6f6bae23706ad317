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

// Refs lists the refs of a snapshot's text in order of appearance.
func Refs(text string) []Ref {
	type key struct{ role, name string }
	var refs []Ref
	seen := map[key]int{}
	for line := range strings.Lines(text) {
		l, ok := scanLine(strings.TrimSuffix(line, "\n"))
		if !ok || l.refStart == 0 {
			continue
		}
		k := key{l.role, l.name}
		refs = append(refs, Ref{Ref: l.ref(line), Role: l.role, Name: l.name, Nth: seen[k]})
		seen[k]++
	}
	for i, r := range refs {
		refs[i].Dup = seen[key{r.Role, r.Name}] > 1
	}
	return refs
}
