package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clank/internal/server"
	"clank/internal/test/check"
)

// vendorSite answers as the lists of models of all vendors do, to those who have the key.
func vendorSite(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key")
		if !strings.HasSuffix(given, "sk-0123456789") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/v1/models":
			if r.Header.Get("X-Api-Key") != "" {
				fmt.Fprint(w, `{"data":[{"type":"model","id":"claude-opus-5"}],"has_more":false}`)
				return
			}
			fmt.Fprint(w, `{"object":"list","data":[{"id":"babbage-002"},{"id":"gpt-6-sol"},{"id":"gpt-6-sol"}]}`)
		case "/v1beta/models":
			fmt.Fprint(w, `{"models":[{"name":"models/gemini-3.8-flash"}]}`)
		default:
			fmt.Fprint(w, "<html>")
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestAKeyIsStoredOnceItsServiceAcceptsItAndModelsAreListed(t *testing.T) {
	site := vendorSite(t)
	env := map[string]string{
		"OPENAI_BASE_URL": site + "/v1", "ANTHROPIC_BASE_URL": site + "/v1/", "GEMINI_BASE_URL": site,
		"CLANK_VAULT_KEYRING": "off",
	}
	environ := func(name string) string { return env[name] }
	h := &server.Home{Dir: t.TempDir()}
	v, err := server.OpenVault(t.Context(), environ, h)
	check.Must(t, err)
	finder := &server.ModelFinder{Settings: fixedSettings{CompatibleURL: site + "/elsewhere"}, Getenv: environ}
	for provider, want := range map[string]string{
		"openai": "gpt-6-sol babbage-002", "anthropic": "claude-opus-5",
		"gemini": "gemini-3.8-flash",
	} {
		name := strings.ToUpper(provider) + "_API_KEY"
		check.Fails(t, server.SaveServiceKey(t.Context(), v, environ, name, "a wrong key", finder),
			nil, "does not accept the key")
		check.Equal(t, provider+": a wrong key is kept", server.WithServiceKeys(t.Context(), environ, h)(name), "")
		check.Must(t, server.SaveServiceKey(t.Context(), v, environ, name, " sk-0123456789\n", finder))
		finder.Getenv = server.WithServiceKeys(t.Context(), environ, h)
		if models, err := finder.Models(t.Context(), provider); err != nil || strings.Join(models, " ") != want {
			t.Errorf("%s: models %q, %v", provider, models, err)
		}
		check.Must(t, server.SaveServiceKey(t.Context(), v, environ, name, "", finder))
		if _, err := finder.Models(t.Context(), provider); err != nil {
			t.Errorf("%s: what was read before: %v", provider, err)
		}
	}
	check.Fails(t, check.Err(finder.Models(t.Context(), "compatible")), nil, "does not accept")
	// which nobody is asked about
	for _, name := range []string{"BRAVE_API_KEY", "SPEECH_API_KEY", "COMPATIBLE_API_KEY", "TURN_SECRET"} {
		if err := server.SaveServiceKey(t.Context(), v, environ, name, "any-0123456789", finder); err != nil {
			t.Errorf("%s was not kept: %v", name, err)
		}
	}
	for _, name := range []string{"HOME", "agentStack.preset"} {
		check.Fails(t, server.SaveServiceKey(t.Context(), v, environ, name, "sk-0123456789", finder),
			nil, "no key called "+name)
	}
	env["OPENAI_API_KEY"] = "from the environment"
	check.Fails(t, server.SaveServiceKey(t.Context(), v, environ, "OPENAI_API_KEY", "sk-0123456789", finder),
		nil, "OPENAI_API_KEY comes from the environment")
	if files, err := os.ReadDir(h.Dir); err != nil ||
		!slices.ContainsFunc(files, func(f os.DirEntry) bool { return filepath.Ext(f.Name()) == ".key" }) {
		t.Errorf("the vault is not in the home: %v %v", files, err)
	}
}
