package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"clank/internal/recording"

	"github.com/spf13/cobra"
)

// completionCases is command lines, whose last word is being typed, with what must be offered and what must not.
var completionCases = []struct {
	line      string
	want, not string
}{
	{"", "serve browser completion help", "tabs"},
	{"bro", "browse browser", "serve"},
	{"completion ", "bash zsh fish", "serve"},
	{"help browser cl", "click close", "tabs"},
	{"browser ", "tabs tab snapshot cookies set storage", "serve viewport"},
	{"browser snap", "snapshot", "tabs"},
	{"browser --json snap", "snapshot", "tabs"},
	{"browser --url tabs snap", "snapshot", ""},
	{"browser --json set ", "viewport offline", "tabs"},
	{"browser storage session ", "get set clear", "local"},
	{"browser set media ", "dark light", ""},
	{"browser set media dark ", "", "light"},
	{"browser snapshot --", "--interactive --json --target-id", "--double"},
	{"browser click e1 --d", "--double --delay-ms", "--button"},
	{"browser --", "--json --browser-profile", "--double"},
	{"browser snapshot --format ", "ai aria", "--json"},
	{"browser -json snapshot --format a", "ai aria", ""},
	{"browser wait --load net", "networkidle", "FILES"},
	{"browser snapshot --out ", "FILES", ""},
	{"browser upload ", "FILES", ""},
	{"browser click ", "", "FILES"},
	{"sessions s", "say show script scripts", "list"},
	{"sessions replay ", "FILES", ""},
	{"sessions scripts run ", "find-lamps", "FILES"},
	{"browse --script ", "find-lamps", ""},
	{"browse --runtime gem", "gemini_computer_use", "FILES"},
	{"browse --screenshot ", "FILES", ""},
	{"config set agentStack.pre", "agentStack.preset", "FILES"},
	{"config set agentStack.preset ", "", "agentStack.preset FILES"},
	{"watches add --b", "--below", "--above"},
	{"tokens add x --for ", "control page", ""},
}

func TestCompletionOffersWhatCanFollow(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	if err := withScripts(e, func(store recording.ScriptStore) error {
		return store.Save(recording.Script{Name: "find-lamps", Steps: []string{"read"}}, false)
	}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range completionCases {
		got := runCommand(t.Context(), e, append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(tc.line, " ")...)...)
		offered := strings.Split(strings.TrimSpace(got.stdout), "\n")
		if slices.Contains(offered, ":0") { // the shell's own completion
			offered = append(offered, "FILES")
		}
		for want := range strings.FieldsSeq(tc.want) {
			if !slices.Contains(offered, want) {
				t.Errorf("%q: got %q, want %s among them", tc.line, offered, want)
			}
		}
		for not := range strings.FieldsSeq(tc.not) {
			if slices.Contains(offered, not) {
				t.Errorf("%q: got %s, which does not belong there", tc.line, not)
			}
		}
	}
}

func TestScriptsForShellsAreWellFormed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "zsh", "fish"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := runCommand(t.Context(), newTestEnv(t, nil), "completion", name)
			if script.code != exitDone || !strings.Contains(script.stdout, cobra.ShellCompRequestCmd) {
				t.Fatalf("got %+v", script)
			}
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("there is no %s here", name)
			}
			cmd := exec.CommandContext(t.Context(), name, "-n")
			var stderr bytes.Buffer
			cmd.Stdin, cmd.Stderr = strings.NewReader(script.stdout), &stderr
			if err := cmd.Run(); err != nil || stderr.Len() > 0 {
				t.Errorf("%v: %s", err, &stderr)
			}
		})
	}
}
