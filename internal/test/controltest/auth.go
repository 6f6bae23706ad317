package controltest

import (
	"bytes"
	"net/http"
)

// authCases returns the cases about who is let in: the order of the checks, credentials, cross-site requests,
// hosts, sizes.
func authCases() []testCase {
	bearer := func(text string) http.Header { return http.Header{"Authorization": {text}} }
	with := func(pairs ...string) http.Header {
		h := http.Header{"Authorization": {"Bearer TOKEN"}}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	forbidden := requestCase{Method: "POST", Path: "/stop", Status: http.StatusForbidden, Contains: []string{"Forbidden"}}
	forged := func(name string, h http.Header) requestCase {
		x := forbidden
		x.Name, x.Header = name, h
		return x
	}
	return requestCases([]requestCase{
		{Name: "the secret lets in", Path: "/"},
		{Name: "the scheme's case does not matter", Path: "/", Header: bearer("bEaReR TOKEN")},
		{Name: "no credentials", Path: "/", Header: http.Header{}, Status: 401, Contains: []string{"Unauthorized"}},
		{Name: "a wrong token", Path: "/", Header: bearer("Bearer wrong"), Status: 401, Contains: []string{"Unauthorized"}},
		{Name: "a token in the query is none", Path: "/?token=TOKEN", Header: http.Header{}, Status: 401},
		{Name: "an unknown route asks for credentials first", Path: "/nosuch", Header: http.Header{}, Status: 401},
		{Name: "an unknown route", Path: "/nosuch", Status: 404, Contains: []string{"route not found: GET /nosuch"}},
		forged("a cross-site request without credentials", http.Header{"Sec-Fetch-Site": {"cross-site"}}),
		forged("a cross-site request with credentials", with("Sec-Fetch-Site", "cross-site")),
		forged("a foreign origin", with("Origin", "https://evil.example")),
		{Name: "a loopback origin", Method: "POST", Path: "/stop", Header: with("Origin", "http://localhost:3000")},
		{Name: "a request of the same site", Method: "POST", Path: "/stop", Header: with("Sec-Fetch-Site", "same-origin")},
		{Name: "a foreign origin may read with the secret", Path: "/", Header: with("Origin", "https://evil.example")},
		{Name: "a rebound host name", Path: "/", Header: with("Host", "evil.example"), Status: 403},
		{Name: "a rebound host name on a change", Method: "POST", Path: "/stop", Header: with("Host", "evil.example:18791"), Status: 403},
		{Name: "a body of more than a megabyte", Path: "/act", Body: append(append([]byte(`{"kind":"type","ref":"e1","text":"`), bytes.Repeat([]byte("x"), 1<<20)...), `"}`...), Status: 413},
		{Name: "a body that is not JSON", Path: "/act", Body: []byte(`{"kind":`), Status: 400},
		{Name: "a body that is no object counts as empty", Path: "/act", Body: []byte(`[1,2]`), Status: 400, Code: "ACT_KIND_REQUIRED"},
		{Name: "a form is no body", Path: "/act", Header: with("Content-Type", "application/x-www-form-urlencoded"), Body: []byte("kind=click"), Status: 400, Code: "ACT_KIND_REQUIRED"},
		{Name: "the wrong method", Method: "PUT", Path: "/act", Body: m{}, Status: 405, Contains: []string{"route not found: PUT /act"}},
		{Name: "a host before the body", Path: "/act", Header: http.Header{"Host": {"evil.example"}}, Body: []byte("{"), Status: 403},
		{Name: "the body before the site", Path: "/act", Header: with("Origin", "https://evil.example"), Body: []byte("{"), Status: 400, Contains: []string{"not JSON"}},
		{Name: "the size before the secret", Path: "/act", Header: http.Header{}, Body: bytes.Repeat([]byte(" "), 1<<20+1), Status: 413, Contains: []string{"1 MB"}},
		{Name: "reading asks for the secret, whatever the site", Path: "/nosuch", Header: http.Header{"Origin": {"https://evil.example"}}, Status: 401},
	})
}
