package main

import (
	"context"
	"fmt"
	"strings"

	"clank/internal/recording"
	"clank/internal/server"
	"clank/llm/plain"
	"clank/sessions"
)

// runScriptArgs has the model that needs no key follow a script, here or in the
// server that owns the home. args follow the words "clank sessions scripts run", whose help
// begins with intro.
func (c browseCommand) runScriptArgs(ctx context.Context, intro string, args []string) error {
	e := c.Env
	var f browseFlags
	fs := newFlags("sessions scripts run", intro)
	fs.BoolVar(&f.json, "json", false, "print the whole outcome as JSON")
	fs.StringVar(&f.session, "session", "", "go on in the session with this `ID`")
	fs.StringVar(&f.profile, "profile", "", "the browser profile: `NAME` (the setting says otherwise)")
	fs.StringVar(&f.allow, "allow", "", "do without asking: `CLASSES` such as buy,submit ("+actionClassList()+")")
	if err := e.parseFlags(fs, args, 2); err != nil {
		return err
	}
	if len(fs.Rest) == 0 {
		return usagef("say which script; \"clank sessions scripts\" lists them")
	}
	if err := checkAllow(splitAllow(f.allow)); err != nil {
		return err
	}
	task, err := c.buildScriptTask(fs.Rest[0], strings.Join(fs.Rest[1:], ""))
	if err != nil {
		return err
	}
	task.SessionID, task.Profile, task.Allow = f.session, f.profile, splitAllow(f.allow)
	return c.runTask(ctx, f, task)
}

// buildScriptTask is the task of following a script. Its steps come from a run, where a model may have chosen them: nobody
// typed them.
func (c browseCommand) buildScriptTask(name, values string) (sessions.Task, error) {
	t := sessions.Task{Model: plain.ModelName, Origin: server.TerminalOrigin()}
	h, err := server.OpenHome(c.Env.Getenv)
	if err != nil {
		return t, err
	}
	if t.Prompt, err = (recording.ScriptStore{Dir: h.ScriptsDir()}).Steps(name, values); err != nil {
		return t, err
	}
	t.MaxSteps, err = scriptStepLimit(t.Prompt, c.MaxSteps)
	return t, err
}

// scriptStepLimit is how many steps the model may take for an instruction: one for each,
// a look before each, and the answer. The most that a task may have bounds it.
func scriptStepLimit(instruction string, most int) (int, error) {
	n, err := plain.CheckInstruction(instruction)
	if err != nil {
		return 0, err
	}
	if n+1 > most {
		return 0, fmt.Errorf("the script has %d steps, and a task may have %d: divide it", n, most-1)
	}
	return min(2*n+1, most), nil
}
