package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestEveryFlagIsCompletedAsItsCommandTakesIt(t *testing.T) {
	t.Parallel()
	takes := map[string]bool{} // a value, by the name of the flag
	for _, p := range verbPlaces(t.Context()) {
		for _, f := range p.Flags {
			if before, known := takes[f.Name]; known && before != f.Value {
				t.Errorf("--%s takes a value for some commands only, which shells are not told", f.Name)
			}
			takes[f.Name] = f.Value
		}
		e, stdout, stderr := testEnv(t)
		for _, f := range p.Flags {
			if code, out, _ := runWithBuffers(t, e, stdout, stderr, append(strings.Fields(p.Path), "--help")...); code != exitDone || !strings.Contains(out, "--"+f.Name) {
				t.Errorf("clank %s --help does not tell of --%s", p.Path, f.Name)
			}
		}
	}
	if takes["json"] || !takes["runtime"] || !takes["script"] {
		t.Errorf("got %v", takes)
	}
}

func TestCommandsAreCompletedInEachShell(t *testing.T) {
	t.Parallel()
	for _, name := range shellNames() {
		e, stdout, stderr := testEnv(t)
		code, out, told := runWithBuffers(t, e, stdout, stderr, "completion", name)
		for _, want := range []string{"gemini_computer_use", "sessions say", "watches add", "agentStack.preset", "below"} {
			if code != exitDone || !strings.Contains(out, want) {
				t.Errorf("%s: exit %d, no %q; %s", name, code, want, told)
			}
		}
	}
}

func TestBashOffersWhatCanFollow(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash here")
	}
	e, stdout, stderr := testEnv(t)
	_, script, _ := runWithBuffers(t, e, stdout, stderr, "completion", "bash")
	for line, want := range map[string]string{
		"clank sessions s": "say show script scripts", "clank browse --runtime gem": "gemini_computer_use", "clank config set agentStack.pre": "agentStack.preset",
		"clank watches add --b": "--below",
	} {
		words := strings.Fields(line)
		cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script+"\nCOMP_WORDS=(\"$@\"); COMP_CWORD=$(($#-1)); _clank; echo ${COMPREPLY[@]}", "bash")
		cmd.Args = append(cmd.Args, words...)
		var told bytes.Buffer
		cmd.Stderr = &told
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, &told)
		}
		if got := strings.Fields(string(out)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}
