package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/sqlite"
	"clank/internal/watches"
	"clank/sessions"
)

const watchesIntro = `clank watches [flags]
clank watches add <url> [--below N|--above N|--says TEXT|--when WORDS] [flags]
clank watches end <id>

Lists the pages that are watched, newest first, with what their owners were told last;
or begins or ends a watch. Pages are looked at as long as "clank serve" runs.

  clank watches add https://shop.example/lamp --below 20
  clank watches add https://example.com/news --every 60`

// watchesVerb carries out args, which follow the words "clank watches".
func watchesVerb(ctx context.Context, e *commandEnv, args []string) error {
	if len(args) > 0 && args[0] == "add" {
		return addWatchVerb(ctx, e, args[1:])
	}
	fs := newFlags("watches", watchesIntro)
	asJSON := fs.Bool("json", false, "print them as JSON")
	all := fs.Bool("all", false, "those that have ended as well")
	if err := e.parseFlags(fs, args, 2); err != nil {
		return err
	}
	switch rest := fs.Rest; {
	case len(rest) == 2 && rest[0] == "end":
		return endWatchVerb(ctx, e, rest[1])
	case len(rest) > 0:
		return usagef("write add <url> or end <id>, or nothing to list the watches")
	}
	list, err := listWatches(ctx, e, *all)
	if err != nil {
		return err
	}
	if *asJSON {
		return printIndentedJSON(e.Stdout, list)
	}
	if len(list) == 0 {
		fmt.Fprintln(e.Stderr, "no page is watched")
		return nil
	}
	return printWatches(e, list)
}

func printWatches(e *commandEnv, list []api.WatchView) error {
	w := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tNEXT LOOK\tPAGE\tWAITS FOR\tLAST NEWS")
	for _, v := range list {
		next, last := "-", "-"
		if v.State == watches.StateActive {
			next = v.Next.Local().Format(time.DateTime)
		}
		if v.Last != nil {
			last = v.Last.At.Local().Format(time.DateTime) + " " + clipLine(v.Last.Text, 80)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", v.ID, v.State, next, clipLine(v.URL, 60), clipLine(v.What, 60), last)
	}
	return w.Flush()
}

// addWatchVerb begins a watch in the server, which looks at the page once at once.
func addWatchVerb(ctx context.Context, e *commandEnv, args []string) error {
	fs := newFlags("watches add", watchesIntro)
	below := fs.Float64("below", 0, "tell when the price is below `N`")
	above := fs.Float64("above", 0, "tell when the number is above `N`")
	says := fs.String("says", "", "tell when this `TEXT` is on the page")
	when := fs.String("when", "", "tell when a model says that these `WORDS` are true of the page")
	near := fs.String("near", "", "take the number beside these `WORDS`")
	every := fs.Int("every", 0, "look every `N` minutes (the setting says otherwise)")
	days := fs.Int("days", 0, "end after `N` days (the setting says otherwise)")
	if err := e.parseFlags(fs, args, 1); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usagef("say which page, by its address")
	}
	req := api.WatchRequest{URL: fs.Rest[0], Near: *near, Every: *every, Days: *days, Origin: sessions.FromTerminal}
	chosen := 0
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "below":
			req.Kind, req.Number = watches.KindBelow, *below
		case "above":
			req.Kind, req.Number = watches.KindAbove, *above
		case "says":
			req.Kind, req.Text = watches.KindContains, *says
		case "when":
			req.Kind, req.What = watches.KindJudged, *when
		default:
			return
		}
		chosen++
	})
	if chosen > 1 {
		return usagef("a watch waits for one thing: give one of --below, --above, --says and --when")
	}
	c, err := requireServer(e, "pages are looked at as long as that runs")
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
	fmt.Fprintf(e.Stderr, "watched: %s, %s\n", clipLine(w.URL, 80), clipLine(w.What, 80))
	return nil
}

// listWatches asks the server that owns the home, or else reads the database.
func listWatches(ctx context.Context, e *commandEnv, all bool) ([]api.WatchView, error) {
	var list []api.WatchView
	err := withServerOrDatabase(ctx, e, func(c *api.Client) (err error) {
		list, err = c.Watches(ctx)
		return err
	}, func(db *sqlite.DB) error {
		stored, err := db.Watches(ctx, watches.Query{})
		for _, w := range stored {
			list = append(list, api.NewWatchView(w))
		}
		return err
	})
	out := []api.WatchView{}
	for _, v := range list {
		if all || v.State == watches.StateActive {
			out = append(out, v)
		}
	}
	return out, err
}

func endWatchVerb(ctx context.Context, e *commandEnv, id string) error {
	var ended api.WatchView
	err := withServerOrDatabase(ctx, e, func(c *api.Client) (err error) {
		ended, err = c.EndWatch(ctx, id)
		return err
	}, func(db *sqlite.DB) error {
		r := watches.Runner{Store: db, Limits: func() watches.Limits { return watches.Limits{} }}
		w, err := r.End(ctx, id, sessions.Origin{Kind: sessions.FromTerminal}, cancel.Actor{Name: "the operator", Moderator: true})
		ended = api.NewWatchView(w)
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "ended: %s\n", clipLine(strings.TrimSpace(ended.ID+" "+ended.URL), 120))
	return nil
}
