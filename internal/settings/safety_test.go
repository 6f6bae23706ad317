package settings_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"clank/internal/settings"
)

func TestNoPresetTouchesWhatKeepsPeopleSafe(t *testing.T) {
	f, ok := settings.FindField("agentStack.preset")
	if !ok || len(f.Options) < 7 {
		t.Fatalf("the setting of presets has %d options", len(f.Options))
	}
	for _, o := range f.Options {
		p, _ := settings.FindPreset(o.Value)
		for key := range p.Values {
			if !strings.Contains(key, ".model") && !strings.Contains(strings.ToLower(key), "runtime") {
				t.Errorf("preset %s sets %s", o.Value, key)
			}
		}
		base, usual := settings.PresetDefaults(o.Value), settings.Defaults()
		if base.Approval != usual.Approval || base.Access != usual.Access || base.Budget != usual.Budget || base.HandOver != usual.HandOver {
			t.Errorf("preset %s changes what is asked, who may come in, or what may be spent", o.Value)
		}
	}
}

func TestAnIntentWithSecretsOrUnknownKeysChangesNothing(t *testing.T) {
	l := open(t, &memory{})
	for _, f := range settings.Fields() {
		if f.Kind != settings.KindSecret {
			continue
		}
		_, _, err := l.Replace(t.Context(), map[string]json.RawMessage{f.Key: json.RawMessage(`"sk-live-4711"`)}, l.State().Version)
		if invalid := (*settings.InvalidError)(nil); !errors.As(err, &invalid) || strings.Contains(err.Error(), "sk-live-4711") {
			t.Errorf("%s: got %v, want it refused without its value", f.Key, err)
		}
	}
	for _, key := range []string{"", "interaction.consent", "interaction.consent.everything", "__proto__", strings.Repeat("a", 1<<20)} {
		_, _, err := l.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(`"allow"`)}, l.State().Version)
		if invalid := (*settings.InvalidError)(nil); !errors.As(err, &invalid) {
			t.Errorf("%.40q: got %v, want it refused", key, err)
		}
	}
	if got := l.State().Stored; len(got) > 0 {
		t.Errorf("stored: %v", got)
	}
}
