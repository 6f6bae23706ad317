//go:build !browseronly

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/untrusted"

	"github.com/spf13/cobra"
)

const replayHelp = `Performs the recorded actions again in a new window, step by step, on the live pages, without a
model. Elements are found by their names; what a model did by looking at the screen is done
at the same points. It reports each difference: a missing element, another text, address or
title. Actions that need consent are asked about again. The replay has the same effects as the
run: it buys or sends again what the run bought or sent.

Exit codes: 0 as recorded, 1 failed, 2 wrong usage, 4 something differs, 130 stopped.

  clank sessions replay bcdf23ghjk
  clank sessions replay bcdf23ghjk --against https://shop.example=http://localhost:8080`

func newReplayCommand(e *commandEnv) *cobra.Command {
	var against, allow string
	var asJSON bool
	c := newCommand("replay <id|file>", "perform a run again on live pages, and report what differs", replayHelp,
		func(ctx context.Context, args []string) (err error) {
			mappings, err := recording.ParseMappings(against)
			if err != nil {
				return usagef("--against: %v", err)
			}
			if err := checkAllow(allow); err != nil {
				return err
			}
			b, err := openRun(e, args[0])
			if err != nil {
				return err
			}
			p, err := recording.NewPlayer(b, mappings)
			if err != nil {
				return err
			}
			if b.Cut {
				fmt.Fprintln(e.Stderr, "the record ends in the middle; it is replayed as far as it goes")
			}
			return playAndPrint(ctx, e, p, splitAllow(allow), asJSON)
		})
	c.Flags().StringVar(&against, "against", "", "where the pages are now: `MAP` such as "+
		"https://shop.example=http://localhost:8080, commas between several")
	c.Flags().BoolVar(&asJSON, "json", false, "print the findings as JSON")
	addAllowFlag(c, &allow)
	return c
}

// replayOutcome is the output of --json.
type replayOutcome struct {
	Steps   []recording.StepComparison `json:"steps"`
	Summary recording.ReplaySummary    `json:"summary"`
}

// playAndPrint replays the run and prints the result.
func playAndPrint(ctx context.Context, e *commandEnv, p *recording.Player, allow []string, asJSON bool) (err error) {
	out := replayOutcome{Steps: []recording.StepComparison{}}
	out.Summary, err = replayRun(ctx, e, p, allow, func(f recording.StepComparison) {
		out.Steps = append(out.Steps, f)
		if !asJSON {
			fmt.Fprint(e.Stdout, formatFinding(f))
		}
	})
	if err != nil {
		return taskStartError(ctx, err)
	}
	if asJSON {
		if err := printJSON(e.Stdout, out); err != nil {
			return fmt.Errorf("print the findings: %w", err)
		}
	} else {
		fmt.Fprintln(e.Stdout, untrusted.CleanLine(out.Summary.String(), 1000))
	}
	if out.Summary.Steps == 0 && out.Summary.Ended != "" { // there was nothing that could differ
		return &exitError{Code: exitFailed}
	}
	if !out.Summary.Matches() {
		return &exitError{Code: exitDiffers}
	}
	return nil
}

// replayRun replays the run in a temporary browser.
func replayRun(ctx context.Context, e *commandEnv, p *recording.Player, allow []string,
	found func(recording.StepComparison),
) (_ recording.ReplaySummary, err error) {
	h, err := server.OpenHome(e.Getenv)
	if err != nil {
		return recording.ReplaySummary{}, err
	}
	a, err := server.Open(ctx, h, server.Options{
		Getenv: e.Getenv, Logger: e.newLogger("warn", logText), Version: version, AbortContext: e.AbortContext,
		Ephemeral: true, ShopAddr: server.DefaultShopAddr,
	})
	if err != nil {
		return recording.ReplaySummary{}, err
	}
	defer func() { err = errors.Join(err, a.Close(e.AbortContext)) }()
	defer localRunner{a, e}.startQuestions(ctx)()
	p.Places(a.NamedPages()) // the demo shop has another address while a server runs
	return p.Replay(ctx, a.ReplayBackend(p, allow), "replay", found)
}

// formatFinding formats a replayed step. It sanitizes texts from pages.
func formatFinding(f recording.StepComparison) string {
	var b strings.Builder
	sign := "same"
	if len(f.Differences) > 0 {
		sign = "DIFFERS"
	}
	fmt.Fprintf(&b, "%4d  %-7s  %s\n", f.Step, sign, untrusted.CleanLine(f.Label, 200))
	for _, d := range f.Differences {
		fmt.Fprintf(&b, "      %s\n", d.Kind)
		for _, side := range []struct{ head, text string }{{"then: ", d.Was}, {"now:  ", d.Is}} {
			head := side.head
			for line := range strings.Lines(side.text) {
				b.WriteString("        " + head + untrusted.CleanLine(strings.TrimSpace(line), 300) + "\n")
				head = "      "
			}
		}
	}
	return b.String()
}
