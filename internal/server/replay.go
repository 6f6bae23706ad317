package server

import (
	"context"
	"log/slog"
	"runtime"

	"clank/browseagent"
	"clank/computeruse"
	"clank/internal/recording"
	"clank/llm"
	"clank/sessions"
)

// NewRecorder returns a recorder for the tasks of this process, which writes below the state directory.
func (a *Server) NewRecorder() *recording.Recorder {
	r := &recording.Recorder{
		Dir:      (&Home{Dir: a.StateDir}).RunsDir(),
		Versions: map[string]string{"clank": a.version, "go": runtime.Version()},
		Settings: func() map[string]any {
			s := a.Settings.Current()
			return map[string]any{"max_steps": s.MaxSteps, "step_timeout_ms": s.StepTimeout.Milliseconds(), "headed": s.Headed}
		},
		Places: a.NamedPages(),
		DiskFull: func() bool {
			free, err := freeBytes(a.StateDir)
			return err == nil && free < diskLimits(a.Settings.Current()).Free
		},
		Logger: a.logger,
	}
	if a.Vault != nil {
		r.Clean = a.Vault.ScrubJSON
	}
	return r
}

// ReplayBackend returns the backend of the recorded task with the player as its model: the agent loop or computer
// use.
func (a *Server) ReplayBackend(p *recording.Player, allow []string) sessions.Backend {
	w := a.WindowBrowser(true)
	if p.UsesScreen() {
		return &computeruse.Agent{
			Browser: w,
			Model:   func(context.Context, string) (computeruse.Model, error) { return p.ComputerUseModel(), nil },
			Settings: func() computeruse.Settings {
				return computeruse.Settings{StepTimeout: a.Settings.Current().StepTimeout}
			},
			Places:   a.NamedPages(),
			Approver: preapproved{a.downloads, allow},
			Logger:   slog.New(slog.DiscardHandler),
		}
	}
	agent := &browseagent.Agent{
		Browser:  p.Browser(w),
		Model:    func(context.Context, string) (llm.Model, error) { return p.Model(), nil },
		Settings: a.agentSettings,
		Places:   a.NamedPages(),
		Approver: preapproved{a.downloads, allow},
		Logger:   slog.New(slog.DiscardHandler),
	}
	if a.Vault != nil {
		agent.Logins = VaultLogins{Vault: a.Vault, Filler: &a.LoginFiller, Windows: a.Browsers}
	}
	return agent
}

// preapproved asks people except about what the command allowed. It asks the person at the terminal, whoever asked
// for the recorded task.
type preapproved struct {
	sessions.Approver

	classes []string
}

func (c preapproved) Ask(ctx context.Context, s sessions.Session, t sessions.Task,
	q sessions.Question,
) (string, error) {
	t.Origin, t.Allow = TerminalOrigin(), c.classes
	s.Origin = t.Origin
	return c.Approver.Ask(ctx, s, t, q)
}
