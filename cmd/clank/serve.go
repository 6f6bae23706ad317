package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"clank/browsermgr/chrome"
	"clank/cancel"
	"clank/dashboard"
	"clank/internal/cmdline"
	"clank/internal/command"
	"clank/internal/home"
	"clank/internal/settingscli"
	"clank/llm/plain"
	"clank/settings/routing"
)

const serveIntro = `clank serve [flags]

Starts the dashboard and, if DISCORD_TOKEN or DISCORD_TOKEN_FILE is set, the Discord
bot. The browser starts with the first task. An interrupt ends everything; a second
one does not wait.`

// defaultShopAddr is where the demo shop is, so that its pages are found again.
const defaultShopAddr = "127.0.0.1:8788"

// serveFlags are the flags of "clank serve".
type serveFlags struct {
	addr, shopAddr, controlAddr, watchAddr, logLevel string
	nodeAddr, nodeCert, nodeKey                      string
}

func serve(ctx context.Context, e *command.Env, args []string) error {
	var f serveFlags
	fs := cmdline.New("serve", serveIntro)
	fs.StringVar(&f.addr, "addr", "127.0.0.1:8787", "`ADDRESS` of the dashboard")
	fs.StringVar(&f.shopAddr, "shop-addr", defaultShopAddr, "`ADDRESS` of the demo shop; any free port if it is taken")
	fs.StringVar(&f.watchAddr, "watch-addr", "127.0.0.1:8789", "`ADDRESS` of the page on which people with a link watch a shared browser; any free port if it is taken")
	fs.StringVar(&f.controlAddr, "control-addr", "", "`ADDRESS` of the browser's control API, on loopback (default 127.0.0.1:18791, or any free port if that is taken)")
	fs.StringVar(&f.nodeAddr, "node-addr", "", "lend this machine's browsers to other machines at `ADDRESS`, to those who know CLANK_NODE_TOKEN")
	fs.StringVar(&f.nodeCert, "node-cert", "", "certificate `FILE` for that; needed unless ADDRESS is on loopback")
	fs.StringVar(&f.nodeKey, "node-key", "", "its private key `FILE`")
	fs.StringVar(&f.logLevel, "log", "warn", "`LEVEL` of the log on Stderr: debug, info, warn, error")
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
	a, err := openApp(ctx, e, h, e.Logger(f.logLevel), appOptions{shopAddr: f.shopAddr})
	if err != nil {
		return err
	}
	return errors.Join(a.serve(ctx, e, f), a.close(e.Hurry)) // ctx has ended by then
}

// serve opens the doors, says where they are, and waits for the end.
func (a *app) serve(ctx context.Context, e *command.Env, f serveFlags) error {
	if err := a.openCalls(ctx, f.watchAddr); err != nil {
		return err
	}
	board, err := a.openDashboard(ctx, e, f.addr)
	if err != nil {
		return err
	}
	api, err := a.openControl(ctx, e, f.controlAddr)
	if err != nil {
		return err
	}
	lent, err := a.openNode(ctx, e, f, a.tools.Control)
	if err != nil {
		return err
	}
	discord, err := a.openDiscord(ctx, e)
	if err != nil {
		return err
	}
	a.watch(ctx, a.web)
	a.greet(ctx, e, doors{page: board.LoginURL(), control: api.URL(), lent: lent, discord: discord.first(ctx)})
	discord.follow(ctx, e)
	fmt.Fprintln(e.Stderr, "ending …")
	a.scopes.StopAll(&cancel.Cause{Reason: cancel.ShuttingDown})
	return nil
}

func (a *app) openDashboard(ctx context.Context, e *command.Env, addr string) (*dashboard.Server, error) {
	s := &dashboard.Server{
		Addr:      addr,
		Tokens:    a.tokens,
		Local:     a.local,
		Version:   version,
		Manager:   a.manager,
		Scopes:    &a.scopes,
		Questions: a.asker.Desk,
		Settings:  a.settings,
		Budgets:   a.budget,
		Runs:      a.recorder,
		Watches:   a.web.watches,
		Call:      a.phone.Page(),
		Able:      a.models.Able,
		Secret:    func(name string) bool { return settingscli.Present(e, name) },
		IsStop:    cancel.IsStop,
		Logger:    a.logger,
	}
	if err := s.Open(ctx); err != nil {
		return nil, err
	}
	a.onClose(s.Close)
	if err := a.own.addURL(s.URL()); err != nil {
		return nil, err
	}
	if err := a.home.Publish(s.URL(), a.local); err != nil {
		return nil, err
	}
	a.onClose(func(context.Context) error { return a.home.Unpublish() })
	return s, nil
}

// doors are where people come in: the page's address, the control API's, and what is said of Discord.
type doors struct{ page, control, lent, discord string }

// greet prints where the doors are and what is missing.
func (a *app) greet(ctx context.Context, e *command.Env, d doors) {
	var b strings.Builder
	fmt.Fprintf(&b, "clank is ready: %s\n", d.page)
	fmt.Fprintf(&b, "  browser  %s\n", a.browserLine(ctx))
	fmt.Fprintf(&b, "  model    %s\n", a.modelLine(e))
	fmt.Fprintf(&b, "  control  %s (clank browser --help)\n", d.control)
	if d.lent != "" {
		fmt.Fprintf(&b, "  lent at  %s\n", d.lent)
	}
	fmt.Fprintf(&b, "  discord  %s\n", d.discord)
	fmt.Fprintf(&b, "  calls    %s\n", a.callsLine(ctx, e))
	fmt.Fprintf(&b, "  try      open the demo shop, type \"lamp\" into Search, press Enter, read\n")
	fmt.Fprint(&b, "Ctrl-C ends it.\n")
	fmt.Fprint(e.Stdout, b.String())
}

func (a *app) browserLine(ctx context.Context) string {
	found, err := chrome.Find(ctx, a.settings.Now().BrowserPath)
	if err != nil {
		return "none: " + err.Error()
	}
	return found.Path + ", starts with the first task"
}

// modelLine says what does tasks that name no model, and what is missing for it.
func (a *app) modelLine(e *command.Env) string {
	for _, b := range routing.Bindings(a.settings.Now(), a.models.Able) {
		switch {
		case !b.Chosen:
		case b.Problem != "":
			return "none: " + b.Problem
		case b.Model != plain.Name:
			return b.Model + " (" + b.Runtime + ")"
		}
	}
	for _, key := range []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"} {
		if settingscli.Present(e, key) {
			return plain.Name + ", written steps (choose another in the settings)"
		}
	}
	return plain.Name + ", written steps (set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or name a server of your own in the settings, for a model that thinks)"
}
