package dashboard_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"clank/dashboard"
	"clank/internal/telemetry"
	"clank/internal/test/check"
	"clank/sessions/access"
)

func TestMetricsHealthAndRecordsOfTheServer(t *testing.T) {
	h := new(host)
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Host = h })
	if status, _ := r.ask("POST", "/api/login", `{"token":"`+r.token+`"}`); status != http.StatusOK {
		t.Fatalf("sign in: %d", status)
	}
	secret, err := r.server.Tokens.Issue("prometheus", access.ScopeMetrics, time.Hour)
	check.Must(t, err)
	reads, nobody := header("Authorization", "Bearer "+secret), header("Authorization", "")
	for _, tc := range []struct {
		path   string
		as     change
		status int
		want   string
	}{
		{"/healthz", nobody, http.StatusOK, `"ok":true`},
		{"/readyz", nobody, http.StatusOK, `"ok":true`},
		{"/metrics", reads, http.StatusOK, `clank_build_info{version="test"} 1`},
		{"/metrics", func(*http.Request) {}, http.StatusOK, "# TYPE clank_stop_seconds histogram"},
		{"/metrics", header("Authorization", "Bearer x"), http.StatusUnauthorized, "sign in first"},
		{"/api/tasks", reads, http.StatusUnauthorized, "sign in first"},
		{"/api/records", reads, http.StatusUnauthorized, "sign in first"},
		{"/debug/pprof/heap", reads, http.StatusUnauthorized, "sign in first"},
		{"/debug/pprof/heap", func(*http.Request) {}, http.StatusOK, "\x1f\x8b"},
		{"/debug/pprof/profile?seconds=1", func(*http.Request) {}, http.StatusOK, "\x1f\x8b"},
		{"/debug/pprof/profile?seconds=900", func(*http.Request) {}, http.StatusBadRequest, "seconds must be from 1 to 60"},
		{"/debug/pprof/secrets", func(*http.Request) {}, http.StatusNotFound, "there is no profile"},
		{"/api/records?kind=signed_in", func(*http.Request) {}, http.StatusOK, `"with":"token"`},
		{"/api/records?kind=nothing", func(*http.Request) {}, http.StatusBadRequest, `there is no kind \"nothing\"`},
		{"/api/records?since=yesterday", func(*http.Request) {}, http.StatusBadRequest, "since must be a time"},
		{"/api/records?limit=0", func(*http.Request) {}, http.StatusBadRequest, "limit must be from 1 to 10000"},
	} {
		status, body := r.ask("GET", tc.path, "", tc.as)
		if status != tc.status {
			t.Errorf("%s: %d, want %d: %s", tc.path, status, tc.status, body)
		}
		check.Contains(t, body, tc.want)
	}
	h.missing = errors.New("no Chromium was found")
	if status, body := r.ask("GET", "/readyz", "", nobody); status != http.StatusServiceUnavailable {
		t.Errorf("without a browser: %d %s", status, body)
	}
}

func TestSavedSettingsAreInTheAuditLog(t *testing.T) {
	r := start(t)
	client := r.client()
	before, err := client.Settings(t.Context())
	check.Must(t, err)
	status, body := r.ask("PUT", "/api/settings",
		`{"version":"`+before.Version+`","changes":{"interaction.history.retentionDays":7}}`)
	if status != http.StatusOK {
		t.Fatalf("save: %d %s", status, body)
	}
	list, err := client.Records(t.Context(), telemetry.Query{Kinds: []telemetry.Kind{telemetry.KindSettings}, Limit: 5})
	if check.Must(t, err); len(list) != 1 {
		t.Fatalf("%d records, want 1", len(list))
	}
	var data struct {
		Changes map[string]struct{ From, To json.RawMessage }
	}
	check.Must(t, json.Unmarshal(list[0].Data, &data))
	if c := data.Changes["interaction.history.retentionDays"]; string(c.From) != "null" || string(c.To) != "7" {
		t.Errorf("the record is %s", list[0].Data)
	}
}
