package access_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/internal/test/check"
	"clank/sessions/access"
)

func open(t *testing.T, path string) *access.TokenStore {
	t.Helper()
	s, err := access.OpenTokens(path)
	check.Must(t, err)
	return s
}

func issue(t *testing.T, s *access.TokenStore, name string, scope access.Scope, holds time.Duration) string {
	t.Helper()
	secret, err := s.Issue(name, scope, holds)
	check.Must(t, err)
	return secret
}

func TestASecretOpensWhatItIsForAndIsKeptAsADigest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "tokens.json")
	s := open(t, path)
	secret := issue(t, s, "script", access.ScopeControl, 0)
	if !s.Valid(secret, access.ScopeControl) || !s.Valid(" "+secret+"\n", access.ScopePage, access.ScopeControl) {
		t.Error("the secret does not open what it is for")
	}
	for _, wrong := range []string{"", secret[1:], secret + "x", strings.ToUpper(secret)} {
		if s.Valid(wrong, access.ScopeControl) {
			t.Errorf("%q opens it", wrong)
		}
	}
	if s.Valid(secret, access.ScopePage, access.ScopeSignIn) || s.Valid(secret) {
		t.Error("the secret opens what it is not for")
	}
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), secret) {
		t.Errorf("kept in clear text: %s, %v", data, err)
	}
	if digest := between(string(data), `"sha256": "`); s.Valid(digest, access.ScopeControl) {
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
	synctest.Test(t, func(t *testing.T) {
		s := open(t, filepath.Join(t.TempDir(), "tokens.json"))
		short := issue(t, s, "short", access.ScopePage, time.Hour)
		long := issue(t, s, "long", access.ScopePage, 0)
		time.Sleep(time.Hour - time.Second) //nolint:forbidigo // of synctest's clock
		if !s.Valid(short, access.ScopePage) {
			t.Error("it ended early")
		}
		time.Sleep(time.Second) //nolint:forbidigo // of synctest's clock
		if s.Valid(short, access.ScopePage) || !s.Valid(long, access.ScopePage) {
			t.Error("the wrong one has ended")
		}
		if list, err := s.List(); err != nil || len(list) != 1 || list[0].Name != "long" {
			t.Errorf("listed %+v, %v", list, err)
		}
		if err := s.Remove("long"); err != nil || s.Valid(long, access.ScopePage) {
			t.Errorf("removed: %v", err)
		}
		check.Fails(t, s.Remove("long"), access.ErrTokenNotFound)
		issue(t, s, "short", access.ScopePage, 0)
		check.Fails(t, check.Err(s.Issue("short", access.ScopeControl, 0)), access.ErrTokenExists)
	})
}

func TestAnotherProcessIsHeardOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	server, command := open(t, path), open(t, path)
	secret := issue(t, command, "script", access.ScopeControl, 0)
	if !server.Valid(secret, access.ScopeControl) {
		t.Error("a token made by another process does not count")
	}
	if err := command.Remove("script"); err != nil || server.Valid(secret, access.ScopeControl) {
		t.Errorf("a token removed by another process counts, %v", err)
	}
}

func TestTokensMadeAtOnceAreAllKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secrets := make([]string, 20)
	var wg sync.WaitGroup
	for i := range secrets {
		wg.Go(func() {
			s, err := access.OpenTokens(path)
			if err == nil {
				secrets[i], err = s.Issue(strconv.Itoa(i), access.ScopeControl, 0)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := open(t, path)
	for i, secret := range secrets {
		if !s.Valid(secret, access.ScopeControl) {
			t.Errorf("token %d was lost", i)
		}
	}
}

func TestSignInsAreBoundedAndEndBySigningOut(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tokens.json"))
	keep := issue(t, s, "script", access.ScopePage, 0)
	var all []string
	for range 51 {
		all = append(all, issue(t, s, "browser", access.ScopeSignIn, time.Hour))
	}
	if s.Valid(all[0], access.ScopeSignIn) || !s.Valid(all[1], access.ScopeSignIn) || !s.Valid(keep, access.ScopePage) {
		t.Error("not the oldest sign-in made room")
	}
	if err := s.SignOut(keep); err != nil || !s.Valid(keep, access.ScopePage) {
		t.Errorf("signing out ended a token, %v", err)
	}
}

func TestSignInsByCookieHaveEnded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	secret := issue(t, open(t, path), "a browser", access.ScopeSignIn, time.Hour)
	data, err := os.ReadFile(path)
	check.Must(t, err)
	before := strings.Replace(string(data), `"scope": "`+string(access.ScopeSignIn)+`"`, `"scope": "sign-in"`, 1)
	check.Must(t, os.WriteFile(path, []byte(before), 0o600))
	s := open(t, path)
	if list, err := s.List(); s.Valid(secret, access.ScopeSignIn) || err != nil || len(list) != 0 {
		t.Errorf("a cookie that was kept elsewhere still opens the page; listed %v, %v", list, err)
	}
}

func TestAFileThatCannotBeReadLetsNobodyInAndIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens.json")
	s := open(t, path)
	secret := issue(t, s, "script", access.ScopeControl, 0)
	for text, want := range map[string]string{"garbage": "remove the file", `{"version":7}`: "version is 7"} {
		check.Must(t, os.WriteFile(path, []byte(text), 0o600))
		if s.Valid(secret, access.ScopeControl) {
			t.Errorf("%s: somebody gets in", text)
		}
		check.Fails(t, check.Err(s.Issue("more", access.ScopeControl, 0)), nil, want)
		if data, err := os.ReadFile(path); err != nil || string(data) != text {
			t.Errorf("the file was changed to %q, %v", data, err)
		}
	}
}

func TestOnlyTheTokenOfThatNameIsRemoved(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "tokens.json"))
	gone, stays := issue(t, s, "gone", access.ScopeControl, 0), issue(t, s, "stays", access.ScopeControl, 0)
	signIn := issue(t, s, "gone too", access.ScopeSignIn, time.Hour)
	check.Must(t, s.Remove("gone"))
	if s.Valid(gone, access.ScopeControl) || !s.Valid(stays, access.ScopeControl) || !s.Valid(signIn, access.ScopeSignIn) {
		t.Error("the wrong ones were removed")
	}
	if list, err := s.List(); err != nil || len(list) != 1 || list[0].Name != "stays" {
		t.Errorf("listed %+v, %v; want the one that stays", list, err)
	}
	if err := s.Remove("gone too"); !errors.Is(err, access.ErrTokenNotFound) || !s.Valid(signIn, access.ScopeSignIn) {
		t.Errorf("a sign-in is removed by its name: %v", err)
	}
	other := issue(t, s, "", access.ScopeSignIn, time.Hour)
	if err := s.SignOut(signIn); err != nil || s.Valid(signIn, access.ScopeSignIn) ||
		!s.Valid(other, access.ScopeSignIn) || !s.Valid(stays, access.ScopeControl) {
		t.Errorf("signing out ended the wrong ones, %v", err)
	}
}

func TestAnEmptySecretOpensNothing(t *testing.T) {
	if access.IsSecret("", "") || access.IsSecret("a", "b") || !access.IsSecret("a", "a") {
		t.Error("nothing opens it, or another secret does, or its own does not")
	}
}
