package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"clank/cancel"
	"clank/sessions/approval"

	"github.com/spf13/cobra"
)

// taskStartError returns the error shown to a person when a task was not accepted.
func taskStartError(ctx context.Context, err error) error {
	if c := cancel.CauseOf(ctx, err); c != nil {
		return &exitError{Code: exitStopped, Err: fmt.Errorf("%s", c)} //nolint:errorlint // the sentence is all that is left to tell
	}
	return err
}

// splitAllow returns the classes of actions that a flag names.
func splitAllow(allow string) []string {
	return strings.FieldsFunc(allow, func(r rune) bool { return r == ',' || r == ' ' })
}

// addAllowFlag adds --allow to a command.
func addAllowFlag(c *cobra.Command, allow *string) {
	c.Flags().StringVar(allow, "allow", "", "do without asking: `CLASSES` such as buy,submit ("+actionClassList()+")")
}

// checkAllow refuses what is no class.
func checkAllow(allow string) error {
	for _, c := range splitAllow(allow) {
		if !slices.Contains(approval.Classes(), approval.Class(c)) {
			return usagef("--allow %s: there are %s", c, actionClassList())
		}
	}
	return nil
}

// actionClassList names all classes.
func actionClassList() string {
	var names []string
	for _, c := range approval.Classes() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}
