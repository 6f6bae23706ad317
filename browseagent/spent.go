package browseagent

import (
	"cmp"
	"strings"
)

// soFar is what there is to tell without asking the model again: what it said
// last, where it is, and what it has read there.
func (r *run) soFar() string {
	said := cmp.Or(strings.TrimSpace(r.beside), "The work ended before there was an answer.")
	parts := []string{said}
	if v := &r.held.view; v.url != "" {
		where := v.url
		if v.title != "" {
			where = v.title + ", " + v.url
		}
		parts = append(parts, "The page it is on: "+where)
	}
	if r.read != "" {
		parts = append(parts, "What it has read last:\n"+r.read)
	}
	return strings.Join(parts, "\n\n")
}
