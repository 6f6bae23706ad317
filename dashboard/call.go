package dashboard

import "net/http"

// callPage shows the page on which the operator talks with clank.
func (s *Server) callPage(w http.ResponseWriter, r *http.Request) error {
	return s.page(w, r, "call", pageData{Title: "Call · clank"})
}

// callAPI answers the script of that page.
func (s *Server) callAPI(w http.ResponseWriter, r *http.Request) error {
	http.StripPrefix("/api/call", s.Call).ServeHTTP(w, r)
	return nil
}
