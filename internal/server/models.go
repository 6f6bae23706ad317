package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"clank/internal/recording"
	"clank/internal/settings"
	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/gemini"
	"clank/llm/openai"
	"clank/llm/plain"
	"clank/llm/transport"
)

// ModelProviders returns the prefixes of model names.
func ModelProviders() []string {
	return []string{"plain", "openai", "anthropic", "gemini", "compatible"}
}

// ModelBudget charges the calls of models. A *budget.Enforcer implements it.
type ModelBudget interface {
	Model(m llm.Model) llm.Model // returns m with the budget applied
}

// ModelFinder finds models by name, "provider:model". Set its fields before use; some are only needed by
// [ModelFinder.Find].
type ModelFinder struct {
	NamedPages map[string]string     // pages that the plain model knows by name
	Scripts    recording.ScriptStore // scripts that the plain model runs
	Settings   SettingsSource
	Getenv     func(string) string // the environment and the vault's service keys
	Budget     ModelBudget
	Logger     *slog.Logger

	descriptions descriptions
	listed       modelLists
}

// Find returns the named model with the budget applied. It contacts no vendor, but may ask a self-hosted server
// whether an unknown model has vision.
func (m *ModelFinder) Find(ctx context.Context, name string) (llm.Model, error) {
	model, err := m.findUnmetered(name)
	if err != nil {
		return nil, err
	}
	return m.withSight(ctx, m.Budget.Model(model)), nil
}

// findUnmetered returns the named model without a budget.
func (m *ModelFinder) findUnmetered(name string) (llm.Model, error) {
	provider, _, _ := strings.Cut(name, ":")
	switch provider {
	case "plain":
		return plain.New(plain.Options{Places: m.NamedPages, Scripts: m.Scripts.Steps}), nil
	case "openai", "compatible":
		o, err := m.OpenAIOptions(name)
		if err != nil {
			return nil, err
		}
		return openai.New(o)
	case "anthropic":
		return m.Claude(name)
	case "gemini":
		return m.Gemini(name)
	default:
		return nil, m.checkReady(provider, name)
	}
}

// OpenAIOptions returns the options for OpenAI or the compatible server.
func (m *ModelFinder) OpenAIOptions(name string) (openai.Options, error) {
	provider, _, _ := strings.Cut(name, ":")
	if provider == "compatible" {
		return m.compatibleOptions(name)
	}
	model, key, err := m.modelAndKey(name)
	if err != nil {
		return openai.Options{}, err
	}
	return openai.Options{
		BaseURL: m.Getenv("OPENAI_BASE_URL"), Key: key, Model: model, API: openai.APIResponses,
		Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger},
	}, nil
}

func (m *ModelFinder) compatibleOptions(name string) (openai.Options, error) {
	_, model, _ := strings.Cut(name, ":")
	base := m.Settings.Current().CompatibleURL
	if base == "" {
		return openai.Options{}, fmt.Errorf("model %s: the address of the OpenAI-compatible server is not set (settings, "+
			"for example http://127.0.0.1:11434/v1)", name)
	}
	if model == "" {
		return openai.Options{}, fmt.Errorf("model %q names no model (write compatible:<model>)", name)
	}
	key, err := settings.ReadSecret("COMPATIBLE_API_KEY", m.Getenv)
	if err != nil {
		return openai.Options{}, err
	}
	return openai.Options{
		Provider: "compatible", BaseURL: base, Key: key.Reveal(), KeyEnv: "COMPATIBLE_API_KEY", Model: model,
		Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger},
	}, nil
}

// Claude returns the named Claude model without a budget.
func (m *ModelFinder) Claude(name string) (*anthropic.Model, error) {
	model, key, err := m.modelAndKey(name)
	if err != nil {
		return nil, err
	}
	return anthropic.New(anthropic.Options{
		BaseURL: m.Getenv("ANTHROPIC_BASE_URL"), Key: key, Model: model,
		Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger},
	})
}

// Gemini returns the named Gemini model without a budget.
func (m *ModelFinder) Gemini(name string) (*gemini.Model, error) {
	model, key, err := m.modelAndKey(name)
	if err != nil {
		return nil, err
	}
	return gemini.New(gemini.Options{
		BaseURL: m.Getenv("GEMINI_BASE_URL"), Key: key, Model: model,
		Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger},
	})
}

// modelAndKey returns the vendor's name of the model and the vendor's key.
func (m *ModelFinder) modelAndKey(name string) (model, key string, err error) {
	provider, model, _ := strings.Cut(name, ":")
	if model == "" {
		return "", "", fmt.Errorf("model %q names no model (write %s:<model>)", name, provider)
	}
	variable := strings.ToUpper(provider) + "_API_KEY"
	secret, err := settings.ReadSecret(variable, m.Getenv)
	if err != nil {
		return "", "", err
	}
	if !secret.IsSet() {
		return "", "", fmt.Errorf("model %s needs a key: set %s, or %s_FILE, and start again; %s needs none", name, variable,
			variable, plain.ModelName)
	}
	return model, secret.Reveal(), nil
}

// modelTimeout bounds one model call including retries. The step's own deadline is usually shorter.
const modelTimeout = 5 * time.Minute

// Ability returns what is known about a model without asking its vendor.
func (m *ModelFinder) Ability(runtime, name string) settings.ModelAbility {
	provider, model, _ := strings.Cut(name, ":")
	if err := m.checkReady(provider, name); err != nil {
		return settings.ModelAbility{Missing: err.Error()}
	}
	if provider == "plain" {
		return settings.ModelAbility{Known: true, Tools: true, Literal: true}
	}
	caps, known := llm.CapsOf(model)
	return settings.ModelAbility{Known: known, Tools: caps.Tools, Computer: caps.Computer ||
		runtime == settings.RuntimeOpenAI && provider == "compatible", Literal: caps.Literal}
}

// checkReady returns an error that names what is missing to use a model.
func (m *ModelFinder) checkReady(provider, name string) error {
	switch provider {
	case "openai":
		_, err := m.OpenAIOptions(name)
		return err
	case "compatible":
		_, err := m.compatibleOptions(name)
		return err
	case "anthropic", "gemini":
		_, _, err := m.modelAndKey(name)
		return err
	case "plain":
		return nil
	case "":
		return fmt.Errorf("no model is set (write one in the settings, for example %s)", plain.ModelName)
	default:
		return fmt.Errorf("model %q: there is no provider %q here (known: %s)", name, provider,
			strings.Join(ModelProviders(), ", "))
	}
}
