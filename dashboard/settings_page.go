package dashboard

import (
	"encoding/json"
	"net/http"
	"strconv"

	"clank/dashboard/api"
	"clank/internal/settings"
)

// runtimeKey is the setting under which the page says which runtimes are ready.
const runtimeKey = "agentStack.overrides.browserRuntime"

// settingsData is what the settings page is made from.
type settingsData struct {
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
	MaxLen   int
	First    bool                      // it is shown before people ask for all
	Ways     []settings.RuntimeBinding // of the runtime: what there is to choose from, and what is ready
}

func (s *Server) settingsPage(w http.ResponseWriter, _ *http.Request) error {
	view := s.settingsView()
	data := settingsData{Version: view.Version, Discord: s.discordStatus()}
	for i, v := range view.Settings {
		if n := len(data.Groups); n == 0 || data.Groups[n-1].Name != v.Group {
			data.Groups = append(data.Groups, settingsGroup{Name: v.Group})
		}
		g := &data.Groups[len(data.Groups)-1]
		in := inputOf(v, "f"+strconv.Itoa(i))
		if v.Key == runtimeKey {
			in.Ways = view.Bindings
		}
		g.Inputs = append(g.Inputs, in)
	}
	return s.page(w, "settings", pageData{Title: "Settings · clank", Data: data})
}

func inputOf(v api.SettingView, id string) settingInput {
	f, _ := settings.FindField(v.Key)
	in := settingInput{
		SettingView: v, ID: id, First: f.IsCommon() || v.Changed || v.Problem != "", Options: f.Options, MaxLen: f.MaxLen, Text: string(v.Value), On: string(v.Value) == "true",
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
	return in
}

// secondsText writes milliseconds as seconds: "30", "1.5".
func secondsText(ms int) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) }
