//go:build !browseronly

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"clank/internal/server"
	"clank/sessions/access"

	"github.com/spf13/cobra"
)

const tokensHelp = `Makes secrets for your own programs: for the control API and MCP over HTTP (control), for
the dashboard and its API (page), or for Prometheus (metrics). A secret is printed once;
only its digest is stored. clank's own commands need none.

  curl -H "Authorization: Bearer $(clank tokens add my-script)" http://127.0.0.1:18791/tabs`

var tokenNamePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
})

// tokenScopes are the scopes that a token can have.
var tokenScopes = []string{string(access.ScopeControl), string(access.ScopePage), string(access.ScopeMetrics)}

func newTokensCommand(e *commandEnv) *cobra.Command {
	c := newCommand("tokens", "", tokensHelp, nil)
	var scope string
	var days int
	add := newCommand("add <name>", "make a secret and print it",
		"  clank tokens add my-script --days 90\n  clank tokens add prometheus --for metrics",
		func(_ context.Context, args []string) error {
			if !slices.Contains(tokenScopes, scope) {
				return usagef("--for takes %s, not %q", strings.Join(tokenScopes, ", "), scope)
			}
			if days < 0 {
				return usagef("--days takes a number from 0 up, not %d", days)
			}
			return withTokens(e, args, func(store *access.TokenStore) error {
				secret, err := store.Issue(args[0], access.Scope(scope), time.Duration(days)*24*time.Hour)
				if errors.Is(err, access.ErrTokenExists) {
					err = fmt.Errorf("%w (clank tokens remove %s)", err, args[0])
				}
				if err == nil {
					_, err = fmt.Fprintln(e.Stdout, secret)
				}
				return err
			})
		})
	add.Flags().StringVar(&scope, "for", string(access.ScopeControl), "`WHAT` it opens: "+strings.Join(tokenScopes, ", "))
	add.Flags().IntVar(&days, "days", 0, "how many `DAYS` it is valid; 0 means until it is removed")
	completeChoices(add, "for", tokenScopes...)
	c.AddCommand(add, newCommand("list", "list them, without the secrets", "", func(context.Context, []string) error {
		return withTokens(e, nil, func(store *access.TokenStore) error { return printTokens(e, store) })
	}), newCommand("remove <name>", "remove a secret", "", func(_ context.Context, args []string) error {
		err := withTokens(e, args, func(store *access.TokenStore) error { return store.Remove(args[0]) })
		if err == nil {
			fmt.Fprintf(e.Stderr, "%s is removed; it opens nothing any more\n", args[0])
		}
		return err
	}))
	return c
}

// withTokens calls do with the token store of the home. names are the secrets given on the command line.
func withTokens(e *commandEnv, names []string, do func(*access.TokenStore) error) error {
	for _, name := range names {
		if !tokenNamePattern().MatchString(name) {
			return usagef("%q is no name: give it one of letters, digits, dots, dashes and underscores", name)
		}
	}
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return err
	}
	store, err := access.OpenTokens(h.TokenFile())
	if err != nil {
		return err
	}
	return do(store)
}

func printTokens(e *commandEnv, store *access.TokenStore) error {
	list, err := store.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stderr, "There are none.")
		return nil
	}
	return e.printResult(false, list, func(w io.Writer) {
		fmt.Fprintln(w, "NAME\tFOR\tMADE\tVALID UNTIL")
		for _, t := range list {
			until := "it is removed"
			if !t.Expires.IsZero() {
				until = t.Expires.Local().Format(time.DateTime)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Scope, t.Created.Local().Format(time.DateTime), until)
		}
	})
}
