package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// What things take on the server's side, from the contract's limits.
const (
	stateTime       = 25 * time.Second // what only looks at or changes the server's state
	pageTime        = 20 * time.Second // what works on a page, unless it says how long
	interactionTime = 8 * time.Second
	transferTime    = 120 * time.Second
	launchTime      = 60 * time.Second // a first start with its profile, and a second try
	guardTime       = 250 * time.Millisecond
	networkSlack    = 5 * time.Second
	maxTimeout      = 120 * time.Second // no single timeoutMs counts for more
	slowKeyTime     = 75 * time.Millisecond
	maxBatchDepth   = 8 // of batches within batches; a server refuses earlier
)

// CallTime is how long a call may take.
type CallTime struct {
	Inner    time.Duration // the times the server keeps, one after the other
	Guarded  int           // interactions after which it watches for navigations
	Launch   time.Duration // for starting the browser first, where that happens
	Explicit bool          // the request itself says how long
}

// Total is how long to wait for the answer, so that no inner time is cut.
func (a CallTime) Total() time.Duration {
	return a.Inner + time.Duration(a.Guarded)*guardTime + a.Launch + networkSlack
}

// timings are the fields of a request that say how long it may take. Numbers may be written as strings.
type timings struct {
	Kind      string     `json:"kind"`
	TimeoutMs millis     `json:"timeoutMs"`
	TimeMs    millis     `json:"timeMs"`
	DelayMs   millis     `json:"delayMs"`
	Slowly    bool       `json:"slowly"`
	Text      string     `json:"text"`
	TextGone  string     `json:"textGone"`
	Selector  string     `json:"selector"`
	URL       string     `json:"url"`
	LoadState string     `json:"loadState"`
	Fn        string     `json:"fn"`
	Fields    []struct{} `json:"fields"`
	Actions   []timings  `json:"actions"`
}

// millis is a number of milliseconds; what is none counts as 0.
type millis int64

// UnmarshalJSON reads a number or a string of digits.
func (m *millis) UnmarshalJSON(data []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(data), `" `), 64)
	if err == nil && n > 0 {
		*m = millis(min(n, float64(time.Hour/time.Millisecond)))
	}
	return nil
}

// or is the time, not above what a server allows, or standard if there is none.
func (m millis) or(standard time.Duration) time.Duration {
	if m == 0 {
		return standard
	}
	return min(time.Duration(m)*time.Millisecond, maxTimeout)
}

// CallTimeOf tells how long a call may take on the server's side. payload is the JSON body, or nil.
func CallTimeOf(method, path string, query url.Values, payload []byte) CallTime {
	var t timings
	if payload != nil {
		_ = json.Unmarshal(payload, &t) // what does not fit stays as it was; the server judges it
	}
	if text := query.Get("timeoutMs"); text != "" {
		_ = t.TimeoutMs.UnmarshalJSON([]byte(text))
	}
	a := CallTime{Launch: launchTime, Explicit: t.TimeoutMs > 0}
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
		t.add(&a, 0)
		return a
	case "POST /hooks/file-chooser", "POST /hooks/dialog", "POST /wait/download", "POST /download":
		a.Inner = t.TimeoutMs.or(transferTime)
	default:
		a.Inner = t.TimeoutMs.or(pageTime)
	}
	a.Guarded = 1
	return a
}

// routeName is the method and the first words of a path, without the name of a tab or a profile.
func routeName(method, path string) string {
	if method == http.MethodDelete {
		first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return method + " /" + first
	}
	return method + " " + path
}

// add adds what an action takes to a.
func (t *timings) add(a *CallTime, depth int) {
	a.Guarded++
	a.Explicit = a.Explicit || t.TimeoutMs > 0 || t.TimeMs > 0
	switch t.Kind {
	case "batch":
		if depth < maxBatchDepth {
			for i := range t.Actions {
				t.Actions[i].add(a, depth+1)
			}
		}
	case "wait":
		a.Inner += t.TimeMs.or(0) + time.Duration(t.conditions())*t.TimeoutMs.or(pageTime)
	case "evaluate", "scrollIntoView":
		a.Inner += t.TimeoutMs.or(pageTime)
	case "fill":
		a.Inner += time.Duration(max(1, len(t.Fields))) * t.TimeoutMs.or(interactionTime)
	case "drag", "dragCoords":
		a.Inner += 2 * t.TimeoutMs.or(interactionTime)
	default:
		a.Inner += t.TimeoutMs.or(interactionTime) + t.DelayMs.or(0)
		if t.Slowly {
			a.Inner += time.Duration(utf8.RuneCountInString(t.Text)) * slowKeyTime
		}
	}
}

// conditions counts what a wait waits for besides the time; each has the whole timeout.
func (t *timings) conditions() int {
	n := 0
	for _, s := range []string{t.Text, t.TextGone, t.Selector, t.URL, t.LoadState, t.Fn} {
		if s != "" {
			n++
		}
	}
	return n
}
