package main

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"text/tabwriter"
	"time"

	"clank/tokens"
)

const tokensIntro = `clank tokens add NAME [--for control|page] [--days N]
clank tokens list
clank tokens remove NAME

Makes secrets for programs of yours: for the browser's control API and for MCP over
HTTP (control), or for the page and its API (page). A secret is printed once; what is
kept is a digest. Commands of clank itself need none.

  curl -H "Authorization: Bearer $(clank tokens add my-script)" http://127.0.0.1:18791/tabs`

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func manageTokens(_ context.Context, e *env, args []string) error {
	scope, days := string(tokens.Control), 0
	fs := newFlags("tokens", tokensIntro)
	fs.StringVar(&scope, "for", scope, "what it opens: control or page")
	fs.IntVar(&days, "days", 0, "how many `DAYS` it holds; 0 is for ever")
	if err := parse(e, fs, args, 2); err != nil {
		return err
	}
	if len(fs.rest) == 0 {
		return usageErrorf("say what to do: clank tokens add NAME, list, or remove NAME")
	}
	h, err := openHome(e.getenv)
	if err != nil {
		return err
	}
	store, err := tokens.Open(h.tokenFile(), nil)
	if err != nil {
		return err
	}
	name := ""
	if len(fs.rest) > 1 {
		name = fs.rest[1]
	}
	switch what := fs.rest[0]; {
	case what == "list" && name == "":
		return listTokens(e, store)
	case what != "add" && what != "remove":
		return usageErrorf("tokens %s: it takes add NAME, list, or remove NAME", what)
	case !tokenName.MatchString(name):
		return usageErrorf("tokens %s: give it a name of letters, digits, dots, dashes and underscores", what)
	case what == "remove":
		return store.Remove(name)
	case days < 0 || scope != string(tokens.Control) && scope != string(tokens.Page):
		return usageErrorf("tokens add: --for takes control or page, and --days a number from 0 up")
	}
	secret, err := store.Issue(name, tokens.Scope(scope), time.Duration(days)*24*time.Hour)
	if errors.Is(err, tokens.ErrExists) {
		return fmt.Errorf("%w (clank tokens remove %s)", err, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, secret)
	return nil
}

func listTokens(e *env, store *tokens.Store) error {
	list, err := store.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(e.stderr, "There are none.")
		return nil
	}
	w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFOR\tMADE\tHOLDS UNTIL")
	for _, t := range list {
		until := "removed"
		if !t.Expires.IsZero() {
			until = t.Expires.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Scope, t.Created.Local().Format(time.DateTime), until)
	}
	return w.Flush()
}
