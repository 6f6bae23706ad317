package controltest

import (
	"encoding/base64"
	"net/http"
)

// serverCases returns the cases with servers other than the usual one: with another environment, with other
// settings.
func serverCases() []testCase {
	return []testCase{{Name: "scripts switched off", Run: evaluateOff}, {Name: "a password", Run: passwordDoor}, {Name: "a token of the environment", Run: givenToken}}
}

// serverNumber is the number of such a server, beside those of the lanes.
const serverNumber = 2

// withOwnServer starts a server with an environment of its own.
func withOwnServer(s *suite, work func(*suite), env ...string) {
	s.Helper()
	own := *s
	own.Clank = s.start(s.T, serverNumber, env...)
	work(&own)
}

// evaluateOff switches it off at the dashboard, where settings are.
func evaluateOff(s *suite) {
	withOwnServer(s, func(s *suite) {
		s.changeSetting("browser.evaluateEnabled", false)
		const off = "ACT_EVALUATE_DISABLED"
		script := m{"kind": "evaluate", "fn": "1"}
		s.send([]requestCase{
			{Path: "/act", Body: script, Status: 403, Code: off, Contains: []string{"browser.evaluateEnabled=false"}},
			{Path: "/act", Body: m{"kind": "evaluate", "fn": "1", "targetId": "nosuch"}, Status: 403, Code: off},
			{Path: "/act", Body: m{"kind": "wait", "fn": "1"}, Status: 403, Code: off},
			{Path: "/act", Body: m{"kind": "evaluate"}, Status: 400, Code: "ACT_INVALID_REQUEST"},
			{Path: "/act", Page: "/form", Body: m{"kind": "batch", "stopOnError": false, "actions": []any{script, m{"kind": "press", "key": "a"}}}, Contains: []string{`"ok":false`, "browser.evaluateEnabled=false", `{"ok":true}`}},
			{Path: "/storage/local/set", Body: m{"key": "a", "value": "b"}},
			{Path: "/storage/local", Contains: []string{`"a":"b"`}},
			{Path: "/snapshot?interactive=true", Contains: []string{"Save"}},
		}...)
	})
}

func passwordDoor(s *suite) {
	withOwnServer(s, func(s *suite) {
		basic := func(text string) http.Header {
			return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(text))}}
		}
		s.send([]requestCase{
			{Name: "header", Path: "/", Header: http.Header{"X-Openclaw-Password": {"open: sesame"}}},
			{Name: "any user", Path: "/", Header: basic("anybody:open: sesame")},
			{Name: "no user", Path: "/", Header: basic(":open: sesame")},
			{Name: "a wrong one", Path: "/", Header: basic("anybody:closed"), Status: 401},
			{Name: "as a token", Path: "/", Header: http.Header{"Authorization": {"Bearer open: sesame"}}, Status: 401},
			{Name: "no colon", Path: "/", Header: basic("open"), Status: 401},
			{Name: "the beginning", Path: "/", Header: http.Header{"X-Openclaw-Password": {"open"}}, Status: 401},
			{Name: "the token", Path: "/"},
		}...)
	}, "OPENCLAW_GATEWAY_PASSWORD= open: sesame ")
}

func givenToken(s *suite) {
	withOwnServer(s, func(s *suite) {
		s.send(requestCase{Path: "/", Header: http.Header{"Authorization": {"Bearer a token of mine"}}})
	}, "OPENCLAW_GATEWAY_TOKEN=a token of mine")
}
