package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

var (
	testGlobalFlags = []completionFlag{{Name: "json", Help: "as it's said"}, {Name: "url", Help: "where", Value: true}}
	testPlaces      = []completionPlace{
		{Next: []completionWord{{Name: "browser", Short: "it's a browser"}}},
		{Path: "browser", Next: []completionWord{{Name: "open", Short: `a \ and a "quote"; rm $(x)`}}},
		{Path: "browser open", Files: true, Flags: []completionFlag{{Name: "as", Value: true, Choices: []string{"png", "jpeg"}}, {Name: "out", Value: true, File: true}}},
	}
)

func TestScriptsAreWellFormed(t *testing.T) {
	for _, name := range shellNames() {
		t.Run(name, func(t *testing.T) {
			script, err := completionScript(name, testGlobalFlags, testPlaces)
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
	if _, err := completionScript("tcsh", testGlobalFlags, testPlaces); err == nil || !strings.Contains(err.Error(), "bash, zsh, fish") {
		t.Errorf("got %v, want the shells that there are", err)
	}
}
