package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"clank/bot/discord"
	"clank/internal/settings"
	"clank/internal/vault"
	"clank/llm"
	"clank/llm/plain"
	"clank/llm/transport"
)

// serviceKeys are the keys of services in the vault. Those of the environment take precedence.
type serviceKeys struct {
	mu    sync.RWMutex
	known map[string]string // by environment variable
}

func (k *serviceKeys) set(known map[string]string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.known = known
}

// behind returns getenv with the keys for variables that have neither a value nor a file.
func (k *serviceKeys) behind(getenv func(string) string) func(string) string {
	return func(name string) string {
		if value := getenv(name); value != "" {
			return value
		}
		k.mu.RLock()
		value := k.known[name]
		k.mu.RUnlock()
		if value == "" || getenv(name+"_FILE") != "" {
			return ""
		}
		return value
	}
}

// WithServiceKeys returns getenv with the keys in the vault of a home. If the vault cannot be read, there are none.
func WithServiceKeys(ctx context.Context, getenv func(string) string, h *Home) func(string) string {
	v, err := OpenVault(ctx, getenv, h)
	if err != nil {
		return getenv
	}
	var k serviceKeys
	if k.known, err = v.ServiceKeys(ctx); err != nil {
		return getenv
	}
	return k.behind(getenv)
}

// OpenVault opens the vault of a home.
func OpenVault(ctx context.Context, getenv func(string) string, h *Home) (*vault.Vault, error) {
	opts, err := VaultOptions(getenv, h)
	if err != nil {
		return nil, err
	}
	return vault.Open(ctx, opts)
}

// CheckServiceKeyName returns an error unless a key of that name can be stored.
func CheckServiceKeyName(name string) error {
	if f, ok := settings.FindField(name); !ok || f.Kind != settings.KindSecret {
		return fmt.Errorf("there is no key called %s; \"clank setup key --help\" names some", name)
	}
	return nil
}

// SaveServiceKey stores a key in a vault after the service has accepted it; an empty value deletes it. getenv is the
// environment, which takes precedence.
func SaveServiceKey(ctx context.Context, v *vault.Vault, getenv func(string) string, name, value string,
	m *ModelFinder,
) error {
	if err := CheckServiceKeyName(name); err != nil {
		return err
	}
	switch {
	case getenv(name) != "" || getenv(name+"_FILE") != "":
		return fmt.Errorf("%s comes from the environment that clank was started with: change it there", name)
	case v == nil:
		return errors.New(`the vault cannot be used; "clank vault status" says why`)
	}
	if value = strings.TrimSpace(value); value != "" {
		if err := checkServiceKey(ctx, getenv, name, value, m); err != nil {
			return err
		}
	}
	return v.SetServiceKey(ctx, name, value)
}

// checkServiceKey asks Discord or the model vendor whether a key is valid. Other services are not asked.
func checkServiceKey(ctx context.Context, getenv func(string) string, name, value string, m *ModelFinder) error {
	if name == "DISCORD_TOKEN" {
		rest := discord.REST{Token: value, Base: getenv("CLANK_DISCORD_API")}
		if _, err := rest.Application(ctx); err != nil {
			problem, fix := explainDiscordToken(err)
			return errors.New(sentence(problem) + " " + fix)
		}
		return nil
	}
	provider := strings.ToLower(strings.TrimSuffix(name, "_API_KEY"))
	if !slices.Contains(ModelProviders(), provider) || provider == "compatible" { // whose server may not need a key
		return nil
	}
	_, err := m.listModels(ctx, provider, value)
	return err
}

// explainDiscordToken returns whether the token is invalid or why Discord could not be asked, and what to do.
func explainDiscordToken(err error) (problem, fix string) {
	if refusal, ok := errors.AsType[*discord.APIError](err); ok && refusal.Status == http.StatusUnauthorized {
		return "Discord does not accept the token", "Copy it once more, from Bot in the developer portal."
	}
	cause := err
	for next := err; next != nil; next = errors.Unwrap(next) {
		cause = next
	}
	return "Discord could not be asked about the token: " + cause.Error(),
		"Check that this machine can reach discord.com, and try again."
}

// Models returns the names of the models that a provider offers, starting with those known to work with browsers.
func (m *ModelFinder) Models(ctx context.Context, provider string) ([]string, error) {
	if provider == "plain" {
		return []string{plain.ModelName}, nil
	}
	key, err := settings.ReadSecret(strings.ToUpper(provider)+"_API_KEY", m.Getenv)
	if err != nil {
		return nil, err
	}
	if !key.IsSet() && provider != "compatible" {
		return nil, errors.New("it takes a key to ask for its models")
	}
	return m.listModels(ctx, provider, key.Reveal())
}

// vendors are the addresses of model lists and how to send the key.
var vendors = map[string]struct{ base, variable, path, header, prefix string }{
	"openai":    {"https://api.openai.com/v1", "OPENAI_BASE_URL", "/models", "Authorization", "Bearer "},
	"anthropic": {"https://api.anthropic.com", "ANTHROPIC_BASE_URL", "/v1/models?limit=1000", "X-Api-Key", ""},
	"gemini": {
		"https://generativelanguage.googleapis.com", "GEMINI_BASE_URL", "/v1beta/models?pageSize=1000",
		"X-Goog-Api-Key", "",
	},
}

// listModels requests the models of a provider with a key.
func (m *ModelFinder) listModels(ctx context.Context, provider, key string) ([]string, error) {
	v, known := vendors[provider]
	switch {
	case known:
		v.base = cmp.Or(strings.TrimSpace(m.Getenv(v.variable)), v.base)
	case provider == "compatible":
		if v.base = m.Settings.Current().CompatibleURL; v.base == "" {
			return nil, errors.New("the address of the OpenAI-compatible server is not set")
		}
		v.path, v.header, v.prefix = "/models", "Authorization", "Bearer "
	default:
		return nil, fmt.Errorf("there is no provider %q", provider)
	}
	if provider == "anthropic" {
		v.base = strings.TrimSuffix(strings.TrimSuffix(v.base, "/"), "/v1")
	}
	header := make(http.Header)
	header.Set("Anthropic-Version", "2023-06-01") // ignored by other vendors
	if key != "" {
		header.Set(v.header, v.prefix+key)
	}
	names, err := fetchModels(ctx, strings.TrimSuffix(v.base, "/")+v.path, header)
	if err != nil {
		return nil, err
	}
	rank := func(name string) int {
		if caps, known := llm.CapsOf(name); known && caps.Tools {
			return 0
		}
		return 1
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	return slices.Compact(names), nil
}

// fetchModels reads a list of models in the format of OpenAI, Anthropic or Gemini.
func fetchModels(ctx context.Context, address string, header http.Header) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	resp, err := transport.NoRedirects(nil).Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s cannot be reached", req.URL.Host)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return nil, fmt.Errorf("%s does not accept the key", req.URL.Host)
	default:
		return nil, fmt.Errorf("%s answered with status %s", req.URL.Host, resp.Status)
	}
	var list struct {
		Data   []struct{ ID string }
		Models []struct{ Name string }
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxList)).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s answered with something other than a list of models", req.URL.Host)
	}
	var names []string
	for _, e := range list.Data {
		names = append(names, e.ID)
	}
	for _, e := range list.Models {
		names = append(names, strings.TrimPrefix(e.Name, "models/"))
	}
	return names, nil
}
