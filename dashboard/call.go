package dashboard

import "net/http"

// callPage serves the page for calls with clank.
func (s *Server) callPage(w http.ResponseWriter, r *http.Request) error {
	return s.page(w, r, "call", pageData{Title: "Call · clank"})
}

// callAPI serves the API of the call page.
func (s *Server) callAPI(w http.ResponseWriter, r *http.Request) error {
	http.StripPrefix("/api/call", s.Call).ServeHTTP(w, r)
	return nil
}
