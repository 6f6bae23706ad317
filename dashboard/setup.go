package dashboard

import (
	"context"
	"net/http"

	"clank/dashboard/api"
)

// Setup checks how clank is set up.
type Setup interface {
	SetupChecks(ctx context.Context) []api.SetupCheck
	// TestModel asks the model of tasks for a word. What it returns is for people, and so is its error.
	TestModel(ctx context.Context) (string, error)
}

func (s *Server) setupPage(w http.ResponseWriter, r *http.Request) error {
	return s.page(w, "setup", pageData{Title: "Set-up · clank", Data: s.Setup.SetupChecks(r.Context())})
}

func (s *Server) setup(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.Setup.SetupChecks(r.Context()))
}

func (s *Server) testModel(w http.ResponseWriter, r *http.Request) error {
	text, err := s.Setup.TestModel(r.Context())
	if err != nil {
		return refuse(http.StatusBadGateway, "%v", err)
	}
	return writeJSON(w, http.StatusOK, api.ModelTest{Text: text})
}
