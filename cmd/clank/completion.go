package main

import (
	"context"
	"flag"
	"io"
	"maps"
	"slices"
	"strings"

	"clank/internal/browsercli"
	"clank/internal/browsercli/shell"
	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/settings"
)

func printCompletion(ctx context.Context, e *command.Env, args []string) error {
	fs := cmdline.New("completion", "clank completion "+strings.Join(shell.Names(), "|")+"\n\nPrints a script that completes command lines, such as:  source <(clank completion bash)")
	if err := e.Parse(fs, args, 1); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return cmdline.Usagef("name the shell: %s", strings.Join(shell.Names(), ", "))
	}
	var verbs []shell.Word
	for _, c := range commands() {
		verbs = append(verbs, shell.Word{Name: c.name, Short: c.short})
	}
	if err := browsercli.Completion(e.Stdout, fs.Rest[0], verbs, completions(ctx)); err != nil {
		return cmdline.Usagef("%v", err)
	}
	return nil
}

// further are the words that can follow the words of a command.
var further = map[string][]string{
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

// completions are the places behind the commands of this program, with the flags
// that the commands themselves tell.
func completions(ctx context.Context) []shell.Place {
	var list []shell.Place
	for _, path := range slices.Sorted(maps.Keys(further)) {
		p := shell.Place{Path: path, Files: path == "sessions show" || path == "sessions replay"}
		for _, word := range further[path] {
			p.Next = append(p.Next, shell.Word{Name: word})
		}
		p.Flags = flagsOf(ctx, strings.Fields(path))
		list = append(list, p)
	}
	var keys []shell.Word
	for _, f := range settings.Fields() {
		if f.Kind != settings.Secret {
			keys = append(keys, shell.Word{Name: f.Key, Short: f.Label})
		}
	}
	for _, verb := range []string{"get", "set", "unset"} {
		list = append(list, shell.Place{Path: "config " + verb, Next: keys})
	}
	return list
}

// flagsOf has a command tell its flags.
func flagsOf(ctx context.Context, path []string) (list []shell.Flag) {
	e := &command.Env{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }, Hurry: ctx}
	e.Describe = func(fs *cmdline.Flags) {
		fs.VisitAll(func(f *flag.Flag) {
			kind, help := flag.UnquoteUsage(f)
			s := shell.Flag{Name: f.Name, Help: help, Value: kind != "", File: kind == "FILE"}
			if f.Name == "runtime" {
				s.Choices = settings.Runtimes()
			}
			list = append(list, s)
		})
	}
	for _, c := range commands() {
		if c.name == path[0] {
			_ = c.run(ctx, e, append(slices.Clone(path[1:]), "--help")) // it tells, and does nothing
		}
	}
	return list
}
