package main

import (
	"context"
	"os"
)

// browserVerb hands the rest of the command line to the commands of the managed browser.
func browserVerb(ctx context.Context, e *commandEnv, args []string) error {
	code := runBrowserCommand(ctx, browserEnv{Stdin: os.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Getenv: e.Getenv}, args)
	if code == exitDone {
		return nil
	}
	return &exitError{Code: code}
}
