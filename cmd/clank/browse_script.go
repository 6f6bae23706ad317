package main

import (
	"context"
	"fmt"
	"strings"

	"clank/internal/recording"
	"clank/internal/server"
	"clank/llm/plain"
	"clank/sessions"

	"github.com/spf13/cobra"
)

// newRunScriptCommand has the model that needs no key follow a script, here or in the server that owns the home.
func newRunScriptCommand(e *commandEnv) *cobra.Command {
	var f browseFlags
	c := newCommand("run <name> [values]", "run one with other values, as clank browse --script does", "", func(ctx context.Context, args []string) error {
		f.script = args[0]
		task, err := f.buildTask(e, strings.Join(args[1:], ""))
		if err != nil {
			return err
		}
		return f.runTask(ctx, e, task)
	})
	f.add(c)
	c.ValidArgsFunction = completeScripts(e)
	return c
}

// completeScripts completes the name of a script.
func completeScripts(e *commandEnv) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		var names []string
		if len(args) == 0 { // without a home there is nothing to offer
			_ = withScripts(e, func(store recording.ScriptStore) (err error) { names, err = store.Names(); return err })
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}

// buildScriptTask returns the task of following a script. Its steps come from a run, where a model may have chosen
// them: nobody typed them.
func buildScriptTask(e *commandEnv, name, values string) (sessions.Task, error) {
	t := sessions.Task{Model: plain.ModelName, Origin: server.TerminalOrigin()}
	err := withScripts(e, func(store recording.ScriptStore) (err error) { t.Prompt, err = store.Steps(name, values); return err })
	if err == nil {
		t.MaxSteps, err = scriptStepLimit(t.Prompt, server.MaxTaskSteps)
	}
	return t, err
}

// scriptStepLimit returns how many steps the model may take for an instruction: one for each,
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
