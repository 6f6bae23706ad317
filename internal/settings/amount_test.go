package settings_test

import (
	"strings"
	"testing"
	"time"

	"clank/internal/settings"
	"clank/internal/test/check"
	"clank/llm"

	"github.com/google/go-cmp/cmp"
)

func TestLimitsAreReadAsPeopleWriteThem(t *testing.T) {
	tests := map[string]settings.SpendingLimit{
		"":                    {},
		"1 USD, 100 calls":    {USD: 1, Calls: 100},
		"0.25 usd 1 call":     {USD: 0.25, Calls: 1},
		"50 Steps,1.5 minute": {Steps: 50, Time: 90 * time.Second},
		"0 USD, 1000 tokens":  {Tokens: 1000},
		"90 Talk-minutes":     {Talk: 90 * time.Minute},
	}
	for text, want := range tests {
		got, err := settings.ParseLimit(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseLimit(%q): %v, (-want +got):\n%s", text, err, diff)
		}
	}
}

func TestLimitsThatCannotBeReadAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"1": "must be pairs", "USD 1": `unlike "1"`, "1 EUR": `unlike "EUR"`, "-1 USD": `unlike "-1"`,
		"NaN USD": `unlike "NaN"`, "Inf USD": `unlike "Inf"`, "1 USD 2 usd": `must name "usd" once`,
		"1.5 calls": `a whole number before "calls", unlike "1.5"`, "1e9 calls": `unlike "1e9"`,
		"x tokens": `unlike "x"`, "9999999999999 tokens": `unlike "9999999999999"`,
	} {
		check.Fails(t, check.Err(settings.ParseLimit(text)), nil, want)
	}
}

func TestPricesAreOneModelALine(t *testing.T) {
	got, err := settings.ParsePrices("openai:my-model 1.25 0.125 10\n\n local 0 0 0\n")
	want := map[string]llm.Price{"openai:my-model": {Input: 1.25, Cached: 0.125, Output: 10}, "local": {}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}

func TestAnInvalidPriceLineDoesNotAffectOthers(t *testing.T) {
	got, err := settings.ParsePrices("my-model 1 2\nlocal 0 0 0\nother 1 2 x")
	check.Fails(t, err, nil, `"my-model 1 2"`)
	if diff := cmp.Diff(map[string]llm.Price{"local": {}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParseLimit(f *testing.F) {
	f.Add("1 USD, 100 calls")
	f.Add("0.5 minutes 1 step")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := settings.ParseLimit(text)
		if err == nil && (l.USD < 0 || l.Calls < 0 || l.Steps < 0 || l.Tokens < 0 || l.Time < 0) {
			t.Errorf("ParseLimit(%q) = %+v: a limit below zero", text, l)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "must ") {
			t.Errorf("ParseLimit(%q): %v: want it to say what a limit must be", text, err)
		}
	})
}

func TestDaysBeginWhereTheSettingSays(t *testing.T) {
	if got := (settings.Budget{Zone: "UTC"}).Location(); got != time.UTC {
		t.Errorf("Location() = %v, want UTC", got)
	}
	if got := (settings.Budget{}).Location(); got != time.Local {
		t.Errorf("Location() = %v, want that of the machine", got)
	}
}
