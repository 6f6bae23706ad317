package main

import (
	"context"
	"os"

	"clank/internal/browsercli"
)

// workBrowser hands the rest of the command line to the commands of the managed browser.
func workBrowser(ctx context.Context, e *env, args []string) error {
	code := browsercli.Run(ctx, browsercli.Env{Stdin: os.Stdin, Stdout: e.stdout, Stderr: e.stderr, Getenv: e.getenv}, args)
	if code == exitDone {
		return nil
	}
	return &exitError{code: code}
}
