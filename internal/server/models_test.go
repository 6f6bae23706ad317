package server_test

import (
	"errors"
	"strings"
	"testing"

	internalserver "clank/internal/server"
	"clank/internal/settings"
	"clank/llm"
)

// newTestFinder finds models with these secrets.
func newTestFinder(server string, secrets map[string]string) *internalserver.ModelFinder {
	return &internalserver.ModelFinder{
		Secret: func(name string) (settings.SecretValue, error) {
			if secrets[name] == "unreadable" {
				return settings.SecretValue{}, errors.New("its file cannot be read")
			}
			return settings.NewSecret(secrets[name]), nil
		},
		CompatibleURL: func() string { return server },
		VendorURL:     func(string) string { return "" },
		WithBudget:    func(m llm.Model) llm.Model { return m },
	}
}

func TestAModelIsFoundOrTheWayOutIsSaid(t *testing.T) {
	keys := map[string]string{"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY": "unreadable", "COMPATIBLE_API_KEY": ""}
	for name, want := range map[string]string{
		"plain:steps":      "",
		"openai:gpt-5.5":   "",
		"compatible:mine":  "",
		"compatible:":      "names no model",
		"openai:":          "write openai:<model>",
		"anthropic:claude": "its file cannot be read",
		"gemini:flash":     "set GEMINI_API_KEY, or GEMINI_API_KEY_FILE",
		"nobody:x":         `there is no provider "nobody" here (known: plain,`,
		"":                 "no model is set",
	} {
		f := newTestFinder("http://127.0.0.1:1/v1", keys)
		_, err := f.Find(t.Context(), name)
		missing := f.Ability(settings.RuntimeLocal, name).Missing
		if want == "" {
			if err != nil || missing != "" {
				t.Errorf("%s: %v, missing %q", name, err, missing)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(missing, want) {
			t.Errorf("%s: got %v, missing %q; want %q", name, err, missing, want)
		}
	}
	if _, err := newTestFinder("", keys).Find(t.Context(), "compatible:mine"); err == nil || !strings.Contains(err.Error(), "the address of the OpenAI-compatible server is not set") {
		t.Errorf("without a server: %v", err)
	}
}

func TestOnlyAServerOfOnesOwnIsTakenAtItsWordAboutScreens(t *testing.T) {
	f := newTestFinder("http://127.0.0.1:1/v1", map[string]string{"OPENAI_API_KEY": "sk-1"})
	if !f.Ability(settings.RuntimeOpenAI, "compatible:mine").Computer || f.Ability(settings.RuntimeLocal, "compatible:mine").Computer {
		t.Error("a compatible server's model may work a screen, in the runtime that speaks its language")
	}
	if a := f.Ability(settings.RuntimeLocal, "plain:steps"); !a.Known || !a.Tools || !a.Literal || a.Computer {
		t.Errorf("the model that needs no key: %+v", a)
	}
}
