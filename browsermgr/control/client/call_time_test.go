package client_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/control/client"
)

func TestTheWaitForAnAnswerNeverCutsWhatTheServerKeeps(t *testing.T) {
	const launch, slack, guard = 60 * time.Second, 5 * time.Second, 250 * time.Millisecond
	for name, tc := range map[string]struct {
		route, query, body string
		want               time.Duration
	}{
		"tabs":                   {"GET /tabs", "", "", 30 * time.Second},
		"close a tab":            {"DELETE /tabs/t1", "", "", 30 * time.Second},
		"start":                  {"POST /start", "", "", launch + slack},
		"doctor":                 {"GET /doctor", "", "", 50 * time.Second},
		"snapshot":               {"GET /snapshot", "", "", launch + slack + guard + 20*time.Second},
		"snapshot, own time":     {"GET /snapshot", "timeoutMs=60000", "", launch + slack + guard + 60*time.Second},
		"click":                  {"POST /act", "", `{"kind":"click"}`, launch + slack + guard + 8*time.Second},
		"click, delay":           {"POST /act", "", `{"kind":"click","delayMs":5000}`, launch + slack + guard + 13*time.Second},
		"click, own time":        {"POST /act", "", `{"kind":"click","timeoutMs":"50000"}`, launch + slack + guard + 50*time.Second},
		"slow typing":            {"POST /act", "", `{"kind":"type","slowly":true,"text":"` + strings.Repeat("ä", 1000) + `"}`, launch + slack + guard + 83*time.Second},
		"wait":                   {"POST /act", "", `{"kind":"wait","timeMs":30000}`, launch + slack + guard + 30*time.Second},
		"wait, three conditions": {"POST /act", "", `{"kind":"wait","timeMs":1000,"text":"a","url":"b","fn":"c","timeoutMs":100000}`, launch + slack + guard + 301*time.Second},
		"beyond what is allowed": {"POST /act", "", `{"kind":"evaluate","timeoutMs":9999999999}`, launch + slack + guard + 120*time.Second},
		"fill":                   {"POST /act", "", `{"kind":"fill","fields":[{"ref":"e1"},{"ref":"e2"},{"ref":"e3"},{}]}`, launch + slack + guard + 24*time.Second},
		"batch": {
			"POST /act", "", `{"kind":"batch","actions":[{"kind":"click"},{"kind":"batch","actions":[{"kind":"evaluate","timeoutMs":1000}]}]}`,
			launch + slack + 2*guard + 9*time.Second,
		},
		"download":            {"POST /download", "", `{}`, launch + slack + guard + 120*time.Second},
		"garbage as a time":   {"POST /navigate", "", `{"timeoutMs":"soon"}`, launch + slack + guard + 20*time.Second},
		"another form":        {"POST /navigate", "", `{"timeoutMs":{}}`, launch + slack + guard + 20*time.Second},
		"negative":            {"POST /navigate", "", `{"timeoutMs":-5}`, launch + slack + guard + 20*time.Second},
		"body that is no map": {"POST /navigate", "", `[1]`, launch + slack + guard + 20*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			method, path, _ := strings.Cut(tc.route, " ")
			query, err := url.ParseQuery(tc.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := client.CallTimeOf(method, path, query, []byte(tc.body)).Total(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func FuzzBudget(f *testing.F) {
	f.Add("POST", "/act", "5", `{"kind":"batch","actions":[{"kind":"wait","timeMs":1e300}]}`)
	f.Add("GET", "/snapshot", "1e9999", "")
	f.Fuzz(func(t *testing.T, method, path, ms, body string) {
		a := client.CallTimeOf(method, path, url.Values{"timeoutMs": {ms}}, []byte(body))
		if whole := a.Total(); whole < 5*time.Second {
			t.Errorf("got %s, want no less than the slack", whole)
		}
	})
}
