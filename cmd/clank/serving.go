package main

import (
	"context"

	"clank/browsermgr/chrome"
	"clank/cancel"
	"clank/dashboard"
	"clank/internal/phone"
	"clank/llm/plain"
	"clank/settings"
	"clank/settings/routing"
)

// defaultShopAddr is where the demo shop listens, so that its pages are found again.
const defaultShopAddr = "127.0.0.1:8788"

// serveOptions are the addresses at which a server listens, and what is called as it goes on. nodeAddr may be empty; the
// certificate and key are files for it.
type serveOptions struct {
	addr, controlAddr, watchAddr string
	nodeAddr, nodeCert, nodeKey  string

	ready   func(doors)         // everything listens
	discord func(status string) // the connection to Discord changed
	ending  func()              // ctx has ended
}

// doors tells where a server is reached, and what its browser, model, Discord connection and calls lack.
type doors struct{ page, browser, model, control, lent, discord, calls string }

// serve opens all listeners and waits until ctx ends.
func (a *app) serve(ctx context.Context, opts serveOptions) error {
	if err := a.openCalls(ctx, opts.watchAddr); err != nil {
		return err
	}
	board, err := a.openDashboard(ctx, opts.addr)
	if err != nil {
		return err
	}
	api, err := a.openControl(ctx, opts.controlAddr)
	if err != nil {
		return err
	}
	lent, err := a.openNode(ctx, opts, a.tools.Control)
	if err != nil {
		return err
	}
	discord, err := a.openDiscord(ctx)
	if err != nil {
		return err
	}
	a.watch(ctx, a.web)
	opts.ready(doors{
		page: board.LoginURL(), browser: a.browserLine(ctx), model: a.modelLine(), control: api.URL(), lent: lent,
		discord: discord.first(ctx), calls: a.callsLine(ctx),
	})
	discord.follow(ctx, opts.discord)
	opts.ending()
	a.scopes.StopAll(&cancel.Cause{Reason: cancel.ShuttingDown})
	return nil
}

func (a *app) openDashboard(ctx context.Context, addr string) (*dashboard.Server, error) {
	s := &dashboard.Server{
		Addr:      addr,
		Tokens:    a.tokens,
		Local:     a.local,
		Version:   a.version,
		Manager:   a.manager,
		Scopes:    &a.scopes,
		Questions: a.asker.Desk,
		Settings:  a.settings,
		Budgets:   a.budget,
		Runs:      a.recorder,
		Watches:   a.web.watches,
		Call:      a.phone.Page(),
		Able:      a.models.Able,
		Secret:    func(name string) bool { return secretPresent(a.getenv, name) },
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

func (a *app) browserLine(ctx context.Context) string {
	found, err := chrome.Find(ctx, a.settings.Now().BrowserPath)
	if err != nil {
		return "none: " + err.Error()
	}
	return found.Path + ", starts with the first task"
}

// modelLine says what does tasks that name no model, and what is missing for it.
func (a *app) modelLine() string {
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
		if secretPresent(a.getenv, key) {
			return plain.Name + ", written steps (choose another in the settings)"
		}
	}
	return plain.Name + ", written steps (set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY, or name a server of your own in the settings, for a model that thinks)"
}

// callsLine says in one line what of calls works, and what is missing.
func (a *app) callsLine(ctx context.Context) string {
	return phone.Summary(phone.Abilities(ctx, a.settings.Now(), func(name string) bool { return secretPresent(a.getenv, name) }, false))
}

// secretPresent reports whether the environment has the secret of this name.
func secretPresent(getenv func(string) string, name string) bool {
	v, err := settings.ReadSecret(name, getenv)
	return err == nil && v.Present()
}
