package dashboard

import (
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestACookieHoldsUntilItsTimeAndCannotBeProlonged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "token")
	k, err := openKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0)
	c := k.cookie(now.Add(time.Hour))
	text, mac, _ := strings.Cut(c, ".")
	for _, tc := range []struct {
		name, cookie string
		at           time.Time
		want         bool
	}{
		{"now", c, now, true},
		{"a second before its end", c, now.Add(time.Hour - time.Second), true},
		{"at its end", c, now.Add(time.Hour), false},
		{"prolonged", "9" + text + "." + mac, now, false},
		{"without a signature", text + ".", now, false},
		{"nothing", "", now, false},
	} {
		if got := k.isCookie(tc.cookie, tc.at); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	other, err := openKeys(filepath.Join(t.TempDir(), "token"))
	if err != nil {
		t.Fatal(err)
	}
	if other.isCookie(c, now) {
		t.Error("another installation takes the cookie")
	}
}

func TestProgramsThatStartAtOnceShareOneToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	tokens := make([]string, 8)
	var wg sync.WaitGroup
	for i := range tokens {
		wg.Go(func() {
			k, err := openKeys(path)
			if err != nil {
				t.Error(err)
			}
			tokens[i] = k.token
		})
	}
	wg.Wait()
	for _, token := range tokens {
		if token != tokens[0] || token == "" {
			t.Errorf("tokens differ: %q", tokens)
		}
	}
}

func TestOnlyTheNewestUnusedCodesWork(t *testing.T) {
	k := keys{codes: new(codes)}
	first := k.newCode()
	var last string
	for range maxCodes {
		last = k.newCode()
	}
	if k.useCode(first) || !k.useCode(last) || k.useCode(last) || k.useCode("") {
		t.Error("a forgotten, used or empty code works, or a new one does not")
	}
}
