//go:build !browseronly

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"clank/internal/server"

	"github.com/spf13/cobra"
)

func newServeCommand(e *commandEnv) *cobra.Command {
	var f server.ServeOptions
	var shopAddr, logLevel, logFormat string
	c := newCommand("serve", "",
		`Starts the dashboard and, if DISCORD_TOKEN or DISCORD_TOKEN_FILE is set, the Discord
bot. The browser starts with the first task. After an interrupt or SIGTERM it accepts nothing
new, lets running tasks continue for a time (setting "Time to finish"), and exits. Unfinished
tasks of Discord continue after the next start. A second interrupt stops the tasks at once.`, func(ctx context.Context, _ []string) error {
			switch logFormat {
			case logText:
			case logJSON:
				logLevel = cmp.Or(logLevel, "info") // include the records of tasks
			default:
				return usagef("--log-format takes text or json, not %q", logFormat)
			}
			if err := new(slog.Level).UnmarshalText([]byte(cmp.Or(logLevel, "warn"))); err != nil {
				return usagef("--log takes debug, info, warn or error, not %q", logLevel)
			}
			outliveReaders()
			h, err := server.OpenHome(e.Getenv)
			if err != nil {
				return err
			}
			switch err := h.Claim(); {
			case errors.Is(err, server.ErrHomeClaimed):
				return fmt.Errorf("%w; end that one first, or set CLANK_HOME to another directory", err)
			case err != nil:
				return err
			}
			defer h.Release()
			a, err := server.Open(ctx, h, server.Options{
				Getenv: e.Getenv, Logger: e.newLogger(logLevel, logFormat),
				Version: version, AbortContext: e.AbortContext, ShopAddr: shopAddr,
			})
			if err != nil {
				return err
			}
			err = errors.Join(a.Serve(ctx, f, serveReporter{e}), a.Close(e.AbortContext)) // ctx has ended by then
			if e.AbortContext.Err() != nil {
				// What was not waited for, which err lists, is what the person wanted.
				err = &exitError{exitStopped, errors.New("ended at once, without waiting for what ran")}
			}
			return err
		})
	fs := c.Flags()
	fs.StringVar(&f.DashboardAddr, "addr", "127.0.0.1:8787", "`ADDRESS` of the dashboard")
	fs.StringVar(&shopAddr, "shop-addr", server.DefaultShopAddr, "`ADDRESS` of the demo shop; any free port if it "+
		"is taken")
	fs.StringVar(&f.ViewerAddr, "watch-addr", "127.0.0.1:8789", "`ADDRESS` of the viewer page of shared browsers; any "+
		"free port if it is taken")
	fs.StringVar(&f.ControlAddr, "control-addr", "", "`ADDRESS` of the browser's control API, on loopback (default "+
		"127.0.0.1:18791, or any free port if that is taken)")
	fs.StringVar(&f.NodeAddr, "node-addr", "", "lend this machine's browsers at `ADDRESS` to machines that have the "+
		"same CLANK_NODE_TOKEN")
	fs.StringVar(&f.NodeCertFile, "node-cert", "", "certificate `FILE` for --node-addr; required unless that is on "+
		"loopback")
	fs.StringVar(&f.NodeKeyFile, "node-key", "", "private key `FILE` of the certificate")
	fs.StringVar(&logLevel, "log", "", "`LEVEL` of the log on stderr: debug, info, warn, error (default warn; info with "+
		"--log-format json)")
	fs.StringVar(&logFormat, "log-format", logText, "`FORMAT` of the log: text, or json with a record of each task "+
		"and step")
	completeFiles(c, "node-cert")
	completeFiles(c, "node-key")
	completeChoices(c, "log", "debug", "info", "warn", "error")
	completeChoices(c, "log-format", logText, logJSON)
	return c
}

// outliveReaders keeps this process running when a program that reads its output ends, as tee does at Ctrl-C. Otherwise
// the next line of the log would end it by SIGPIPE, without a shutdown.
func outliveReaders() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// serveReporter prints the state of the server.
type serveReporter struct{ *commandEnv }

// Ready implements [server.Reporter]. It prints the server's addresses and what is missing.
func (r serveReporter) Ready(d server.Endpoints) {
	var b strings.Builder
	fmt.Fprintf(&b, "clank is ready: %s\n", d.DashboardURL)
	fmt.Fprintf(&b, "  browser  %s\n", d.BrowserStatus)
	fmt.Fprintf(&b, "  model    %s\n", d.ModelStatus)
	fmt.Fprintf(&b, "  control  %s (clank browser --help)\n", d.ControlURL)
	if d.NodeURL != "" {
		fmt.Fprintf(&b, "  lent at  %s\n", d.NodeURL)
	}
	fmt.Fprintf(&b, "  discord  %s\n", d.DiscordStatus)
	fmt.Fprintf(&b, "  calls    %s\n", d.CallStatus)
	fmt.Fprintf(&b, "  try      open the demo shop, type \"lamp\" into Search, press Enter, read\n")
	fmt.Fprint(&b, "Ctrl-C ends it.\n")
	fmt.Fprint(r.Stdout, b.String())
}

// DiscordChanged implements [server.Reporter].
func (r serveReporter) DiscordChanged(status string) { fmt.Fprintln(r.Stderr, "discord:", status) }

// Ending implements [server.Reporter].
func (r serveReporter) Ending() { fmt.Fprintln(r.Stderr, "ending …") }

// Draining implements [server.Reporter].
func (r serveReporter) Draining(running int) {
	fmt.Fprintf(r.Stderr, "tasks that may finish: %d (interrupt again to end them)\n", running)
}
