// Package models finds a model by its name, and says what is missing for it to be asked. What a model is asked, and what it may
// cost, is not its business.
package models

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/gemini"
	"clank/llm/openai"
	"clank/llm/plain"
	"clank/settings"
	"clank/settings/routing"
)

// Providers are the names that a model may begin with.
func Providers() []string { return []string{"plain", "openai", "anthropic", "gemini", "compatible"} }

// Finder finds a model by its name, "provider:model". Its fields are set before it is used; Places, Scripts and Within are only
// needed by [Finder.Find].
type Finder struct {
	Places     map[string]string // names of pages the plain model knows
	Scripts    func(name, values string) (string, error)
	Secret     func(name string) (settings.SecretValue, error)
	Compatible func() string                // base URL of the OpenAI-compatible server, from the settings
	BaseURL    func(variable string) string // of a vendor, from the environment; usually empty
	Within     func(llm.Model) llm.Model    // the budget
	Logger     *slog.Logger
}

// Find returns the model called name, within the budget. It does not ask the
// vendor.
func (m *Finder) Find(ctx context.Context, name string) (llm.Model, error) {
	model, err := m.bare(ctx, name)
	if err != nil {
		return nil, err
	}
	return m.Within(model), nil
}

// bare returns the model called name.
func (m *Finder) bare(_ context.Context, name string) (llm.Model, error) {
	provider, _, _ := strings.Cut(name, ":")
	switch provider {
	case "plain":
		return plain.New(plain.Options{Places: m.Places, Scripts: m.Scripts}), nil
	case "openai", "compatible":
		o, err := m.OpenAI(name)
		if err != nil {
			return nil, err
		}
		return openai.New(o)
	case "anthropic":
		return m.Claude(name)
	case "gemini":
		return m.Gemini(name)
	default:
		return nil, m.ready(provider, name)
	}
}

// OpenAI are the options of OpenAI itself, or of the compatible server.
func (m *Finder) OpenAI(name string) (openai.Options, error) {
	provider, _, _ := strings.Cut(name, ":")
	if provider == "compatible" {
		return m.serverOptions(name)
	}
	model, key, err := m.keyed(name)
	if err != nil {
		return openai.Options{}, err
	}
	return openai.Options{
		BaseURL: m.BaseURL("OPENAI_BASE_URL"), Key: key, Model: model, API: openai.APIResponses, Timeout: modelTimeout, Logger: m.Logger,
	}, nil
}

func (m *Finder) serverOptions(name string) (openai.Options, error) {
	_, model, _ := strings.Cut(name, ":")
	base := m.Compatible()
	if base == "" {
		return openai.Options{}, fmt.Errorf("model %s: the address of the OpenAI-compatible server is not set (settings, for example http://127.0.0.1:11434/v1)", name)
	}
	if model == "" {
		return openai.Options{}, fmt.Errorf("model %q names no model (write compatible:<model>)", name)
	}
	key, err := m.Secret("COMPATIBLE_API_KEY")
	if err != nil {
		return openai.Options{}, err
	}
	return openai.Options{
		Provider: "compatible", BaseURL: base, Key: key.Reveal(), KeyEnv: "COMPATIBLE_API_KEY", Model: model,
		Timeout: modelTimeout, Logger: m.Logger,
	}, nil
}

// Claude is the Claude model called name, outside of any budget.
func (m *Finder) Claude(name string) (*anthropic.Model, error) {
	model, key, err := m.keyed(name)
	if err != nil {
		return nil, err
	}
	return anthropic.New(anthropic.Options{BaseURL: m.BaseURL("ANTHROPIC_BASE_URL"), Key: key, Model: model, Timeout: modelTimeout, Logger: m.Logger})
}

// Gemini is the Gemini model called name, outside of any budget.
func (m *Finder) Gemini(name string) (*gemini.Model, error) {
	model, key, err := m.keyed(name)
	if err != nil {
		return nil, err
	}
	return gemini.New(gemini.Options{BaseURL: m.BaseURL("GEMINI_BASE_URL"), Key: key, Model: model, Timeout: modelTimeout, Logger: m.Logger})
}

// keyed are the model that name names at its vendor, and the key there.
func (m *Finder) keyed(name string) (model, key string, err error) {
	provider, model, _ := strings.Cut(name, ":")
	if model == "" {
		return "", "", fmt.Errorf("model %q names no model (write %s:<model>)", name, provider)
	}
	variable := strings.ToUpper(provider) + "_API_KEY"
	secret, err := m.Secret(variable)
	if err != nil {
		return "", "", err
	}
	if !secret.Present() {
		return "", "", fmt.Errorf("model %s needs a key: set %s, or %s_FILE, and start again; %s needs none", name, variable, variable, plain.Name)
	}
	return model, secret.Reveal(), nil
}

// modelTimeout bounds one call of a model, retries included. The step's own
// deadline is usually shorter.
const modelTimeout = 5 * time.Minute

// Able says what there is to know of a model, without asking its vendor.
func (m *Finder) Able(runtime, name string) routing.Ability {
	provider, model, _ := strings.Cut(name, ":")
	if err := m.ready(provider, name); err != nil {
		return routing.Ability{Missing: err.Error()}
	}
	if provider == "plain" {
		return routing.Ability{Known: true, Tools: true, Literal: true}
	}
	caps, known := llm.CapsOf(model)
	return routing.Ability{Known: known, Tools: caps.Tools, Computer: caps.Computer || runtime == settings.RuntimeOpenAI && provider == "compatible", Literal: caps.Literal}
}

// ready says what is missing for a model to be asked.
func (m *Finder) ready(provider, name string) error {
	switch provider {
	case "openai":
		_, err := m.OpenAI(name)
		return err
	case "compatible":
		_, err := m.serverOptions(name)
		return err
	case "anthropic", "gemini":
		_, _, err := m.keyed(name)
		return err
	case "plain":
		return nil
	case "":
		return fmt.Errorf("no model is set (write one in the settings, for example %s)", plain.Name)
	default:
		return fmt.Errorf("model %q: there is no provider %q here (known: %s)", name, provider, strings.Join(Providers(), ", "))
	}
}
