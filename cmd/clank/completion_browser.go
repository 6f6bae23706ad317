package main

import (
	"io"
	"maps"
	"slices"
	"strings"
)

// writeCompletion writes a script that completes the program's command lines in a shell of [shellNames]. verbs is all commands
// of the program, more what can follow them; what follows "browser" and "completion" is known here.
func writeCompletion(w io.Writer, name string, verbs []completionWord, more []completionPlace) error {
	script, err := completionScript(name, flagsOfOptions(globalOptions()), append(browserPlaces(verbs), more...))
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, script)
	return err
}

// browserPlaces lists the places in a command line, shorter paths first.
func browserPlaces(verbs []completionWord) []completionPlace {
	all := map[string]*completionPlace{"": {Next: verbs}, "completion": {Path: "completion"}, "browser": {Path: "browser"}}
	for _, name := range shellNames() {
		all["completion"].Next = append(all["completion"].Next, completionWord{Name: name, Short: "the script for " + name})
	}
	for _, c := range browserCommands() {
		at := all["browser"]
		for w := range strings.FieldsSeq(c.name) {
			path := at.Path + " " + w
			if all[path] == nil {
				all[path] = &completionPlace{Path: path}
				at.Next = append(at.Next, completionWord{Name: w})
			}
			at = all[path]
		}
		parent := all[at.Path[:strings.LastIndexByte(at.Path, ' ')]]
		parent.Next[slices.IndexFunc(parent.Next, func(v completionWord) bool { return strings.HasSuffix(c.name, v.Name) })].Short = c.short
		at.Flags, at.Files = flagsOfOptions(c.options), strings.Contains(c.args, "<path>")
		for _, choice := range c.choices {
			at.Next = append(at.Next, completionWord{Name: choice})
		}
	}
	list := make([]completionPlace, 0, len(all))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		list = append(list, *all[path])
	}
	return list
}

func flagsOfOptions(options []browserOption) []completionFlag {
	list := make([]completionFlag, len(options))
	for i, o := range options {
		list[i] = completionFlag{Name: o.name, Help: o.help, Value: o.kind != kindToggle, Choices: o.choices, File: o.kind == kindFile}
	}
	return list
}
