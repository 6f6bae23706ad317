//go:build !browseronly

package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

const loginHelp = `Prints a new link that signs a browser in to the dashboard of the running "clank serve".
It works once, in the browser that opens it first.`

func newLoginCommand(e *commandEnv) *cobra.Command {
	return newJSONCommand("login", "", loginHelp, func(ctx context.Context, asJSON bool, _ []string) error {
		server, err := requireServer(e, "it has the dashboard")
		if err != nil {
			return err
		}
		link, err := server.LoginLink(ctx)
		if err != nil {
			return err
		}
		return e.printResult(asJSON, link, func(w io.Writer) { fmt.Fprintln(w, link.URL) })
	})
}
