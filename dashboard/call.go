package dashboard

import "net/http"

// callRoutes returns the page on which the operator talks with clank, and what its script asks for.
func (s *Server) callRoutes() []route {
	return []route{
		{"GET /call", accessSignedIn, s.callPage},
		{"GET /api/call/{$}", accessSignedIn, s.callAPI},
		{"POST /api/call/join", accessSignedIn, s.callAPI},
		{"POST /api/call/stop", accessSignedIn, s.callAPI},
		{"GET /api/call/pictures/{name}", accessSignedIn, s.callAPI},
	}
}

// callPage shows the page; where there are no calls, it says so.
func (s *Server) callPage(w http.ResponseWriter, _ *http.Request) {
	status := http.StatusOK
	if s.Call == nil {
		status = http.StatusNotFound
	}
	w.Header().Set("Permissions-Policy", "microphone=(self), camera=()")
	s.page(w, "call", status, pageData{Title: "Call · clank", Data: s.Call != nil})
}

func (s *Server) callAPI(w http.ResponseWriter, r *http.Request) {
	if s.Call == nil {
		writeError(w, http.StatusNotFound, "there are no calls here")
		return
	}
	http.StripPrefix("/api/call", s.Call).ServeHTTP(w, r)
}
