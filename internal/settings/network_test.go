package settings_test

import (
	"strings"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"
)

const keyReach = "agentStack.runtimeConfig.browser.ssrfPolicy."

func TestPrivateNetworksAreSetUnderBothNamesAndAsTruthValues(t *testing.T) {
	for _, tc := range []struct{ key, value, want string }{
		{"dangerouslyAllowPrivateNetwork", "true", settings.PrivateAllowed},
		{"allowPrivateNetwork", "false", settings.PrivateStrict},
		{"allowPrivateNetwork", `"true"`, settings.PrivateAllowed},
		{"dangerouslyAllowPrivateNetwork", `""`, settings.PrivateUnset},
		{"allowPrivateNetwork", "null", settings.PrivateUnset},
	} {
		store := &memory{values: values(keyReach+"dangerouslyAllowPrivateNetwork", `"false"`), version: 1}
		l := open(t, store)
		got, _, err := l.Update(t.Context(), values(keyReach+tc.key, tc.value), "1")
		if err != nil || got.NetworkAccess.PrivateNetwork != tc.want {
			t.Errorf("%s = %s: got %q, %v", tc.key, tc.value, got.NetworkAccess.PrivateNetwork, err)
		}
		if _, there := store.values[keyReach+"allowPrivateNetwork"]; there || len(store.values) > 1 {
			t.Errorf("%s = %s: stored %v", tc.key, tc.value, store.values)
		}
	}
}

func TestListsOfHostsAreSplit(t *testing.T) {
	got := settings.SplitHosts(" a.example, *.b.example:8080\n\n[::1]:80\t10.0.0.1 ")
	check.Diff(t, "split hosts", got, []string{"a.example", "*.b.example:8080", "[::1]:80", "10.0.0.1"})
}

func TestProxiesBehindOursAreFoundByProfile(t *testing.T) {
	r := settings.NetworkAccess{Upstreams: "work socks5://10.0.0.1:1080\n* http://proxy.example:3128\nnonsense\n"}
	for profile, want := range map[string]string{
		"work": "socks5://10.0.0.1:1080", "clank": "http://proxy.example:3128",
		"work@server-1": "socks5://10.0.0.1:1080",
	} {
		if got := r.UpstreamProxy(profile); got == nil || got.String() != want {
			t.Errorf("%s: got %v, want %s", profile, got, want)
		}
	}
	if got := (settings.NetworkAccess{}).UpstreamProxy("work"); got != nil {
		t.Errorf("got %v out of nothing", got)
	}
}

func TestSettingsThatDoNotGoTogetherAreRefusedUnlessTheyWereThere(t *testing.T) {
	l := open(t, &memory{})
	l.Check = func(s settings.Settings) []settings.FieldError {
		if s.MaxSteps > 5 && s.Browser.NoSandbox {
			return []settings.FieldError{{Key: keySteps, Value: "12", Why: "needs the sandbox"}}
		}
		return nil
	}
	if _, _, err := l.Update(t.Context(), values("agentStack.runtimeConfig.browser.noSandbox", "true"), ""); err == nil ||
		!strings.Contains(err.Error(), "needs the sandbox") {
		t.Errorf("got %v", err)
	}
	old := open(t, &memory{values: values("agentStack.runtimeConfig.browser.noSandbox", "true"), version: 1})
	old.Check = l.Check
	if _, _, err := old.Update(t.Context(), values(keyStep, "20000"), "1"); err != nil {
		t.Errorf("an older fault keeps another change out: %v", err)
	}
}
