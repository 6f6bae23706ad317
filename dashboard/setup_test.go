package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
)

// setup is a set-up in which the model can be tested once.
type setup struct{ tested int }

func (*setup) SetupChecks(context.Context) []api.SetupCheck {
	return []api.SetupCheck{
		{Name: "Chromium", State: api.SetupMissing, Detail: "None was found.", Fix: "Install <it>."},
		{Name: "Model", State: api.SetupReady, Detail: "openai:gpt", Testable: true},
		{Name: "Discord", State: api.SetupOptional, Detail: "Hears little.", Link: "https://discord.com/oauth2/authorize?client_id=1&scope=bot", LinkText: "Invite it"},
	}
}

func (s *setup) TestModel(context.Context) (string, error) {
	if s.tested++; s.tested > 1 {
		return "", errors.New("the key is refused")
	}
	return "openai:gpt answered.", nil
}

func TestTheSetUpPageSaysWhatIsMissingAndTestsTheModel(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", func(s *dashboard.Server) { s.Setup = new(setup) })
	_, page := r.ask("GET", "/setup", "")
	check.Contains(t, page, "None was found.", "Install &lt;it&gt;.", `href="https://discord.com/oauth2/authorize?client_id=1&amp;scope=bot"`, `class="check missing"`)
	list, err := r.client().Setup(t.Context())
	if err != nil || len(list) != 3 || list[0].State != api.SetupMissing {
		t.Errorf("programs get %+v, %v", list, err)
	}
	c := launch(t)
	tb := r.arrive(c, 360, 740, "dark")
	tb.goTo(r.server.URL() + "/setup")
	tb.click("#test-model")
	tb.waitFor(`document.getElementById("model-result").textContent === "openai:gpt answered."`)
	if status, body := r.ask("POST", "/api/setup/model", "{}"); status != http.StatusBadGateway {
		t.Errorf("a key that is refused: %d %s", status, body)
	}
	c.clean()
}
