package main

import (
	"slices"
	"strings"
)

// similarFlag is a hint for a flag that does not exist.
func (p *browserArgsParser) similarFlag(name string) string {
	var names []string
	for _, o := range globalOptions() {
		names = append(names, "--"+o.name)
	}
	if c := p.inv.command; c != nil {
		for _, o := range c.options {
			names = append(names, "--"+o.name)
		}
	}
	if hint := didYouMean("--"+name, names); hint != "" {
		return hint
	}
	return `; put "--" before text that begins with a dash`
}

// similarCommand is a hint for a word that no command continues with.
func (p *browserArgsParser) similarCommand(word string) string {
	var next []string
	for i := range p.table {
		if c := &p.table[i]; p.mayFollow(c) {
			next = append(next, strings.Fields(c.name)[len(p.inv.words)])
		}
	}
	next = slices.Compact(next)
	if hint := didYouMean(word, next); hint != "" || len(p.inv.words) == 0 {
		return hint
	}
	return ": " + strings.Join(next, ", ")
}
