// Package watchcli is the command "clank watches": it lists, begins and ends watches of pages. Nothing is looked at here.
package watchcli

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"clank/cancel"
	"clank/dashboard/client"
	"clank/dashboard/wire"
	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/owner"
	"clank/internal/terminal"
	"clank/sessions"
	"clank/sqlite"
	"clank/watches"
)

const watchesIntro = `clank watches [flags]
clank watches add <url> [--below N|--above N|--says TEXT|--when WORDS] [flags]
clank watches end <id>

Lists the pages that are watched, newest first, with what their owners were told last;
or begins or ends a watch. Pages are looked at as long as "clank serve" runs.

  clank watches add https://shop.example/lamp --below 20
  clank watches add https://example.com/news --every 60`

// Run carries out args, which follow the words "clank watches".
func Run(ctx context.Context, e *command.Env, args []string) error {
	if len(args) > 0 && args[0] == "add" {
		return addWatch(ctx, e, args[1:])
	}
	fs := cmdline.New("watches", watchesIntro)
	asJSON := fs.Bool("json", false, "print them as JSON")
	all := fs.Bool("all", false, "those that have ended as well")
	if err := e.Parse(fs, args, 2); err != nil {
		return err
	}
	switch rest := fs.Rest; {
	case len(rest) == 2 && rest[0] == "end":
		return endWatch(ctx, e, rest[1])
	case len(rest) > 0:
		return cmdline.Usagef("write add <url> or end <id>, or nothing to list the watches")
	}
	list, err := knownWatches(ctx, e, *all)
	if err != nil {
		return err
	}
	if *asJSON {
		return command.PrintJSON(e.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stderr, "no page is watched")
		return nil
	}
	return printWatches(e, list)
}

func printWatches(e *command.Env, list []wire.WatchView) error {
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tNEXT LOOK\tPAGE\tWAITS FOR\tLAST NEWS")
	for _, v := range list {
		next, last := "-", "-"
		if v.State == watches.Active {
			next = v.Next.Local().Format(time.DateTime)
		}
		if v.Last != nil {
			last = v.Last.At.Local().Format(time.DateTime) + " " + terminal.Clip(v.Last.Text, 80)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.State, next, terminal.Clip(v.URL, 60), terminal.Clip(v.What, 60), last)
	}
	return w.Flush()
}

// addWatch begins a watch in the server, which looks at the page once at once.
func addWatch(ctx context.Context, e *command.Env, args []string) error {
	fs := cmdline.New("watches add", watchesIntro)
	below := fs.Float64("below", 0, "tell when the price is below `N`")
	above := fs.Float64("above", 0, "tell when the number is above `N`")
	says := fs.String("says", "", "tell when this `TEXT` is on the page")
	when := fs.String("when", "", "tell when a model says that these `WORDS` are true of the page")
	near := fs.String("near", "", "take the number beside these `WORDS`")
	every := fs.Int("every", 0, "look every `N` minutes (the setting says otherwise)")
	days := fs.Int("days", 0, "end after `N` days (the setting says otherwise)")
	if err := e.Parse(fs, args, 1); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return cmdline.Usagef("say which page, by its address")
	}
	req := wire.WatchRequest{URL: fs.Rest[0], Near: *near, Every: *every, Days: *days, Origin: sessions.FromTerminal}
	chosen := 0
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "below":
			req.Kind, req.Number = watches.Below, *below
		case "above":
			req.Kind, req.Number = watches.Above, *above
		case "says":
			req.Kind, req.Text = watches.Contains, *says
		case "when":
			req.Kind, req.What = watches.Judged, *when
		default:
			return
		}
		chosen++
	})
	if chosen > 1 {
		return cmdline.Usagef("a watch waits for one thing: give one of --below, --above, --says and --when")
	}
	c, err := owner.Server(e, "pages are looked at as long as that runs")
	if err != nil {
		return err
	}
	w, err := c.AddWatch(ctx, req)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(e.Stdout, w.ID); err != nil {
		return fmt.Errorf("print the watch: %w", err)
	}
	fmt.Fprintf(e.Stderr, "watched: %s, %s\n", terminal.Clip(w.URL, 80), terminal.Clip(w.What, 80))
	return nil
}

// knownWatches asks the server that owns the home, or else reads the database.
func knownWatches(ctx context.Context, e *command.Env, all bool) ([]wire.WatchView, error) {
	var list []wire.WatchView
	err := owner.Ask(ctx, e, func(c *client.Client) (err error) {
		list, err = c.Watches(ctx)
		return err
	}, func(db *sqlite.DB) error {
		stored, err := db.Watches(ctx, watches.Query{})
		for _, w := range stored {
			list = append(list, wire.ViewOfWatch(w))
		}
		return err
	})
	out := []wire.WatchView{}
	for _, v := range list {
		if all || v.State == watches.Active {
			out = append(out, v)
		}
	}
	return out, err
}

func endWatch(ctx context.Context, e *command.Env, id string) error {
	var ended wire.WatchView
	err := owner.Ask(ctx, e, func(c *client.Client) (err error) {
		ended, err = c.EndWatch(ctx, id)
		return err
	}, func(db *sqlite.DB) error {
		r := watches.Runner{Store: db, Limits: func() watches.Limits { return watches.Limits{} }}
		w, err := r.End(ctx, id, sessions.Origin{Kind: sessions.FromTerminal}, cancel.Actor{Name: "the operator", Moderator: true})
		ended = wire.ViewOfWatch(w)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "ended: %s\n", terminal.Clip(strings.TrimSpace(ended.ID+" "+ended.URL), 120))
	return nil
}
