package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"clank/llm"
	"clank/llm/openai"
	"clank/llm/plain"
	"clank/settings"
)

// plainModel is the model that needs no key.
const plainModel = "plain:steps"

// models finds a model by its name, "provider:model".
type models struct {
	places     map[string]string // names of pages the plain model knows
	secret     func(name string) (settings.SecretValue, error)
	compatible func() string // base URL of the OpenAI-compatible server, from the settings
	openaiURL  func() string // base URL of OpenAI itself, from the environment; usually empty
	logger     *slog.Logger
}

// find returns the model called name. It does not ask the vendor.
func (m *models) find(_ context.Context, name string) (llm.Model, error) {
	provider, model, _ := strings.Cut(name, ":")
	switch provider {
	case "plain":
		return plain.New(plain.Options{Places: m.places}), nil
	case "openai":
		return m.openai(name, model)
	case "compatible":
		return m.server(name, model)
	case "":
		return nil, fmt.Errorf("no model is set (write one in the settings, for example %s)", plainModel)
	default:
		return nil, fmt.Errorf("model %q: there is no provider %q here (known: plain, openai, compatible)", name, provider)
	}
}

func (m *models) openai(name, model string) (llm.Model, error) {
	key, err := m.secret("OPENAI_API_KEY")
	if err != nil {
		return nil, err
	}
	if model == "" {
		return nil, fmt.Errorf("model %q names no model (write openai:<model>)", name)
	}
	if !key.Present() {
		return nil, fmt.Errorf("model %s needs a key: set OPENAI_API_KEY, or OPENAI_API_KEY_FILE, and start again; %s needs none", name, plainModel)
	}
	return openai.New(openai.Options{
		BaseURL: m.openaiURL(), Key: key.Reveal(), Model: model, API: openai.APIResponses,
		Timeout: modelTimeout, Logger: m.logger,
	})
}

func (m *models) server(name, model string) (llm.Model, error) {
	base := m.compatible()
	if base == "" {
		return nil, fmt.Errorf("model %s: the address of the OpenAI-compatible server is not set (settings, for example http://127.0.0.1:11434/v1)", name)
	}
	if model == "" {
		return nil, fmt.Errorf("model %q names no model (write compatible:<model>)", name)
	}
	key, err := m.secret("COMPATIBLE_API_KEY")
	if err != nil {
		return nil, err
	}
	return openai.New(openai.Options{
		Provider: "compatible", BaseURL: base, Key: key.Reveal(), KeyEnv: "COMPATIBLE_API_KEY", Model: model,
		Timeout: modelTimeout, Logger: m.logger,
	})
}

// modelTimeout bounds one call of a model, retries included. The step's own
// deadline is usually shorter.
const modelTimeout = 5 * time.Minute
