// Command conformance holds the real clank, with a real Chromium, against the contract of the control API: it sends requests
// over HTTP as existing clients do, and looks at status, code, phrases and effects. It prints a line for each case that
// fails, one for each group, and ends with "conformance: N passed, N failed". The exit code is 1 if any failed.
//
// It only says which cases there are. What runs them is the package check, the pages that they work are the package site, and
// the cases are in a package for each area of the contract. None of them knows of clank but the contract; what a part does
// inside is tested with the part.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"

	"clank/internal/conformance/acts"
	"clank/internal/conformance/check"
	"clank/internal/conformance/commands"
	"clank/internal/conformance/files"
	"clank/internal/conformance/looks"
	"clank/internal/conformance/observed"
	"clank/internal/conformance/pictures"
	"clank/internal/conformance/profiles"
	"clank/internal/conformance/routes"
	"clank/internal/conformance/themes"
)

// lanes are all groups there are, so divided that both lanes take about as long.
func lanes() [][]check.Group {
	return [][]check.Group{
		{
			{Name: "doors", Cases: routes.Doors()},
			{Name: "requests", Cases: routes.Requests()},
			{Name: "profiles", Cases: profiles.Lives()},
			{Name: "tabs", Cases: acts.Tabs()},
			{Name: "act", Cases: acts.Effects()},
			{Name: "act errors", Cases: acts.Refusals()},
			{Name: "snapshots", Cases: looks.Snapshots()},
			{Name: "refs", Cases: looks.Refs()},
			{Name: "pictures", Cases: pictures.Taken()},
			{Name: "dialogs", Cases: acts.Dialogs()},
			{Name: "files", Cases: files.Moved()},
			{Name: "rings", Cases: observed.Rings()},
			{Name: "state", Cases: observed.State()},
			{Name: "themes", Cases: themes.Suffered()},
			{Name: "peers", Cases: themes.Peers(), Needs: "npm"},
			{Name: "document", Cases: routes.Document()},
		},
		{
			{Name: "contract", Cases: routes.Contract()},
			{Name: "limits", Cases: routes.Limits()},
			{Name: "captures", Cases: looks.Captures()},
			{Name: "marks", Cases: pictures.Marks()},
			{Name: "recorded", Cases: observed.Recorded()},
			{Name: "leaving", Cases: files.Leaving()},
			{Name: "accounts", Cases: profiles.Accounts()},
			{Name: "outside", Cases: profiles.Outside()},
			{Name: "servers", Cases: routes.Servers()},
			{Name: "commands", Cases: commands.Run()},
			{Name: "policy", Cases: routes.Policy()},
		},
	}
}

func main() { os.Exit(run()) }

func run() int {
	only := flag.String("run", "", "run only cases whose \"group/name\" matches this `regexp`")
	cache := flag.String("cache", ".cache/peers", "`folder` in which peers are installed")
	verbose := flag.Bool("v", false, "print a line for each case")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if flag.NArg() != 1 || err != nil {
		fmt.Fprintln(os.Stderr, "usage: conformance [-v] [-run REGEXP] path/to/clank")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	judge := check.Judge{Bin: flag.Arg(0), Cache: *cache, Only: pattern, Verbose: *verbose, Out: os.Stdout}
	failed, err := judge.Run(ctx, lanes())
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		return 1
	}
	if failed > 0 {
		return 1
	}
	return 0
}
