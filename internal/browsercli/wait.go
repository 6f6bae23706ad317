package browsercli

import (
	"errors"
	"fmt"

	"clank/browsermgr/control/client"
	"clank/internal/browsercli/show"
	"clank/internal/cmdline"
)

func waitCommands() []command {
	return []command{
		{
			name: "wait", args: "[selector]", short: "wait until a page is as it should be; several conditions one after the other",
			options: []option{
				{name: "time", kind: integer, value: "ms", help: "so long", field: "timeMs"},
				{name: "text", kind: text, value: "text", help: "until this text can be seen", field: "text"},
				{name: "text-gone", kind: text, value: "text", help: "until this text cannot be seen", field: "textGone"},
				{name: "url", kind: text, value: "pattern", help: "until the address is this; ** stands for anything", field: "url"},
				{name: "load", kind: text, value: "state", help: "load, domcontentloaded or networkidle", field: "loadState", choices: []string{"load", "domcontentloaded", "networkidle"}, strict: true},
				{name: "fn", kind: text, value: "js", help: "until this function is true", field: "fn"},
				onTab, limit,
			},
			examples: []string{`wait --text "Order placed" --timeout-ms 60000`, `wait --url "**/done" --load networkidle`},
			build: func(in *input) (request, error) {
				r := in.act("wait", nil)
				if in.arg(0) != "" {
					r.body["selector"] = in.arg(0)
				}
				for _, name := range []string{"selector", "timeMs", "text", "textGone", "url", "loadState", "fn"} {
					if _, ok := r.body[name]; ok {
						return r, nil
					}
				}
				return r, cmdline.Usagef("there is nothing to wait for: give a selector or a condition")
			},
			show: showing(func(p *show.Printer, r client.Result) {
				p.Line("wait complete")
				show.Consequences(p, r)
			}),
		},
		{
			name: "evaluate", args: "[js]", short: "run a function in a page and print what it returns, as JSON",
			options: []option{
				{name: "fn", kind: text, value: "js", help: "the function; el is the element of --ref"},
				{name: "ref", kind: text, value: "ref", help: "the element to hand to it", field: "ref"},
				onTab, limit,
			},
			examples: []string{`evaluate --fn "() => document.title"`, `evaluate --fn "(el) => el.value" --ref e5`},
			build: func(in *input) (request, error) {
				fn := in.text("fn")
				if fn == "" {
					fn = in.arg(0)
				} else if in.arg(0) != "" {
					return request{}, cmdline.Usagef("two functions are given")
				}
				if fn == "" {
					return request{}, cmdline.Usagef("--fn is needed")
				}
				return in.act("evaluate", map[string]any{"fn": fn}), nil
			},
			judge: func(in *input, answer []byte) error {
				if err := judgeUnblocked(in, answer); err != nil {
					return fmt.Errorf("there is no result: %w", err)
				}
				return nil
			},
			show: showingField("result", "null"),
		},
		{
			name: "batch", short: "do several actions in one request",
			options: []option{
				{name: "actions", kind: text, value: "json", help: `[{"kind":"click","ref":"e3"}, …]`},
				{name: "actions-file", kind: file, value: "path", help: "the same from a file of at most 1,000,000 bytes; - is the standard input"},
				{name: "continue", help: "go on after an action that failed"},
				onTab,
			},
			examples: []string{`batch --actions '[{"kind":"type","ref":"e5","text":"Ada"},{"kind":"click","ref":"e6"}]'`, "batch --actions-file - < actions.json"},
			build: func(in *input) (request, error) {
				actions, err := in.array("actions", "actions-file")
				r := in.act("batch", map[string]any{"actions": actions})
				if in.on("continue") {
					r.body["stopOnError"] = false
				}
				return r, err
			},
			judge: judgeBatch, show: showing(show.Batch), partial: true,
		},
	}
}

func judgeBatch(_ *input, answer []byte) error {
	r, err := decode[client.Result](answer)
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
		return fmt.Errorf("%d of %s failed", failed, show.Counted(len(r.Results), "action"))
	case r.Aborted != nil && r.Aborted.Skipped > 0:
		return fmt.Errorf("%s left undone: %s after action %d", show.Counted(r.Aborted.Skipped, "action"), r.Aborted.Reason, r.Aborted.AfterAction)
	case r.BlockedByDialog:
		return blocked(r.BrowserState)
	case len(r.Results) == 0:
		return errors.New("the server did none of the actions")
	}
	return nil
}
