package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"clank/browseagent"
	"clank/computeruse"
	"clank/llm"
	"clank/runs"
	"clank/runs/replay"
	"clank/sessions"
	"clank/sqlite"
	"clank/untrusted"
)

// exitDiffers ends a replay that came out otherwise than the record.
const exitDiffers = 4

// newRecorder records the runs of this process, into the place of its state.
func (a *app) newRecorder() *runs.Recorder {
	r := &runs.Recorder{
		Dir:      (&home{dir: a.place}).runs(),
		Versions: map[string]string{"clank": version, "go": runtime.Version()},
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

const replayIntro = `clank sessions replay [flags] <id|file>

Opens a fresh window and does what the model of the run answered, step by step, on the
pages as they are now. No model is asked. Elements are found by their names; what a
model that sees the screen did is done at the same points, and its steps say what is
there now. It says where a step comes out otherwise: an element that is missing, another
text, another address, another title. What people are asked about is asked again.

Exit codes: 0 as recorded, 1 failed, 2 wrong usage, 4 something differs, 130 stopped.`

func replayRun(ctx context.Context, e *env, args []string) (err error) {
	fs := newFlags("sessions replay", replayIntro)
	against := fs.String("against", "", "where the pages are now: `MAP` such as https://shop.example=http://localhost:8080, commas between several")
	allow := fs.String("allow", "", "do without asking: `CLASSES` such as buy,submit ("+classList()+")")
	asJSON := fs.Bool("json", false, "print the findings as JSON")
	if err := parse(e, fs, args, 1); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usageErrorf("say which run: its id, or an exported file")
	}
	mappings, err := replay.ParseMappings(*against)
	if err != nil {
		return usageErrorf("--against: %v", err)
	}
	classes := browseFlags{allow: *allow}.classes()
	if err := checkAllow(classes); err != nil {
		return err
	}
	b, err := openRun(e, fs.Rest[0])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	p, err := replay.New(b, mappings)
	if err != nil {
		return err
	}
	if b.Cut {
		fmt.Fprintln(e.stderr, "the record ends in the middle; it is replayed as far as it goes")
	}
	return play(ctx, e, p, classes, *asJSON)
}

// played is what --json prints.
type played struct {
	Steps   []replay.Finding `json:"steps"`
	Summary replay.Summary   `json:"summary"`
}

// play opens a browser of its own, which keeps nothing, and plays the run there.
func play(ctx context.Context, e *env, p *replay.Player, allow []string, asJSON bool) (err error) {
	h, err := openHome(e.getenv)
	if err != nil {
		return err
	}
	a, err := openApp(ctx, e, h, newLogger(e, "warn"), appOptions{throwaway: true, shopAddr: defaultShopAddr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.close(e.hurry)) }()
	if err := a.takeSettings(ctx, h); err != nil {
		return err
	}
	defer localRunner{a, e}.ask(ctx)()
	p.Places(a.places()) // the demo shop is elsewhere while a server runs
	out := played{Steps: []replay.Finding{}}
	out.Summary, err = p.Run(ctx, a.replayer(p, allow), "replay", func(f replay.Finding) {
		out.Steps = append(out.Steps, f)
		if !asJSON {
			fmt.Fprint(e.stdout, tellFinding(f))
		}
	})
	if err != nil {
		return runError(ctx, err)
	}
	if asJSON {
		if err := printJSON(e.stdout, out); err != nil {
			return fmt.Errorf("print the findings: %w", err)
		}
	} else {
		fmt.Fprintln(e.stdout, untrusted.Line(out.Summary.String(), 1000))
	}
	if !out.Summary.Matches() {
		return &exitError{code: exitDiffers}
	}
	return nil
}

// takeSettings has an app that keeps nothing use the settings of the home: which
// hosts pages may reach, for one.
func (a *app) takeSettings(ctx context.Context, h *home) (err error) {
	if _, err := os.Stat(h.path("clank.db")); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	db, err := sqlite.Open(ctx, h.path("clank.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	values, _, err := db.LoadSettings(ctx)
	if err != nil || len(values) == 0 {
		return err
	}
	if _, _, err := a.settings.Update(ctx, values, a.settings.State().Version); err != nil {
		return fmt.Errorf("use the settings of %s: %w", h.dir, err)
	}
	return nil
}

// replayer is the backend that worked the run, with the player as its model: the
// local loop, or that of computer use.
func (a *app) replayer(p *replay.Player, allow []string) sessions.Backend {
	w := windows{manager: a.browsers, settings: a.settings.Now, closed: a.asker.desk.Forget, ephemeral: true}
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
		agent.Logins = kept{vault: a.vault, keeper: &a.logins, windows: a.browsers}
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
	t.Origin, t.Allow = terminalOrigin(), c.classes
	s.Origin = t.Origin
	return c.Consent.Ask(ctx, s, t, q)
}

// tellFinding is a step of a replay for people. Pages have written much of it.
func tellFinding(f replay.Finding) string {
	var b strings.Builder
	sign := "same"
	if len(f.Differences) > 0 {
		sign = "DIFFERS"
	}
	fmt.Fprintf(&b, "%4d  %-7s  %s\n", f.Step, sign, untrusted.Line(f.Label, 200))
	for _, d := range f.Differences {
		fmt.Fprintf(&b, "      %s\n", d.Kind)
		for _, side := range []struct{ head, text string }{{"then: ", d.Was}, {"now:  ", d.Is}} {
			head := side.head
			for line := range strings.Lines(side.text) {
				b.WriteString("        " + head + untrusted.Line(strings.TrimSpace(line), 300) + "\n")
				head = "      "
			}
		}
	}
	return b.String()
}
