package main

import (
	"bytes"
	"encoding/base64"
	"net/http"
)

// doors are who is let in: the order of the checks, credentials, cross-site requests, hosts, sizes.
func doors() []check {
	bearer := func(text string) http.Header { return http.Header{"Authorization": {text}} }
	with := func(pairs ...string) http.Header {
		h := http.Header{"Authorization": {"Bearer TOKEN"}}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("anybody:no such password"))
	forbidden := exchange{method: "POST", path: "/stop", status: http.StatusForbidden, says: []string{"Forbidden"}}
	forged := func(name string, h http.Header) exchange {
		x := forbidden
		x.name, x.header = name, h
		return x
	}
	return checks([]exchange{
		{name: "the secret lets in", path: "/"},
		{name: "the scheme's case does not matter", path: "/", header: bearer("bEaReR TOKEN")},
		{name: "no credentials", path: "/", header: http.Header{}, status: 401, says: []string{"Unauthorized"}},
		{name: "a wrong token", path: "/", header: bearer("Bearer wrong"), status: 401, says: []string{"Unauthorized"}},
		{name: "the beginning of the token", path: "/", header: bearer("Bearer T"), status: 401},
		{name: "a wrong password", path: "/", header: bearer(basic), status: 401},
		{name: "a token in the query is none", path: "/?token=TOKEN", header: http.Header{}, status: 401},
		{name: "a cookie is none", path: "/", header: http.Header{"Cookie": {"token=TOKEN"}}, status: 401},
		{name: "an identity header is none", path: "/", header: http.Header{"Tailscale-User-Login": {"ada@example.com"}}, status: 401},
		{name: "an unknown route asks for credentials first", path: "/nosuch", header: http.Header{}, status: 401},
		{name: "an unknown route", path: "/nosuch", status: 404},
		forged("a cross-site request without credentials", http.Header{"Sec-Fetch-Site": {"cross-site"}}),
		forged("a cross-site request with credentials", with("Sec-Fetch-Site", "cross-site")),
		forged("a foreign origin", with("Origin", "https://evil.example")),
		forged("an opaque origin", with("Origin", "null")),
		forged("a foreign referrer", with("Referer", "https://evil.example/page")),
		forged("an origin that only looks like loopback", with("Origin", "http://127.0.0.1.evil.example")),
		{name: "a loopback origin", method: "POST", path: "/stop", header: with("Origin", "http://localhost:3000")},
		{name: "an IPv6 loopback origin", method: "POST", path: "/stop", header: with("Origin", "http://[::1]:3000")},
		{name: "a request of the same site", method: "POST", path: "/stop", header: with("Sec-Fetch-Site", "same-origin")},
		{name: "a foreign origin may read with the secret", path: "/", header: with("Origin", "https://evil.example")},
		{name: "a rebound host name", path: "/", header: with("Host", "evil.example"), status: 403},
		{name: "a rebound host name on a change", method: "POST", path: "/stop", header: with("Host", "evil.example:18791"), status: 403},
		{name: "localhost is a host", path: "/", header: with("Host", "localhost:18791")},
		{name: "a body of more than a megabyte", path: "/act", body: append(append([]byte(`{"kind":"type","ref":"e1","text":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}`...), status: 413},
		{name: "a body that is not JSON", path: "/act", body: []byte(`{"kind":`), status: 400},
		{name: "a body that is no object counts as empty", path: "/act", body: []byte(`[1,2]`), status: 400, code: "ACT_KIND_REQUIRED"},
		{name: "a string body counts as empty", path: "/act", body: []byte(`"click"`), status: 400, code: "ACT_KIND_REQUIRED"},
		{name: "the wrong method", method: "PUT", path: "/act", status: 405},
	})
}
