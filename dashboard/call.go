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
func (s *Server) callPage(w http.ResponseWriter, _ *http.Request) error {
	status := http.StatusOK
	if s.Call == nil {
		status = http.StatusNotFound
	}
	w.Header().Set("Permissions-Policy", "microphone=(self), camera=()")
	return s.page(w, "call", status, pageData{Title: "Call · clank", Data: s.Call != nil})
}

func (s *Server) callAPI(w http.ResponseWriter, r *http.Request) error {
	if s.Call == nil {
		return refuse(http.StatusNotFound, "there are no calls here")
	}
	http.StripPrefix("/api/call", s.Call).ServeHTTP(w, r)
	return nil
}
