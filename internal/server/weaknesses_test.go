package server_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/profile"
	"clank/internal/server"
	"clank/internal/settings"
)

func TestEachWeaknessIsFoundAndSaysHowToFixIt(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	environ := map[string]string{}
	sound := func() server.Installation {
		clear(environ)
		return server.Installation{
			Settings: settings.Defaults(), Getenv: func(name string) string { return environ[name] },
			EUID: 1000, Home: "/home/clank", HomeMode: 0o700, Free: 100 << 30, KeyFile: "/keys/vault", KeyMode: 0o600,
			Browser: now.Add(-24 * time.Hour), Now: now,
			Profiles: []profile.Profile{{Name: "clank"}, {Name: "user", Driver: profile.DriverExistingSession}},
		}
	}
	if in := sound(); len(in.Weaknesses()) != 0 {
		t.Errorf("an installation without weaknesses has %+v", in.Weaknesses())
	}
	env := func(name, value string) func(*server.Installation) {
		return func(*server.Installation) { environ[name] = value }
	}
	serious := map[string]bool{
		"sandbox": true, "root": true, "home": true, "private networks": true, "viewer": true, "browser flags": true,
		"old browser": true, "vault key": true, "disk": true, "database": true,
	}
	seen := map[string]bool{}
	type installation = server.Installation
	for _, c := range []struct {
		name   string
		change func(*installation)
		what   string // also found
	}{
		{"sandbox", func(in *installation) { in.Settings.Browser.NoSandbox = true }, ""},
		{"sandbox", env(server.NoSandboxEnv, "1"), ""},
		{"root", func(in *installation) { in.EUID = 0 }, ""},
		{"home", func(in *installation) { in.HomeMode = 0o750 }, "/home/clank (-rwxr-x---)"},
		{"database", func(in *installation) { in.Damage = errors.New("page 7 is damaged") }, "page 7"},
		{"shared disk", func(in *installation) { in.FileSystem = "NFS" }, "(NFS)"},
		{"secrets in the environment", env("OPENAI_API_KEY", "s"), "OPENAI_API_KEY"},
		{"secrets in the environment", env("CLANK_VAULT_KEY", "s"), "CLANK_VAULT_KEY"},
		{"private networks", func(in *installation) {
			in.Settings.NetworkAccess.PrivateNetwork = settings.PrivateAllowed
		}, ""},
		{"allowed hosts", func(in *installation) { in.Settings.NetworkAccess.AllowedHosts = "nas:80" }, "nas:80"},
		{"allowed hosts", env(server.AllowedHostsEnv, "127.0.0.1"), "127.0.0.1"},
		{"allowed hosts", func(in *installation) { in.Settings.NetworkAccess.AllowULA = true }, "fc00::/7"},
		{"viewer", func(in *installation) { in.Settings.Share.PublicURL = "http://clank.example" }, ""},
		{"viewer", func(in *installation) { in.ViewerAddr = "0.0.0.0:8789" }, ""},
		{"unencrypted servers", func(in *installation) { in.Settings.CompatibleURL = "http://10.0.0.1/v1" }, "10.0.0.1"},
		{"unencrypted servers", func(in *installation) { in.Settings.BrowserTool.Nodes = "attic http://attic" }, "attic"},
		{"shared profiles", func(in *installation) { in.Settings.Access.Profiles = "work: *" }, "work"},
		{"shared profiles", func(in *installation) { in.Settings.BrowserTool.NodeProfiles = "work" }, "work"},
		{"other browsers", func(in *installation) {
			mine := profile.Profile{Name: "mine", Driver: profile.DriverExistingSession, Stored: true}
			in.Profiles = []profile.Profile{{Name: "far", CDPURL: "wss://far.example/x"}, mine}
		}, "far, mine"},
		{"browser flags", func(in *installation) { in.Settings.Browser.ExtraArgs = "--no-zygote" }, "--no-zygote"},
		{"devtools port", func(in *installation) { in.Settings.Browser.DevToolsPort = true }, ""},
		{"old browser", func(in *installation) { in.Browser = now.Add(-70 * 24 * time.Hour) }, "70 days"},
		{"vault key", func(in *installation) { in.KeyMode = 0o644 }, "-rw-r--r--"},
		{"vault key beside the vault", func(in *installation) { in.KeyFile = "/home/clank/vault.key" }, ""},
		{"no budget", func(in *installation) { in.Settings.Budget.Day = "" }, ""},
		{"approval", func(in *installation) { in.Settings.Approval.Buy = settings.AskAllow }, "buy"},
		{"everybody", env("DISCORD_TOKEN", "s"), ""},
		{"unencrypted calls", env("DISCORD_TOKEN", "s"), ""},
		{"transcripts", func(in *installation) { in.Settings.Voice.KeepTranscripts = true }, ""},
		{"go live", func(in *installation) {
			in.Settings.Share.GoLive = true
			environ["DISCORD_GOLIVE_TOKEN"] = "s"
		}, ""},
		{"disk", func(in *installation) { in.Free = 300 << 20 }, "300 MiB"},
		{"disk", func(in *installation) { in.Free = 1900 << 20 }, "1900 MiB"},
	} {
		in := sound()
		c.change(&in)
		found := false
		for _, k := range in.Weaknesses() {
			seen[k.Name] = true
			if k.Serious != serious[k.Name] || k.Why == "" || k.Fix == "" {
				t.Errorf("%s: %+v", c.name, k)
			}
			found = found || k.Name == c.name && strings.Contains(k.What, c.what)
			if strings.Contains(k.What, "=s") {
				t.Errorf("%s tells a secret: %s", c.name, k.What)
			}
		}
		if !found {
			t.Errorf("%s (%s) is not found among %+v", c.name, c.what, in.Weaknesses())
		}
	}
	if got, want := len(seen), server.WeaknessChecks(); got != want {
		t.Errorf("%d of %d weaknesses are tested", got, want)
	}
}
