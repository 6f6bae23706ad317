package dashboard

import (
	"errors"
	"net/http"

	"clank/settings"
)

// settingsFailure is an error about settings: which values were refused, or
// what somebody else has saved.
type settingsFailure struct {
	Error  string                `json:"error"`
	Fields []settings.FieldError `json:"fields,omitempty"`
	Now    *SettingsView         `json:"now,omitempty"`
}

func (s *Server) getSettings(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.settingsView())
}

// putSettings changes settings, all that were sent or none.
func (s *Server) putSettings(w http.ResponseWriter, r *http.Request) {
	var in SettingsChange
	if !read(w, r, &in) {
		return
	}
	if in.Version == nil {
		fail(w, http.StatusConflict, "send the version of the settings that the change is based on")
		return
	}
	_, _, err := s.Settings.Update(r.Context(), in.Changes, *in.Version)
	var invalid *settings.InvalidError
	switch {
	case err == nil:
		reply(w, http.StatusOK, s.settingsView())
	case errors.As(err, &invalid):
		reply(w, http.StatusUnprocessableEntity, settingsFailure{Error: "some values cannot be used; nothing was changed", Fields: invalid.Fields})
	case errors.Is(err, settings.ErrConflict):
		now := s.settingsView()
		reply(w, http.StatusConflict, settingsFailure{Error: settings.ErrConflict.Error() + "; nothing of yours was changed", Now: &now})
	default:
		s.refuse(w, r, "save the settings", err)
	}
}

func (s *Server) settingsView() SettingsView {
	st := s.Settings.State()
	problems := make(map[string]string)
	for _, p := range st.Problems {
		problems[p.Key] = p.Value + " is stored and not used: it " + p.Why
	}
	out := SettingsView{Version: st.Version}
	for _, f := range settings.Fields() {
		v := SettingView{Key: f.Key, Group: f.Group, Label: f.Label, Effect: f.Effect, Kind: string(f.Kind), Problem: problems[f.Key]}
		if f.Kind == settings.Secret {
			v.Present = s.Secret(f.Key)
		} else {
			v.Value, v.Default = f.JSON(st.Settings), f.DefaultJSON()
			v.DefaultText, v.Limits = f.ShowDefault(), f.Limits()
			v.Changed = string(v.Value) != string(v.Default)
		}
		out.Settings = append(out.Settings, v)
	}
	return out
}
