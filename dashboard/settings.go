package dashboard

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"clank/dashboard/api"
	"clank/internal/settings"
)

// Error codes that clients act on.
const (
	codeVersionRequired = "settings_version_required"
	codeConflict        = "settings_conflict"
	codeDoubtful        = "settings_doubtful"
)

// settingsFailure is an error about settings: refused values, or a conflict with a concurrent change.
type settingsFailure struct {
	Error  string                `json:"error"`
	Code   string                `json:"code,omitempty"`
	Fields []settings.FieldError `json:"fields,omitempty"`
	Now    *api.SettingsView     `json:"now,omitempty"`
}

func (s *Server) getSettings(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, s.settingsView())
}

// putSettings changes settings, all of those sent or none.
func (s *Server) putSettings(w http.ResponseWriter, r *http.Request) error {
	var in api.SettingsChange
	if err := readJSON(r, &in); err != nil {
		return err
	}
	if in.Changes != nil && in.Intent != nil {
		return refuse(http.StatusBadRequest, "send changes, or the whole intent, but not both")
	}
	if in.Check {
		if doubts := s.Host.CheckSettings(r.Context(), in.Changes); len(doubts) > 0 {
			return writeJSON(w, http.StatusUnprocessableEntity, settingsFailure{
				Error: "some values will not work as things are; nothing was changed", Code: codeDoubtful, Fields: doubts,
			})
		}
	}
	change, values := s.Settings.Update, in.Changes
	if in.Intent != nil {
		change, values = s.Settings.Replace, in.Intent
	}
	return s.save(w, r, in.Version, in.Meta, s.settingsView, func(ctx context.Context, version string) error {
		_, _, err := change(ctx, values, version)
		return err
	})
}

// getGuildSettings serves the settings of a Discord server.
func (s *Server) getGuildSettings(w http.ResponseWriter, r *http.Request) error {
	g, err := s.findGuild(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, s.guildSettingsView(g, s.guildFields(r, g)))
}

// putGuildSettings changes settings of a Discord server, all of those sent or none.
func (s *Server) putGuildSettings(w http.ResponseWriter, r *http.Request) error {
	g, err := s.findGuild(r)
	if err != nil {
		return err
	}
	var in api.SettingsChange
	if err := readJSON(r, &in); err != nil {
		return err
	}
	fields := s.guildFields(r, g)
	for key := range in.Changes {
		if !slices.ContainsFunc(fields, func(f settings.Field) bool { return f.Key == key }) &&
			visitorOf(r).role < RoleOperator {
			return refuse(http.StatusForbidden, "the operator of this clank sets that")
		}
	}
	view := func() api.SettingsView { return s.guildSettingsView(g, fields) }
	return s.save(w, r, in.Version, in.Meta, view, func(ctx context.Context, version string) error {
		return s.Settings.UpdateGuild(ctx, g.ID, in.Changes, version)
	})
}

// findGuild returns the Discord server that the request names.
func (s *Server) findGuild(r *http.Request) (api.DiscordServer, error) {
	id := r.PathValue("id")
	list := s.Discord.State().Servers
	i := slices.IndexFunc(list, func(g api.DiscordServer) bool { return g.ID == id })
	if i < 0 || !visitorOf(r).manages(id) {
		return api.DiscordServer{}, refuse(http.StatusNotFound, "clank is not on that Discord server")
	}
	return list[i], nil
}

// resetSettings resets settings.
func (s *Server) resetSettings(w http.ResponseWriter, r *http.Request) error {
	var in api.SettingsReset
	if err := readJSON(r, &in); err != nil {
		return err
	}
	return s.save(w, r, nil, in.Meta, s.settingsView, func(ctx context.Context, version string) error {
		keys := in.Keys
		if keys == nil {
			keys = settings.OverriddenKeys(s.Settings.State())
		}
		changes := make(map[string]json.RawMessage, len(keys))
		for _, key := range keys {
			changes[key] = json.RawMessage("null")
		}
		_, _, err := s.Settings.Update(ctx, changes, version)
		return err
	})
}

// exportSettings serves the settings set by hand, for [Server.importSettings].
func (s *Server) exportSettings(w http.ResponseWriter, _ *http.Request) error {
	setDownload(w, "application/json; charset=utf-8", "clank-settings.jsonc")
	_, _ = w.Write(settings.WriteJSONC(s.Settings.State())) // fails only if the client has gone
	return nil
}

// importSettings replaces all settings set by hand with those of a file.
func (s *Server) importSettings(w http.ResponseWriter, r *http.Request) error {
	var in api.SettingsImport
	if err := readJSON(r, &in); err != nil {
		return err
	}
	values, err := settings.ParseJSONC([]byte(in.Text))
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, "this is no file of settings: %v", err)
	}
	return s.save(w, r, in.Version, nil, s.settingsView, func(ctx context.Context, version string) error {
		_, _, err := s.Settings.Replace(ctx, values, version)
		return err
	})
}

// save makes a change that is based on a version and answers with the result and the view of the settings.
func (s *Server) save(
	w http.ResponseWriter, r *http.Request, version *string, meta *api.SettingsMeta, view func() api.SettingsView,
	change func(context.Context, string) error,
) error {
	if version == nil && meta != nil {
		version = meta.ExpectedUpdatedAt
	}
	if version == nil {
		return writeJSON(w, http.StatusConflict, settingsFailure{
			Error: "send the version of the settings that the change is based on (_meta.expectedUpdatedAt)",
			Code:  codeVersionRequired,
		})
	}
	err := change(r.Context(), *version)
	var invalid *settings.InvalidError
	switch {
	case err == nil:
		now := view()
		now.Applied = new(true)
		return writeJSON(w, http.StatusOK, now)
	case errors.As(err, &invalid):
		return writeJSON(w, http.StatusUnprocessableEntity,
			settingsFailure{Error: "some values cannot be used; nothing was changed", Fields: invalid.Fields})
	case errors.Is(err, settings.ErrConflict):
		now := view()
		return writeJSON(w, http.StatusConflict,
			settingsFailure{
				Error: settings.ErrConflict.Error() + "; nothing of yours was changed", Code: codeConflict,
				Now: &now,
			})
	default:
		return failed("save the settings", err)
	}
}

// previewPreset serves the effects of choosing a preset.
func (s *Server) previewPreset(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	p, ok := settings.FindPreset(name)
	if !ok {
		return refuse(http.StatusNotFound, "there is no preset %q", name)
	}
	st := s.Settings.State()
	return writeJSON(w, http.StatusOK, api.PresetPreview{
		Preset: p, Effects: settings.PreviewPreset(st, name),
		Meta: api.SettingsMeta{UpdatedAt: st.Version},
	})
}

func (s *Server) settingsView() api.SettingsView {
	st := s.Settings.State()
	base := settings.PresetDefaults(st.Settings.Preset)
	base.Preset = settings.PresetNone
	out := s.viewOf(st, base, settings.Fields())
	out.Meta.PresetByHand = settings.OverriddenKeys(st)
	out.Bindings = settings.RuntimeBindings(st.Settings, s.Host.ModelAbility)
	return out
}

// guildFields returns the settings of a Discord server that the visitor sees: the operator sees all, the server's
// managers those that they may change.
func (s *Server) guildFields(r *http.Request, g api.DiscordServer) []settings.Field {
	if visitorOf(r).role == RoleOperator {
		return s.Settings.Guild(g.ID).Fields
	}
	return s.Settings.Guild(g.ID).ManagerFields()
}

func (s *Server) guildSettingsView(g api.DiscordServer, fields []settings.Field) api.SettingsView {
	st := s.Settings.Guild(g.ID)
	st.Stored = maps.Clone(st.Stored)
	maps.DeleteFunc(st.Stored, func(key string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(fields, func(f settings.Field) bool { return f.Key == key })
	})
	return s.viewOf(st.State, s.Settings.Current(), fields)
}

// viewOf returns the settings in st. base provides the values of those that are not set.
func (s *Server) viewOf(st settings.State, base settings.Settings, fields []settings.Field) api.SettingsView {
	problems := make(map[string]string)
	for _, p := range st.Problems {
		problems[p.Key] = p.Value + " is stored and not used: it " + p.Why
	}
	out := api.SettingsView{
		Version: st.Version, Intent: st.Stored, Effective: make(map[string]json.RawMessage),
		Meta: api.SettingsMeta{UpdatedAt: st.Version},
	}
	if out.Intent == nil {
		out.Intent = map[string]json.RawMessage{}
	}
	for _, f := range fields {
		v := api.SettingView{
			Key: f.Key, Group: f.Group, Label: f.Label, Effect: f.Effect, Kind: string(f.Kind),
			Problem: problems[f.Key],
		}
		if f.Kind == settings.KindSecret {
			v.Present = s.Host.HasSecret(f.Key)
		} else {
			v.Value, v.Default = f.JSON(st.Settings), f.JSON(base)
			v.DefaultText, v.Limits = f.FormatValue(base), f.Limits()
			v.Changed = string(v.Value) != string(v.Default)
			out.Effective[f.Key] = v.Value
		}
		out.Settings = append(out.Settings, v)
	}
	return out
}
