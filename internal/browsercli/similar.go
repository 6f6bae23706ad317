package browsercli

import (
	"slices"
	"strings"
)

// similarFlag is a hint for a flag that does not exist.
func (p *parser) similarFlag(name string) string {
	var names []string
	for _, o := range everywhere() {
		names = append(names, "--"+o.name)
	}
	if c := p.inv.command; c != nil {
		for _, o := range c.options {
			names = append(names, "--"+o.name)
		}
	}
	if hint := meant("--"+name, names); hint != "" {
		return hint
	}
	return `; put "--" before text that begins with a dash`
}

// similarCommand is a hint for a word that no command continues with.
func (p *parser) similarCommand(word string) string {
	var next []string
	for i := range p.table {
		if c := &p.table[i]; p.follows(c) {
			next = append(next, strings.Fields(c.name)[len(p.inv.words)])
		}
	}
	next = slices.Compact(next)
	if hint := meant(word, next); hint != "" || len(p.inv.words) == 0 {
		return hint
	}
	return ": " + strings.Join(next, ", ")
}

// meant names the known word that is closest, if one is close.
func meant(word string, known []string) string {
	best, least := "", max(2, len(word)/4)
	for _, k := range known {
		if strings.HasSuffix(k, strings.TrimLeft(word, "-")) && len(word) > 3 {
			best = k
			break
		}
		if d := distance(word, k); d <= least {
			best, least = k, d-1
		}
	}
	if best == "" || word == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// distance is how many letters must be put in, taken out or exchanged to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
