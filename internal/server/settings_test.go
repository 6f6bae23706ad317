package server_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"clank/internal/budget"
	"clank/internal/server"
	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/internal/test/sqlitetest"
	"clank/llm"
)

func TestReservationsOfACrashCountAsEstimated(t *testing.T) {
	ledger := sqlitetest.OpenLedger(t)
	reserve := func(at time.Time) int64 {
		e := budget.Entry{
			At: at, Day: at.Format(time.DateOnly), Account: llm.Account{Task: "t"},
			Amount: budget.Amount{Calls: 1, Money: 5},
		}
		id, err := ledger.Reserve(t.Context(), e, func([]budget.Sum) error { return nil })
		check.Must(t, err)
		return id
	}
	open := reserve(time.Now())
	check.Must(t, check.Err(server.OpenBudget(t.Context(), ledger, settings.Defaults, slog.New(slog.DiscardHandler))))
	calls, err := ledger.Calls(t.Context(), 10)
	if err != nil || len(calls) != 1 || calls[0].ID != open || calls[0].State != budget.StateEstimated {
		t.Errorf("got %+v, %v; want the open call, as estimated", calls, err)
	}
}

func TestTheSettingsOfBudgetsAreThoseTheErrorsName(t *testing.T) {
	for level := range server.BudgetRules(settings.Defaults()).Limits {
		if _, ok := settings.FindField(budget.LimitKey + string(level)); !ok {
			t.Errorf("there is no setting %s%s", budget.LimitKey, level)
		}
	}
	if _, ok := settings.FindField(budget.PricesKey); !ok {
		t.Errorf("there is no setting %s", budget.PricesKey)
	}
}

func TestRulesFollowTheSettings(t *testing.T) {
	rules := server.BudgetRules(settings.Settings{RetentionInDays: 7, Budget: settings.Budget{
		Task: "0.5 USD, 3 steps, 2 minutes", Day: "7 calls 9 tokens", Zone: "UTC", Prices: "m 1 2 3",
	}})
	check.Equal(t, "for a task", rules.Limits[budget.LevelTask],
		budget.Amount{Money: budget.Dollars(0.5), Steps: 3, Time: 2 * time.Minute})
	check.Equal(t, "for a day", rules.Limits[budget.LevelDay], budget.Amount{Calls: 7, Tokens: 9})
	if rules.KeepDays != 7 || rules.Zone != time.UTC || rules.Prices["m"] != (llm.Price{Input: 1, Cached: 2, Output: 3}) {
		t.Errorf("got %+v", rules)
	}
}

func TestEveryModelThatSettingsNameHasAPrice(t *testing.T) {
	named := map[string]string{}
	note := func(where string, value any) {
		if name, ok := value.(string); ok && strings.Contains(name, ":") && !strings.Contains(name, "://") &&
			!strings.HasPrefix(name, "plain:") {
			named[name] = where
		}
	}
	for _, f := range settings.Fields() {
		if f.Kind == settings.KindModel {
			note(f.Key, f.Default)
		}
		for _, o := range f.Options {
			p, _ := settings.FindPreset(o.Value)
			for _, value := range p.Values {
				note("preset "+p.Name, value)
			}
		}
	}
	if len(named) < 3 {
		t.Fatalf("found the models %v", named)
	}
	for name, where := range named {
		_, model, _ := strings.Cut(name, ":")
		if llm.WithListPrice(model, llm.Usage{}).Unpriced {
			t.Errorf("%s names %s, whose price is not known: a limit in money would not hold for it", where, name)
		}
	}
}

// newTestFinder finds models with these secrets.
func newTestFinder(base string, secrets map[string]string) *server.ModelFinder {
	return &server.ModelFinder{
		Settings: fixedSettings{CompatibleURL: base}, Getenv: func(name string) string { return secrets[name] },
		Budget: unlimited{},
		Logger: slog.New(slog.DiscardHandler),
	}
}

// fixedSettings are the same settings everywhere.
type fixedSettings settings.Settings

func (s fixedSettings) Current() settings.Settings   { return settings.Settings(s) }
func (s fixedSettings) For(string) settings.Settings { return settings.Settings(s) }

// unlimited is a budget without limits.
type unlimited struct{}

func (unlimited) Model(m llm.Model) llm.Model { return m }

func TestAModelIsFoundOrTheErrorSaysHowToFixIt(t *testing.T) {
	keys := map[string]string{"OPENAI_API_KEY": "sk-1", "ANTHROPIC_API_KEY_FILE": "/nonexistent", "COMPATIBLE_API_KEY": ""}
	for name, want := range map[string]string{
		"plain:steps":      "",
		"openai:gpt-5.5":   "",
		"compatible:mine":  "",
		"compatible:":      "names no model",
		"openai:":          "write openai:<model>",
		"anthropic:claude": "no such file",
		"gemini:flash":     "set GEMINI_API_KEY, or GEMINI_API_KEY_FILE",
		"nobody:x":         `there is no provider "nobody" here (known: plain,`,
		"":                 "no model is set",
	} {
		f := newTestFinder("http://127.0.0.1:1/v1", keys)
		_, err := f.Find(t.Context(), name)
		missing := f.Ability(settings.RuntimeLocal, name).Missing
		if want == "" {
			if err != nil || missing != "" {
				t.Errorf("%s: %v, missing %q", name, err, missing)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(missing, want) {
			t.Errorf("%s: got %v, missing %q; want %q", name, err, missing, want)
		}
	}
	check.Fails(t, check.Err(newTestFinder("", keys).Find(t.Context(), "compatible:mine")), nil,
		"the address of the OpenAI-compatible server is not set")
}

func TestOnlyACustomServerIsTrustedAboutScreens(t *testing.T) {
	f := newTestFinder("http://127.0.0.1:1/v1", map[string]string{"OPENAI_API_KEY": "sk-1"})
	if !f.Ability(settings.RuntimeOpenAI, "compatible:mine").Computer ||
		f.Ability(settings.RuntimeLocal, "compatible:mine").Computer {
		t.Error("a compatible server's model may work a screen, in the runtime that speaks its language")
	}
	if a := f.Ability(settings.RuntimeLocal, "plain:steps"); !a.Known || !a.Tools || !a.Literal || a.Computer {
		t.Errorf("the model that needs no key: %+v", a)
	}
}

func newHome(t *testing.T) *server.Home {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "deep", "home")
	h, err := server.OpenHome(func(name string) string {
		if name == "CLANK_HOME" {
			return dir
		}
		return ""
	})
	check.Must(t, err)
	t.Cleanup(h.Release)
	return h
}

func TestHomeIsMadeForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	st, err := os.Stat(newHome(t).Dir)
	check.Must(t, err)
	check.Equal(t, "mode", st.Mode().Perm(), os.FileMode(0o700))
}

func TestAHomeThatCannotBeCreatedSaysHowToFixIt(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	check.Must(t, os.WriteFile(file, nil, 0o600))
	_, err := server.OpenHome(func(string) string { return filepath.Join(file, "home") })
	check.Fails(t, err, nil, "CLANK_HOME")
}

func TestASecondClaimNamesTheOwnerOfTheHome(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	check.Must(t, h.Claim())
	other := &server.Home{Dir: h.Dir}
	err := other.Claim()
	if !errors.Is(err, server.ErrHomeClaimed) || !strings.Contains(err.Error(), "process ") {
		t.Fatalf("second claim = %v, want ErrClaimed with the process", err)
	}
	h.Release()
	check.Must(t, other.Claim()) // claim after release
	other.Release()
}

func TestAddressOfADeadServerDoesNotCount(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, found, err := h.RunningServer(); found || err != nil {
		t.Fatalf("server of a new home = %v, %v", found, err)
	}
	check.Must(t, h.Claim())
	at, err := h.PublishAddress("http://127.0.0.1:1", "secret")
	check.Must(t, err)
	other := &server.Home{Dir: h.Dir}
	a, found, err := other.RunningServer()
	if err != nil || !found || a.URL != "http://127.0.0.1:1" || a.Secret != "secret" {
		t.Fatalf("server = %+v, %v, %v", a, found, err)
	}
	h.Release()
	if _, found, _ := other.RunningServer(); found {
		t.Error("the address counts although nobody owns the home")
	}
	check.Must(t, errors.Join(at.Remove(), at.Remove()))
}
