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

// runtimeKey is the setting under which the page says which runtimes are ready.
const runtimeKey = "agentStack.overrides.browserRuntime"

// settingsData is what the settings page is made from.
type settingsData struct {
	Title   string
	Path    string // of what it reads and changes
	Guild   bool   // it is about one Discord server
	Version string
	Groups  []settingsGroup
	Discord api.Discord
}

type settingsGroup struct {
	Name   string
	Inputs []settingInput
}

// settingInput is a setting as a form asks for it.
type settingInput struct {
	api.SettingView

	ID       string // of its element
	Text     string // the value as it stands in the input; of a duration, in seconds
	On       bool   // of a toggle
	Min, Max string
	Options  []settings.Option
	Chosen   map[string]bool // of channels and roles, by their ids
	MaxLen   int
	First    bool                      // it is shown before people ask for all
	Ways     []settings.RuntimeBinding // of the runtime: what there is to choose from, and what is ready
}

func (s *Server) settingsPage(w http.ResponseWriter, r *http.Request) error {
	data := settingsData{Title: "Settings", Path: "/api/settings", Discord: s.Discord.State()}
	data.add(s.settingsView(), settings.Fields())
	return s.page(w, r, "settings", pageData{Title: "Settings · clank", Data: data})
}

// guildSettingsPage shows what is set for a Discord server.
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

// add adds settings, which are in the order of fields.
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
		ms, _ := strconv.Atoi(in.Text) // we wrote it
		in.Text, in.Min, in.Max = secondsText(ms), secondsText(f.Min), secondsText(f.Max)
	case settings.KindToggle, settings.KindSecret:
	default:
		_ = json.Unmarshal(v.Value, &in.Text) // we wrote it: it is a string
	}
	if f.Kind == settings.KindChannels || f.Kind == settings.KindRoles {
		in.chooseParts()
	}
	return in
}

// chooseParts marks the channels or roles that are chosen. One that Discord does not have any more can be taken out.
func (in *settingInput) chooseParts() {
	in.Options, in.Chosen = slices.Clone(in.Options), make(map[string]bool)
	for id := range strings.FieldsSeq(in.Text) {
		in.Chosen[id] = true
		if !slices.ContainsFunc(in.Options, func(o settings.Option) bool { return o.Value == id }) {
			in.Options = append(in.Options, settings.Option{Value: id, Label: "one that is gone"})
		}
	}
}

// secondsText writes milliseconds as seconds: "30", "1.5".
func secondsText(ms int) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) }
