package main

import (
	"context"
	"os"

	"clank/internal/browsercli"
	"clank/internal/command"
)

// workBrowser hands the rest of the command line to the commands of the managed browser.
func workBrowser(ctx context.Context, e *command.Env, args []string) error {
	code := browsercli.Run(ctx, browsercli.Env{Stdin: os.Stdin, Stdout: e.Stdout, Stderr: e.Stderr, Getenv: e.Getenv}, args)
	if code == command.ExitDone {
		return nil
	}
	return &command.ExitError{Code: code}
}
