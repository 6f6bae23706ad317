package dashboard

import (
	"context"
	"net/http"

	"clank/dashboard/api"
)

// Nodes knows the machines that lend each other browsers.
type Nodes interface {
	Lending() api.Lending
	// Nodes returns the configured nodes with the result of their last check.
	Nodes() []api.Node
	// TestNode checks one node. The error wraps [sessions.ErrNotFound] if there is none of that name.
	TestNode(ctx context.Context, name string) (api.Node, error)
}

// nodesData is the data of the nodes page.
type nodesData struct {
	Lending api.Lending `json:"lending"`
	Nodes   []api.Node  `json:"nodes"`
}

func (s *Server) nodesPage(w http.ResponseWriter, r *http.Request) error {
	return s.page(w, r, "nodes", pageData{Title: "Nodes · clank", Data: nodesData{s.Nodes.Lending(), s.Nodes.Nodes()}})
}

func (s *Server) listNodes(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, nodesData{s.Nodes.Lending(), s.Nodes.Nodes()})
}

func (s *Server) testNode(w http.ResponseWriter, r *http.Request) error {
	var in api.NewName
	if err := readJSON(r, &in); err != nil {
		return err
	}
	n, err := s.Nodes.TestNode(r.Context(), in.Name)
	return writeResult(w, http.StatusOK, "ask the node", n, err)
}
