//go:build !browseronly

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"clank/dashboard/api"
	"clank/internal/sqlite"
	"clank/internal/telemetry"

	"github.com/spf13/cobra"
)

const recordsHelp = `Lists what happened, newest first: tasks and their steps, and what people did (settings,
consents, sign-ins, exports). With --json each line is a record; "clank serve --log-format
json" writes the same records to its log.

  clank records --since 24h --kind browser_browse_failed`

func newRecordsCommand(e *commandEnv) *cobra.Command {
	var kinds []string
	var q telemetry.Query
	var since time.Duration
	c := newJSONCommand("records", "", recordsHelp, nil)
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		asJSON, _ := c.Flags().GetBool("json") // the flag exists
		for _, k := range kinds {
			if !slices.Contains(telemetry.Kinds, telemetry.Kind(k)) {
				return usagef("--kind takes one of %s, not %q", strings.Join(recordKinds(), ", "), k)
			}
			q.Kinds = append(q.Kinds, telemetry.Kind(k))
		}
		if q.Limit < 1 || q.Limit > telemetry.MaxLimit {
			return usagef("--limit takes a number from 1 to %d, not %d", telemetry.MaxLimit, q.Limit)
		}
		if since < 0 {
			return usagef("--since takes a duration such as 30m or 24h, not %s", since)
		}
		if since > 0 {
			q.Since = time.Now().Add(-since)
		}
		list, err := listRecords(c.Context(), e, q)
		if err != nil {
			return err
		}
		if asJSON {
			return writeJSONLines(e.Stdout, list)
		}
		return e.printResult(false, list, func(w io.Writer) {
			fmt.Fprintln(w, "TIME\tKIND\tSESSION\tTASK\tWHAT")
			for _, r := range list {
				at := r.At.Local().Format(time.DateTime)
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", at, r.Kind, r.Session, r.Task, clipLine(string(r.Data), 100))
			}
		})
	}
	fs := c.Flags()
	fs.StringSliceVar(&kinds, "kind", nil, "only records of this `KIND`; may be given several times")
	fs.StringVar(&q.Task, "task", "", "only records of the task with this `ID`")
	fs.StringVar(&q.Guild, "server", "", "only records of the Discord server with this `ID`")
	fs.DurationVar(&since, "since", 0, "only records of the last `DURATION`, such as 30m or 24h")
	fs.IntVar(&q.Limit, "limit", telemetry.DefaultLimit, "at most `N` records")
	completeChoices(c, "kind", recordKinds()...)
	return c
}

func recordKinds() (names []string) {
	for _, k := range telemetry.Kinds {
		names = append(names, string(k))
	}
	return names
}

func listRecords(ctx context.Context, e *commandEnv, q telemetry.Query) (list []telemetry.Record, err error) {
	err = withServerOrDatabase(ctx, e, func(c *api.Client) error {
		list, err = c.Records(ctx, q)
		return err
	}, func(db *sqlite.DB) error {
		list, err = db.Records(ctx, q)
		return err
	})
	return list, err
}

// writeJSONLines writes each value as a line of JSON (https://jsonlines.org).
func writeJSONLines[T any](w io.Writer, list []T) error {
	enc := json.NewEncoder(w)
	for _, v := range list {
		if err := enc.Encode(v); err != nil {
			return err
		}
	}
	return nil
}
