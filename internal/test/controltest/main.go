// Package controltest is the control API's contract as cases, against an address: in go test a server in
// process, in make conformance the built binary. Areas: actions, snapshots, pictures, files, profiles,
// routes, commands, what is recorded.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// caseLanes are all groups there are, so divided that both lanes take about as long.
func caseLanes() [][]caseGroup {
	return [][]caseGroup{
		{
			{Name: "doors", Cases: authCases()},
			{Name: "requests", Cases: requestFormCases()},
			{Name: "profiles", Cases: profileLifeCases()},
			{Name: "tabs", Cases: tabCases()},
			{Name: "act", Cases: actionCases()},
			{Name: "act errors", Cases: actionErrorCases()},
			{Name: "snapshots", Cases: snapshotCases()},
			{Name: "refs", Cases: refCases()},
			{Name: "pictures", Cases: pictureCases()},
			{Name: "dialogs", Cases: dialogCases()},
			{Name: "files", Cases: fileCases()},
			{Name: "rings", Cases: ringBufferCases()},
			{Name: "state", Cases: stateCases()},
			{Name: "themes", Cases: complaintCases()},
			{Name: "peers", Cases: peerCases(), Needs: "npm"},
			{Name: "document", Cases: openAPICases()},
		},
		{
			{Name: "contract", Cases: routeContractCases()},
			{Name: "limits", Cases: limitCases()},
			{Name: "captures", Cases: captureCases()},
			{Name: "marks", Cases: labelMarkCases()},
			{Name: "recorded", Cases: recordedCases()},
			{Name: "leaving", Cases: leavingClientCases()},
			{Name: "accounts", Cases: profileReportCases()},
			{Name: "outside", Cases: foreignBrowserCases()},
			{Name: "servers", Cases: serverCases()},
			{Name: "commands", Cases: commandCases()},
			{Name: "policy", Cases: policyCases()},
		},
	}
}

func main() { os.Exit(runMain()) }

func runMain() int {
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
	judge := suiteRunner{Bin: flag.Arg(0), Cache: *cache, Only: pattern, Verbose: *verbose, Out: os.Stdout}
	failed, err := judge.runLanes(ctx, caseLanes())
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		return 1
	}
	if failed > 0 {
		return 1
	}
	return 0
}
