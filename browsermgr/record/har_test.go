package record_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
)

func TestHARHasTheTimesAndSizesOfTheRequests(t *testing.T) {
	r, tab := open(t, browsertest.Routes(t, map[string]any{
		"/{$}": `<p>quiet`,
		"/go":  func(w http.ResponseWriter, req *http.Request) { http.Redirect(w, req, "/data", http.StatusSeeOther) },
		"/data": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			fmt.Fprint(w, strings.Repeat("x", 5000))
		},
	}))
	run(t, tab, `() => fetch('/go?a=b%20c&secret=hunter2', {method: 'POST', body: 'password=hunter2'}).then(r => r.text()).then(() => 1)`)
	var log record.HARLog
	browsertest.Eventually(t, "three ended entries", func() bool {
		log = r.HAR(tab).Log
		return len(log.Entries) == 3 && log.Entries[2].Response.Content.Size == 5000 && log.Entries[2].Response.TransferSize > 5000
	})
	if log.Version != "1.2" || len(log.Pages) != 1 || log.Pages[0].ID != log.Entries[0].PageRef || log.Pages[0].Title != "Test" {
		t.Errorf("got log %+v", log)
	}
	hop, data := log.Entries[1], log.Entries[2]
	if hop.Response.Status != 303 || hop.Response.RedirectURL != "/data" || hop.Request.PostData == nil || hop.Request.PostData.Text != "password=[REDACTED]" {
		t.Errorf("got redirect %+v", hop)
	}
	if got, want := fmt.Sprint(hop.Request.QueryString), "[{a b c} {secret [REDACTED]}]"; got != want {
		t.Errorf("got query %s, want %s", got, want)
	}
	if data.Request.Method != "GET" || data.Response.Content.MimeType != "text/plain" || data.ServerIPAddress != "127.0.0.1" {
		t.Errorf("got data %+v", data)
	}
	for _, e := range log.Entries {
		began, err := time.Parse(time.RFC3339, e.StartedDateTime)
		if err != nil || time.Since(began).Abs() > time.Hour {
			t.Errorf("got start %q: %v", e.StartedDateTime, err)
		}
		if tm := e.Timings; e.Time <= 0 || e.Time > 60_000 || tm.Send < 0 || tm.Wait < 0 || tm.Receive < 0 {
			t.Errorf("%s: got time %v of %+v", e.Request.URL, e.Time, tm)
		}
	}
	text, err := json.Marshal(r.HAR(tab))
	if err != nil || strings.Contains(string(text), "hunter2") || strings.Contains(string(text), "null") {
		t.Errorf("got %v, %s; want neither secrets nor null", err, text)
	}
}

func TestHAROfAnUnknownTabIsEmpty(t *testing.T) {
	_, tab := open(t, "about:blank")
	text, err := json.Marshal(record.NewRecorder().HAR(tab))
	if want := `{"log":{"version":"1.2","creator":{"name":"clank","version":"1"},"pages":[],"entries":[]}}`; err != nil || string(text) != want {
		t.Errorf("got %s (%v), want %s", text, err, want)
	}
}
