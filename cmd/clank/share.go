//go:build !browseronly

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"clank/dashboard/api"

	"github.com/spf13/cobra"
)

const shareHelp = `Makes a link that shows the page of a session live, and prints it. Without an id it is the
session that was used last. The link is for one person: it belongs to the browser that
opens it first or, with --user, to a Discord account, which signs in. It ends with the
session. "clank serve" must be running.

  clank share                          watch the session that was used last
  clank share bcdf23ghjk --for 15m     for a quarter of an hour
  clank share bcdf23ghjk --control     its holder may use mouse and keyboard, too
  clank share --list                   the valid links, and who watches
  clank share bcdf23ghjk --revoke      revoke its links; without an id, all links
  clank share --check                  test whether people elsewhere reach links`

func newShareCommand(e *commandEnv) *cobra.Command {
	var control, revoke, list, check bool
	var lasts time.Duration
	var user string
	c := newJSONCommand("share [session]", "", shareHelp, nil)
	c.RunE = func(c *cobra.Command, args []string) error {
		asJSON, _ := c.Flags().GetBool("json") // the flag exists
		session := strings.Join(args, "")
		server, err := requireServer(e, "pages are shown while that runs")
		if err != nil {
			return err
		}
		ctx := c.Context()
		switch {
		case list:
			return listLinks(ctx, e, server, session, asJSON)
		case check:
			return checkSharing(ctx, e, server, asJSON)
		case revoke:
			n, err := server.RevokeLinks(ctx, session)
			if err != nil {
				return err
			}
			if n == 0 && session != "" {
				return fmt.Errorf("no link shows a session %q; \"clank share --list\" lists the links that work", session)
			}
			return e.printResult(asJSON, api.LinksRevoked{Count: n}, func(w io.Writer) {
				fmt.Fprintln(w, "revoked", countNoun(n, "link"))
			})
		}
		if c.Flags().Changed("for") && lasts < time.Second {
			return usagef("--for takes a duration such as 15m or 2h, not %s", lasts)
		}
		link, err := server.NewLink(ctx, api.LinkRequest{
			Session: session, Control: control, User: user, Seconds: int(lasts / time.Second),
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(e.Stderr, "session %s, until %s\n", link.Session, link.Until.Local().Format(time.DateTime))
		return e.printResult(asJSON, link, func(w io.Writer) { fmt.Fprintln(w, link.URL) })
	}
	fs := c.Flags()
	fs.BoolVar(&control, "control", false, "its holder may use mouse and keyboard, too")
	fs.DurationVar(&lasts, "for", 0, "how long it works: a `DURATION` such as 15m or 2h (default: the setting Link "+
		"lifetime)")
	fs.StringVar(&user, "user", "", "only the Discord account with this `ID` can open it")
	fs.BoolVar(&revoke, "revoke", false, "revoke the links of the session; without an id, all links")
	fs.BoolVar(&list, "list", false, "list the valid links, and who watches")
	fs.BoolVar(&check, "check", false, "test whether people elsewhere reach links")
	c.MarkFlagsMutuallyExclusive("revoke", "list", "check", "control")
	return c
}

func listLinks(ctx context.Context, e *commandEnv, server *api.Client, session string, asJSON bool) error {
	links, err := server.Links(ctx, session)
	if err != nil {
		return err
	}
	return e.printResult(asJSON, links, func(w io.Writer) {
		fmt.Fprintln(w, "LINK\tSESSION\tRIGHT\tFOR\tMADE BY\tUNTIL\tWATCHING NOW")
		for _, l := range links {
			right := "view"
			if l.Control {
				right = "control"
			}
			until, by := l.Until.Local().Format(time.DateTime), clipLine(l.By, 40)
			who := clipLine(cmp.Or(l.Name, l.User, "first to open"), 40)
			fmt.Fprintln(w, strings.Join([]string{l.ID, l.Session, right, who, by, until, watchingFrom(l.Viewers)}, "\t"))
		}
	})
}

// watchingFrom lists from where a link is watched, each address once, with how often if it is more.
func watchingFrom(viewers []api.LinkViewer) string {
	views := map[string]int{}
	for _, v := range viewers {
		views[v.From]++
	}
	var list []string
	for _, from := range slices.Sorted(maps.Keys(views)) {
		if n := views[from]; n > 1 {
			from = fmt.Sprintf("%s (%d)", from, n)
		}
		list = append(list, from)
	}
	return strings.Join(list, ", ")
}

func checkSharing(ctx context.Context, e *commandEnv, server *api.Client, asJSON bool) error {
	checks, err := server.CheckSharing(ctx)
	if err != nil {
		return err
	}
	return e.printResult(asJSON, checks, func(w io.Writer) {
		var list []standing
		for _, c := range checks {
			list = append(list, standing{Name: c.Name, Ready: c.Ready, Detail: c.Detail})
		}
		writeStandings(w, list)
	})
}
