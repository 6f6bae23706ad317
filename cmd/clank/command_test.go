package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/internal/recording"
	"clank/internal/sqlite"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/internal/watches"
	"clank/llm/plain"
	"clank/sessions"
	"clank/sessions/access"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// newTestEnv returns an environment with a new home directory, without a terminal, and with only vars set.
func newTestEnv(tb testing.TB, vars map[string]string) *commandEnv {
	tb.Helper()
	all := map[string]string{"CLANK_HOME": tb.TempDir()}
	maps.Copy(all, vars)
	return &commandEnv{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, AbortContext: tb.Context(),
		Getenv: func(name string) string { return all[name] },
	}
}

// commandResult is the result of a command line.
type commandResult struct {
	stdout, stderr string
	code           int
}

// runCommand runs a command line in this process.
func runCommand(ctx context.Context, e *commandEnv, args ...string) commandResult {
	var stdout, stderr bytes.Buffer
	here := *e
	here.Stdout, here.Stderr = &stdout, &stderr
	code := runCommandLine(ctx, &here, args)
	return commandResult{stdout.String(), stderr.String(), code}
}

func TestHelpThatCannotBeWrittenIsAnError(t *testing.T) {
	for _, line := range []string{"--help", "help", "browser --help", "help browse"} {
		var stderr bytes.Buffer
		e := newTestEnv(t, nil)
		read, write := io.Pipe()
		check.Must(t, read.Close())
		e.Stdout, e.Stderr = write, &stderr
		check.Equal(t, line+": exit code", runCommandLine(t.Context(), e, strings.Fields(line)), exitFailed)
		if !strings.Contains(stderr.String(), io.ErrClosedPipe.Error()) {
			t.Errorf("%s: got %q, want why", line, stderr.String())
		}
	}
}

// commandStep is a command line and its expected result.
type commandStep struct {
	line  string // see [splitWords]
	code  int
	says  string // a part of what is printed, on stdout or stderr
	stdin string
}

// runSteps runs command lines one after another. A usage error must print only what is wrong and where to find help.
func runSteps(t *testing.T, e *commandEnv, steps ...commandStep) {
	t.Helper()
	for _, step := range steps {
		e.Stdin = strings.NewReader(step.stdin)
		got := runCommand(t.Context(), e, splitWords(step.line)...)
		if got.code != step.code || !strings.Contains(got.stdout+got.stderr, step.says) {
			t.Errorf("clank %s: exit %d, want %d and %q in\n%s%s", step.line, got.code, step.code, step.says, got.stdout,
				got.stderr)
		}
		if got.code == exitUsage && step.line != "" && (got.stdout != "" || !strings.HasPrefix(got.stderr, "clank") ||
			!strings.Contains(got.stderr, ` --help"`)) {
			t.Errorf("clank %s: got %+v, want that stderr says what is wrong and where help is", step.line, got)
		}
	}
}

// splitWords splits a line at spaces; single quotes group words.
func splitWords(line string) []string {
	var list []string
	quoted, open := false, false
	for _, r := range []byte(line) { // which need not be UTF-8
		switch {
		case r == '\'':
			quoted = !quoted
			if quoted && !open {
				list, open = append(list, ""), true
			}
		case r == ' ' && !quoted:
			open = false
		default:
			if !open {
				list, open = append(list, ""), true
			}
			list[len(list)-1] += string([]byte{r})
		}
	}
	return list
}

func TestWrongUseExitsWithTwoAndSaysWhy(t *testing.T) {
	t.Parallel()
	runSteps(t, newTestEnv(t, nil),
		commandStep{"", exitUsage, "Usage:", ""},
		commandStep{"nonsense", exitUsage, `no command "nonsense"`, ""},
		commandStep{"brose x", exitUsage, "did you mean browse or browser?", ""},
		commandStep{"browse", exitUsage, "say what to do", ""},
		commandStep{"browse --max-steps -1 x", exitUsage, "--max-steps -1", ""},
		commandStep{"browse --max-steps 0 x", exitUsage, "--max-steps 0", ""},
		commandStep{"browse --screenshot x.gif x", exitUsage, "--screenshot x.gif: a picture is", ""},
		commandStep{"sessions scripts rename a", exitUsage, "<new-name> is missing", ""},
		commandStep{"sessions scripts rename a b c", exitUsage, `unexpected argument "c"`, ""},
		commandStep{"records --kind x", exitUsage, "--kind takes one of browser_browse_call, browser", ""},
		commandStep{"browse --max-steps many x", exitUsage, `--max-steps takes a whole number, not "many"`, ""},
		commandStep{"browser --timeout soon tabs", exitUsage, "clank browser tabs: --timeout must be a whole number", ""},
		commandStep{"browse --json=maybe x", exitUsage, `--json takes true or false, not "maybe"`, ""},
		commandStep{"browse --no-such-flag x", exitUsage, "no flag --no-such-flag", ""},
		commandStep{"browse -sesion a x", exitUsage, "did you mean --session?", ""},
		commandStep{"browse one two", exitUsage, `clank browse: unexpected argument "two"`, ""},
		commandStep{"browse --screenshot /no/such/dir/a.png x", exitUsage, "no directory /no/such/dir", ""},
		commandStep{"browse --allow buy,fly x", exitUsage, "--allow fly: there are buy, delete, send", ""},
		commandStep{"browse --script x --model " + plain.ModelName, exitUsage, "needs no model", ""},
		commandStep{"version now", exitUsage, `unexpected argument "now"`, ""},
		commandStep{"sessions say bcdf23ghjk", exitUsage, "<text> is missing", ""},
		commandStep{"sessions show ''", exitUsage, "the id is empty", ""},
		commandStep{"serve --log loud", exitUsage, `--log takes debug, info, warn or error, not "loud"`, ""},
		commandStep{"share --for soon", exitUsage, `--for takes a duration such as 15m or 2h, not "soon"`, ""},
		commandStep{"records --since -1h", exitUsage, "--since takes a duration such as 30m or 24h, not -1h0m0s", ""},
		commandStep{"share --list --revoke", exitUsage, "give one of --list and --revoke", ""},
		commandStep{"restore ''", exitUsage, "the name of the file is empty", ""},
		commandStep{"sessions shwo x", exitUsage, "did you mean show?", ""},
		commandStep{"watches add", exitUsage, "<url> is missing", ""},
		commandStep{"watches add example.com --below 1 --says x", exitUsage, "give one of", ""},
		commandStep{"watches begin example.com", exitUsage, `unexpected argument "begin"`, ""},
		commandStep{"tokens", exitUsage, "name one of its commands: add, list, remove", ""},
		commandStep{"completion tcsh", exitUsage, "there is one for bash, zsh, fish", ""},
		commandStep{"completion", exitUsage, "<shell> is missing", ""},
		commandStep{"__complete export --p", exitDone, "--person\tthe PERSON, by ID or name\n", ""},
		commandStep{"help nonsense", exitUsage, `no command "nonsense"`, ""})
}

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	visitCommands(newRootCommand(e, nil), func(name string) {
		words := strings.Fields(name)
		asked, named := runCommand(t.Context(), e, append(words, "--help")...),
			runCommand(t.Context(), e, append([]string{"help"}, words...)...)
		if asked != named || asked.code != exitDone || asked.stderr != "" ||
			!strings.Contains(asked.stdout, "Usage:\n  clank "+name) {
			t.Errorf("help of %q: got %+v and %+v", name, asked, named)
		}
	})
	runSteps(t, e,
		commandStep{"--help", exitDone, "vault       store logins", ""}, commandStep{"-h", exitDone, "clank [command]", ""},
		commandStep{"help", exitDone, "clank [command]", ""}, commandStep{"-version", exitDone, "clank dev", ""},
		commandStep{"browse --help", exitDone, "130 stopped", ""},
		commandStep{"browse x -help", exitDone, "--screenshot FILE", ""},
		commandStep{"browse --help", exitDone, "--model MODEL", ""},
		commandStep{"serve --help", exitDone, `(default "127.0.0.1:8787")`, ""},
		commandStep{"browser help click", exitDone, "clank browser click <ref> [flags]", ""},
		commandStep{"browser help", exitDone, "124 timed out", ""},
		commandStep{"browser click e1 e2 e3 --help", exitDone, "--double", ""},
		commandStep{"help browser trace", exitDone, "stop", ""},
		commandStep{"browser wait --help", exitDone, "until the address is this", ""},
		commandStep{"tokens list --help", exitDone, "without the secrets", ""})
}

func TestCommandsThatNeedAServerSayHowToStartIt(t *testing.T) {
	t.Parallel()
	runSteps(t, newTestEnv(t, nil),
		commandStep{"sessions say bcdf23ghjk hello", exitFailed, `clank sessions say: no "clank serve" runs`, ""},
		commandStep{"watches add example.com", exitFailed, `clank watches add: no "clank serve" runs`, ""},
		commandStep{"browse --script none-such", exitFailed, "clank browse: there is no such script: none-such", ""})
}

func TestAnAddressInUseIsNamedWithTheWayOut(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	check.Must(t, err)
	defer other.Close()
	const serve = "serve --shop-addr 127.0.0.1:0 --watch-addr 127.0.0.1:0 --addr "
	at := other.Addr().String()
	taken := "another program uses " + at + "; end it or choose another address"
	runSteps(t, newTestEnv(t, map[string]string{"CLANK_NODE_TOKEN": strings.Repeat("secret", 10)}),
		commandStep{"mcp --http " + at, exitFailed, taken, ""},
		commandStep{serve + at, exitFailed, "another program uses that address; end it or choose another", ""},
		commandStep{serve + "127.0.0.1:0 --control-addr " + at, exitFailed, taken, ""},
		commandStep{serve + "127.0.0.1:0 --control-addr 127.0.0.1:0 --node-addr " + at, exitFailed, taken, ""})
}

func TestTokensAreMadeListedAndRemoved(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	runSteps(t, e,
		commandStep{"tokens list", exitDone, "There are none.", ""},
		commandStep{"tokens give script", exitUsage, `no command "tokens give"`, ""},
		commandStep{"tokens add", exitUsage, "<name> is missing", ""},
		commandStep{"tokens add ../x", exitUsage, "give it one of letters", ""},
		commandStep{"tokens add script --for everything", exitUsage, "--for takes control, page, metrics", ""},
		commandStep{"tokens add script --days -1", exitUsage, "a number from 0 up", ""},
		commandStep{"tokens add page.1 --for page --days 2", exitDone, "", ""},
		commandStep{"tokens list", exitDone, "page.1", ""},
		commandStep{"tokens add page.1", exitFailed, "(clank tokens remove page.1)", ""},
		commandStep{"tokens remove page.1", exitDone, "", ""},
		commandStep{"tokens list", exitDone, "There are none.", ""})
	secret := strings.TrimSpace(runCommand(t.Context(), e, "tokens", "add", "script", "--for", "page").stdout)
	check := func(scope access.Scope, want bool) {
		if err := withTokens(e, nil, func(store *access.TokenStore) error {
			if got := store.Valid(secret, scope); got != want {
				t.Errorf("it opens %s: %v, want %v", scope, got, want)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	check(access.ScopePage, true)
	check(access.ScopeControl, false)
	if got := runCommand(t.Context(), e, "tokens", "list"); strings.Contains(got.stdout, secret) ||
		!strings.Contains(got.stdout, "removed") {
		t.Errorf("got %+v, want no secret and no end", got)
	}
}

func TestWatchesAreListedAndEndedInTheTerminal(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	runSteps(t, e, commandStep{"watches", exitDone, "no page is watched", ""},
		commandStep{"sessions --json", exitDone, "[]\n", ""}, commandStep{"sessions scripts --json", exitDone, "[]\n", ""})
	if err := withServerOrDatabase(t.Context(), e, nil, func(db *sqlite.DB) error {
		return db.AddWatch(t.Context(), watches.Watch{
			ID: "w1", URL: "https://shop.test/", What: "cheaper", State: watches.StateActive, NextCheck: time.Now(),
			LastNotice: &watches.Notice{Text: "It is $18 now"},
		}, 1, 1)
	}); err != nil {
		t.Fatal(err)
	}
	runSteps(t, e,
		commandStep{"watches", exitDone, "w1  active", ""},
		commandStep{"watches", exitDone, "It is $18 now", ""},
		commandStep{"watches --json", exitDone, `"url": "https://shop.test/"`, ""},
		commandStep{"watches end w1", exitDone, "ended: w1", ""},
		commandStep{"watches --json", exitDone, "[]\n", ""},
		commandStep{"watches --all", exitDone, "w1", ""},
		commandStep{"watches end w9", exitFailed, watches.ErrNotFound.Error() + ` as w9; "clank watches" lists them`, ""})
}

// vaultSteps store logins and use them. No output contains "hunter2" or the secret of the code, except as part of a
// usage error.
var vaultSteps = []commandStep{
	{"vault status", exitDone, "made with the first entry", ""},
	{"vault", exitUsage, "name one of its commands", ""},
	{"vault add", exitUsage, "<name> is missing", ""},
	{"vault list shop", exitUsage, `unexpected argument "shop"`, ""},
	{"vault list", exitDone, "the vault is empty", ""},
	{"vault add shop", exitUsage, "--origin", ""},
	{"vault add shop --origin http://shop.example", exitUsage, "http", "hunter2!\n"},
	{"vault add shop --origin https://shop.example", exitFailed, "nothing came on stdin", ""},
	{"setup key NOSUCH", exitFailed, "no key called NOSUCH", "x\n"},
	{"setup key OPENAI_API_KEY", exitDone, "forgets OPENAI_API_KEY", "\n"},
	{"vault add shop --origin https://shop.example", exitFailed, "fewer than 4", "abc\n"},
	{"vault add shop hunter2! --origin https://shop.example", exitUsage, "unexpected argument", ""},
	{
		"vault add shop --origin https://bücher.example --user ada --for-user 42 --totp", exitDone, "xn--bcher-kva.example",
		"hunter2!\nJBSWY3DPEHPK3PXP\n",
	},
	{
		"vault add code --origin https://shop.example --no-password --for-role 7", exitDone,
		"code is kept for https://shop.example", "JBSWY3DPEHPK3PXP",
	},
	{
		"vault add code --origin https://other.example", exitFailed,
		"there is an entry code already, for https://shop.example; nothing was changed: --replace", "hunter2!\n",
	},
	{
		"vault add code --replace --origin https://shop.example --no-password --for-role 7", exitDone,
		"code is kept for https://shop.example", "JBSWY3DPEHPK3PXP",
	},
	{"vault list", exitDone, "xn--bcher-kva.example (bücher.example)", ""},
	{"vault list", exitDone, "terminal, dashboard, role 7", ""},
	{"vault list --json", exitDone, `"hasTOTP": true`, ""},
	{"vault show shop", exitDone, "user 42", ""},
	{"vault show code --json", exitDone, `"hasPassword": false`, ""},
	{"vault show nosuch", exitFailed, "clank vault show: there is no such entry", ""},
	{"vault test shop", exitDone, "opens for https://xn--bcher-kva.example", ""},
	{"vault test shop --origin https://evil.example", exitFailed, "not for this page", ""},
	{"vault status --json", exitDone, `"entries": 2`, ""},
	{"vault rekey", exitDone, "2 logins", ""},
	{"vault test shop", exitDone, "opens", ""},
	{"vault remove shop", exitDone, "forgotten", ""},
	{"vault remove shop", exitFailed, "no such entry", ""},
	{"vault list", exitDone, "code", ""},
}

func TestTheVaultIsWorkedFromTheTerminalAndShowsNoSecret(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, map[string]string{"CLANK_VAULT_KEYRING": "off"})
	runSteps(t, e, vaultSteps...)
	for _, step := range vaultSteps {
		if step.stdin == "" && step.code != exitUsage {
			if got := runCommand(t.Context(), e, splitWords(step.line)...); strings.Contains(got.stdout+got.stderr, "hunter2") ||
				strings.Contains(got.stdout+got.stderr, "JBSW") {
				t.Errorf("clank %s shows the secret: %+v", step.line, got)
			}
		}
	}
}

func TestTheStatusOfTheVaultSaysWhereItsKeyIs(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("A", 43) + "="
	add := commandStep{"vault add shop --origin https://shop.example", exitDone, "is kept", "pass-word"}
	e := newTestEnv(t, map[string]string{"CLANK_VAULT_KEYRING": "off", "CLANK_VAULT_KEY": key})
	runSteps(t, e, add, commandStep{"vault status", exitDone, "key    CLANK_VAULT_KEY", ""})
	if got := runCommand(t.Context(), e, "vault", "status"); strings.Contains(got.stdout, key) {
		t.Errorf("the key is shown: %+v", got)
	}

	home, environ := newTestHome(t)
	e = envFromList(t, append(environ, "CLANK_VAULT_KEYRING=off"))
	runSteps(t, e, add, commandStep{"vault status", exitDone, "vault.key: whoever can read it", ""})
	check.Must(t, os.Remove(home+"/vault.key"))
	runSteps(t, e, commandStep{"vault status", exitFailed, "the key of the vault is not there", ""},
		commandStep{"vault add other --origin https://shop.example", exitFailed, "not there", "hunter3!\n"})
	server := startServer(t, home, append(environ, "CLANK_VAULT_KEYRING=off"))
	awaitOutput(t, server.stderr, "the vault cannot be used")
}

// The program runs in a separate process, because its environment determines the session bus.
func TestAnUnusableKeyringIsReported(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent")
	if p := startProgram(t, home, environ, "vault", "status"); p.exitCode(t) != exitDone ||
		!strings.Contains(p.stdout.text(), "keyring  not used") {
		t.Errorf("got %s %s", p.stdout.text(), p.stderr.text())
	}
}

func TestWithoutATerminalNobodyIsAsked(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	if startPrompt(t.Context(), e, nil) != nil {
		t.Error("without a terminal somebody is asked")
	}
	e.TTY = func() (io.ReadCloser, error) { return io.NopCloser(new(bytes.Buffer)), nil }
	endPrompt(e, startPrompt(t.Context(), e, nil))
}

func TestTheLogHasNoTimesAndRespectsItsLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{
		"info": "level=INFO msg=here\nlevel=WARN msg=there\n", "warn": "level=WARN msg=there\n",
		"nonsense": "level=WARN msg=there\n",
	} {
		var stderr bytes.Buffer
		l := (&commandEnv{Stderr: &stderr}).newLogger(level, logText)
		l.Info("here")
		l.Warn("there")
		check.Equal(t, level, stderr.String(), want)
	}
}

func TestOnlyACloseWordIsMeant(t *testing.T) {
	t.Parallel()
	known := []string{
		"open", "close", "focus", "snapshot", "--target-id", "--browser-profile", "browser.devToolsPort",
		"browser.devUdpPort", "browser.devTcpPort", "browser.devLogPort",
	}
	for word, want := range map[string]string{
		"opne":      "; did you mean open?",
		"clsoe":     "; did you mean close?",
		"snapshoot": "; did you mean snapshot?",
		// Names that are long and alike.
		"browser.devToolPort": "; did you mean browser.devToolsPort?",
		"--profile":           "; did you mean --browser-profile?", // the end of its name
		"--targt":             "",
		"bogus":               "", // focus is as long, and has another beginning
		"id":                  "",
		"fly":                 "",
		"":                    "",
	} {
		check.Equal(t, word, didYouMean(word, known), want)
	}
}

// visitCommands calls visit with the name of every command below c, without "clank".
func visitCommands(c *cobra.Command, visit func(name string)) {
	for _, below := range c.Commands() {
		visit(strings.TrimPrefix(below.CommandPath(), "clank "))
		visitCommands(below, visit)
	}
}

// resolveForTest parses a command line with cobra and pflag: words, flags and, after "--", arguments.
func resolveForTest(tb testing.TB, args []string) (name, read string, operands []string, err error) {
	tb.Helper()
	line, err := resolveCommandLine(newRootCommand(newTestEnv(tb, nil), args), args)
	return strings.TrimPrefix(line.command.CommandPath(), "clank "),
		strings.Join(append(append(line.words, "--"), line.operands...), " "), line.operands, err
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
		"type e1 caf\xe9":            "text is not valid UTF-8, and nothing was sent: convert it",
		"snapshot --query caf\xe9":   "an argument is not valid UTF-8",
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
		"snapshot --query --help x":  `unexpected argument "x"`,
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

// manDir is the output directory of make man. The pages are generated here rather than by a command, because linking
// the generator would slow down each start of the program.
var manDir = flag.String("man.dir", "", "write the manual pages into this `folder`")

// escapeOperands keeps operands such as <file> from being dropped as HTML by the generator of manual pages.
func escapeOperands(c *cobra.Command) {
	c.Use = strings.ReplaceAll(c.Use, "<", `\<`)
	for _, below := range c.Commands() {
		escapeOperands(below)
	}
}

func TestEveryCommandHasAManualPage(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
	}
	root := newRootCommand(newTestEnv(t, nil), nil)
	escapeOperands(root)
	check.Must(t, doc.GenManTree(root, &doc.GenManHeader{Title: "CLANK", Section: "1", Source: "clank"}, dir))
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
		c.InitDefaultHelpFlag() // it belongs to the usage
		text := strings.ReplaceAll(string(page), `\`, "")
		if err != nil || c.Short == "" || !strings.Contains(text, " - "+c.Short) ||
			!strings.Contains(text, "fB"+c.UseLine()+"fP") {
			t.Errorf("%s: %v in %.200q, want its name, purpose and usage: %s", c.CommandPath(), err, page, c.UseLine())
		}
		for _, below := range c.Commands() {
			visit(below)
		}
	}
	visit(newRootCommand(newTestEnv(t, nil), nil))
}

// completionCases are command lines whose last word is being typed, with completions that must and must not be
// offered.
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
	{"sessions show ", "FILES", ""},
	{"sessions export ", "FILES", ""},
	{"restore ", "FILES", ""},
	{"backup --encrypt ", "FILES", ""},
	{"export --person ada ", "FILES", ""},
	{"forget --person ", "", "FILES"},
	{"config import ", "FILES", ""},
	{"browse --downloads ", "FILES", ""},
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
		got := runCommand(t.Context(), e,
			append([]string{cobra.ShellCompNoDescRequestCmd}, strings.Split(tc.line, " ")...)...)
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

const (
	presetKey = "agentStack.preset"
	taskLimit = "agentStack.runtimeConfig.budget.task"
)

func TestSettingsAreReadAndChangedInTheTerminal(t *testing.T) {
	t.Parallel()
	runSteps(t, newTestEnv(t, nil),
		commandStep{"config", exitDone, "nothing is set by hand", ""},
		commandStep{"config set " + presetKey + " claude_api", exitDone, "not ready yet: local_browser_agent with the " +
			"model anthropic:", ""},
		commandStep{"config get " + presetKey, exitDone, "claude_api\n", ""},
		commandStep{"config export", exitDone, `"agentStack.preset": "claude_api",`, ""},
		commandStep{"config import /no/such/file", exitFailed, "no such file", ""},
		commandStep{"config import /dev/null", exitFailed, "/dev/null: read the settings", ""},
		commandStep{"browse hello", exitFailed, "set ANTHROPIC_API_KEY", ""},
		commandStep{"setup", exitFailed, "anthropic", ""},
		commandStep{"setup discord", exitDone, "permissions=274881170432", ""},
		commandStep{"doctor", exitFailed, "✓  budget", ""},
		commandStep{"doctor --json", exitFailed, `"name": "search"`, ""},
		commandStep{"config --json", exitDone, `"value": "claude_api"`, ""},
		commandStep{"config unset " + presetKey, exitDone, "saved: agentStack.preset is empty", ""},
		commandStep{"config", exitDone, "nothing is set by hand", ""},
		commandStep{"doctor", exitDone, "plain:steps (chosen)", ""},
		commandStep{"config set agentStack.runtimeConfig.browser.noSandbox on", exitDone, "saved: ", ""},
		commandStep{"doctor", exitDone, "  Browsers run without Chromium’s sandbox: ", ""},
		commandStep{"doctor --json", exitDone, `"serious": true`, ""},
		commandStep{"config unset agentStack.runtimeConfig.browser.noSandbox", exitDone, "saved: ", ""},
		commandStep{"config set interaction.brain.model openai:gpt-4.1", exitDone, "saved: ", ""},
		commandStep{
			"doctor", exitDone, "openai:gpt-4.1 (OpenAI takes it back on 2027-01-14; gpt-6-luna takes its place)",
			"",
		},
		commandStep{"config unset interaction.brain.model", exitDone, "saved: ", ""},
		commandStep{"config set " + taskLimit + " '2 beans'", exitFailed, `unlike "beans"`, ""},
		commandStep{"config set " + presetKey, exitUsage, "<value> is missing", ""},
		commandStep{"config get agentStack.prest", exitUsage, "did you mean agentStack.preset?", ""},
		commandStep{"config set OPENAI_API_KEY sk-1", exitUsage, "OPENAI_API_KEY_FILE", ""})
}

func configuredFromTheTerminal(t *testing.T, r *serverFixture) {
	t.Helper()
	r.openDashboard(t)
	say := func(want string, args ...string) {
		t.Helper()
		if got := runCommand(t.Context(), r.env, args...); got.code != exitDone ||
			!strings.Contains(got.stdout+got.stderr, want) {
			t.Errorf("clank %s: got %+v, want %q", strings.Join(args, " "), got, want)
		}
	}
	say("saved", "config", "set", taskLimit, "7 calls")
	say("7 calls", "config")
	say("a task may take 7 calls", "doctor")
	say("/login#", "login")
	say("saved", "config", "unset", taskLimit) // the last that was set by hand
	if got := r.server.Settings.Current().Budget.Task; got == "7 calls" {
		t.Errorf("the server still has %q", got)
	}

	said := make(chan struct{})
	r.script.Set([]llmtest.Turn{
		func(req llmtest.Request) llmtest.Reply { <-said; return openPage(r.site.URL)(req) },
		func(req llmtest.Request) llmtest.Reply {
			if strings.Contains(string(req.Body), "only the late ones") {
				return llmtest.Say("late ones")(req)
			}
			return llmtest.Say("nothing was heard")(req)
		},
	})
	from := sessions.Origin{
		Kind: sessions.FromDiscord, Guild: r.guild.ID, Channel: r.room.ID, User: r.ada.ID,
		UserName: "ada",
	}
	ended := make(chan sessions.TaskRecord, 1)
	go func() {
		rec, err := r.server.Sessions.Run(context.WithoutCancel(t.Context()),
			sessions.Task{Prompt: "which ferries?", Origin: from}, nil)
		if err != nil {
			t.Error(err)
		}
		ended <- rec
	}()
	ev := r.awaitState(sessions.TaskRunning)
	say("sent to task "+ev.Record.ID, "sessions", "say", ev.Record.ID, "only the late ones")
	close(said)
	if rec := <-ended; rec.Answer != "late ones" {
		t.Errorf("the answer is %q", rec.Answer)
	}
	say("no page is watched", "watches")
	if got := runCommand(t.Context(), r.env, "sessions", "say", ev.Record.ID, "more"); got.code != exitFailed ||
		!strings.Contains(got.stderr, "start a task in it") {
		t.Errorf("a task that has ended: got %+v", got)
	}
}
