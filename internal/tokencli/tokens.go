// Package tokencli is the command "clank tokens": it gives out secrets for programs, lists and removes them. What a token opens
// is not decided here.
package tokencli

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"text/tabwriter"
	"time"

	"clank/internal/cmdline"
	"clank/tokens"
)

const intro = `clank tokens add NAME [--for control|page] [--days N]
clank tokens list
clank tokens remove NAME

Makes secrets for programs of yours: for the browser's control API and for MCP over
HTTP (control), or for the page and its API (page). A secret is printed once; what is
kept is a digest. Commands of clank itself need none.

  curl -H "Authorization: Bearer $(clank tokens add my-script)" http://127.0.0.1:18791/tabs`

var tokenName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// Command is the world as "clank tokens" sees it. All fields are needed.
type Command struct {
	Stdout, Stderr io.Writer
	// File tells where the digests are kept. It is asked when the command line has been understood.
	File func() (string, error)
}

// Run carries out args, which follow the words "clank tokens". Wrong use is a [cmdline.UsageError].
func (c Command) Run(args []string) error {
	scope, days := string(tokens.Control), 0
	fs := cmdline.New("tokens", intro)
	fs.StringVar(&scope, "for", scope, "what it opens: control or page")
	fs.IntVar(&days, "days", 0, "how many `DAYS` it holds; 0 is for ever")
	if err := fs.Read(c.Stdout, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return cmdline.Usagef("say what to do: clank tokens add NAME, list, or remove NAME")
	}
	file, err := c.File()
	if err != nil {
		return err
	}
	store, err := tokens.Open(file, nil)
	if err != nil {
		return err
	}
	name := ""
	if len(fs.Rest) > 1 {
		name = fs.Rest[1]
	}
	switch what := fs.Rest[0]; {
	case what == "list" && name == "":
		return c.list(store)
	case what != "add" && what != "remove":
		return cmdline.Usagef("tokens %s: it takes add NAME, list, or remove NAME", what)
	case !tokenName().MatchString(name):
		return cmdline.Usagef("tokens %s: give it a name of letters, digits, dots, dashes and underscores", what)
	case what == "remove":
		return store.Remove(name)
	case days < 0 || scope != string(tokens.Control) && scope != string(tokens.Page):
		return cmdline.Usagef("tokens add: --for takes control or page, and --days a number from 0 up")
	}
	secret, err := store.Issue(name, tokens.Scope(scope), time.Duration(days)*24*time.Hour)
	if errors.Is(err, tokens.ErrExists) {
		return fmt.Errorf("%w (clank tokens remove %s)", err, name)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(c.Stdout, secret)
	return nil
}

func (c Command) list(store *tokens.Store) error {
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
