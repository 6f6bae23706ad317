package settings_test

import (
	"encoding/json"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func TestSettingsTravelAsJSONWithComments(t *testing.T) {
	stored := map[string]json.RawMessage{
		"interaction.tasks.maxAtOnce":    json.RawMessage("5"),
		"interaction.brain.instructions": json.RawMessage(`"a // b, /* c */ \"}"`),
	}
	got, err := settings.ParseJSONC(settings.WriteJSONC(settings.State{Stored: stored}))
	check.Must(t, err)
	if diff := cmp.Diff(stored, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for text, want := range map[string]string{
		`{}`: "", "": "unexpected end", `{"a": 1, /* x */ // y` + "\n}": "", `{"a": [1, 2, ], }`: "",
		`{"a": "x`:       "does not end",
		`{"a": 1 /* x }`: "does not end", `{"a": 1,, }`: "invalid character", `[1]`: "cannot unmarshal",
		`{"a": 1} {`: "invalid character",
		`{"a": "\`:   "does not end", `/`: "invalid character", `{,}`: "",
	} {
		check.Outcome(t, text, check.Err(settings.ParseJSONC([]byte(text))), want)
	}
}

func TestTheSettingsThatMatterFirstAreTwenty(t *testing.T) {
	n := 0
	for _, f := range settings.Fields() {
		if f.IsCommon() {
			n++
		}
	}
	check.Equal(t, "settings are common", n, 20)
}

func FuzzWhatIsJSONStaysAsItIs(f *testing.F) {
	for _, text := range []string{
		`{"a": [1, "x, } // y"], "b": "\\"}`, `{"a": 1, /* x */ // y` + "\n}", `{"a": "\`,
		`{"a": 1 /* x`, `/`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want map[string]json.RawMessage
		plain := json.Unmarshal(text, &want) == nil
		got, err := settings.ParseJSONC(text)
		if plain && (err != nil || !cmp.Equal(want, got)) {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	})
}
