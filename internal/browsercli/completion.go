package browsercli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Verb is a command of the program, for the completion of its first word.
type Verb struct{ Name, Short string }

// Shells is the shells that completions can be written for.
func Shells() []string { return []string{"bash", "zsh", "fish"} }

// Completion writes a script that completes the program's command lines in a shell of [Shells]. verbs is all commands
// of the program; what follows "browser" and "completion" is known here.
func Completion(w io.Writer, shell string, verbs []Verb) error {
	write := map[string]func([]node) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	if write == nil {
		return fmt.Errorf("there is no completion for %q; there is one for %s", shell, strings.Join(Shells(), ", "))
	}
	_, err := io.WriteString(w, write(nodes(verbs)))
	return err
}

// node is a place in a command line: the words so far, and what can follow.
type node struct {
	path  string // the words after "clank", with spaces between them
	next  []Verb // words that can follow
	flags []option
	files bool // the path of a file can follow
}

// nodes lists the places, shorter paths first.
func nodes(verbs []Verb) []node {
	all := map[string]*node{"": {next: verbs}, "completion": {path: "completion"}, "browser": {path: "browser"}}
	for _, shell := range Shells() {
		all["completion"].next = append(all["completion"].next, Verb{shell, "the script for " + shell})
	}
	for _, c := range commands() {
		at := all["browser"]
		for w := range strings.FieldsSeq(c.name) {
			path := at.path + " " + w
			if all[path] == nil {
				all[path] = &node{path: path}
				at.next = append(at.next, Verb{w, ""})
			}
			at = all[path]
		}
		parent := all[at.path[:strings.LastIndexByte(at.path, ' ')]]
		parent.next[slices.IndexFunc(parent.next, func(v Verb) bool { return strings.HasSuffix(c.name, v.Name) })].Short = c.short
		at.flags, at.files = c.options, strings.Contains(c.args, "<path>")
		for _, choice := range c.choices {
			at.next = append(at.next, Verb{choice, ""})
		}
	}
	list := make([]node, 0, len(all))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[path])
	}
	return list
}

// withValues is the names of all flags that take a value, and with the known values of each. A name takes a value for
// all commands or for none.
func withValues(list []node) (names []string, known map[string]option) {
	known = map[string]option{}
	for _, n := range append(list, node{flags: everywhere()}) {
		for _, o := range n.flags {
			if o.kind == toggle {
				continue
			}
			if len(o.choices) > 0 || o.kind == file || known[o.name].name == "" {
				known[o.name] = o
			}
		}
	}
	return slices.Sorted(maps.Keys(known)), known
}

// quote makes a word for bash and zsh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func dashed(names []string) []string {
	var with []string
	for _, name := range names {
		with = append(with, "--"+name)
	}
	return with
}

func names(verbs []Verb) string {
	var list []string
	for _, v := range verbs {
		list = append(list, v.Name)
	}
	return strings.Join(list, " ")
}

func flagNames(options []option) string {
	var list []string
	for _, o := range options {
		list = append(list, "--"+o.name)
	}
	return strings.Join(list, " ")
}
