package dashboard

import "clank/sessions"

// SaveUnfinished writes the file that Close writes if a shutdown interrupted a task.
func SaveUnfinished(file string, rec sessions.TaskRecord) error {
	var u unfinishedTasks
	u.add(rec)
	return u.save(file)
}

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
