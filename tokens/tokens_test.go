package tokens_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/tokens"
)

func open(t *testing.T, path string, now func() time.Time) *tokens.Store {
	t.Helper()
	s, err := tokens.Open(path, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func issue(t *testing.T, s *tokens.Store, name string, scope tokens.Scope, holds time.Duration) string {
	t.Helper()
	secret, err := s.Issue(name, scope, holds)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestASecretOpensWhatItIsForAndIsKeptAsADigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "tokens.json")
	s := open(t, path, nil)
	secret := issue(t, s, "script", tokens.Control, 0)
	if !s.Valid(secret, tokens.Control) || !s.Valid(" "+secret+"\n", tokens.Page, tokens.Control) {
		t.Error("the secret does not open what it is for")
	}
	for _, wrong := range []string{"", secret[1:], secret + "x", strings.ToUpper(secret)} {
		if s.Valid(wrong, tokens.Control) {
			t.Errorf("%q opens it", wrong)
		}
	}
	if s.Valid(secret, tokens.Page, tokens.SignIn) || s.Valid(secret) {
		t.Error("the secret opens what it is not for")
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), secret) {
		t.Errorf("kept in clear text: %s, %v", data, err)
	}
	if digest := between(string(data), `"sha256": "`); s.Valid(digest, tokens.Control) {
		t.Error("what is kept opens it")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

func between(s, before string) string {
	_, after, _ := strings.Cut(s, before)
	within, _, _ := strings.Cut(after, `"`)
	return within
}

func TestATokenEndsWithItsTimeOrWhenItIsRemoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	now := time.Unix(1_800_000_000, 0)
	s := open(t, path, func() time.Time { return now })
	short := issue(t, s, "short", tokens.Page, time.Hour)
	long := issue(t, s, "long", tokens.Page, 0)
	now = now.Add(time.Hour - time.Second)
	if !s.Valid(short, tokens.Page) {
		t.Error("it ended early")
	}
	now = now.Add(time.Second)
	if s.Valid(short, tokens.Page) || !s.Valid(long, tokens.Page) {
		t.Error("the wrong one has ended")
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].Name != "long" {
		t.Errorf("listed %+v, %v", list, err)
	}
	if err := s.Remove("long"); err != nil || s.Valid(long, tokens.Page) {
		t.Errorf("removed: %v", err)
	}
	if err := s.Remove("long"); !errors.Is(err, tokens.ErrNotFound) {
		t.Errorf("removed again: %v, want ErrNotFound", err)
	}
	issue(t, s, "short", tokens.Page, 0)
	if _, err := s.Issue("short", tokens.Control, 0); !errors.Is(err, tokens.ErrExists) {
		t.Errorf("the name again: %v, want ErrExists", err)
	}
}

func TestAnotherProcessIsHeardOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	server, command := open(t, path, nil), open(t, path, nil)
	secret := issue(t, command, "script", tokens.Control, 0)
	if !server.Valid(secret, tokens.Control) {
		t.Error("a token made by another process does not count")
	}
	if err := command.Remove("script"); err != nil || server.Valid(secret, tokens.Control) {
		t.Errorf("a token removed by another process counts, %v", err)
	}
}

func TestTokensMadeAtOnceAreAllKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secrets := make([]string, 20)
	var wg sync.WaitGroup
	for i := range secrets {
		wg.Go(func() {
			s, err := tokens.Open(path, nil)
			if err == nil {
				secrets[i], err = s.Issue(strconv.Itoa(i), tokens.Control, 0)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := open(t, path, nil)
	for i, secret := range secrets {
		if !s.Valid(secret, tokens.Control) {
			t.Errorf("token %d was lost", i)
		}
	}
}

func TestSignInsAreBoundedAndEndBySigningOut(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tokens.json"), nil)
	keep := issue(t, s, "script", tokens.Page, 0)
	var all []string
	for range 51 {
		all = append(all, issue(t, s, "browser", tokens.SignIn, time.Hour))
	}
	if s.Valid(all[0], tokens.SignIn) || !s.Valid(all[1], tokens.SignIn) || !s.Valid(keep, tokens.Page) {
		t.Error("not the oldest sign-in made room")
	}
	if err := s.SignOut(all[1]); err != nil || s.Valid(all[1], tokens.SignIn) || !s.Valid(all[2], tokens.SignIn) {
		t.Errorf("signed out: %v", err)
	}
	if err := s.SignOut(keep); err != nil || !s.Valid(keep, tokens.Page) {
		t.Errorf("signing out ended a token, %v", err)
	}
}

func TestAFileThatCannotBeReadLetsNobodyInAndIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	s := open(t, path, nil)
	secret := issue(t, s, "script", tokens.Control, 0)
	for text, want := range map[string]string{"garbage": "remove the file", `{"version":7}`: "version is 7"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s.Valid(secret, tokens.Control) {
			t.Errorf("%s: somebody gets in", text)
		}
		if _, err := s.Issue("more", tokens.Control, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
		if data, err := os.ReadFile(path); err != nil || string(data) != text {
			t.Errorf("the file was changed to %q, %v", data, err)
		}
	}
}
