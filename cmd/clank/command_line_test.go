package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// visitCommands calls visit with the name of every command below c, without "clank".
func visitCommands(c *cobra.Command, visit func(name string)) {
	for _, below := range c.Commands() {
		visit(strings.TrimPrefix(below.CommandPath(), "clank "))
		visitCommands(below, visit)
	}
}

// resolveForTest is a command line as cobra and pflag are to read it: words, flags and, after "--", arguments.
func resolveForTest(tb testing.TB, args []string) (name, read string, operands []string, err error) {
	tb.Helper()
	line, err := resolveCommandLine(newRootCommand(newTestEnv(tb, nil), args), args)
	return strings.TrimPrefix(line.command.CommandPath(), "clank "), strings.Join(append(append(line.words, "--"), line.operands...), " "), line.operands, err
}

func TestFlagsMayStandAnywhere(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"browser --json tabs":                  "browser --json=true tabs --",
		"browser tabs -json":                   "browser tabs --json=true --",
		"browser --timeout 5 tabs --timeout=6": "browser --timeout=5 tabs --timeout=6 --",
		"browser type --submit e1 --json a":    "browser type --json=true --submit=true -- e1 a",
		"browser --full-page screenshot":       "browser screenshot --full-page=true --",
		"browser --target-id t1 cookies clear": "browser cookies clear --target-id=t1 --",
		"browser cookies --json set a b":       "browser cookies --json=true set -- a b",
		"browser --url S wait --url P":         "browser --url=S wait --url=P --",
		"browser cookies --url S set a b":      "browser cookies --url=S set -- a b",
		"browser cookies --target-id t set a":  "browser cookies set --target-id=t -- a",
		"browser type e1 -- --json":            "browser type -- e1 --json",
		"browser type e1 -- --json -- x":       "browser type -- e1 --json -- x",
		"browser click-coords -1.5 20":         "browser click-coords -- -1.5 20",
		"browser press -":                      "browser press -- -",
		"browser evaluate --fn --x":            "browser evaluate --fn=--x --",
		"browser evaluate --fn=a=b":            "browser evaluate --fn=a=b --",
		"browser evaluate --fn=":               "browser evaluate --fn= --",
		"browser select e1 set clear":          "browser select -- e1 set clear",
		"browser press help":                   "browser press -- help",
		"browser --expect-final tabs":          "browser --expect-final=true tabs --",
		"browse -max-steps 3 task":             "browse --max-steps=3 -- task",
		"browse task --max-steps 3":            "browse --max-steps=3 -- task",
		"browse --max-steps=3 -- task":         "browse --max-steps=3 -- task",
		"--json browse task":                   "browse --json=true -- task",
		"serve -addr 127.0.0.1:0":              "serve --addr=127.0.0.1:0 --",
		"vault --json list":                    "vault list --json=true --",
		"help browser click":                   "browser click --help --",
	} {
		_, got, _, err := resolveForTest(t, splitWords(line))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", line, err, diff)
		}
	}
}

func TestWrongUseOfTheBrowserIsExplained(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"":                           "clank browser: name one of its commands\n",
		"tabz":                       `there is no command "browser tabz"; did you mean tab or tabs?`,
		"set":                        "clank browser set: name one of its commands: credentials",
		"set lokale de":              `there is no command "browser set lokale"; did you mean locale?`,
		"storage local":              "clank browser storage local: name one of its commands: clear, get, set",
		"click":                      "<ref> is missing",
		"click e1 e2":                `clank browser click: unexpected argument "e2"`,
		"cookies foo":                `unexpected argument "foo"`,
		"cookies cler":               "did you mean clear?",
		"tabs --target-id t1":        "there is no flag --target-id",
		"--full-page click screen":   "there is no flag --full-page",
		"--label x tabs open":        "it takes no flag --label",
		"click e1 --dubble":          "did you mean --double?",
		"click e1 --profile w":       "did you mean --browser-profile?",
		"type e1 --verylong":         `put "--" before text that begins with a dash`,
		"click e1 --timeout-ms":      "--timeout-ms needs a value",
		"click e1 --timeout-ms 1.5":  "--timeout-ms must be a whole number",
		"click e1 --timeout-ms 0x1":  "--timeout-ms must be a whole number",
		"click e1 --timeout-ms -1":   "--timeout-ms must be a whole number",
		"tabs --timeout soon":        "--timeout must be a whole number",
		"--timeout soon tabs":        "--timeout must be a whole number",
		"tabs --json=maybe":          "--json takes true or false",
		"click e1 --double=maybe":    "--double takes true or false",
		"set geo 1 2 --accuracy x":   "--accuracy must be a number",
		"set geo 1 2 --accuracy NaN": "--accuracy must be a number",
		"snapshot --format --help x": `unexpected argument "x"`,
	} {
		runSteps(t, newTestEnv(t, nil), commandStep{line: "browser " + line, code: exitUsage, says: want})
	}
}

func TestAFlagTakesAValueAlwaysOrNever(t *testing.T) {
	t.Parallel()
	takes := map[string]bool{} // by the name of the flag, which may stand before that of its command
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if before, seen := takes[f.Name]; seen && before != (f.NoOptDefVal == "") {
				t.Errorf("--%s takes a value for %s and not elsewhere, or the other way round", f.Name, c.CommandPath())
			}
			takes[f.Name] = f.NoOptDefVal == ""
		})
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRootCommand(newTestEnv(t, nil), nil))
	if takes["json"] || !takes["runtime"] || !takes["target-id"] {
		t.Errorf("got %v", takes)
	}
}

func FuzzResolveCommandLine(f *testing.F) {
	for _, c := range commandCases {
		f.Add("browser\x00" + strings.Join(splitWords(c.line), "\x00"))
	}
	f.Add("browser\x00--\x00-\x00--=\x00-=x\x00--json=\x00\x00help")
	names := []string{"clank"}
	visitCommands(newRootCommand(newTestEnv(f, nil), nil), func(name string) { names = append(names, name) })
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		name, _, operands, err := resolveForTest(t, args)
		if !slices.Contains(names, name) {
			t.Errorf("%q: got command %q", args, name)
		}
		if err != nil {
			if !strings.Contains(err.Error(), " ") {
				t.Errorf("%q: got error %q, want a sentence", args, err)
			}
			return
		}
		rest := args
		for _, arg := range operands {
			i := slices.Index(rest, arg)
			if i < 0 {
				t.Fatalf("%q: got arguments %q, which are not given in this order", args, operands)
			}
			rest = rest[i+1:]
		}
	})
}
