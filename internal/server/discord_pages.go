package server

import (
	"context"
	"errors"

	"clank/internal/recording"
	"clank/llm"
	"clank/sessions"
)

// DiscordPages shows and saves the results of tasks for people in Discord; it implements [bot.Pages].
type DiscordPages struct{ server *Server }

// Screenshot implements [bot.Pages].
func (p DiscordPages) Screenshot(ctx context.Context, session string) (llm.Image, error) {
	w, ok := p.server.Browsers.Lookup(session)
	if !ok {
		return llm.Image{}, errPageClosed
	}
	shot, err := w.Screenshot(ctx, "")
	if err != nil {
		return llm.Image{}, err
	}
	return shot.Image, nil
}

var (
	errPageClosed = errors.New("the page of this session is closed just now; continue it to open the page again")
	errNoRun      = errors.New("the steps of this task were not recorded, so there is no script")
)

// Script implements [bot.Pages]. Anyone can run a script with their own values, so only operators may add one.
func (p DiscordPages) Script(_ context.Context, o sessions.Origin, task,
	name string,
) (text string, saved bool, err error) {
	home := &Home{Dir: p.server.StateDir}
	runs, err := recording.FindRuns(home.RunsDir(), task)
	if errors.Is(err, recording.ErrRunNotFound) {
		return "", false, errNoRun
	}
	if err != nil {
		return "", false, err
	}
	run, err := recording.OpenRecording(runs[len(runs)-1])
	if err != nil {
		return "", false, err
	}
	script, _, err := recording.MakeScript(run, name)
	if err != nil {
		return "", false, err
	}
	if p.server.Settings.Current().Access.Rules().IsOperator(o) {
		err, saved = recording.ScriptStore{Dir: p.server.Home.ScriptsDir()}.Save(script, false), true
	}
	return script.String(), saved, err
}
