package client

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"clank/browsermgr/page/action/actiontable"
)

// What things take on the server's side, from the contract's limits.
const (
	stateTime    = 25 * time.Second // what only looks at or changes the server's state
	pageTime     = 20 * time.Second // what works on a page, unless it says how long
	transferTime = 120 * time.Second
	launchTime   = 60 * time.Second // a first start with its profile, and a second try
	networkSlack = 5 * time.Second
	maxTimeout   = 120 * time.Second // no single timeoutMs counts for more
)

// CallTime is how long a call may take.
type CallTime struct {
	Inner    time.Duration // the times the server keeps, one after the other
	Guarded  int           // interactions after which it watches for navigations
	Launch   time.Duration // for starting the browser first, where that happens
	Explicit bool          // the request itself says how long
}

// Total returns how long to wait for the answer, so that no inner time is cut.
func (a CallTime) Total() time.Duration {
	return a.Inner + time.Duration(a.Guarded)*actiontable.GuardTime + a.Launch + networkSlack
}

// CallTimeOf tells how long a call may take on the server's side. payload is the JSON body, or nil.
func CallTimeOf(method, path string, query url.Values, payload []byte) CallTime {
	var body map[string]any
	_ = json.Unmarshal(payload, &body) // what is no object has no fields; the server judges it
	given := timeoutOf(body["timeoutMs"])
	if text := query.Get("timeoutMs"); text != "" {
		given = timeoutOf(text)
	}
	a := CallTime{Launch: launchTime, Explicit: given > 0}
	switch routeName(method, path) {
	case "GET /", "GET /profiles", "GET /tabs", "POST /tabs/focus", "POST /tabs/action", "POST /profiles/create", "DELETE /tabs":
		return CallTime{Inner: stateTime, Explicit: a.Explicit}
	case "GET /doctor":
		return CallTime{Inner: stateTime + pageTime}
	case "POST /stop", "POST /reset-profile", "DELETE /profiles":
		return CallTime{Inner: 2 * stateTime}
	case "POST /start":
		return a
	case "POST /act":
		w := actiontable.WaitFor(body)
		return CallTime{Inner: w.Limit, Guarded: w.Actions, Launch: launchTime, Explicit: w.Explicit}
	case "POST /hooks/file-chooser", "POST /hooks/dialog", "POST /wait/download", "POST /download":
		a.Inner = cmp.Or(given, transferTime)
	default:
		a.Inner = cmp.Or(given, pageTime)
	}
	a.Guarded = 1
	return a
}

// timeoutOf reads a number of milliseconds, not above what a server allows; 0 if it is none.
func timeoutOf(v any) time.Duration {
	n, given, ok := actiontable.ParseNumber(v, false)
	if !given || !ok || n <= 0 {
		return 0
	}
	return time.Duration(min(n, float64(maxTimeout.Milliseconds()))) * time.Millisecond
}

// routeName returns the method and the first words of a path, without the name of a tab or a profile.
func routeName(method, path string) string {
	if method == http.MethodDelete {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return method + " /" + first
	}
	return method + " " + path
}
