package server_test

import (
	"strings"
	"testing"

	"clank/dashboard/api"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/test/check"
)

func TestTheSetUpIsCheckedPartByPart(t *testing.T) {
	nothing := server.SetupSubject{
		Settings: settings.Defaults(), Getenv: func(string) string { return "" }, Present: func(string) bool { return false },
		DataDir: t.TempDir(),
	}
	nothing.Settings.BrowserPath = "/no/such/browser"
	refused := nothing
	refused.Getenv = func(name string) string {
		return map[string]string{"DISCORD_TOKEN": "x", "CLANK_DISCORD_API": "http://127.0.0.1:1"}[name]
	}
	refused.Present = func(name string) bool { return name == "DISCORD_TOKEN" }
	refused.Settings.Dashboard.SignIn, refused.Settings.Dashboard.Hosts = settings.SignInMembers, "clank.example"
	refused.Bindings = []settings.RuntimeBinding{{Model: "openai:gpt", Problem: "set OPENAI_API_KEY", Chosen: true}}
	refused.Settings.Share.PublicURL = "https://clank.example"
	ready := refused
	ready.Present = func(name string) bool { return name == "DISCORD_TOKEN" || name == "DISCORD_CLIENT_SECRET" }
	ready.Bindings = []settings.RuntimeBinding{{Model: "other:x", Problem: "no"}, {Model: "openai:gpt", Chosen: true}}
	for name, tc := range map[string]struct {
		in   server.SetupSubject
		want string
	}{
		"nothing": {nothing, "Chromium missing, Model missing, Discord optional, Sign-in with Discord optional, Calls " +
			"optional, Public address optional"},
		"refused": {refused, "Chromium missing, Model missing, Discord missing, Sign-in with Discord optional, Calls " +
			"optional, Public address ready"},
		"ready": {ready, "Chromium missing, Model ready, Discord missing, Sign-in with Discord ready, Calls optional, " +
			"Public address ready"},
	} {
		var got []string
		for _, c := range tc.in.Checks(t.Context()) {
			got = append(got, c.Name+" "+string(c.State))
			if c.Name == "Sign-in with Discord" && name != "nothing" {
				check.Contains(t, c.Detail, "For members.", "https://clank.example/login, http://127.0.0.1:8787/login")
			}
			if c.Name == "Discord" && name == "refused" { // by the machine's network, not by Discord
				check.Equal(t, name, c.Detail, "Discord could not be asked about the token: connection refused.")
			}
			if c.State != api.SetupReady && c.Fix == "" && c.Name != "Model" {
				t.Errorf("%s: %s has no way out: %+v", name, c.Name, c)
			}
		}
		check.Equal(t, name, strings.Join(got, ", "), tc.want)
	}
}
