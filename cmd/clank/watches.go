//go:build !browseronly

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/sqlite"
	"clank/internal/watches"
	"clank/sessions"

	"github.com/spf13/cobra"
)

const watchesHelp = `Lists the watches, newest first, with the last news of each; adds or ends one. Pages are
checked while "clank serve" runs.

  clank watches add https://shop.example/lamp --below 20
  clank watches add https://example.com/news --every 60`

func newWatchesCommand(e *commandEnv) *cobra.Command {
	var all *bool
	c := newJSONCommand("watches", "", watchesHelp, func(ctx context.Context, asJSON bool, _ []string) error {
		list, err := listWatches(ctx, e, *all)
		if err != nil {
			return err
		}
		if len(list) == 0 && !asJSON {
			fmt.Fprintln(e.Stderr, "no page is watched")
			return nil
		}
		return e.printResult(asJSON, list, func(w io.Writer) { writeWatches(w, list) })
	})
	all = c.Flags().Bool("all", false, "also those that have ended")
	c.AddCommand(newAddWatchCommand(e),
		newCommand("end <id>", "end a watch", "", func(ctx context.Context, args []string) error {
			return endWatch(ctx, e, args[0])
		}))
	return c
}

func writeWatches(w io.Writer, list []api.WatchView) {
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
}

// newAddWatchCommand returns the command that creates a watch in the server, which checks the page immediately.
func newAddWatchCommand(e *commandEnv) *cobra.Command {
	req := api.WatchRequest{Origin: sessions.FromTerminal}
	var below, above float64
	c := newCommand("add <url>", "add a watch",
		"  clank watches add https://shop.example/lamp --below 20 --every 60\n  clank watches add "+
			"https://shop.example/lamp --says 'in stock' --days 14", nil)
	fs := c.Flags()
	fs.Float64Var(&below, "below", 0, "when the price or number is below `N`")
	fs.Float64Var(&above, "above", 0, "when the price or number is above `N`")
	fs.StringVar(&req.Text, "says", "", "when this `TEXT` is on the page")
	fs.StringVar(&req.What, "when", "", "when a model says that these `WORDS` are true of the page")
	fs.StringVar(&req.Near, "near", "", "compare the number near these `WORDS`")
	fs.IntVar(&req.Every, "every", 0, "check every `N` minutes (default: the setting)")
	fs.IntVar(&req.Days, "days", 0, "end after `N` days (default: the setting)")
	c.RunE = func(c *cobra.Command, args []string) error {
		req.URL = args[0]
		chosen := 0
		for name, kind := range map[string]watches.Kind{
			"below": watches.KindBelow, "above": watches.KindAbove,
			"says": watches.KindContains, "when": watches.KindJudged,
		} {
			if fs.Changed(name) {
				req.Kind = kind
				chosen++
			}
		}
		if chosen > 1 {
			return usagef("a watch waits for one thing: give one of --below, --above, --says and --when")
		}
		req.Number = below + above // at most one of them is set
		return addWatch(c.Context(), e, req)
	}
	return c
}

func addWatch(ctx context.Context, e *commandEnv, req api.WatchRequest) error {
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

// listWatches returns the watches of the running server, or else those in the database.
func listWatches(ctx context.Context, e *commandEnv, all bool) ([]api.WatchView, error) {
	var list []api.WatchView
	err := withServerOrDatabase(ctx, e, func(c *api.Client) (err error) {
		list, err = c.Watches(ctx)
		return err
	}, func(db *sqlite.DB) error {
		stored, err := db.Watches(ctx, watches.Query{})
		for _, w := range stored {
			list = append(list, api.NewWatchView(w, !w.Origin.Private))
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

func endWatch(ctx context.Context, e *commandEnv, id string) error {
	var ended api.WatchView
	err := withServerOrDatabase(ctx, e, func(c *api.Client) (err error) {
		ended, err = c.EndWatch(ctx, id)
		return err
	}, func(db *sqlite.DB) error {
		r := watches.Runner{Store: db}
		w, err := r.End(ctx, id, sessions.Origin{Kind: sessions.FromTerminal},
			cancel.Actor{Name: "the operator", Moderator: true})
		ended = api.NewWatchView(w, !w.Origin.Private)
		return err
	})
	answer, _ := errors.AsType[*api.StatusError](err)
	if errors.Is(err, watches.ErrNotFound) || answer != nil && answer.Status == http.StatusNotFound {
		err = fmt.Errorf("%w as %s; \"clank watches\" lists them", watches.ErrNotFound, clipLine(id, 80))
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Stderr, "ended: %s\n", clipLine(strings.TrimSpace(ended.ID+" "+ended.URL), 120))
	return nil
}
