package browsecli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"clank/cancel"
	"clank/consent"
	"clank/internal/cmdline"
	"clank/internal/command"
)

// RunError is what a person reads when a task was not accepted.
func RunError(ctx context.Context, err error) error {
	if c := cancel.CauseOf(ctx, err); c != nil {
		return &command.ExitError{Code: command.ExitStopped, Err: fmt.Errorf("%s", c)} //nolint:errorlint // the sentence is all that is left to tell
	}
	return err
}

// Classes are the classes of actions that a flag names.
func Classes(allow string) []string {
	return strings.FieldsFunc(allow, func(r rune) bool { return r == ',' || r == ' ' })
}

// CheckAllow refuses what is no class.
func CheckAllow(classes []string) error {
	for _, c := range classes {
		if !slices.Contains(consent.Classes(), consent.Class(c)) {
			return cmdline.Usagef("--allow %s: there are %s", c, ClassList())
		}
	}
	return nil
}

// ClassList names all classes.
func ClassList() string {
	var names []string
	for _, c := range consent.Classes() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}
