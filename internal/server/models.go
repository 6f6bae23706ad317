package server

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"clank/internal/settings"
	"clank/llm"
	"clank/llm/anthropic"
	"clank/llm/gemini"
	"clank/llm/openai"
	"clank/llm/plain"
	"clank/llm/transport"
)

// ModelProviders returns the names that a model may begin with.
func ModelProviders() []string {
	return []string{"plain", "openai", "anthropic", "gemini", "compatible"}
}

// ModelFinder finds a model by its name, "provider:model". Its fields are set before it is used; Places, Scripts and
// Within are only needed by [ModelFinder.Find].
type ModelFinder struct {
	NamedPages    map[string]string // names of pages the plain model knows
	ScriptSteps   func(name, values string) (string, error)
	Secret        func(name string) (settings.SecretValue, error)
	CompatibleURL func() string                // base URL of the OpenAI-compatible server, from the settings
	VendorURL     func(variable string) string // of a vendor, from the environment; usually empty
	WithBudget    func(llm.Model) llm.Model    // the budget
	Vision        func() settings.Vision       // who sees for models that cannot; nil: nobody
	Logger        *slog.Logger

	descriptions descriptions
	listed       modelLists
}

// Find returns the model called name, within the budget. It asks no vendor, but a server of one's own whether a model
// sees of which that is not known.
func (m *ModelFinder) Find(ctx context.Context, name string) (llm.Model, error) {
	model, err := m.findUnmetered(name)
	if err != nil {
		return nil, err
	}
	return m.withSight(ctx, m.WithBudget(model)), nil
}

// findUnmetered returns the model called name.
func (m *ModelFinder) findUnmetered(name string) (llm.Model, error) {
	provider, _, _ := strings.Cut(name, ":")
	switch provider {
	case "plain":
		return plain.New(plain.Options{Places: m.NamedPages, Scripts: m.ScriptSteps}), nil
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

// OpenAIOptions returns the options of OpenAI itself, or of the compatible server.
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
		BaseURL: m.VendorURL("OPENAI_BASE_URL"), Key: key, Model: model, API: openai.APIResponses, Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger},
	}, nil
}

func (m *ModelFinder) compatibleOptions(name string) (openai.Options, error) {
	_, model, _ := strings.Cut(name, ":")
	base := m.CompatibleURL()
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
		Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger},
	}, nil
}

// Claude returns the Claude model called name, outside of any budget.
func (m *ModelFinder) Claude(name string) (*anthropic.Model, error) {
	model, key, err := m.modelAndKey(name)
	if err != nil {
		return nil, err
	}
	return anthropic.New(anthropic.Options{BaseURL: m.VendorURL("ANTHROPIC_BASE_URL"), Key: key, Model: model, Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger}})
}

// Gemini returns the Gemini model called name, outside of any budget.
func (m *ModelFinder) Gemini(name string) (*gemini.Model, error) {
	model, key, err := m.modelAndKey(name)
	if err != nil {
		return nil, err
	}
	return gemini.New(gemini.Options{BaseURL: m.VendorURL("GEMINI_BASE_URL"), Key: key, Model: model, Retry: transport.RetryPolicy{Timeout: modelTimeout, Logger: m.Logger}})
}

// modelAndKey returns the model that name names at its vendor, and the key there.
func (m *ModelFinder) modelAndKey(name string) (model, key string, err error) {
	provider, model, _ := strings.Cut(name, ":")
	if model == "" {
		return "", "", fmt.Errorf("model %q names no model (write %s:<model>)", name, provider)
	}
	variable := strings.ToUpper(provider) + "_API_KEY"
	secret, err := m.Secret(variable)
	if err != nil {
		return "", "", err
	}
	if !secret.IsSet() {
		return "", "", fmt.Errorf("model %s needs a key: set %s, or %s_FILE, and start again; %s needs none", name, variable, variable, plain.ModelName)
	}
	return model, secret.Reveal(), nil
}

// modelTimeout bounds one call of a model, retries included. The step's own deadline is usually shorter.
const modelTimeout = 5 * time.Minute

// Ability says what there is to know of a model, without asking its vendor.
func (m *ModelFinder) Ability(runtime, name string) settings.ModelAbility {
	provider, model, _ := strings.Cut(name, ":")
	if err := m.checkReady(provider, name); err != nil {
		return settings.ModelAbility{Missing: err.Error()}
	}
	if provider == "plain" {
		return settings.ModelAbility{Known: true, Tools: true, Literal: true}
	}
	caps, known := llm.CapsOf(model)
	return settings.ModelAbility{Known: known, Tools: caps.Tools, Computer: caps.Computer || runtime == settings.RuntimeOpenAI && provider == "compatible", Literal: caps.Literal}
}

// checkReady says what is missing for a model to be asked.
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
		return fmt.Errorf("model %q: there is no provider %q here (known: %s)", name, provider, strings.Join(ModelProviders(), ", "))
	}
}
