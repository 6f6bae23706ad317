package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"clank/sessions/access"
)

func TestTokensAreMadeListedAndRemoved(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	for _, step := range []struct {
		line  string
		usage bool
		says  string
	}{
		{"", true, "say what to do"},
		{"list", false, "There are none."},
		{"give script", true, "it takes add NAME, list, or remove NAME"},
		{"add", true, "give it a name"},
		{"add ../x", true, "give it a name"},
		{"add script --for everything", true, "--for takes control or page"},
		{"add script --days -1", true, "a number from 0 up"},
		{"add script one-more", false, "unexpected argument"},
		{"add page.1 --for page --days 2", false, ""},
		{"list", false, "page.1"},
		{"add page.1", false, "(clank tokens remove page.1)"},
		{"remove page.1", false, ""},
		{"list", false, "There are none."},
		{"list --help", false, "Makes secrets for programs of yours"},
	} {
		out, err := runTokens(file, step.line)
		if err != nil {
			out += err.Error()
		}
		var usage *usageError
		if step.usage && !errors.As(err, &usage) || !strings.Contains(out, step.says) {
			t.Errorf("tokens %s: got %v and %q, want %q", step.line, err, out, step.says)
		}
	}
}

func TestASecretIsPrintedOnceAndOpensWhatItIsFor(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens.json")
	out, err := runTokens(file, "add script --for page")
	if err != nil {
		t.Fatal(err)
	}
	secret := strings.TrimSpace(out)
	store, err := access.OpenTokens(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !store.Valid(secret, access.ScopePage) {
		t.Errorf("%q does not open the page", secret)
	}
	if store.Valid(secret, access.ScopeControl) {
		t.Error("it opens the control API, too")
	}
	if out, err := runTokens(file, "list"); err != nil || strings.Contains(out, secret) || !strings.Contains(out, "removed") {
		t.Errorf("got %v and %q, want no secret and no end", err, out)
	}
}

func runTokens(file, line string) (out string, err error) {
	var both strings.Builder
	c := tokensCommand{Stdout: &both, Stderr: &both, TokenFile: func() (string, error) { return file, nil }}
	err = c.runArgs(strings.Fields(line))
	return both.String(), err
}
