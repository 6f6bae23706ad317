package main

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
)

// plainModel is the model that needs no key.
const plainModel = "plain:steps"

// providers are the names that a model may begin with.
var providers = []string{"plain", "openai", "anthropic", "gemini", "compatible"}

// models finds a model by its name, "provider:model".
type models struct {
	places     map[string]string // names of pages the plain model knows
	scripts    func(name, values string) (string, error)
	secret     func(name string) (settings.SecretValue, error)
	compatible func() string                // base URL of the OpenAI-compatible server, from the settings
	baseURL    func(variable string) string // of a vendor, from the environment; usually empty
	within     func(llm.Model) llm.Model    // the budget
	logger     *slog.Logger
}

// find returns the model called name, within the budget. It does not ask the
// vendor.
func (m *models) find(ctx context.Context, name string) (llm.Model, error) {
	model, err := m.bare(ctx, name)
	if err != nil {
		return nil, err
	}
	return m.within(model), nil
}

// bare returns the model called name.
func (m *models) bare(_ context.Context, name string) (llm.Model, error) {
	provider, _, _ := strings.Cut(name, ":")
	switch provider {
	case "plain":
		return plain.New(plain.Options{Places: m.places, Scripts: m.scripts}), nil
	case "openai", "compatible":
		o, err := m.openaiOptions(name)
		if err != nil {
			return nil, err
		}
		return openai.New(o)
	case "anthropic":
		return m.claude(name)
	case "gemini":
		return m.gemini(name)
	default:
		return nil, m.ready(provider, name)
	}
}

// openaiOptions are those of OpenAI itself, or of the compatible server.
func (m *models) openaiOptions(name string) (openai.Options, error) {
	provider, _, _ := strings.Cut(name, ":")
	if provider == "compatible" {
		return m.serverOptions(name)
	}
	model, key, err := m.keyed(name)
	if err != nil {
		return openai.Options{}, err
	}
	return openai.Options{
		BaseURL: m.baseURL("OPENAI_BASE_URL"), Key: key, Model: model, API: openai.APIResponses, Timeout: modelTimeout, Logger: m.logger,
	}, nil
}

func (m *models) serverOptions(name string) (openai.Options, error) {
	_, model, _ := strings.Cut(name, ":")
	base := m.compatible()
	if base == "" {
		return openai.Options{}, fmt.Errorf("model %s: the address of the OpenAI-compatible server is not set (settings, for example http://127.0.0.1:11434/v1)", name)
	}
	if model == "" {
		return openai.Options{}, fmt.Errorf("model %q names no model (write compatible:<model>)", name)
	}
	key, err := m.secret("COMPATIBLE_API_KEY")
	if err != nil {
		return openai.Options{}, err
	}
	return openai.Options{
		Provider: "compatible", BaseURL: base, Key: key.Reveal(), KeyEnv: "COMPATIBLE_API_KEY", Model: model,
		Timeout: modelTimeout, Logger: m.logger,
	}, nil
}

func (m *models) claude(name string) (*anthropic.Model, error) {
	model, key, err := m.keyed(name)
	if err != nil {
		return nil, err
	}
	return anthropic.New(anthropic.Options{BaseURL: m.baseURL("ANTHROPIC_BASE_URL"), Key: key, Model: model, Timeout: modelTimeout, Logger: m.logger})
}

func (m *models) gemini(name string) (*gemini.Model, error) {
	model, key, err := m.keyed(name)
	if err != nil {
		return nil, err
	}
	return gemini.New(gemini.Options{BaseURL: m.baseURL("GEMINI_BASE_URL"), Key: key, Model: model, Timeout: modelTimeout, Logger: m.logger})
}

// keyed are the model that name names at its vendor, and the key there.
func (m *models) keyed(name string) (model, key string, err error) {
	provider, model, _ := strings.Cut(name, ":")
	if model == "" {
		return "", "", fmt.Errorf("model %q names no model (write %s:<model>)", name, provider)
	}
	variable := strings.ToUpper(provider) + "_API_KEY"
	secret, err := m.secret(variable)
	if err != nil {
		return "", "", err
	}
	if !secret.Present() {
		return "", "", fmt.Errorf("model %s needs a key: set %s, or %s_FILE, and start again; %s needs none", name, variable, variable, plainModel)
	}
	return model, secret.Reveal(), nil
}

// modelTimeout bounds one call of a model, retries included. The step's own
// deadline is usually shorter.
const modelTimeout = 5 * time.Minute
