package control_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"clank/browsermgr/control"
)

// list is a policy that refuses addresses with the word in them, or cannot say.
type list struct {
	word string
	err  error
}

func (l list) Allow(_ context.Context, _, address string) error {
	if l.err == nil && l.word != "" && strings.Contains(address, l.word) {
		return errors.New("it is on the list")
	}
	return l.err
}

func (list) Watch(_, _ string) func(context.Context) error {
	return func(context.Context) error { return nil }
}

func TestAddressesAreJudgedBeforeAnybodyGoesThere(t *testing.T) {
	for name, c := range map[string]struct {
		policy        control.Policy
		address, want string
		status        int // 0: it may be gone to
		blocked       bool
	}{
		"a whole one":                             {nil, "HTTPS://Example.com", "https://Example.com", 0, false},
		"the blank page":                          {list{word: "blank"}, "About:Blank", "about:blank", 0, false},
		"an allowed one":                          {list{word: "evil"}, "http://example.com/x", "http://example.com/x", 0, false},
		"one without a scheme":                    {nil, "example.com", "Invalid URL", 400, false},
		"one without a host":                      {nil, "http:///x", "Invalid URL", 400, false},
		"one that is read in two ways":            {nil, "http://good.example\\@evil.example/", "Invalid URL", 400, false},
		"one with a key":                          {nil, "https://example.com/?Api_Key=0f2c", "looks like a secret", 400, false},
		"one with a word that looks like a key's": {nil, "https://example.com/?q=token", "https://example.com/?q=token", 0, false},
		"a port that nothing has":                 {nil, "http://example.com:0/", "browser navigation blocked by policy: port 0", 400, true},
		"this machine without a policy":           {nil, "http://127.0.0.1:8080/", "http://127.0.0.1:8080/", 0, false},
		"one with a password":                     {nil, "http://a:b@example.com/", "/set/credentials", 400, false},
		"a file":                                  {nil, "file:///etc/passwd", "Navigation blocked: unsupported protocol", 400, true},
		"a refused one":                           {list{word: "evil"}, "http://evil.example/", "browser navigation blocked by policy: it is on the list", 400, true},
		"a check that ends":                       {list{err: context.DeadlineExceeded}, "http://example.com/", "check http://example.com/ against", 500, false},
	} {
		tabs := &control.TabRegistry{Policy: c.policy}
		got, err := tabs.CheckAddress(t.Context(), "p", c.address)
		if err == nil {
			if c.status != 0 || got != c.want {
				t.Errorf("%s: got %q, want %q with status %d", name, got, c.want, c.status)
			}
			continue
		}
		if f := control.ClassifyError(err); f.Status != c.status || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %d %v, want %d %q", name, f.Status, err, c.status, c.want)
		}
		if got := control.IsNavigationBlocked(err); got != c.blocked {
			t.Errorf("%s: blocked is %v", name, got)
		}
	}
	if control.IsNavigationBlocked(&control.StatusError{Status: http.StatusBadRequest, Err: errors.New("x")}) {
		t.Error("any failure counts as the policy's")
	}
}
