package dashboard

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"clank/dashboard/api"
	"clank/internal/settings"
)

// runtimeKey is the setting next to which the page shows which runtimes are ready.
const runtimeKey = "agentStack.overrides.browserRuntime"

// settingsData is the data of the settings page.
type settingsData struct {
	Title   string
	Path    string // of the API route for these settings
	Guild   bool   // they belong to one Discord server
	Version string
	Groups  []settingsGroup
	Discord api.Discord
}

type settingsGroup struct {
	Name   string
	Inputs []settingInput
}

// settingInput is a setting as a form control.
type settingInput struct {
	api.SettingView

	ID       string // of its element
	Text     string // the text in the input; durations in seconds
	On       bool   // state of a toggle
	Min, Max string
	Options  []settings.Option
	Chosen   map[string]bool // selected channels and roles, by id
	MaxLen   int
	First    bool                      // shown without expanding the full list
	Ways     []settings.RuntimeBinding // for the runtime setting: the choices and whether they are ready
}

func (s *Server) settingsPage(w http.ResponseWriter, r *http.Request) error {
	data := settingsData{Title: "Settings", Path: "/api/settings", Discord: s.Discord.State()}
	data.add(s.settingsView(), settings.Fields())
	return s.page(w, r, "settings", pageData{Title: "Settings · clank", Data: data})
}

// guildSettingsPage shows the settings of a Discord server.
func (s *Server) guildSettingsPage(w http.ResponseWriter, r *http.Request) error {
	g, err := s.findGuild(r)
	if err != nil {
		return err
	}
	fields := slices.Clone(s.guildFields(r, g))
	channels, roles := s.Discord.GuildParts(g.ID)
	for i := range fields {
		switch fields[i].Kind {
		case settings.KindChannels:
			fields[i].Options = channels
		case settings.KindRoles:
			fields[i].Options = roles
		default:
		}
	}
	data := settingsData{Title: "Settings of " + g.Name, Path: "/api/servers/" + g.ID + "/settings", Guild: true}
	data.add(s.guildSettingsView(g, fields), fields)
	return s.page(w, r, "settings", pageData{Title: data.Title + " · clank", Data: data})
}

// add adds settings in the order of fields.
func (d *settingsData) add(view api.SettingsView, fields []settings.Field) {
	d.Version = view.Version
	for i, v := range view.Settings {
		if n := len(d.Groups); n == 0 || d.Groups[n-1].Name != v.Group {
			d.Groups = append(d.Groups, settingsGroup{Name: v.Group})
		}
		g := &d.Groups[len(d.Groups)-1]
		in := inputOf(v, fields[i], "f"+strconv.Itoa(i))
		if v.Key == runtimeKey {
			in.Ways = view.Bindings
		}
		g.Inputs = append(g.Inputs, in)
	}
}

func inputOf(v api.SettingView, f settings.Field, id string) settingInput {
	in := settingInput{
		SettingView: v, ID: id, First: f.IsCommon() || v.Changed || v.Problem != "",
		Options: f.Options, MaxLen: f.MaxLen, Text: string(v.Value), On: string(v.Value) == "true",
	}
	switch f.Kind {
	case settings.KindNumber:
		in.Min, in.Max = strconv.Itoa(f.Min), strconv.Itoa(f.Max)
	case settings.KindDuration:
		ms, _ := strconv.Atoi(in.Text) // the value was written by us
		in.Text, in.Min, in.Max = secondsText(ms), secondsText(f.Min), secondsText(f.Max)
	case settings.KindToggle, settings.KindSecret:
	default:
		_ = json.Unmarshal(v.Value, &in.Text) // the value was written by us and is a string
	}
	if f.Kind == settings.KindChannels || f.Kind == settings.KindRoles {
		in.chooseParts()
	}
	return in
}

// chooseParts marks the selected channels or roles. One that no longer exists in Discord stays listed so that it can
// be removed.
func (in *settingInput) chooseParts() {
	in.Options, in.Chosen = slices.Clone(in.Options), make(map[string]bool)
	for id := range strings.FieldsSeq(in.Text) {
		in.Chosen[id] = true
		if !slices.ContainsFunc(in.Options, func(o settings.Option) bool { return o.Value == id }) {
			in.Options = append(in.Options, settings.Option{Value: id, Label: "one that is gone"})
		}
	}
}

// secondsText formats milliseconds as seconds: "30", "1.5".
func secondsText(ms int) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) }
