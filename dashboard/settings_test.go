package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"clank/dashboard"
)

type jsonRaw = json.RawMessage

func TestSettingsAreShownWithTheirLimitsAndWithoutSecrets(t *testing.T) {
	r := start(t)
	_, body := r.ask("GET", "/api/settings", "")
	view := decode[dashboard.SettingsView](t, body)
	by := map[string]dashboard.SettingView{}
	for _, s := range view.Settings {
		by[s.Key] = s
	}
	steps := by["agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask"]
	if string(steps.Value) != "10" || steps.Limits != "1 to 30" || steps.DefaultText != "10" || steps.Changed {
		t.Errorf("steps = %+v", steps)
	}
	if key := by["OPENAI_API_KEY"]; !key.Present || key.Value != nil || by["DISCORD_TOKEN"].Present {
		t.Errorf("keys = %+v, %+v", key, by["DISCORD_TOKEN"])
	}
	_, page := r.ask("GET", "/settings", "")
	for _, s := range view.Settings {
		if !strings.Contains(page, s.Key) {
			t.Errorf("%s is not on the page", s.Key)
		}
	}
}

func TestAChangeOfSettingsIsWholeOrNothing(t *testing.T) {
	r := start(t)
	before, err := r.client().Settings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	version, _ := json.Marshal(before.Version)
	put := func(body string) (int, string) { return r.ask("PUT", "/api/settings", body) }
	if got, body := put(`{"changes":{"interaction.tasks.maxAtOnce":5}}`); got != http.StatusConflict || !strings.Contains(body, "version") {
		t.Errorf("without a version: %d %s", got, body)
	}
	got, body := put(`{"version":` + string(version) + `,"changes":{"interaction.tasks.maxAtOnce":5,"interaction.stop.allowedTo":"me"}}`)
	if got != http.StatusUnprocessableEntity || !strings.Contains(body, `"key":"interaction.stop.allowedTo"`) || !strings.Contains(body, "must be one of") {
		t.Errorf("an invalid value: %d %s", got, body)
	}
	if n := r.server.Settings.Now().MaxTasks; n != 4 {
		t.Errorf("the valid half was applied: %d", n)
	}
	got, body = put(`{"version":` + string(version) + `,"changes":{"interaction.tasks.maxAtOnce":5}}`)
	if view := decode[dashboard.SettingsView](t, body); got != http.StatusOK || view.Version == before.Version {
		t.Errorf("a valid change: %d %s", got, body)
	}
	got, body = put(`{"version":` + string(version) + `,"changes":{"interaction.tasks.maxAtOnce":6}}`)
	var conflict struct {
		Error string
		Now   dashboard.SettingsView
	}
	if err := json.Unmarshal([]byte(body), &conflict); err != nil {
		t.Fatal(err)
	}
	if got != http.StatusConflict || conflict.Now.Version == before.Version || !strings.Contains(conflict.Error, "somebody else") {
		t.Errorf("a stale change: %d %s", got, body)
	}
	if n := r.server.Settings.Now().MaxTasks; n != 5 {
		t.Errorf("tasks at once = %d", n)
	}
}

func TestWhatIsStoredAndNotUsedIsShownAtItsField(t *testing.T) {
	r := start(t)
	stored := map[string]json.RawMessage{"interaction.tasks.maxAtOnce": json.RawMessage("900")}
	if _, err := r.store.SaveSettings(t.Context(), stored, r.server.Settings.State().Version); err != nil {
		t.Fatal(err)
	}
	r.close()
	r = startIn(t, r.dir, "127.0.0.1:0")
	if _, page := r.ask("GET", "/settings", ""); !strings.Contains(page, "900 is stored and not used: it must be a whole number, 1 to 32") {
		t.Error("the page does not say it")
	}
}

func TestAssetsAreKeptForEverUnderTheirSum(t *testing.T) {
	r := start(t)
	_, page := r.ask("GET", "/login", "")
	i := strings.Index(page, "/assets/")
	dir := page[i : i+len("/assets/")+12]
	for name, kind := range map[string]string{"chat.js": "text/javascript", "base.css": "text/css", "mark.svg": "image/svg+xml"} {
		res := r.do("GET", dir+"/"+name, "", header("Authorization", ""))
		res.Body.Close()
		if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), kind) || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", name, res.StatusCode, res.Header)
		}
	}
	if got, _ := r.ask("GET", dir+"/..%2fserver.go", ""); got != http.StatusNotFound {
		t.Errorf("outside of the assets: %d", got)
	}
}
