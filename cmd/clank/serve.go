package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/home"
)

const serveIntro = `clank serve [flags]

Starts the dashboard and, if DISCORD_TOKEN or DISCORD_TOKEN_FILE is set, the Discord
bot. The browser starts with the first task. An interrupt ends everything; a second
one does not wait.`

func serve(ctx context.Context, e *command.Env, args []string) error {
	f := serveOptions{
		ready:   func(d doors) { printGreeting(e.Stdout, d) },
		discord: func(status string) { fmt.Fprintln(e.Stderr, "discord:", status) },
		ending:  func() { fmt.Fprintln(e.Stderr, "ending …") },
	}
	var shopAddr, logLevel string
	fs := cmdline.New("serve", serveIntro)
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8787", "`ADDRESS` of the dashboard")
	fs.StringVar(&shopAddr, "shop-addr", defaultShopAddr, "`ADDRESS` of the demo shop; any free port if it is taken")
	fs.StringVar(&f.watchAddr, "watch-addr", "127.0.0.1:8789", "`ADDRESS` of the page on which people with a link watch a shared browser; any free port if it is taken")
	fs.StringVar(&f.controlAddr, "control-addr", "", "`ADDRESS` of the browser's control API, on loopback (default 127.0.0.1:18791, or any free port if that is taken)")
	fs.StringVar(&f.nodeAddr, "node-addr", "", "lend this machine's browsers to other machines at `ADDRESS`, to those who know CLANK_NODE_TOKEN")
	fs.StringVar(&f.nodeCert, "node-cert", "", "certificate `FILE` for that; needed unless ADDRESS is on loopback")
	fs.StringVar(&f.nodeKey, "node-key", "", "its private key `FILE`")
	fs.StringVar(&logLevel, "log", "warn", "`LEVEL` of the log on Stderr: debug, info, warn, error")
	if err := e.Parse(fs, args, 0); err != nil {
		return err
	}
	h, err := home.Open(e.Getenv)
	if err != nil {
		return err
	}
	if err := h.Claim(); err != nil {
		return fmt.Errorf("%w; end that one first, or set CLANK_HOME to another directory", err)
	}
	defer h.Release()
	a, err := openApp(ctx, h, appOptions{getenv: e.Getenv, logger: e.Logger(logLevel), version: version, hurry: e.Hurry, shopAddr: shopAddr})
	if err != nil {
		return err
	}
	return errors.Join(a.serve(ctx, f), a.close(e.Hurry)) // ctx has ended by then
}

// printGreeting prints where the server is reached and what is missing.
func printGreeting(w io.Writer, d doors) {
	var b strings.Builder
	fmt.Fprintf(&b, "clank is ready: %s\n", d.page)
	fmt.Fprintf(&b, "  browser  %s\n", d.browser)
	fmt.Fprintf(&b, "  model    %s\n", d.model)
	fmt.Fprintf(&b, "  control  %s (clank browser --help)\n", d.control)
	if d.lent != "" {
		fmt.Fprintf(&b, "  lent at  %s\n", d.lent)
	}
	fmt.Fprintf(&b, "  discord  %s\n", d.discord)
	fmt.Fprintf(&b, "  calls    %s\n", d.calls)
	fmt.Fprintf(&b, "  try      open the demo shop, type \"lamp\" into Search, press Enter, read\n")
	fmt.Fprint(&b, "Ctrl-C ends it.\n")
	fmt.Fprint(w, b.String())
}
