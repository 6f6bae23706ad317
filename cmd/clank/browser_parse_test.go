package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFlagsMayStandAnywhere(t *testing.T) {
	none := map[string]string{}
	for line, want := range map[string]parsedArgs{
		"--json tabs":                  {Name: "tabs", Global: map[string]string{"json": "true"}, Own: none},
		"tabs -json":                   {Name: "tabs", Global: map[string]string{"json": "true"}, Own: none},
		"--timeout 5 tabs --timeout=6": {Name: "tabs", Global: map[string]string{"timeout": "6"}, Own: none},
		"type --submit e1 --json a":    {Name: "type", Args: []string{"e1", "a"}, Global: map[string]string{"json": "true"}, Own: map[string]string{"submit": "true"}},
		"--full-page screenshot":       {Name: "screenshot", Global: none, Own: map[string]string{"full-page": "true"}},
		"--target-id t1 cookies clear": {Name: "cookies clear", Global: none, Own: map[string]string{"target-id": "t1"}},
		"cookies --json set a b":       {Name: "cookies set", Args: []string{"a", "b"}, Global: map[string]string{"json": "true"}, Own: none},
		"--url S wait --url P":         {Name: "wait", Global: map[string]string{"url": "S"}, Own: map[string]string{"url": "P"}},
		"cookies --url S set a b":      {Name: "cookies set", Args: []string{"a", "b"}, Global: map[string]string{"url": "S"}, Own: none},
		"type e1 -- --json -- x":       {},
		"type e1 -- --json":            {Name: "type", Args: []string{"e1", "--json"}, Global: none, Own: none},
		"evaluate --fn --x":            {Name: "evaluate", Global: none, Own: map[string]string{"fn": "--x"}},
		"evaluate --fn=a=b":            {Name: "evaluate", Global: none, Own: map[string]string{"fn": "a=b"}},
		"evaluate --fn=":               {Name: "evaluate", Global: none, Own: map[string]string{"fn": ""}},
		"select e1 set clear":          {Name: "select", Args: []string{"e1", "set", "clear"}, Global: none, Own: none},
		"press help":                   {Name: "press", Args: []string{"help"}, Global: none, Own: none},
		"--expect-final tabs":          {Name: "tabs", Global: map[string]string{"expect-final": "true"}, Own: none},
	} {
		got, err := parseForTest(splitWords(line))
		if want.Name == "" {
			if err == nil {
				t.Errorf("%s: got %+v, want an error", line, got)
			}
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", line, err, diff)
		}
	}
}

func TestWrongUseIsExplained(t *testing.T) {
	for line, want := range map[string]string{
		"":                           "no command is given",
		"tabz":                       `there is no command "tabz"; did you mean tabs?`,
		"set":                        "set needs one more word: viewport",
		"set lokale de":              `there is no command "set lokale"; did you mean locale?`,
		"storage local":              "storage local needs one more word: get, set, clear",
		"click":                      "<ref> is missing",
		"click e1 e2":                `unexpected argument "e2"`,
		"cookies foo":                `unexpected argument "foo"`,
		"tabs --target-id t1":        "there is no flag --target-id",
		"--full-page click e1":       "click takes no flag --full-page",
		"click e1 --dubble":          "did you mean --double?",
		"click e1 --profile w":       "did you mean --browser-profile?",
		"type e1 --verylong":         `put "--" before text that begins with a dash`,
		"click e1 --timeout-ms":      "--timeout-ms needs a value",
		"click e1 --timeout-ms 1.5":  "--timeout-ms must be a whole number",
		"click e1 --timeout-ms 0x1":  "--timeout-ms must be a whole number",
		"click e1 --timeout-ms -1":   "--timeout-ms must be a whole number",
		"tabs --timeout soon":        "--timeout must be a whole number",
		"tabs --json=maybe":          "--json is either given or not",
		"set geo 1 2 --accuracy x":   "--accuracy must be a number",
		"set geo 1 2 --accuracy NaN": "--accuracy must be a number",
	} {
		got := envForServer(t, "http://127.0.0.1:1").run(t.Context(), splitWords(line)...)
		if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, `--help"`) {
			t.Errorf("%q: got %+v, want code 2 and %q", line, got, want)
		}
	}
}

func TestAFlagTakesAValueAlwaysOrNever(t *testing.T) {
	if name := conflictingFlag(); name != "" {
		t.Errorf("--%s takes a value for one command and none for another", name)
	}
}

func TestBrowserHelp(t *testing.T) {
	for line, want := range map[string]string{
		"--help":                     "124 timed out",
		"help":                       "clank browser <command> --help",
		"help click":                 "Usage: clank browser click <ref> [flags]",
		"click -h":                   "--double",
		"click e1 e2 e3 --help":      "--double",
		"trace --help":               "trace stop",
		"cookies --help":             "clank browser cookies set <name> <value>",
		"wait --help":                "the server's address goes before its name",
		"snapshot --format --help x": "",
	} {
		got := envForServer(t, "http://127.0.0.1:1").run(t.Context(), splitWords(line)...)
		if want == "" {
			if got.code != 2 {
				t.Errorf("%s: got %+v, want wrong use: the flag has a value", line, got)
			}
			continue
		}
		if got.code != 0 || got.stderr != "" || !strings.Contains(got.stdout, want) {
			t.Errorf("%s: got %+v, want %q", line, got, want)
		}
	}
	for _, name := range browserCommandNames() {
		got := envForServer(t, "").run(t.Context(), append(splitWords(name), "--help")...)
		if got.code != 0 || !strings.HasPrefix(got.stdout, "Usage: clank browser "+name) {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range commandCases {
		f.Add(strings.Join(splitWords(c.line), "\x00"))
	}
	f.Add("--\x00-\x00--=\x00-=x\x00--json=\x00\x00help")
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		got, err := parseForTest(args)
		if err != nil {
			if !strings.Contains(err.Error(), " ") {
				t.Errorf("%q: got error %q, want a sentence", args, err)
			}
			return
		}
		if !got.Help && !slices.Contains(browserCommandNames(), got.Name) {
			t.Errorf("%q: got command %q", args, got.Name)
		}
		rest := args
		for _, arg := range got.Args {
			i := slices.Index(rest, arg)
			if i < 0 {
				t.Fatalf("%q: got arguments %q, which are not given in this order", args, got.Args)
			}
			rest = rest[i+1:]
		}
	})
}
