package server_test

import (
	"strings"
	"testing"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/settings"
)

func TestTheSetUpIsCheckedPartByPart(t *testing.T) {
	nothing := server.SetupSubject{
		Settings: settings.Defaults(), Getenv: func(string) string { return "" }, Present: func(string) bool { return false }, DataDir: t.TempDir(),
	}
	nothing.Settings.BrowserPath = "/no/such/browser"
	refused := nothing
	refused.Getenv = func(name string) string {
		return map[string]string{"DISCORD_TOKEN": "x", "CLANK_DISCORD_API": "http://127.0.0.1:1"}[name]
	}
	refused.Present = func(name string) bool { return name == "DISCORD_TOKEN" }
	refused.Bindings = []settings.RuntimeBinding{{Model: "openai:gpt", Problem: "set OPENAI_API_KEY", Chosen: true}}
	refused.Settings.Share.PublicURL = "https://clank.example"
	ready := refused
	ready.Bindings = []settings.RuntimeBinding{{Model: "other:x", Problem: "no"}, {Model: "openai:gpt", Chosen: true}}
	for name, tc := range map[string]struct {
		in   server.SetupSubject
		want string
	}{
		"nothing": {nothing, "Chromium missing, Model missing, Discord optional, Calls optional, Public address optional"},
		"refused": {refused, "Chromium missing, Model missing, Discord missing, Calls optional, Public address ready"},
		"ready":   {ready, "Chromium missing, Model ready, Discord missing, Calls optional, Public address ready"},
	} {
		var got []string
		for _, c := range tc.in.Checks(t.Context()) {
			got = append(got, c.Name+" "+string(c.State))
			if c.State != api.SetupReady && c.Fix == "" && c.Name != "Model" {
				t.Errorf("%s: %s has no way out: %+v", name, c.Name, c)
			}
		}
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
