package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"text/tabwriter"
	"time"

	"clank/sessions/access"
)

const tokensIntro = `clank tokens add NAME [--for control|page] [--days N]
clank tokens list
clank tokens remove NAME

Makes secrets for programs of yours: for the browser's control API and for MCP over
HTTP (control), or for the page and its API (page). A secret is printed once; what is
kept is a digest. Commands of clank itself need none.

  curl -H "Authorization: Bearer $(clank tokens add my-script)" http://127.0.0.1:18791/tabs`

var tokenNamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// tokensCommand is the world as "clank tokens" sees it. All fields are needed.
type tokensCommand struct {
	Stdout, Stderr io.Writer
	// TokenFile tells where the digests are kept. It is asked when the command line has been understood.
	TokenFile func() (string, error)
}

// runArgs carries out args, which follow the words "clank tokens". Wrong use is a [usageError].
func (c tokensCommand) runArgs(args []string) error {
	scope, days := string(access.ScopeControl), 0
	fs := newFlags("tokens", tokensIntro)
	fs.StringVar(&scope, "for", scope, "what it opens: control or page")
	fs.IntVar(&days, "days", 0, "how many `DAYS` it holds; 0 is for ever")
	if err := fs.Read(c.Stdout, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usagef("say what to do: clank tokens add NAME, list, or remove NAME")
	}
	file, err := c.TokenFile()
	if err != nil {
		return err
	}
	store, err := access.OpenTokens(file, nil)
	if err != nil {
		return err
	}
	name := ""
	if len(fs.Rest) > 1 {
		name = fs.Rest[1]
	}
	switch what := fs.Rest[0]; {
	case what == "list" && name == "":
		return c.printTokens(store)
	case what != "add" && what != "remove":
		return usagef("tokens %s: it takes add NAME, list, or remove NAME", what)
	case !tokenNamePattern().MatchString(name):
		return usagef("tokens %s: give it a name of letters, digits, dots, dashes and underscores", what)
	case what == "remove":
		return store.Remove(name)
	case days < 0 || scope != string(access.ScopeControl) && scope != string(access.ScopePage):
		return usagef("tokens add: --for takes control or page, and --days a number from 0 up")
	}
	secret, err := store.Issue(name, access.Scope(scope), time.Duration(days)*24*time.Hour)
	if errors.Is(err, access.ErrTokenExists) {
		return fmt.Errorf("%w (clank tokens remove %s)", err, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, secret)
	return nil
}

func (c tokensCommand) printTokens(store *access.TokenStore) error {
	list, err := store.List()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		fmt.Fprintln(c.Stderr, "There are none.")
		return nil
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFOR\tMADE\tHOLDS UNTIL")
	for _, t := range list {
		until := "it is removed"
		if !t.Expires.IsZero() {
			until = t.Expires.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", t.Name, t.Scope, t.Created.Local().Format(time.DateTime), until)
	}
	return w.Flush()
}
