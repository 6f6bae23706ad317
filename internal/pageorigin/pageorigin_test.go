package pageorigin_test

import (
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/internal/pageorigin"
	"clank/internal/test/check"
)

func TestOnlyLoopbackNamesAreThisMachine(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST.": true, "127.0.0.1": true, "127.9.9.9": true, "::1": true, "::ffff:127.0.0.1": true,
		"127.0.0.1.": true,
		"":           false, ".": false, "0.0.0.0": false, "::": false, "10.0.0.1": false, "::ffff:10.0.0.1": false,
		"::1%eth0":               false,
		"[::1]":                  false,
		"localhost.evil.example": false, "127.0.0.1.evil.example": false, "evil.localhost": false, "2130706433": false,
		"0x7f.1": false, "127.1": false,
	} {
		check.Equal(t, host, pageorigin.IsLoopback(host), want)
	}
}

func TestAReboundNameIsNotKnown(t *testing.T) {
	for host, want := range map[string]bool{
		"127.0.0.1:8787": true, "localhost": true, "[::1]:8787": true, "[::1]": true, "::1": true,
		"": false, ":8787": false, "evil.example:8787": false, "clank.example:8443": false, "127.0.0.1.evil.example": false,
		"0.0.0.0:8787": false, "192.168.1.2": false, "[fe80::1%25eth0]:1": false, "[::1%25lo]:1": false,
	} {
		r := httptest.NewRequest("GET", "http://127.0.0.1/", nil)
		r.Host = host
		check.Equal(t, host, pageorigin.IsKnownHost(r), want)
	}
}

func TestPagesOfOtherSitesAreToldFromOursAndFromPrograms(t *testing.T) {
	const own, port, evil = "http://127.0.0.1:8787", "http://localhost:3000", "https://evil.example"
	for name, c := range map[string]struct {
		headers []string
		// whether it is cross-site to a server that trusts its own origin only, and to one that trusts this machine
		strict, local bool
	}{
		"no browser":                 {nil, false, false},
		"own page":                   {[]string{"Sec-Fetch-Site", "same-origin", "Origin", own}, false, false},
		"own page without an origin": {[]string{"Sec-Fetch-Site", "same-origin"}, false, false},
		"own page behind a proxy": {
			[]string{"Sec-Fetch-Site", "same-origin", "Origin", "https://clank.example"},
			false, true,
		},
		"own page in an old browser": {[]string{"Origin", own}, false, false},
		"own page, by its referrer":  {[]string{"Referer", own + "/tasks?x=1"}, false, false},
		"another port": {
			[]string{"Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"},
			true,
			false,
		},
		"another port in an old browser":    {[]string{"Origin", port}, true, false},
		"another port, by its referrer":     {[]string{"Referer", port + "/"}, true, false},
		"another port that says cross-site": {[]string{"Sec-Fetch-Site", "cross-site", "Origin", port}, true, true},
		"IPv6 written as ours":              {[]string{"Origin", "http://[::ffff:127.0.0.1]"}, true, false},
		"a subdomain": {
			[]string{"Sec-Fetch-Site", "same-site", "Origin", "https://a.evil.example"},
			true, true,
		},
		"same-site without an origin":         {[]string{"Sec-Fetch-Site", "same-site"}, true, true},
		"another site":                        {[]string{"Sec-Fetch-Site", "cross-site", "Origin", evil}, true, true},
		"another site without an origin":      {[]string{"Sec-Fetch-Site", "cross-site"}, true, true},
		"another site with our origin":        {[]string{"Sec-Fetch-Site", "cross-site", "Origin", own}, true, true},
		"another site in an old browser":      {[]string{"Origin", evil}, true, true},
		"another site, by its referrer":       {[]string{"Referer", evil + "/x"}, true, true},
		"our origin and another's referrer":   {[]string{"Origin", own, "Referer", evil}, false, false},
		"another's origin and our referrer":   {[]string{"Origin", evil, "Referer", own}, true, true},
		"two origins":                         {[]string{"Origin", own, "Origin", evil}, true, true},
		"an empty origin":                     {[]string{"Origin", ""}, true, true},
		"a sandboxed frame":                   {[]string{"Origin", "null"}, true, true},
		"a sandboxed frame, in a new browser": {[]string{"Sec-Fetch-Site", "cross-site", "Origin", "null"}, true, true},
		"no origin to tell of":                {[]string{"Sec-Fetch-Site", "same-site", "Origin", "null"}, true, true},
		"a person outside of any page":        {[]string{"Sec-Fetch-Site", "none"}, true, true},
		"a word nobody knows":                 {[]string{"Sec-Fetch-Site", "same-planet", "Origin", own}, true, true},
		"an extension":                        {[]string{"Origin", "chrome-extension://abcdef"}, true, true},
		"a file":                              {[]string{"Origin", "file://"}, true, true},
		"no address":                          {[]string{"Origin", "http://[::1"}, true, true},
		"our host as user info":               {[]string{"Origin", "http://127.0.0.1:8787@evil.example"}, true, true},
		"our host as the beginning":           {[]string{"Origin", "http://127.0.0.1.evil.example:8787"}, true, true},
	} {
		r := httptest.NewRequest("POST", own+"/", nil)
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Add(c.headers[i], c.headers[i+1])
		}
		check.Equal(t, name, pageorigin.IsCrossSite(r, false), c.strict)
		check.Equal(t, name+", where this machine is trusted", pageorigin.IsCrossSite(r, true), c.local)
	}
}

// FuzzIsKnownHost checks that only addresses of this machine count as such.
func FuzzIsKnownHost(f *testing.F) {
	for _, s := range []string{
		"localhost:80", "127.0.0.1", "[::1]:80", "::ffff:127.0.0.1", "127.0.0.1.evil.test",
		"localhost.evil", "[127.0.0.1]", "2130706433", "0x7f.1", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		if !pageorigin.IsKnownHost(r) {
			return
		}
		low := strings.ToLower(host)
		if !strings.Contains(low, "localhost") && !strings.Contains(low, "127.") && !strings.Contains(low, "1") {
			t.Errorf("%q counts as this machine", host)
		}
		if name, _, err := net.SplitHostPort(host); err == nil {
			low = name
		}
		if strings.ContainsAny(low, "/@?# \n") {
			t.Errorf("%q counts as this machine", host)
		}
	})
}
