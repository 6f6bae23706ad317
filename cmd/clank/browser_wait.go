package main

import (
	"errors"
	"fmt"

	"clank/browsermgr/control/client"
)

func waitCommands() []browserCommand {
	return []browserCommand{
		{
			name: "wait", args: "[selector]", short: "wait until a page is as it should be; several conditions one after the other",
			options: []browserOption{
				{name: "time", kind: kindInteger, value: "ms", help: "so long", field: "timeMs"},
				{name: "text", kind: kindText, value: "text", help: "until this text can be seen", field: "text"},
				{name: "text-gone", kind: kindText, value: "text", help: "until this text cannot be seen", field: "textGone"},
				{name: "url", kind: kindText, value: "pattern", help: "until the address is this; ** stands for anything", field: "url"},
				{name: "load", kind: kindText, value: "state", help: "load, domcontentloaded or networkidle", field: "loadState", choices: []string{"load", "domcontentloaded", "networkidle"}, strict: true},
				{name: "fn", kind: kindText, value: "js", help: "until this function is true", field: "fn"},
				tabOption, timeoutOption,
			},
			examples: []string{`wait --text "Order placed" --timeout-ms 60000`, `wait --url "**/done" --load networkidle`},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				r := in.actRequest("wait", nil)
				if in.arg(0) != "" {
					r.body["selector"] = in.arg(0)
				}
				for _, name := range []string{"selector", "timeMs", "text", "textGone", "url", "loadState", "fn"} {
					if _, ok := r.body[name]; ok {
						return r, nil
					}
				}
				return r, usagef("there is nothing to wait for: give a selector or a condition")
			},
			printAnswer: printTyped(func(p *outputPrinter, r client.Result) {
				p.Line("wait complete")
				printConsequences(p, r)
			}),
		},
		{
			name: "evaluate", args: "[js]", short: "run a function in a page and print what it returns, as JSON",
			options: []browserOption{
				{name: "fn", kind: kindText, value: "js", help: "the function; el is the element of --ref"},
				{name: "ref", kind: kindText, value: "ref", help: "the element to hand to it", field: "ref"},
				tabOption, timeoutOption,
			},
			examples: []string{`evaluate --fn "() => document.title"`, `evaluate --fn "(el) => el.value" --ref e5`},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				fn := in.text("fn")
				if fn == "" {
					fn = in.arg(0)
				} else if in.arg(0) != "" {
					return controlRequest{}, usagef("two functions are given")
				}
				if fn == "" {
					return controlRequest{}, usagef("--fn is needed")
				}
				return in.actRequest("evaluate", map[string]any{"fn": fn}), nil
			},
			checkAnswer: func(in *commandInput, answer []byte) error {
				if err := checkNoDialog(in, answer); err != nil {
					return fmt.Errorf("there is no result: %w", err)
				}
				return nil
			},
			printAnswer: printField("result", "null"),
		},
		{
			name: "batch", short: "do several actions in one request",
			options: []browserOption{
				{name: "actions", kind: kindText, value: "json", help: `[{"kind":"click","ref":"e3"}, …]`},
				{name: "actions-file", kind: kindFile, value: "path", help: "the same from a file of at most 1,000,000 bytes; - is the standard input"},
				{name: "continue", help: "go on after an action that failed"},
				tabOption,
			},
			examples: []string{`batch --actions '[{"kind":"type","ref":"e5","text":"Ada"},{"kind":"click","ref":"e6"}]'`, "batch --actions-file - < actions.json"},
			buildRequest: func(in *commandInput) (controlRequest, error) {
				actions, err := in.arrayFromFlagOrFile("actions", "actions-file")
				r := in.actRequest("batch", map[string]any{"actions": actions})
				if in.isOn("continue") {
					r.body["stopOnError"] = false
				}
				return r, err
			},
			checkAnswer: checkBatch, printAnswer: printTyped(printBatch), printsFailures: true,
		},
	}
}

func checkBatch(_ *commandInput, answer []byte) error {
	r, err := decodeAnswer[client.Result](answer)
	if err != nil {
		return err
	}
	failed := 0
	for _, entry := range r.Results {
		if !entry.OK {
			failed++
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s failed", failed, countNoun(len(r.Results), "action"))
	case r.Aborted != nil && r.Aborted.Skipped > 0:
		return fmt.Errorf("%s left undone: %s after action %d", countNoun(r.Aborted.Skipped, "action"), r.Aborted.Reason, r.Aborted.AfterAction)
	case r.BlockedByDialog:
		return dialogError(r.BrowserState)
	case len(r.Results) == 0:
		return errors.New("the server did none of the actions")
	}
	return nil
}
