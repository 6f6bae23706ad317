package dashboard

import (
	"context"
	"net/http"

	"clank/dashboard/api"
	"clank/internal/telemetry"
)

// Setup checks the configuration of clank.
type Setup interface {
	SetupChecks(ctx context.Context) []api.SetupCheck
	// TestModel sends the task model a short prompt. Its result and its error are for people.
	TestModel(ctx context.Context) (string, error)
	// CheckVoice tests the speech services used in calls.
	CheckVoice(ctx context.Context) []api.VoiceCheck
	// SaveKey stores the key of a service after the service has accepted it. Its error is for people.
	SaveKey(ctx context.Context, name, value string) error
	// Models returns the names of the models of a provider. Its error is for people.
	Models(ctx context.Context, provider string) ([]string, error)
}

func (s *Server) setupPage(w http.ResponseWriter, r *http.Request) error {
	data := setupData{
		Checks: s.Setup.SetupChecks(r.Context()), Address: s.Settings.Current().CompatibleURL,
		First: examplePrompts[0].Prompt,
	}
	for _, p := range modelProviders {
		p.Present = p.Key != "" && s.Host.HasSecret(p.Key)
		data.Providers = append(data.Providers, p)
	}
	return s.page(w, r, "setup", pageData{Title: "Setup · clank", Data: data})
}

// setupData is the data of the setup page.
type setupData struct {
	Checks    []api.SetupCheck
	Providers []modelProvider
	Address   string // of a self-hosted server
	First     string // a first task
}

// modelProvider is a provider of models.
type modelProvider struct {
	Value, Name, Key string
	Present          bool // its key is set
}

var modelProviders = []modelProvider{
	{Value: "openai", Name: "OpenAI", Key: "OPENAI_API_KEY"},
	{Value: "anthropic", Name: "Anthropic", Key: "ANTHROPIC_API_KEY"},
	{Value: "gemini", Name: "Google Gemini", Key: "GEMINI_API_KEY"},
	{Value: "compatible", Name: "OpenAI-compatible server", Key: "COMPATIBLE_API_KEY"},
}

// saveKey stores the key of a service.
func (s *Server) saveKey(w http.ResponseWriter, r *http.Request) error {
	var in api.ServiceKey
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if err := s.Setup.SaveKey(r.Context(), in.Name, in.Value); err != nil {
		return refuse(http.StatusUnprocessableEntity, "%v", err)
	}
	s.Telemetry.Audit(r.Context(), telemetry.Record{Kind: telemetry.KindKey},
		map[string]any{"name": in.Name, "forgotten": in.Value == ""})
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// listModels serves the models that a provider offers.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) error {
	names, err := s.Setup.Models(r.Context(), r.URL.Query().Get("provider"))
	if err != nil {
		return refuse(http.StatusBadGateway, "%v", err)
	}
	return writeJSON(w, http.StatusOK, names)
}

func (s *Server) setup(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Setup.SetupChecks(r.Context()))
}

// checkVoice tests the speech services used in calls, until the client disconnects.
func (s *Server) checkVoice(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Setup.CheckVoice(r.Context()))
}

func (s *Server) testModel(w http.ResponseWriter, r *http.Request) error {
	text, err := s.Setup.TestModel(r.Context())
	if err != nil {
		return refuse(http.StatusBadGateway, "%v", err)
	}
	return writeJSON(w, http.StatusOK, api.ModelTest{Text: text})
}
