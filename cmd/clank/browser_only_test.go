package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// buildBrowserOnly builds clank-browser.
func buildBrowserOnly(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "clank-browser")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "browseronly", "-ldflags", "-s -w", "-o", program,
		".").CombinedOutput()
	if err != nil {
		t.Fatalf("build clank-browser: %v\n%s", err, out)
	}
	return program
}

// The second program has what "clank browser" has, and says and asks the same.
func TestClankBrowserBinaryBehavesLikeTheSubcommand(t *testing.T) {
	t.Parallel()
	program := buildBrowserOnly(t)
	compare := func(address string, args []string, asked func() []recordedRequest) {
		t.Helper()
		want, wantAsked := runCommand(t.Context(), envForServer(t, address), append([]string{"browser"}, args...)...), asked()
		c := exec.CommandContext(t.Context(), program, args...)
		c.Env = append(os.Environ(), "CLANK_HOME="+t.TempDir(), "CLANK_BROWSER_URL="+address, "CLANK_BROWSER_TOKEN=s3")
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
			t.Fatal(err)
		}
		got := commandResult{code: c.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
		check.Diff(t, fmt.Sprintf("clank-browser %q differs from clank browser", args), got, want,
			cmp.AllowUnexported(commandResult{}))
		if diff := cmp.Diff(wantAsked, asked(), cmp.AllowUnexported(recordedRequest{})); diff != "" {
			t.Errorf("clank-browser %q asks otherwise than clank browser: %s", args, diff)
		}
	}
	nothing := func() []recordedRequest { return nil }
	for _, c := range commandCases {
		answer := c.answer
		if answer == "" {
			answer = `{"ok":true}`
		}
		address, asked := newScriptedServer(t, 200, answer)
		compare(address, splitWords(c.line), asked)
	}
	for _, section := range browserSections() {
		for _, b := range section.commands() {
			compare("http://127.0.0.1:1", append(splitWords(b.name), "--help"), nothing)
		}
	}
	for _, line := range []string{"", "--help", "help", "tbas", "tabs --nothing", "tabs", "snapshot --format x"} {
		compare("http://127.0.0.1:1", splitWords(line), nothing)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		out, err := exec.CommandContext(t.Context(), program, "completion", shell).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "clank-browser") {
			t.Errorf("clank-browser completion %s: %v, %s", shell, err, out)
		}
	}
	out, err := exec.CommandContext(t.Context(), program, cobra.ShellCompRequestCmd, "snap").Output()
	if err != nil || !strings.HasPrefix(string(out), "snapshot\t") {
		t.Errorf("clank-browser completes snap with %v, %q; want snapshot", err, out)
	}
	check.Must(t, t.Context().Err())
}

// newBrowserCommand builds one section alone when the word after "browser" begins a name in it.
func TestNoTwoSectionsHaveCommandsThatBeginWithTheSameWord(t *testing.T) {
	t.Parallel()
	in := map[string]string{}
	for _, section := range browserSections() {
		for _, b := range section.commands() {
			if other, taken := in[b.firstWord()]; taken && other != section.title {
				t.Errorf("%q begins names in %q and %q", b.firstWord(), other, section.title)
			}
			in[b.firstWord()] = section.title
		}
	}
}
