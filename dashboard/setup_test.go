package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/telemetry"
	"clank/internal/test/check"
)

// setup is a set-up in which the model can be tested once, and whose keys are good if they begin with "sk-".
type setup struct {
	tested int
	keys   sync.Map
}

func (s *setup) SaveKey(_ context.Context, name, value string) error {
	if value != "" && !strings.HasPrefix(value, "sk-") {
		return errors.New("the vendor does not accept the key")
	}
	s.keys.Store(name, value)
	return nil
}

func (*setup) Models(_ context.Context, provider string) ([]string, error) {
	if provider != "openai" {
		return nil, errors.New("it takes a key to ask for its models")
	}
	return []string{"gpt-6-sol", "gpt-6-luna"}, nil
}

func (*setup) SetupChecks(context.Context) []api.SetupCheck {
	return []api.SetupCheck{
		{Name: "Chromium", State: api.SetupMissing, Detail: "None was found.", Fix: "Install <it>."},
		{Name: "Model", State: api.SetupReady, Detail: "openai:gpt", Test: api.TestsModel, Asks: api.AsksModel},
		{
			Name: "Discord", State: api.SetupOptional, Detail: "Hears little.",
			Link: "https://discord.com/oauth2/authorize?client_id=1&scope=bot", LinkText: "Invite it", Asks: api.AsksDiscord,
		},
		{Name: "Calls", State: api.SetupReady, Detail: "Hears and speaks.", Test: api.TestsVoice},
	}
}

func (*setup) CheckVoice(context.Context) []api.VoiceCheck {
	return []api.VoiceCheck{
		{Name: "Speech", OK: true, Text: "1.9 s of sound came."},
		{Name: "Understanding", Text: "The key is refused. Enter <another>."},
	}
}

func (s *setup) TestModel(context.Context) (string, error) {
	if s.tested++; s.tested > 1 {
		return "", errors.New("the key is refused")
	}
	return "openai:gpt answered.", nil
}

func TestTheSetUpPageShowsWhatIsMissingAndTestsTheModel(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Setup = new(setup) })
	_, page := r.ask("GET", "/setup", "")
	check.Contains(t, page, "None was found.", "Install &lt;it&gt;.",
		`href="https://discord.com/oauth2/authorize?client_id=1&amp;scope=bot"`, `class="check missing"`)
	list, err := r.client().Setup(t.Context())
	if err != nil || len(list) != 4 || list[0].State != api.SetupMissing {
		t.Errorf("programs get %+v, %v", list, err)
	}
	c := launch(t)
	tb := r.arrive(c, 360, 740, "dark")
	tb.goTo(r.server.URL() + "/setup")
	tb.click("#test-model")
	tb.waitFor(`document.getElementById("model-result").textContent === "openai:gpt answered."`)
	tb.click("#test-voice")
	tb.waitFor(`[...document.querySelectorAll(".voice-checks li")].map((l) => l.textContent).join("|") ===
		"✓ Speech 1.9 s of sound came.|✗ Understanding The key is refused. Enter <another>."`)
	if dir := os.Getenv("SHOTS"); dir != "" {
		check.Must(t, os.WriteFile(dir+"/setup-voice.png", tb.Screenshot(), 0o600))
	}
	if status, body := r.ask("POST", "/api/setup/model", "{}"); status != http.StatusBadGateway {
		t.Errorf("a key that is refused: %d %s", status, body)
	}
	c.clean()
}

func TestTheSetUpPageStoresKeysAndChoosesAModel(t *testing.T) {
	s := new(setup)
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(d *dashboard.Server) { d.Setup = s })
	c := launch(t)
	tb := r.arrive(c, 360, 740, "light")
	tb.goTo(r.server.URL() + "/setup")
	set := func(name, value string) {
		tb.Eval(`document.querySelector("#model-form [name=` + name + `]").value = ` + strconv.Quote(value))
	}
	found := func(text string) {
		t.Helper()
		tb.waitFor(`document.getElementById("models-found").textContent === ` + strconv.Quote(text))
	}
	tb.Eval(`document.querySelector("details:has(#model-form)").open = true`)
	if status, body := r.ask("POST", "/api/setup/key",
		`{"name":"OPENAI_API_KEY","value":"wrong"}`); status != http.StatusUnprocessableEntity {
		t.Errorf("a key that is refused: %d %s", status, body)
	}
	set("key", "sk-right")
	tb.click("#list-models")
	found("2 models were found. Choose one, or write another.")
	if got := tb.Eval(`document.querySelector("#model-form [name=key]").value + [...document.querySelectorAll("#models option")].map((o) => o.value)`); got != "gpt-6-sol,gpt-6-luna" {
		t.Errorf("key and models: %v", got)
	}
	set("model", "gpt-6-luna")
	tb.Eval(`document.querySelector("#model-form [type=submit]").click()`)
	tb.waitFor(`document.getElementById("model-result")?.textContent === "openai:gpt answered."`)
	if now := r.server.Settings.Current(); now.AgentModel != "openai:gpt-6-luna" ||
		now.AssistantModel != "openai:gpt-6-luna" {
		t.Errorf("the models are %q and %q", now.AgentModel, now.AssistantModel)
	}
	tb.Eval(`window.before = true; document.querySelector("#discord-form [name=token]").value = "sk-bot"; document.querySelector("#discord-form button").click()`)
	eventually(t, "the token is kept", func() bool { kept, _ := s.keys.Load("DISCORD_TOKEN"); return kept == "sk-bot" })
	tb.awaitPage()
	list, err := r.client().Records(t.Context(), telemetry.Query{Kinds: []telemetry.Kind{telemetry.KindKey}, Limit: 5})
	if err != nil || len(list) != 2 || strings.Contains(string(list[0].Data), "sk-") {
		t.Errorf("records of keys: %+v %v", list, err)
	}
	tb.waitFor(`document.querySelector("#first button")`)
	tb.Eval(`document.getElementById("first-task").value = "brief"; document.querySelector("#first button").click()`)
	tb.waitFor(`location.pathname.startsWith("/s/") && document.querySelector(".turn")?.innerText.includes("Here it is.")`)
	c.clean()
}
