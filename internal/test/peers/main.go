// Package peers implements make bench-peers: it compares the browser with playwright-core and agent-browser by
// medians and ratios.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"clank/browsermgr/chrome"
	"clank/internal/test/npm"
)

// wholeLimit bounds the run, far above the expected time.
const wholeLimit = 15 * time.Minute

func main() { os.Exit(run()) }

func run() int {
	rounds := flag.Int("rounds", 30, "how often each action is done by each")
	only := flag.String("only", "", "measure only the actions whose `names`, joined by commas, these are")
	cache := flag.String("cache", ".cache/peers", "`folder` in which the peers are installed")
	flag.Parse()
	if flag.NArg() != 1 || *rounds < 3 {
		fmt.Fprintln(os.Stderr, "usage: peers [-rounds N] [-only NAMES] [-cache FOLDER] path/to/clank")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, wholeLimit, fmt.Errorf("the whole took longer than %v", wholeLimit))
	defer cancel()
	if err := compare(ctx, flag.Arg(0), *cache, *only, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		return 1
	}
	return 0
}

func compare(ctx context.Context, bin, cache, only string, rounds int) (err error) {
	node, agent, err := npm.InstallPlaywright(ctx, cache)
	if err != nil {
		return err
	}
	web := newSite()
	defer web.Close()
	c, err := startClank(ctx, bin)
	if err != nil {
		return err
	}
	defer func() {
		if end := c.Close(); err == nil {
			err = end
		}
	}()
	home, err := startChromium(ctx)
	if err != nil {
		return err
	}
	defer stopChromium(ctx, home)
	away, err := startChromium(ctx)
	if err != nil {
		return err
	}
	defer stopChromium(ctx, away)
	p, err := npm.StartPlaywright(ctx, node, fmt.Sprintf("http://127.0.0.1:%d", home.Port))
	if err != nil {
		return err
	}
	defer p.Close()
	a := &agentBrowser{bin: agent, port: away.Port, dir: c.Temp}
	defer a.close(ctx)
	r := &benchmark{site: web.URL, clank: c, playwright: p, agent: a, rounds: rounds}
	if only != "" {
		r.only = strings.Split(only, ",")
	}
	return r.run(ctx, os.Stdout)
}

// startChromium starts a browser for another program, in the same way as clank starts its own.
func startChromium(ctx context.Context) (*chrome.Process, error) {
	found, err := chrome.Find(ctx, os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		return nil, err
	}
	return chrome.Launch(ctx, chrome.LaunchOptions{Executable: found.Path, Headless: true, NoSandbox: true})
}

func stopChromium(ctx context.Context, p *chrome.Process) {
	if err := p.Stop(context.WithoutCancel(ctx)); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
	}
}
