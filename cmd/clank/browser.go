package main

import (
	"context"
	"os"
	"strings"

	"clank/internal/browsercli"
	"clank/internal/browsercli/shell"
)

// workBrowser hands the rest of the command line to the commands of the managed browser.
func workBrowser(ctx context.Context, e *env, args []string) error {
	code := browsercli.Run(ctx, browsercli.Env{Stdin: os.Stdin, Stdout: e.stdout, Stderr: e.stderr, Getenv: e.getenv}, args)
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}

func printCompletion(_ context.Context, e *env, args []string) error {
	fs := newFlags("completion", "clank completion "+strings.Join(shell.Names(), "|")+"\n\nPrints a script that completes command lines, such as:  source <(clank completion bash)")
	if err := parse(e, fs, args, 1); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usageErrorf("name the shell: %s", strings.Join(shell.Names(), ", "))
	}
	var verbs []shell.Word
	for _, c := range commands() {
		verbs = append(verbs, shell.Word{Name: c.name, Short: c.short})
	}
	if err := browsercli.Completion(e.stdout, fs.Rest[0], verbs); err != nil {
		return usageErrorf("%v", err)
	}
	return nil
}
