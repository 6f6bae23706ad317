package browsercli

import (
	"io"
	"maps"
	"slices"
	"strings"

	"clank/internal/browsercli/shell"
)

// Completion writes a script that completes the program's command lines in a shell of [shell.Names]. verbs is all commands
// of the program, more what can follow them; what follows "browser" and "completion" is known here.
func Completion(w io.Writer, name string, verbs []shell.Word, more []shell.Place) error {
	script, err := shell.Script(name, flags(everywhere()), append(places(verbs), more...))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, script)
	return err
}

// places lists the places in a command line, shorter paths first.
func places(verbs []shell.Word) []shell.Place {
	all := map[string]*shell.Place{"": {Next: verbs}, "completion": {Path: "completion"}, "browser": {Path: "browser"}}
	for _, name := range shell.Names() {
		all["completion"].Next = append(all["completion"].Next, shell.Word{Name: name, Short: "the script for " + name})
	}
	for _, c := range commands() {
		at := all["browser"]
		for w := range strings.FieldsSeq(c.name) {
			path := at.Path + " " + w
			if all[path] == nil {
				all[path] = &shell.Place{Path: path}
				at.Next = append(at.Next, shell.Word{Name: w})
			}
			at = all[path]
		}
		parent := all[at.Path[:strings.LastIndexByte(at.Path, ' ')]]
		parent.Next[slices.IndexFunc(parent.Next, func(v shell.Word) bool { return strings.HasSuffix(c.name, v.Name) })].Short = c.short
		at.Flags, at.Files = flags(c.options), strings.Contains(c.args, "<path>")
		for _, choice := range c.choices {
			at.Next = append(at.Next, shell.Word{Name: choice})
		}
	}
	list := make([]shell.Place, 0, len(all))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[path])
	}
	return list
}

func flags(options []option) []shell.Flag {
	list := make([]shell.Flag, len(options))
	for i, o := range options {
		list[i] = shell.Flag{Name: o.name, Help: o.help, Value: o.kind != toggle, Choices: o.choices, File: o.kind == file}
	}
	return list
}
