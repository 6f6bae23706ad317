package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"clank/internal/sqlite"
	"clank/internal/watches"
	"clank/llm/plain"
	"clank/sessions/access"
)

// newTestEnv makes a world whose home is a new directory, in which nobody is at the terminal, and nothing else is set but vars.
func newTestEnv(tb testing.TB, vars map[string]string) *commandEnv {
	tb.Helper()
	all := map[string]string{"CLANK_HOME": tb.TempDir()}
	maps.Copy(all, vars)
	return &commandEnv{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, AbortContext: tb.Context(),
		Getenv: func(name string) string { return all[name] },
	}
}

// commandResult is what a command line came to.
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

// commandStep is a command line and what must come of it.
type commandStep struct {
	line  string // see [splitWords]
	code  int
	says  string // a part of what is printed, on stdout or stderr
	stdin string
}

// runSteps runs one command line after the other in a world. Wrong use must print nothing but what is wrong and where help is.
func runSteps(t *testing.T, e *commandEnv, steps ...commandStep) {
	t.Helper()
	for _, step := range steps {
		e.Stdin = strings.NewReader(step.stdin)
		got := runCommand(t.Context(), e, splitWords(step.line)...)
		if got.code != step.code || !strings.Contains(got.stdout+got.stderr, step.says) {
			t.Errorf("clank %s: exit %d, want %d and %q in\n%s%s", step.line, got.code, step.code, step.says, got.stdout, got.stderr)
		}
		if got.code == exitUsage && step.line != "" && (got.stdout != "" || !strings.HasPrefix(got.stderr, "clank") || !strings.Contains(got.stderr, ` --help"`)) {
			t.Errorf("clank %s: got %+v, want that stderr says what is wrong and where help is", step.line, got)
		}
	}
}

// splitWords takes a line apart at its spaces; single quotes hold words together.
func splitWords(line string) []string {
	var list []string
	quoted, open := false, false
	for _, r := range line {
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
			list[len(list)-1] += string(r)
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
		commandStep{"browse --max-steps many x", exitUsage, `--max-steps takes a whole number, not "many"`, ""},
		commandStep{"browse --json=maybe x", exitUsage, `--json takes true or false, not "maybe"`, ""},
		commandStep{"browse --no-such-flag x", exitUsage, "no flag --no-such-flag", ""},
		commandStep{"browse -sesion a x", exitUsage, "did you mean --session?", ""},
		commandStep{"browse one two", exitUsage, `clank browse: unexpected argument "two"`, ""},
		commandStep{"browse --screenshot /no/such/dir/a.png x", exitUsage, "no directory /no/such/dir", ""},
		commandStep{"browse --allow buy,fly x", exitUsage, "--allow fly: there are buy, delete, send", ""},
		commandStep{"browse --script x --model " + plain.ModelName, exitUsage, "needs no model", ""},
		commandStep{"version now", exitUsage, `unexpected argument "now"`, ""},
		commandStep{"sessions say bcdf23ghjk", exitUsage, "<text> is missing", ""},
		commandStep{"sessions shwo x", exitUsage, "did you mean show?", ""},
		commandStep{"watches add", exitUsage, "<url> is missing", ""},
		commandStep{"watches add example.com --below 1 --says x", exitUsage, "give one of", ""},
		commandStep{"watches begin example.com", exitUsage, `unexpected argument "begin"`, ""},
		commandStep{"tokens", exitUsage, "name one of its commands: add, list, remove", ""},
		commandStep{"completion tcsh", exitUsage, "there is one for bash, zsh, fish", ""},
		commandStep{"completion", exitUsage, "<shell> is missing", ""},
		commandStep{"help nonsense", exitUsage, `no command "nonsense"`, ""})
}

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	visitCommands(newRootCommand(e, nil), func(name string) {
		words := strings.Fields(name)
		asked, named := runCommand(t.Context(), e, append(words, "--help")...), runCommand(t.Context(), e, append([]string{"help"}, words...)...)
		if asked != named || asked.code != exitDone || asked.stderr != "" || !strings.Contains(asked.stdout, "Usage:\n  clank "+name) {
			t.Errorf("help of %q: got %+v and %+v", name, asked, named)
		}
	})
	runSteps(t, e,
		commandStep{"--help", exitDone, "vault       store logins", ""}, commandStep{"-h", exitDone, "clank [command]", ""},
		commandStep{"help", exitDone, "clank [command]", ""}, commandStep{"-version", exitDone, "clank dev", ""},
		commandStep{"browse --help", exitDone, "130 stopped", ""}, commandStep{"browse x -help", exitDone, "--screenshot FILE", ""},
		commandStep{"browse --help", exitDone, "--model MODEL", ""}, commandStep{"serve --help", exitDone, `(default "127.0.0.1:8787")`, ""},
		commandStep{"browser help click", exitDone, "clank browser click <ref> [flags]", ""}, commandStep{"browser help", exitDone, "124 timed out", ""},
		commandStep{"browser click e1 e2 e3 --help", exitDone, "--double", ""}, commandStep{"help browser trace", exitDone, "stop", ""},
		commandStep{"browser wait --help", exitDone, "until the address is this", ""}, commandStep{"tokens list --help", exitDone, "without the secrets", ""})
}

func TestCommandsThatNeedAServerSayHowToStartIt(t *testing.T) {
	t.Parallel()
	runSteps(t, newTestEnv(t, nil),
		commandStep{"sessions say bcdf23ghjk hello", exitFailed, `clank sessions say: no "clank serve" runs`, ""},
		commandStep{"watches add example.com", exitFailed, `clank watches add: no "clank serve" runs`, ""},
		commandStep{"browse --script none-such", exitFailed, "clank browse: there is no such script: none-such", ""})
}

func TestTokensAreMadeListedAndRemoved(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	runSteps(t, e,
		commandStep{"tokens list", exitDone, "There are none.", ""},
		commandStep{"tokens give script", exitUsage, `no command "tokens give"`, ""},
		commandStep{"tokens add", exitUsage, "<name> is missing", ""},
		commandStep{"tokens add ../x", exitUsage, "give it one of letters", ""},
		commandStep{"tokens add script --for everything", exitUsage, "--for takes control or page", ""},
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
	if got := runCommand(t.Context(), e, "tokens", "list"); strings.Contains(got.stdout, secret) || !strings.Contains(got.stdout, "removed") {
		t.Errorf("got %+v, want no secret and no end", got)
	}
}

func TestWatchesAreListedAndEndedInTheTerminal(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	runSteps(t, e, commandStep{"watches", exitDone, "no page is watched", ""})
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
		commandStep{"watches end w9", exitFailed, watches.ErrNotFound.Error(), ""})
}

// vaultSteps keep logins, and use them. None prints "hunter2" or the secret of the code, except as a word of wrong use.
var vaultSteps = []commandStep{
	{"vault status", exitDone, "made with the first entry", ""},
	{"vault", exitUsage, "name one of its commands", ""},
	{"vault add", exitUsage, "<name> is missing", ""},
	{"vault list shop", exitUsage, `unexpected argument "shop"`, ""},
	{"vault list", exitDone, "the vault is empty", ""},
	{"vault add shop", exitUsage, "--origin", ""},
	{"vault add shop --origin http://shop.example", exitUsage, "http", "hunter2!\n"},
	{"vault add shop --origin https://shop.example", exitFailed, "nothing came on stdin", ""},
	{"vault add shop --origin https://shop.example", exitFailed, "fewer than 4", "abc\n"},
	{"vault add shop hunter2! --origin https://shop.example", exitUsage, "unexpected argument", ""},
	{"vault add shop --origin https://bücher.example --user ada --for-user 42 --totp", exitDone, "xn--bcher-kva.example", "hunter2!\nJBSWY3DPEHPK3PXP\n"},
	{"vault add code --origin https://shop.example --no-password --for-role 7", exitDone, "code is kept for https://shop.example", "JBSWY3DPEHPK3PXP"},
	{"vault list", exitDone, "xn--bcher-kva.example (bücher.example)", ""},
	{"vault list", exitDone, "terminal, dashboard, role 7", ""},
	{"vault list --json", exitDone, `"hasTOTP": true`, ""},
	{"vault show shop", exitDone, "user 42", ""},
	{"vault show code --json", exitDone, `"hasPassword": false`, ""},
	{"vault show nosuch", exitFailed, "clank vault show: there is no such entry", ""},
	{"vault test shop", exitDone, "opens for https://xn--bcher-kva.example", ""},
	{"vault test shop --origin https://evil.example", exitFailed, "not for this page", ""},
	{"vault status --json", exitDone, `"entries": 2`, ""},
	{"vault rekey", exitDone, "2 entries", ""},
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
			if got := runCommand(t.Context(), e, splitWords(step.line)...); strings.Contains(got.stdout+got.stderr, "hunter2") || strings.Contains(got.stdout+got.stderr, "JBSW") {
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
	if err := os.Remove(home + "/vault.key"); err != nil {
		t.Fatal(err)
	}
	runSteps(t, e, commandStep{"vault status", exitFailed, "the key of the vault is not there", ""},
		commandStep{"vault add other --origin https://shop.example", exitFailed, "not there", "hunter3!\n"})
	server := startServer(t, home, append(environ, "CLANK_VAULT_KEYRING=off"))
	awaitOutput(t, server.stderr, "the vault cannot be used")
}

// TestTheKeyringIsReachedOverTheBus runs the program, whose environment says where the bus is.
func TestAKeyringThatCannotBeUsedIsTold(t *testing.T) {
	t.Parallel()
	home, environ := newTestHome(t)
	environ = append(environ, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent")
	if p := startProgram(t, home, environ, "vault", "status"); p.exitCode(t) != exitDone || !strings.Contains(p.stdout.text(), "keyring  not used") {
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

func TestTheLogHasNoTimesAndKeepsItsLevel(t *testing.T) {
	t.Parallel()
	for level, want := range map[string]string{
		"info": "level=INFO msg=here\nlevel=WARN msg=there\n", "warn": "level=WARN msg=there\n", "nonsense": "level=WARN msg=there\n",
	} {
		var stderr bytes.Buffer
		l := (&commandEnv{Stderr: &stderr}).newLogger(level)
		l.Info("here")
		l.Warn("there")
		if got := stderr.String(); got != want {
			t.Errorf("%s: got %q, want %q", level, got, want)
		}
	}
}

func TestAnExitHasItsCodeAndItsReason(t *testing.T) {
	t.Parallel()
	why := errors.New("the reason")
	if err := error(&exitError{Code: 3, Err: why}); err.Error() != "the reason" || !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if err := error(&exitError{Code: 3}); err.Error() != "exit 3" {
		t.Errorf("got %v", err)
	}
	if err := usagef("so: %w", why); err.Error() != "so: the reason" || !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyACloseWordIsMeant(t *testing.T) {
	t.Parallel()
	known := []string{"open", "close", "snapshot", "--target-id", "--browser-profile"}
	for word, want := range map[string]string{
		"opne":      "; did you mean open?",
		"clsoe":     "; did you mean close?",
		"snapshoot": "; did you mean snapshot?",
		"--profile": "; did you mean --browser-profile?", // the end of its name
		"--targt":   "",
		"id":        "",
		"fly":       "",
		"":          "",
	} {
		if got := didYouMean(word, known); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}
