// Package shell writes scripts that complete command lines of clank in bash, zsh and fish. Which commands and flags there are, it is
// told.
package shell

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Word is one that can follow, with what it stands for; Short may be empty.
type Word struct{ Name, Short string }

// Flag is a flag of a command, without its dashes.
type Flag struct {
	Name, Help string
	Value      bool     // it takes one
	Choices    []string // the values that make sense, if they are few
	File       bool     // the value is the path of a file
}

// Place is a place in a command line: the words so far, and what can follow.
type Place struct {
	Path  string // the words after "clank", with spaces between them
	Next  []Word // words that can follow
	Flags []Flag
	Files bool // the path of a file can follow
}

// Names are the shells that there are scripts for.
func Names() []string { return []string{"bash", "zsh", "fish"} }

// Script is the script for a shell of [Names]. The first place is that of the empty path. all are the flags of every place
// whose path begins with "browser". A flag of one name takes a value everywhere or nowhere.
func Script(shell string, all []Flag, places []Place) (string, error) {
	write := map[string]func([]Flag, []Place) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	if write == nil {
		return "", fmt.Errorf("there is no completion for %q; there is one for %s", shell, strings.Join(Names(), ", "))
	}
	return write(all, places), nil
}

// withValues is the names of all flags that take a value, and with the known values of each. A name takes a value for
// all commands or for none.
func withValues(all []Flag, list []Place) (names []string, known map[string]Flag) {
	known = map[string]Flag{}
	for _, n := range append(slices.Clone(list), Place{Flags: all}) {
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

// quote makes a word for bash and zsh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func dashed(names []string) []string {
	var with []string
	for _, name := range names {
		with = append(with, "--"+name)
	}
	return with
}

func names(words []Word) string {
	var list []string
	for _, v := range words {
		list = append(list, v.Name)
	}
	return strings.Join(list, " ")
}

func flagNames(flags []Flag) string {
	var list []string
	for _, o := range flags {
		list = append(list, "--"+o.Name)
	}
	return strings.Join(list, " ")
}
