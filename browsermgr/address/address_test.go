package address_test

import (
	"errors"
	"strings"
	"testing"

	"clank/browsermgr/address"
	"clank/browsermgr/fault"
	"clank/internal/test/check"
)

func TestAddress(t *testing.T) {
	good := map[string]string{
		"example.com":                "https://example.com",
		" example.com/a?b=c#d ":      "https://example.com/a?b=c#d",
		"localhost:1234":             "http://localhost:1234",
		"127.0.0.1:80/x":             "http://127.0.0.1:80/x",
		"[::1]:8080":                 "http://[::1]:8080",
		"dev.localhost":              "http://dev.localhost",
		"10.0.0.1":                   "https://10.0.0.1",
		"intranet:8080":              "https://intranet:8080",
		"HTTP://Example.com":         "http://Example.com",
		"about:blank":                "about:blank",
		"https://user:pw@example.at": "https://user:pw@example.at",
	}
	for text, want := range good {
		if got, err := address.Parse(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "foo", "find cheap flights", "javascript:alert(1)", "file:///etc/passwd", "chrome://crash", "data:text/html,x",
		"http://", "https:///x", "view-source:http://a.com", "a@b.com", "about:settings", "ftp://a.com", "mailto:a@b.com",
		"exa!mple.com", "x:99999999",
	} {
		got, err := address.Parse(text)
		if !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%q: got %q, %v; want it refused", text, got, err)
		} else if !strings.HasPrefix(err.Error(), "navigate ") {
			t.Errorf("%q: got %v, want the act named", text, err)
		}
	}
}

func FuzzAddress(f *testing.F) {
	for _, s := range []string{"example.com", "localhost:1", "http://a/b", "javascript:1", "a:b:c", "[::1]:x", "%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := address.Parse(s)
		if err != nil {
			return
		}
		if got != "about:blank" && !strings.HasPrefix(got, "http://") && !strings.HasPrefix(got, "https://") {
			t.Errorf("%q became %q", s, got)
		}
		if again, err := address.Parse(got); err != nil || again != got {
			t.Errorf("%q became %q, which becomes %q, %v", s, got, again, err)
		}
	})
}

func TestLoadErrorsAreInWords(t *testing.T) {
	tests := []struct{ address, code, want string }{
		{"http://shop.example:81/x", "net::ERR_NAME_NOT_RESOLVED", "no such host shop.example: check the spelling " +
			"(ERR_NAME_NOT_RESOLVED)"},
		{"http://shop.example:81/x", "net::ERR_CONNECTION_REFUSED", "shop.example:81 refused the connection"},
		{"https://shop.example/", "net::ERR_CERT_WEAK_KEY", "the secure connection to shop.example failed"},
		{"https://shop.example/", "net::ERR_BRAND_NEW", "shop.example cannot be loaded (ERR_BRAND_NEW)"},
		{"%%", "net::ERR_TIMED_OUT", "%% does not answer"},
	}
	for _, tt := range tests {
		check.Fails(t, address.NewNetError(tt.address, tt.code), nil, tt.want)
	}
}

func TestPattern(t *testing.T) {
	tests := []struct {
		pattern, url string
		want         bool
	}{
		{"http://a.com/x", "http://a.com/x", true},
		{"http://a.com", "http://a.com/", true},
		{"http://a.com/x", "http://a.com/xy", false},
		{"http://a.com/*", "http://a.com/x", true},
		{"http://a.com/*", "http://a.com/x/y", false},
		{"**/y", "http://a.com/x/y", true},
		{"**?id=*", "http://a.com/x?id=5", true},
		{"**", "about:blank", true},
	}
	for _, tt := range tests {
		match, err := address.ParsePattern(tt.pattern)
		if err != nil || match(tt.url) != tt.want {
			t.Errorf("%q on %q: got %v, %v; want %v", tt.pattern, tt.url, !tt.want, err, tt.want)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("http://a/*", "http://a/b")
	f.Add("***[(", "x")
	f.Fuzz(func(t *testing.T, pattern, url string) {
		match, err := address.ParsePattern(pattern)
		if err != nil {
			return
		}
		match(url)
		if !strings.Contains(pattern, "*") && !match(pattern) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}
