package main

import (
	"context"
	"flag"
	"io"
	"maps"
	"slices"
	"strings"

	"clank/internal/settings"
)

func completionVerb(ctx context.Context, e *commandEnv, args []string) error {
	fs := newFlags("completion", "clank completion "+strings.Join(shellNames(), "|")+"\n\nPrints a script that completes command lines, such as:  source <(clank completion bash)")
	if err := e.parseFlags(fs, args, 1); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usagef("name the shell: %s", strings.Join(shellNames(), ", "))
	}
	var verbs []completionWord
	for _, c := range topCommands() {
		verbs = append(verbs, completionWord{Name: c.name, Short: c.short})
	}
	if err := writeCompletion(e.Stdout, fs.Rest[0], verbs, verbPlaces(ctx)); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// subcommandWords are the words that can follow the words of a command.
var subcommandWords = map[string][]string{
	"budget": nil, "browse": nil, "serve": nil, "mcp": nil, "doctor": nil,
	"config":               {"list", "get", "set", "unset"},
	"sessions":             {"list", "say", "show", "export", "replay", "script", "scripts"},
	"sessions scripts":     {"list", "show", "delete", "run"},
	"watches":              {"add", "end"},
	"tokens":               {"add", "list", "remove"},
	"vault":                {"add", "list", "show", "test", "remove", "rekey", "status"},
	"sessions say":         nil,
	"sessions show":        nil,
	"sessions export":      nil,
	"sessions replay":      nil,
	"sessions script":      nil,
	"sessions scripts run": nil,
	"watches add":          nil,
}

// verbPlaces are the places behind the commands of this program, with the flags
// that the commands themselves tell.
func verbPlaces(ctx context.Context) []completionPlace {
	var list []completionPlace
	for _, path := range slices.Sorted(maps.Keys(subcommandWords)) {
		p := completionPlace{Path: path, Files: path == "sessions show" || path == "sessions replay"}
		for _, word := range subcommandWords[path] {
			p.Next = append(p.Next, completionWord{Name: word})
		}
		p.Flags = collectFlags(ctx, strings.Fields(path))
		list = append(list, p)
	}
	var keys []completionWord
	for _, f := range settings.Fields() {
		if f.Kind != settings.KindSecret {
			keys = append(keys, completionWord{Name: f.Key, Short: f.Label})
		}
	}
	for _, verb := range []string{"get", "set", "unset"} {
		list = append(list, completionPlace{Path: "config " + verb, Next: keys})
	}
	return list
}

// collectFlags has a command tell its flags.
func collectFlags(ctx context.Context, path []string) (list []completionFlag) {
	e := &commandEnv{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, AbortContext: ctx}
	e.DescribeFlags = func(fs *commandFlags) {
		fs.VisitAll(func(f *flag.Flag) {
			kind, help := flag.UnquoteUsage(f)
			s := completionFlag{Name: f.Name, Help: help, Value: kind != "", File: kind == "FILE"}
			if f.Name == "runtime" {
				s.Choices = settings.Runtimes()
			}
			list = append(list, s)
		})
	}
	for _, c := range topCommands() {
		if c.name == path[0] {
			_ = c.run(ctx, e, append(slices.Clone(path[1:]), "--help")) // it tells, and does nothing
		}
	}
	return list
}
