package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"

	"clank/browseagent"
	"clank/computeruse"
	"clank/internal/home"
	"clank/internal/logins"
	"clank/internal/terminal"
	"clank/llm"
	"clank/runs"
	"clank/runs/replay"
	"clank/sessions"
	"clank/sqlite"
)

// newRecorder records the runs of this process, into the place of its state.
func (a *app) newRecorder() *runs.Recorder {
	r := &runs.Recorder{
		Dir:      (&home.Home{Dir: a.place}).Runs(),
		Versions: map[string]string{"clank": a.version, "go": runtime.Version()},
		Settings: func() map[string]any {
			s := a.settings.Now()
			return map[string]any{"max_steps": s.MaxSteps, "step_timeout_ms": s.StepTimeout.Milliseconds(), "headed": s.Headed}
		},
		Places: a.places(),
		Logger: a.logger,
	}
	if a.vault != nil {
		r.Clean = a.vault.ScrubJSON
	}
	return r
}

// takeSettings has an app that keeps nothing use the settings of the home: which
// hosts pages may reach, for one.
func (a *app) takeSettings(ctx context.Context, h *home.Home) (err error) {
	if _, err := os.Stat(h.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := sqlite.Open(ctx, h.Database())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	values, _, err := db.LoadSettings(ctx)
	if err != nil || len(values) == 0 {
		return err
	}
	if _, _, err := a.settings.Update(ctx, values, a.settings.State().Version); err != nil {
		return fmt.Errorf("use the settings of %s: %w", h.Dir, err)
	}
	return nil
}

// replayer is the backend that worked the run, with the player as its model: the
// local loop, or that of computer use.
func (a *app) replayer(p *replay.Player, allow []string) sessions.Backend {
	w := windows{manager: a.browsers, settings: a.settings.Now, closed: a.asker.Desk.Forget, ephemeral: true}
	if p.Screen() {
		return &computeruse.Agent{
			Browser:  screens{w},
			Mind:     func(context.Context, string) (computeruse.Mind, error) { return p.Mind(), nil },
			Settings: func() computeruse.Settings { return computeruse.Settings{StepTimeout: a.settings.Now().StepTimeout} },
			Places:   a.places(),
			Consent:  allowed{a.programs, allow},
			Logger:   slog.New(slog.DiscardHandler),
		}
	}
	agent := &browseagent.Agent{
		Browser:  p.Browser(w),
		Model:    func(context.Context, string) (llm.Model, error) { return p.Model(), nil },
		Settings: a.agentSettings,
		Places:   a.places(),
		Consent:  allowed{a.programs, allow},
		Logger:   slog.New(slog.DiscardHandler),
	}
	if a.vault != nil {
		agent.Logins = logins.Kept{Vault: a.vault, Keeper: &a.logins, Windows: a.browsers}
	}
	return agent
}

// allowed asks people, but for what was allowed with the command. The person at
// the terminal is asked, whoever asked for the run.
type allowed struct {
	sessions.Consent

	classes []string
}

// Ask implements [sessions.Consent].
func (c allowed) Ask(ctx context.Context, s sessions.Session, t sessions.Task, q sessions.Question) (string, error) {
	t.Origin, t.Allow = terminal.Origin(), c.classes
	s.Origin = t.Origin
	return c.Consent.Ask(ctx, s, t, q)
}
