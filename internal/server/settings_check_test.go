package server_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"clank/internal/server"
	"clank/internal/test/check"
)

func TestSettingsAreCheckedAgainstReality(t *testing.T) {
	site := vendorSite(t)
	env := map[string]string{
		"CLANK_HOME": t.TempDir(), "OPENAI_BASE_URL": site + "/v1", "OPENAI_API_KEY": "sk-0123456789",
		"GEMINI_BASE_URL": site,
		"GEMINI_API_KEY":  "wrong-key", "CLANK_VAULT_KEYRING": "off", server.NoSandboxEnv: "1",
	}
	getenv := func(name string) string { return env[name] }
	h, err := server.OpenHome(getenv)
	check.Must(t, err)
	a, err := server.Open(t.Context(), h, server.Options{
		Getenv: getenv, Logger: slog.New(slog.DiscardHandler), AbortContext: t.Context(), ShopAddr: "127.0.0.1:0",
	})
	check.Must(t, err)
	t.Cleanup(func() { check.Must(t, a.Close(context.WithoutCancel(t.Context()))) })
	const model, address, program = "interaction.brain.model", "agentStack.runtimeConfig.models.compatibleBaseUrl",
		"agentStack.runtimeConfig.browser.executablePath"
	for change, want := range map[string]string{
		model + "=":                                    "",
		model + "=plain:steps":                         "",
		model + "=openai:gpt-6-sol":                    "",
		model + "=openai:gpt-6-moon":                   "does not offer; it offers gpt-6-sol",
		model + "=openai:zebra":                        "names a model that openai does not offer",
		model + "=gemini:gemini-3.8-flash":             "could not be checked: 127.0.0.1",
		model + "=anthropic:claude-opus-5":             "cannot be used yet",
		address + "=http://127.0.0.1:1/v1":             "",
		address + "=http://nothing.invalid/v1":         "nothing.invalid, which has no address",
		program + "=/nowhere/chromium":                 "leads to no browser",
		"agentStack.runtimeConfig.browser.color=#zzzz": "", // which its own check refuses
	} {
		key, value, _ := strings.Cut(change, "=")
		raw, err := json.Marshal(value)
		check.Must(t, err)
		got := a.CheckSettings(t.Context(), map[string]json.RawMessage{key: raw})
		switch {
		case want == "" && len(got) > 0, want != "" &&
			(len(got) != 1 || got[0].Key != key || !strings.Contains(got[0].Why, want)):
			t.Errorf("%s: %+v, want %q", change, got, want)
		}
	}
}
