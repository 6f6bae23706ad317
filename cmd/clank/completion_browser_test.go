package main

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

var completionVerbs = []completionWord{{Name: "serve", Short: "it's the server"}, {Name: "browser", Short: "a browser"}, {Name: "completion", Short: "this"}}

// completionCases is command lines, whose last word is being typed, with what must be offered and what must not.
var completionCases = []struct {
	line      string
	want, not []string
}{
	{"clank ", []string{"serve", "browser", "completion"}, []string{"tabs"}},
	{"clank bro", []string{"browser"}, []string{"serve"}},
	{"clank completion ", []string{"bash", "zsh", "fish"}, []string{"serve"}},
	{"clank browser ", []string{"tabs", "tab", "snapshot", "cookies", "set", "storage"}, []string{"serve", "viewport"}},
	{"clank browser snap", []string{"snapshot"}, []string{"tabs"}},
	{"clank browser --json snap", []string{"snapshot"}, nil},
	{"clank browser --url tabs snap", []string{"snapshot"}, nil},
	{"clank browser set ", []string{"viewport", "offline"}, []string{"tabs"}},
	{"clank browser storage session ", []string{"get", "set", "clear"}, []string{"local"}},
	{"clank browser set media ", []string{"dark", "light"}, nil},
	{"clank browser snapshot --", []string{"--interactive", "--json", "--target-id"}, []string{"--double"}},
	{"clank browser click e1 --d", []string{"--double", "--delay-ms"}, []string{"--button"}},
	{"clank browser --", []string{"--json", "--browser-profile"}, []string{"--double"}},
	{"clank browser snapshot --format ", []string{"ai", "aria"}, []string{"--json"}},
	{"clank browser wait --load net", []string{"networkidle"}, nil},
}

// completeFunc asks a shell for what it offers for a line.
type completeFunc func(t *testing.T, script, line string) []string

func TestCompletion(t *testing.T) {
	for name, complete := range map[string]completeFunc{"bash": completeInBash, "zsh": completeInZsh, "fish": completeInFish} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("there is no %s here", name)
			}
			var script bytes.Buffer
			if err := writeCompletion(&script, name, completionVerbs, nil); err != nil {
				t.Fatal(err)
			}
			for _, tc := range completionCases {
				got := complete(t, script.String(), tc.line)
				for _, want := range tc.want {
					if !slices.Contains(got, want) {
						t.Errorf("%q: got %q, want %s among them", tc.line, got, want)
					}
				}
				for _, not := range tc.not {
					if slices.Contains(got, not) {
						t.Errorf("%q: got %s, which does not belong there", tc.line, not)
					}
				}
			}
		})
	}
}

func TestCompletionForNoShell(t *testing.T) {
	if err := writeCompletion(&bytes.Buffer{}, "tcsh", completionVerbs, nil); err == nil || !strings.Contains(err.Error(), "bash, zsh, fish") {
		t.Errorf("got %v, want the shells that there are", err)
	}
}

// scriptPrinting runs a script and returns the lines it prints.
func scriptPrinting(t *testing.T, input, program string, args ...string) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("%s: %v: %s", program, err, stderr.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

func quoteArgs(list []string) string {
	var b strings.Builder
	for _, w := range list {
		b.WriteString(" '" + w + "'")
	}
	return b.String()
}

func completeInBash(t *testing.T, script, line string) []string {
	t.Helper()
	return scriptPrinting(t, script+"\nCOMP_WORDS=("+quoteArgs(strings.Split(line, " "))+")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_clank\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n",
		"bash", "--noprofile", "--norc")
}

// completeInZsh stands in for the parts of the completion system that only work in a line editor.
func completeInZsh(t *testing.T, script, line string) []string {
	t.Helper()
	const before = `
compdef() { :; }
_files() { :; }
_describe() { local item; for item in "${(@P)2}"; do print -r -- "${item%%:*}"; done; }
`
	typed := strings.Split(line, " ")
	all := scriptPrinting(t, before+script+"\nwords=("+quoteArgs(typed)+")\nCURRENT=${#words}\n_clank\n", "zsh", "-f")
	return slices.DeleteFunc(all, func(s string) bool { return !strings.HasPrefix(s, typed[len(typed)-1]) })
}

func completeInFish(t *testing.T, script, line string) []string {
	t.Helper()
	lines := scriptPrinting(t, script+"\ncomplete -C '"+line+"'\n", "fish", "--no-config")
	for i := range lines {
		lines[i], _, _ = strings.Cut(lines[i], "\t")
	}
	return lines
}
