package settings_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"clank/internal/settings"
)

func TestBudgetsAreCheckedWhenTheyAreSet(t *testing.T) {
	l := open(t, &memory{})
	bad := map[string]string{
		"agentStack.runtimeConfig.budget.day":      `"many USD"`,
		"agentStack.runtimeConfig.budget.timeZone": `"Mars/Olympus"`,
		"agentStack.runtimeConfig.models.prices":   `"my-model 1 2"`,
	}
	for key, value := range bad {
		if _, _, err := l.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(value)}, ""); err == nil || !strings.Contains(err.Error(), "must ") {
			t.Errorf("%s = %s: got %v, want it refused", key, value, err)
		}
	}
	const key = "agentStack.runtimeConfig.budget.day"
	if _, _, err := l.Update(t.Context(), map[string]json.RawMessage{key: json.RawMessage(`"3 USD"`)}, ""); err != nil || l.Current().Budget.Day != "3 USD" {
		t.Errorf("got %q, %v", l.Current().Budget.Day, err)
	}
}

func TestDaysBeginWhereTheSettingSays(t *testing.T) {
	if got := (settings.Budget{Zone: "UTC"}).Location(); got != time.UTC {
		t.Errorf("Location() = %v, want UTC", got)
	}
	if got := (settings.Budget{}).Location(); got != time.Local {
		t.Errorf("Location() = %v, want that of the machine", got)
	}
}
