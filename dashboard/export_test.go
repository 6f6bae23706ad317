package dashboard

// Route is a row of the table of routes.
type Route struct {
	Pattern string
	Least   Role
}

// Routes returns the table of routes.
func (s *Server) Routes() (list []Route) {
	for _, r := range s.routes() {
		list = append(list, Route{r.pattern, r.least})
	}
	return list
}
