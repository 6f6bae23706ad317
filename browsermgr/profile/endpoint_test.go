package profile_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/profile"
)

func TestParseTellsTheKindsApart(t *testing.T) {
	for _, tc := range []struct {
		text             string
		direct, loopback bool
		port             int
	}{
		{"http://127.0.0.1:9000", false, true, 9000},
		{"HTTPS://Browser.example./x?token=1", false, false, 443},
		{"ws://localhost.:9000/devtools/browser/ab-c", true, true, 9000},
		{"ws://[::1]/devtools/page/1/", true, true, 80},
		{"wss://connect.example?apiKey=1", false, false, 443},
		{"ws://127.0.0.1:9000/devtools/browser/", false, true, 9000},
		{"ws://127.0.0.1:9000/devtools/other/1", false, true, 9000},
		{"http://[::ffff:127.0.0.1]:1/devtools/browser/1", false, true, 1},
		{"http://localhost.example", false, false, 80},
	} {
		e, err := profile.ParseEndpoint(tc.text)
		if err != nil {
			t.Fatalf("%s: %v", tc.text, err)
		}
		if e.IsDirect() != tc.direct || e.IsLoopback() != tc.loopback || e.Port() != tc.port {
			t.Errorf("%s: direct %t, loopback %t, port %d", tc.text, e.IsDirect(), e.IsLoopback(), e.Port())
		}
	}
}

func TestParseRefusesWithoutRepeating(t *testing.T) {
	for _, text := range []string{"", "ftp://u:secret@h", "secret", "http://", "http://h:0?token=secret", "http://h:70000", "http://h:x", "http://u:secret@h\x00", "javascript:secret"} {
		_, err := profile.ParseEndpoint(text)
		if !errors.Is(err, fault.ErrInvalid) || !strings.Contains(err.Error(), "cdpUrl") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAdvertisedAddressIsRepaired(t *testing.T) {
	for _, tc := range []struct{ asked, advertised, want string }{
		{"http://127.0.0.1:9000", "ws://127.0.0.1:9000/devtools/browser/1", "ws://127.0.0.1:9000/devtools/browser/1"},
		{"http://box:9000", "ws://127.0.0.1:9222/devtools/browser/1", "ws://box:9000/devtools/browser/1"},
		// CVE-2026-28395: an address of all interfaces made a relay listen on all of them. Here it means the host that was asked.
		{"http://box:9000", "ws://0.0.0.0/devtools/browser/1", "ws://box:9000/devtools/browser/1"},
		{"http://box:9000", "ws://[::ffff:0.0.0.0]:9222/devtools/browser/1", "ws://box:9000/devtools/browser/1"},
		{"https://box", "ws://[::]:3000/devtools/browser/1", "wss://box/devtools/browser/1"},
		{"http://box", "wss://localhost:3000/devtools/browser/1", "ws://box/devtools/browser/1"},
		{"https://box", "ws://other.:9000/devtools/browser/1", "wss://other:9000/devtools/browser/1"},
		{"http://u:p@box?token=1&a=2", "ws://other/devtools/browser/1?token=3", "ws://u:p@other/devtools/browser/1?a=2&token=3"},
		{"http://127.0.0.1:9000", "ws://localhost:9000/devtools/browser/1", "ws://localhost:9000/devtools/browser/1"},
	} {
		got, err := profile.RewriteWebSocketURL(tc.asked, tc.advertised)
		if err != nil || got != tc.want {
			t.Errorf("%s says %s: got %s, %v, want %s", tc.asked, tc.advertised, got, err, tc.want)
		}
	}
	for _, advertised := range []string{"", "http://box/x", "ws:///x", "::", "\x00"} {
		if got, err := profile.RewriteWebSocketURL("http://box", advertised); err == nil {
			t.Errorf("%q became %s", advertised, got)
		}
	}
}

func TestDiscoveryAsksTheVersionOnly(t *testing.T) {
	for text, want := range map[string]string{
		"http://h:1":                        "http://h:1/json/version",
		"wss://u:p@h/a/?token=x":            "https://h/a/json/version?token=x",
		"http://h:1/json/version":           "http://h:1/json/version",
		"ws://h:1?apiKey=x":                 "http://h:1/json/version?apiKey=x",
		"http://h:1/a%2Fb/json/version?x=1": "http://h:1/a/b/json/version?x=1",
	} {
		e, err := profile.ParseEndpoint(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := profile.VersionURL(e); got != want {
			t.Errorf("%s asks %s, want %s", text, got, want)
		}
	}
}

func TestStaleDirectAddressGivesWayToThePort(t *testing.T) {
	for _, tc := range []struct {
		text string
		port int
		want string
	}{
		{"ws://127.0.0.1:9000/devtools/browser/old", 9001, "http://127.0.0.1:9001"},
		{"wss://h/devtools/browser/old?token=x", 443, "https://h:443?token=" + "REDACTED"},
		{"ws://127.0.0.1:9000/devtools/browser/old", 0, "ws://127.0.0.1:9000/devtools/browser/old"},
		{"http://127.0.0.1:9000", 9001, "http://127.0.0.1:9000"},
	} {
		e, err := profile.ParseEndpoint(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := e.ForPort(tc.port).String(); got != tc.want {
			t.Errorf("%s with port %d: %s, want %s", tc.text, tc.port, got, tc.want)
		}
	}
}

func TestRedactHidesWhatMayBeASecret(t *testing.T) {
	for text, want := range map[string]string{
		"wss://h/x?token=1&region=eu":  "wss://h/x?region=eu&token=REDACTED",
		"http://user:pass@h:1":         "http://REDACTED@h:1",
		"http://secret@h":              "http://REDACTED@h",
		"wss://h?API_KEY=1&sessionId=": "wss://h?API_KEY=REDACTED&sessionId=REDACTED",
		"http://127.0.0.1:1/a":         "http://127.0.0.1:1/a",
		"http://h?%zz=token":           "http://h?query=REDACTED",
		"http://h:secret":              "(an address that does not parse)",
	} {
		if got := profile.RedactURL(text); got != want {
			t.Errorf("%s shows as %s, want %s", text, got, want)
		}
	}
}

// userOf returns what precedes the host of an address. The same words in a path are no secret.
func userOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	return u.User.String()
}

func FuzzAnAddressIsUsableOrRefused(f *testing.F) {
	for _, seed := range []string{"http://127.0.0.1:9000", "wss://u:s3cr3t@h?token=s3cr3t", "ws://[::1]/devtools/browser/1", "http://h:99999", "%", "ws://a:b:c", "ws://.#0", "ws://::", "http://..", "ws://0/s3cr3t@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := profile.ParseEndpoint(text)
		if err != nil {
			return
		}
		if port := e.Port(); port < 1 || port > 65535 {
			t.Errorf("%q has port %d", text, port)
		}
		shown := e.String()
		if again, err := profile.ParseEndpoint(shown); err != nil || again.String() != shown {
			t.Errorf("%q shows as %q, which reads as %v, %v", text, shown, again, err)
		}
		if user := userOf(text); strings.Contains(user, "s3cr3t") && strings.Contains(userOf(shown), "s3cr3t") {
			t.Errorf("%q shows its secret", text)
		}
	})
}
