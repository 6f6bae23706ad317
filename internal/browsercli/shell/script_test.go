package shell_test

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"clank/internal/browsercli/shell"
)

var (
	all    = []shell.Flag{{Name: "json", Help: "as it's said"}, {Name: "url", Help: "where", Value: true}}
	places = []shell.Place{
		{Next: []shell.Word{{Name: "browser", Short: "it's a browser"}}},
		{Path: "browser", Next: []shell.Word{{Name: "open", Short: `a \ and a "quote"; rm $(x)`}}},
		{Path: "browser open", Files: true, Flags: []shell.Flag{{Name: "as", Value: true, Choices: []string{"png", "jpeg"}}, {Name: "out", Value: true, File: true}}},
	}
)

func TestScriptsAreWellFormed(t *testing.T) {
	for _, name := range shell.Names() {
		t.Run(name, func(t *testing.T) {
			script, err := shell.Script(name, all, places)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"browser open", "png jpeg", "as", "out", "url", "json"} {
				if !strings.Contains(script, want) {
					t.Errorf("there is no %q in\n%s", want, script)
				}
			}
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("there is no %s here", name)
			}
			cmd := exec.CommandContext(t.Context(), name, "-n")
			var stderr bytes.Buffer
			cmd.Stdin, cmd.Stderr = strings.NewReader(script), &stderr
			if err := cmd.Run(); err != nil || stderr.Len() > 0 {
				t.Errorf("%v: %s", err, &stderr)
			}
		})
	}
}

func TestOtherShellsAreToldWhichThereAre(t *testing.T) {
	if _, err := shell.Script("tcsh", all, places); err == nil || !strings.Contains(err.Error(), "bash, zsh, fish") {
		t.Errorf("got %v, want the shells that there are", err)
	}
}
