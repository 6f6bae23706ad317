package dashboard_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/internal/test/check"
)

type jsonRaw = json.RawMessage

func TestSettingsAreShownWithTheirLimitsAndWithoutSecrets(t *testing.T) {
	r := start(t)
	_, body := r.ask("GET", "/api/settings", "")
	view := decode[api.SettingsView](t, body)
	by := map[string]api.SettingView{}
	for _, s := range view.Settings {
		by[s.Key] = s
	}
	steps := by["agentStack.runtimeConfig.browser.localBrowserAgent.maxStepsPerTask"]
	if string(steps.Value) != "30" || steps.Limits != "1 to 200" || steps.DefaultText != "30" || steps.Changed {
		t.Errorf("steps = %+v", steps)
	}
	if key := by["OPENAI_API_KEY"]; !key.Present || key.Value != nil || by["DISCORD_TOKEN"].Present {
		t.Errorf("keys = %+v, %+v", key, by["DISCORD_TOKEN"])
	}
	_, page := r.ask("GET", "/settings", "")
	for _, s := range view.Settings {
		check.Contains(t, page, s.Key)
	}
}

func TestAChangeOfSettingsIsAtomic(t *testing.T) {
	r := start(t)
	before, err := r.client().Settings(t.Context())
	check.Must(t, err)
	version, _ := json.Marshal(before.Version)
	put := func(body string) (int, string) { return r.ask("PUT", "/api/settings", body) }
	if got, body := put(`{"changes":{"interaction.tasks.maxAtOnce":5}}`); got != http.StatusConflict ||
		!strings.Contains(body, "version") {
		t.Errorf("without a version: %d %s", got, body)
	}
	got, body := put(`{"version":` + string(version) +
		`,"changes":{"interaction.tasks.maxAtOnce":5,"interaction.stop.allowedTo":"me"}}`)
	if got != http.StatusUnprocessableEntity || !strings.Contains(body, `"key":"interaction.stop.allowedTo"`) ||
		!strings.Contains(body, "must be one of") {
		t.Errorf("an invalid value: %d %s", got, body)
	}
	check.Equal(t, "the valid half was applied", r.server.Settings.Current().MaxTasks, 4)
	got, body = put(`{"version":` + string(version) + `,"changes":{"interaction.tasks.maxAtOnce":5}}`)
	if view := decode[api.SettingsView](t, body); got != http.StatusOK || view.Version == before.Version {
		t.Errorf("a valid change: %d %s", got, body)
	}
	got, body = put(`{"version":` + string(version) + `,"changes":{"interaction.tasks.maxAtOnce":6}}`)
	var conflict struct {
		Error string
		Now   api.SettingsView
	}
	check.Must(t, json.Unmarshal([]byte(body), &conflict))
	if got != http.StatusConflict || conflict.Now.Version == before.Version ||
		!strings.Contains(conflict.Error, "somebody else") {
		t.Errorf("a stale change: %d %s", got, body)
	}
	check.Equal(t, "tasks at once", r.server.Settings.Current().MaxTasks, 5)
}

func TestInvalidStoredValuesAreShownAtTheirField(t *testing.T) {
	r := start(t)
	stored := map[string]json.RawMessage{"interaction.tasks.maxAtOnce": json.RawMessage("900")}
	check.Must(t, check.Err(r.store.SaveSettings(t.Context(), stored, r.server.Settings.State().Version)))
	r.close()
	r = startIn(t, r.dir, "127.0.0.1:0")
	if _, page := r.ask("GET", "/settings", ""); !strings.Contains(page, "900 is stored and not used: it must be a "+
		"whole number, 1 to 32") {
		t.Error("the page does not say it")
	}
}

func TestAssetsAreCachedForeverUnderTheirChecksum(t *testing.T) {
	r := start(t)
	_, page := r.ask("GET", "/login", "")
	i := strings.Index(page, "/assets/")
	dir := page[i : i+len("/assets/")+12]
	for name, kind := range map[string]string{
		"chat.js": "text/javascript", "base.css": "text/css",
		"mark.svg": "image/svg+xml",
	} {
		res := r.do("GET", dir+"/"+name, "", header("Authorization", ""))
		res.Body.Close()
		if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), kind) ||
			!strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", name, res.StatusCode, res.Header)
		}
	}
	if got, _ := r.ask("GET", dir+"/..%2fserver.go", ""); got != http.StatusNotFound {
		t.Errorf("outside of the assets: %d", got)
	}
}

func TestTheSettingsAreAnEnvelopeOfIntentAndWhatItComesTo(t *testing.T) {
	r := start(t)
	put := func(body string) (int, string) { return r.ask("PUT", "/api/settings", body) }
	view := decode[api.SettingsView](t, second(r.ask("GET", "/api/settings", "")))
	if len(view.Intent) != 0 || string(view.Effective["interaction.tasks.maxAtOnce"]) != "4" ||
		view.Meta.UpdatedAt != view.Version {
		t.Errorf("at first: intent %v, _meta %+v", view.Intent, view.Meta)
	}
	if len(view.Bindings) != 4 || !view.Bindings[0].Chosen || view.Bindings[0].Runtime != "local_browser_agent" {
		t.Errorf("bindings = %+v", view.Bindings)
	}
	status, body := put(`{"intent":{"agentStack.preset":"openai_oauth"}}`)
	if status != http.StatusConflict || !strings.Contains(body, `"code":"settings_version_required"`) {
		t.Errorf("without a version: %d %s", status, body)
	}
	status, body = put(`{"intent":{"agentStack.preset":"openai_oauth","interaction.tasks.maxAtOnce":7},"_meta":{"expectedUpdatedAt":"` + view.Version + `"}}`)
	after := decode[api.SettingsView](t, body)
	if status != http.StatusOK || after.Applied == nil || !*after.Applied || len(after.Intent) != 2 ||
		string(after.Effective["interaction.brain.model"]) != `"openai:gpt-5.6"` {
		t.Fatalf("an intent: %d %s", status, body)
	}
	if b := after.Bindings[1]; b.Runtime != "openai_computer_use" || !b.Chosen {
		t.Errorf("bindings = %+v", after.Bindings)
	}
	if status, body = put(`{"intent":{},"_meta":{"expectedUpdatedAt":"` + view.Version +
		`"}}`); status != http.StatusConflict || !strings.Contains(body, `"code":"settings_conflict"`) {
		t.Errorf("a stale intent: %d %s", status, body)
	}
	if status, body = put(`{"intent":{},"changes":{},"version":"1"}`); status != http.StatusBadRequest {
		t.Errorf("both at once: %d %s", status, body)
	}
	status, body = put(`{"intent":{"agentStack.preset":"openai_oauth"},"_meta":{"expectedUpdatedAt":"` + after.Version +
		`"}}`)
	if now := decode[api.SettingsView](t, body); status != http.StatusOK || len(now.Intent) != 1 ||
		r.server.Settings.Current().MaxTasks != 4 {
		t.Errorf("an intent without what was set: %d %v", status, now.Intent)
	}
}

func TestAPresetIsPreviewedAndBroughtBack(t *testing.T) {
	r := start(t)
	r.change(`{"version":"","changes":{"interaction.brain.model":"openai:gpt-6-luna"}}`)
	preview := decode[api.PresetPreview](t, second(r.ask("GET", "/api/settings/presets/openai_api", "")))
	kept := 0
	for _, e := range preview.Effects {
		if e.Overridden {
			kept++
		}
	}
	if len(preview.Effects) != 2 || kept != 1 || preview.Preset.Runtime != "local_browser_agent" {
		t.Errorf("preview = %+v", preview)
	}
	if got, _ := r.ask("GET", "/api/settings/presets/none", ""); got != http.StatusNotFound {
		t.Errorf("a preset that is not there: %d", got)
	}
	view := r.change(`{"version":"1","changes":{"agentStack.preset":"openai_api"}}`)
	if len(view.Meta.PresetByHand) != 1 {
		t.Errorf("by hand: %v", view.Meta.PresetByHand)
	}
	if got, body := r.ask("POST", "/api/settings/reset", `{}`); got != http.StatusConflict ||
		!strings.Contains(body, "settings_version_required") {
		t.Errorf("a reset without a version: %d %s", got, body)
	}
	got, body := r.ask("POST", "/api/settings/reset", `{"_meta":{"expectedUpdatedAt":"2"}}`)
	if now := r.server.Settings.Current(); got != http.StatusOK || now.AssistantModel != "openai:gpt-5.6" ||
		now.Preset != "openai_api" {
		t.Errorf("a reset: %d %s", got, body)
	}
	if got, body = r.ask("POST", "/api/settings/reset",
		`{"keys":["agentStack.preset"],"_meta":{"expectedUpdatedAt":"3"}}`); got != http.StatusOK ||
		r.server.Settings.Current().Preset != "" {
		t.Errorf("a reset of one: %d %s", got, body)
	}
}

func TestThePageShowsWhichRuntimeIsNotReady(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		s.Host = &host{ability: func(runtime, model string) settings.ModelAbility {
			if runtime == "local_browser_agent" {
				return settings.ModelAbility{}
			}
			return settings.ModelAbility{Missing: "no key for " + model}
		}}
	})
	_, page := r.ask("GET", "/settings", "")
	check.Contains(t, page, "local_browser_agent: ready with plain:steps (chosen)", "gemini_computer_use with the model "+
		"gemini:gemini-3.5-flash is not ready: no key for")
}

// onDiscord adds two Discord servers to the dashboard.
func onDiscord(s *dashboard.Server) {
	s.Discord = onServers{
		servers: []api.DiscordServer{{ID: "1", Name: "Home"}, {ID: "2", Name: "Work"}},
		channel: "general",
	}
}

func TestTheOperatorChangesTheSettingsOfAServer(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", onDiscord)
	if _, page := r.ask("GET", "/settings", ""); !strings.Contains(page, `<a href="/settings/servers/2">Work</a>`) {
		t.Error("the settings lead to no server")
	}
	put := func(guild, body string) (int, string) { return r.ask("PUT", "/api/servers/"+guild+"/settings", body) }
	for _, c := range []struct {
		guild, body string
		want        int
		says        string
	}{
		{"1", `{"changes":{"server.language":"de"}}`, http.StatusConflict, "settings_version_required"},
		{
			"1", `{"version":"0","changes":{"server.language":"de","server.channels":"200000000000000001 200000000000000007"}}`,
			http.StatusOK, `"version":"1"`,
		},
		{"1", `{"version":"0","changes":{"server.language":"fr"}}`, http.StatusConflict, `"now":`},
		{
			"1", `{"version":"1","changes":{"server.budget":"99 USD"}}`, http.StatusUnprocessableEntity,
			"no more than the operator",
		},
		{
			"1", `{"version":"1","changes":{"interaction.tasks.maxAtOnce":9}}`, http.StatusUnprocessableEntity,
			"is not a setting of a server",
		},
		{"3", `{"version":"0","changes":{"server.language":"de"}}`, http.StatusNotFound, "not on that Discord server"},
	} {
		if got, body := put(c.guild, c.body); got != c.want || !strings.Contains(body, c.says) {
			t.Errorf("%s %s: %d %s", c.guild, c.body, got, body)
		}
	}
	if one, two := r.server.Settings.For("1").Language, r.server.Settings.For("2").Language; one != "de" || two != "" {
		t.Errorf("the servers have %q and %q", one, two)
	}
	_, page := r.ask("GET", "/settings/servers/1", "")
	check.Contains(t, page, "Settings of Home", `<option value="200000000000000001" selected>#room<`,
		`<option value="200000000000000009">#hall<`,
		`<option value="200000000000000007" selected>one that is gone<`, "@helpers")
	if got, _ := r.ask("GET", "/settings/servers/3", ""); got != http.StatusNotFound {
		t.Errorf("the page of a server that is none: %d", got)
	}
	view := decode[api.SettingsView](t, second(r.ask("GET", "/api/servers/1/settings", "")))
	if len(view.Intent) != 2 || string(view.Effective["server.language"]) != `"de"` || view.Version != "1" {
		t.Errorf("the settings are %+v", view)
	}
}

// change changes settings, which must be accepted.
func (r *rig) change(body string) api.SettingsView {
	r.t.Helper()
	got, answer := r.ask("PUT", "/api/settings", body)
	if got != http.StatusOK {
		r.t.Fatalf("%s: %d %s", body, got, answer)
	}
	return decode[api.SettingsView](r.t, answer)
}

func second(_ int, body string) string { return body }

func TestSettingsGoOutAndComeInAsAFile(t *testing.T) {
	r := start(t)
	set := func(body string) (int, string) { return r.ask("POST", "/api/settings/import", body) }
	if got, body := set(`{"version":"","text":"{ \"interaction.tasks.maxAtOnce\": 5, // as many\n }"}`); got != http.StatusOK {
		t.Fatalf("import: %d %s", got, body)
	}
	_, file := r.ask("GET", "/api/settings/export", "")
	check.Contains(t, file, `"interaction.tasks.maxAtOnce": 5,`, "// ")
	version := r.server.Settings.State().Version
	for body, want := range map[string]int{
		`{"version":"` + version + `","text":"{"}`:                                        http.StatusUnprocessableEntity,
		`{"version":"old","text":"{}"}`:                                                   http.StatusConflict,
		`{"version":"` + version + `","text":"{\"interaction.tasks.maxAtOnce\": \"x\"}"}`: http.StatusUnprocessableEntity,
		`{"version":"` + version + `","text":"{\"no.such\": 1}"}`:                         http.StatusUnprocessableEntity,
		`{"text":"{}"}`: http.StatusConflict,
	} {
		if got, answer := set(body); got != want || r.server.Settings.Current().MaxTasks != 5 {
			t.Errorf("%s: %d %s, want %d", body, got, answer, want)
		}
	}
	if got, body := set(`{"version":"` + version + `","text":"{}"}`); got != http.StatusOK ||
		r.server.Settings.Current().MaxTasks != 4 {
		t.Errorf("an empty file: %d %s", got, body)
	}
}

func TestSettingsAreSearchedAndChangesUndone(t *testing.T) {
	r, c, tb := arrive(t, 360, 740, "light")
	tb.goTo(r.server.URL() + "/settings")
	visible := `[...document.querySelectorAll("[data-find]")].filter((n) => n.checkVisibility()).length`
	check.Equal(t, "settings are shown first", tb.Eval(visible), 20.0)
	tb.Eval(`(() => { const find = document.getElementById("find"); find.value = "at ONCE maxAtOncePerUser"; find.dispatchEvent(new Event("input")); })()`)
	tb.waitFor(visible + ` === 1 && document.getElementById("found").textContent === "1 setting matches."`)
	tb.Eval(`(() => { const i = document.querySelector('[data-key="interaction.tasks.maxAtOncePerUser"] input'); i.value = 3;
		i.dispatchEvent(new Event("input")); document.getElementById("save").click(); })()`)
	tb.waitFor(`document.querySelector("#history button")?.closest("li").textContent.includes("2 → 3") || document.getElementById("history").textContent.includes("default → 3")`)
	tb.click("#history button")
	tb.waitFor(`document.querySelectorAll("#history button").length === 2`)
	check.Equal(t, "tasks at once after it was taken back", r.server.Settings.Current().TaskLimits.User, 2)
	tb.click("#all")
	tb.Eval(`(() => { const find = document.getElementById("find"); find.value = ""; find.dispatchEvent(new Event("input")); })()`)
	tb.waitFor(visible + ` > 100`)
	c.clean()
}

func TestDoubtfulSettingsAreSavedOnRequestAndTheBarCoversNoField(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) {
		s.Host = &host{doubted: `"/nowhere"`, doubt: "leads to no browser"}
	})
	const key = "agentStack.runtimeConfig.browser.executablePath"
	if got, body := r.ask("PUT", "/api/settings", `{"version":"","changes":{"`+key+
		`":"/nowhere"}}`); got != http.StatusOK {
		t.Errorf("a program that does not ask for the check: %d %s", got, body)
	}
	r.change(`{"version":"1","changes":{"` + key + `":null}}`)
	tb := r.arrive(launch(t), 320, 640, "light")
	tb.goTo(r.server.URL() + "/settings")
	tb.Eval(`document.getElementById("all").click()`)
	typeInto := `(f, value) => { f.scrollIntoView(); f.focus(); f.value = value; f.dispatchEvent(new Event("input", { bubbles: true })); }`
	field := `document.querySelector('[data-key="` + key + `"]')`
	tb.Eval(`(` + typeInto + `)(` + field + `.querySelector("input"), "/nowhere")`)
	tb.click("#save")
	tb.waitFor(`document.getElementById("save").textContent === "Save anyway" && ` + field +
		`.querySelector(".error").textContent === "This leads to no browser."`)
	covered := tb.Eval(`(async () => {
		const bar = document.getElementById("save-bar"), wrong = [];
		for (const field of document.querySelectorAll(".field[data-key]")) {
			if (!field.checkVisibility()) continue;
			const input = field.querySelector("input, select, textarea");
			input.focus();
			await new Promise(requestAnimationFrame);
			const { bottom } = input.getBoundingClientRect(), { top } = bar.getBoundingClientRect();
			if (bottom > top) wrong.push(field.dataset.key + " " + bottom + " " + top);
		}
		return wrong.join("\n");
	})()`)
	check.Equal(t, "fields that the bar covers", covered, "")
	tb.click("#save")
	tb.waitFor(`document.getElementById("save-text").textContent.startsWith("Saved")`)
	check.Equal(t, "saved anyway", r.server.Settings.Current().BrowserPath, "/nowhere")
}
