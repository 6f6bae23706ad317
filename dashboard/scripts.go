package dashboard

import (
	"errors"
	"net/http"

	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/llm/plain"
	"clank/sessions"
)

// scriptRow is a script, and why it cannot be run, if so.
type scriptRow struct {
	recording.Script

	Problem string
}

func (s *Server) scriptsPage(w http.ResponseWriter, r *http.Request) error {
	names, err := s.Scripts.Names()
	if err != nil {
		return failed("list the scripts", err)
	}
	rows := make([]scriptRow, len(names))
	for i, name := range names {
		var err error
		if rows[i].Script, err = s.Scripts.Load(name); err != nil {
			rows[i].Name, rows[i].Problem = name, err.Error()
		}
	}
	return s.page(w, r, "scripts", pageData{Title: "Scripts · clank", Data: rows})
}

// runScript starts a task that follows a script with other values, which the request names.
func (s *Server) runScript(w http.ResponseWriter, r *http.Request) error {
	var in map[string]string
	if err := readJSON(r, &in); err != nil {
		return err
	}
	script, err := s.Scripts.Load(r.PathValue("name"))
	if err != nil {
		return scriptError(err)
	}
	var values []recording.ScriptValue
	for name, text := range in {
		values = append(values, recording.ScriptValue{Name: name, Text: text})
	}
	t := sessions.Task{Model: plain.ModelName} // not typed by a person: a model may have chosen the steps
	t.Origin, _ = originOf(sessions.FromDashboard)
	if t.Prompt, err = script.FillWith(values); err == nil {
		limits := s.Manager.Limits()
		t.MaxSteps, err = recording.StepLimit(t.Prompt, max(limits.MaxSteps, limits.StepCeiling))
	}
	if err != nil {
		return scriptError(err)
	}
	started, err := s.begin(r.Context(), t, false)
	return writeStarted(w, "run the script", started, err)
}

func (s *Server) renameScript(w http.ResponseWriter, r *http.Request) error {
	var in api.NewName
	if err := readJSON(r, &in); err != nil {
		return err
	}
	return writeDone(w, "rename the script", scriptError(s.Scripts.Rename(r.PathValue("name"), in.Name)))
}

func (s *Server) deleteScript(w http.ResponseWriter, r *http.Request) error {
	return writeDone(w, "delete the script", scriptError(s.Scripts.Delete(r.PathValue("name"))))
}

// scriptError returns err as an answer to people about their use of a script.
func scriptError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, recording.ErrScriptNotFound):
		return refuse(http.StatusNotFound, "%v", err)
	}
	return refuse(http.StatusUnprocessableEntity, "%v", err)
}
