package agent_test

import (
	"strings"
	"testing"

	"clank/sessions/agent"
)

func TestCredentialsInAddressesAreFound(t *testing.T) {
	for in, want := range map[string][2]string{
		"http://ada:pw@host/a@b":   {"ada:pw@", "http://host/a@b"},
		"https://ada@host":         {"ada@", "https://host"},
		"ada:pw@host/x":            {"ada:pw@", "host/x"},
		"//ada:p@w@host?q=1":       {"ada:p@w@", "//host?q=1"},
		`http:\\ada:pw@host`:       {"ada:pw@", `http:\\host`},
		"HTTP:ada:pw@host":         {"ada:pw@", "HTTP:host"},
		"http:///ada:pw@host":      {"ada:pw@", "http:///host"},
		"x/y//ada:pw@host":         {"ada:pw@", "x/y//host"},
		"http://host/@x":           {"", "http://host/@x"},
		"http://host#ada:pw@x":     {"", "http://host#ada:pw@x"},
		"about:blank":              {"", "about:blank"},
		"localhost:3000/?mail=a@b": {"", "localhost:3000/?mail=a@b"},
		"":                         {"", ""},
	} {
		if got := [2]string{agent.URLCredentials(in), agent.WithoutCredentials(in)}; got != want {
			t.Errorf("%s: got %q, want %q", in, got, want)
		}
	}
}

func FuzzBare(f *testing.F) {
	f.Add("http://ada:pw@host/")
	f.Add("ada:pw@@host//x@y")
	f.Fuzz(func(t *testing.T, in string) {
		if secret := agent.URLCredentials(in); secret != "" && (!strings.HasSuffix(secret, "@") || len(agent.WithoutCredentials(in)) >= len(in)) {
			t.Errorf("%q has %q and became %q", in, secret, agent.WithoutCredentials(in))
		}
	})
}

func TestAddressesOfPeopleBecomeURLs(t *testing.T) {
	for in, want := range map[string]string{
		" shop.test/a ": "https://shop.test/a", "localhost:3000": "http://localhost:3000", "a.localhost": "http://a.localhost",
		"127.0.0.1:80/x": "http://127.0.0.1:80/x", "[::1]:8080": "http://[::1]:8080", "about:blank": "about:blank", "shop.test:8443": "https://shop.test:8443",
	} {
		if got := agent.CompleteURL(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
