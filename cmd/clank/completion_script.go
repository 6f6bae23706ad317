package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// completionWord is one that can follow, with what it stands for; Short may be empty.
type completionWord struct{ Name, Short string }

// completionFlag is a flag of a command, without its dashes.
type completionFlag struct {
	Name, Help string
	Value      bool     // it takes one
	Choices    []string // the values that make sense, if they are few
	File       bool     // the value is the path of a file
}

// completionPlace is a place in a command line: the words so far, and what can follow.
type completionPlace struct {
	Path  string           // the words after "clank", with spaces between them
	Next  []completionWord // words that can follow
	Flags []completionFlag
	Files bool // the path of a file can follow
}

// shellNames are the shells that there are scripts for.
func shellNames() []string { return []string{"bash", "zsh", "fish"} }

// completionScript is the script for a shell of [shellNames]. The first place is that of the empty path. all are the flags of every place
// whose path begins with "browser". A flag of one name takes a value everywhere or nowhere.
func completionScript(shell string, all []completionFlag, places []completionPlace) (string, error) {
	write := map[string]func([]completionFlag, []completionPlace) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	if write == nil {
		return "", fmt.Errorf("there is no completion for %q; there is one for %s", shell, strings.Join(shellNames(), ", "))
	}
	return write(all, places), nil
}

// flagsWithValues is the names of all flags that take a value, and with the known values of each. A name takes a value for
// all commands or for none.
func flagsWithValues(all []completionFlag, list []completionPlace) (names []string, known map[string]completionFlag) {
	known = map[string]completionFlag{}
	for _, n := range append(slices.Clone(list), completionPlace{Flags: all}) {
		for _, o := range n.Flags {
			if !o.Value {
				continue
			}
			if len(o.Choices) > 0 || o.File || known[o.Name].Name == "" {
				known[o.Name] = o
			}
		}
	}
	return slices.Sorted(maps.Keys(known)), known
}

// shellQuote makes a word for bash and zsh.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func withDashes(names []string) []string {
	var with []string
	for _, name := range names {
		with = append(with, "--"+name)
	}
	return with
}

func joinWordNames(words []completionWord) string {
	var list []string
	for _, v := range words {
		list = append(list, v.Name)
	}
	return strings.Join(list, " ")
}

func joinFlagNames(flags []completionFlag) string {
	var list []string
	for _, o := range flags {
		list = append(list, "--"+o.Name)
	}
	return strings.Join(list, " ")
}
