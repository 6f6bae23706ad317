package dashboard_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr/egress/policy"
	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/internal/vault"
	"clank/sessions/access"
)

// refusals returns what the API tells, and what the page shows.
func (r *rig) refusals() (list []api.RefusalView, page string) {
	r.t.Helper()
	_, body := r.ask("GET", "/api/refusals", "")
	_, page = r.ask("GET", "/safety", "")
	return decode[[]api.RefusalView](r.t, body), page
}

func TestARefusedHostIsAllowedByOneClickAndRefusedAgain(t *testing.T) {
	r := start(t)
	for range 2 {
		check.Fails(t, r.gate.Allow(t.Context(), "clank", "http://10.1.2.3/lamps?password=geheim#x"),
			nil, "10.1.2.3 is not a public address", "Allowed hosts")
	}
	_ = r.gate.Allow(t.Context(), "clank@person-7", "http://10.9.9.9/")
	_ = r.gate.Allow(t.Context(), "clank", "http://169.254.169.254/")
	list, page := r.refusals()
	if len(list) != 3 || list[0].Allowable || list[2].Host != "10.1.2.3" || list[2].Count != 2 ||
		!list[2].Allowable || list[2].Allowed {
		t.Fatalf("refused: %+v", list)
	}
	check.Contains(t, page, "10.1.2.3", "2 times", "Let pages reach 10.1.2.3?", "What was asked privately")
	for _, much := range []string{"10.9.9.9", "geheim", "Let pages reach 169"} {
		check.Lacks(t, page, much)
	}
	allow := func(host string, undo string, want int) {
		t.Helper()
		body := `{"rule":"` + policy.RulePrivate + `","host":"` + host + `","address":"` + host + `"` + undo + `}`
		if status, got := r.ask("POST", "/api/refusals/allow", body); status != want {
			t.Errorf("allow %s%s: %d %s, want %d", host, undo, status, got, want)
		}
	}
	allow("10.9.9.9", "", http.StatusNotFound)
	allow("10.0.0.1", "", http.StatusNotFound)
	_, _ = r.ask("PUT", "/api/settings", `{"version":"`+r.server.Settings.State().Version+
		`","changes":{"agentStack.runtimeConfig.browser.ssrfPolicy.allowedHostnames":"nas.lan"}}`)
	allow("10.1.2.3", "", http.StatusNoContent)
	check.Equal(t, "allowed hosts", r.server.Settings.Current().NetworkAccess.AllowedHosts, "nas.lan\n10.1.2.3")
	check.Must(t, r.gate.Allow(t.Context(), "clank", "http://10.1.2.3/")) // after it was allowed
	list, page = r.refusals()
	check.Contains(t, page, "Allowed now", "Undo")
	if !list[2].Allowed {
		t.Errorf("after it was allowed: %+v", list[2])
	}
	allow("10.1.2.3", `,"undo":true`, http.StatusNoContent)
	check.Equal(t, "allowed hosts after the undo", r.server.Settings.Current().NetworkAccess.AllowedHosts, "nas.lan")
	check.Fails(t, r.gate.Allow(t.Context(), "clank", "http://10.1.2.3/"), nil, "10.1.2.3 is not a public address")
}

func TestLoginsTokensAndSignInsAreShownWithoutSecretsAndRevoked(t *testing.T) {
	dir := t.TempDir()
	at := vault.Options{Path: filepath.Join(dir, "vault.json"), Key: strings.Repeat("A", 43) + "="}
	kept, err := vault.Open(t.Context(), at)
	check.Must(t, err)
	check.Must(t, kept.Put(t.Context(), vault.NewEntry{
		Name: "shop", Origins: []string{"https://shop.example"}, Username: "ada", Password: "correct horse",
	}))
	r := startIn(t, dir, "127.0.0.1:0", func(s *dashboard.Server) { s.Vault = kept })
	program, err := r.server.Tokens.Issue("grafana", access.ScopeMetrics, 0)
	check.Must(t, err)
	browser, err := r.server.Tokens.Issue("a browser", access.ScopeSignIn, 0)
	check.Must(t, err)
	_, page := r.ask("GET", "/safety", "", header("Authorization", "Bearer "+browser))
	check.Contains(t, page, "https://shop.example", "ada", "Password kept", "grafana", "Reads metrics", "this browser",
		"Sign out everywhere")
	for _, secret := range []string{"correct horse", program, browser} {
		check.Lacks(t, page, secret)
	}
	end := func(path, body string, want int) {
		t.Helper()
		if status, got := r.ask("POST", path, body); status != want {
			t.Errorf("%s %s: %d %s, want %d", path, body, status, got, want)
		}
	}
	ins, err := r.server.Tokens.SignIns()
	check.Must(t, err)
	end("/api/tokens/remove", `{"name":"grafana"}`, http.StatusNoContent)
	end("/api/tokens/remove", `{"name":"grafana"}`, http.StatusNotFound)
	end("/api/sign-ins/end", `{"id":"`+ins[0].Digest+`"}`, http.StatusNoContent)
	end("/api/sign-ins/end", `{"id":"`+ins[0].Digest+`"}`, http.StatusNotFound)
	if r.server.Tokens.Valid(browser, access.ScopeSignIn) {
		t.Error("the browser is still signed in")
	}
	if r.server.Tokens.Valid(program, access.ScopeMetrics) {
		t.Error("the token still holds")
	}
}
