package dashboard_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/dashboard"
	"clank/internal/test/check"
	"clank/sessions"
)

func TestTasksThatAreToGoOnAreForgottenWithTheirPerson(t *testing.T) {
	file := filepath.Join(t.TempDir(), "unfinished.json")
	forget := func(user string) string {
		check.Must(t, dashboard.ForgetUnfinished(file, func(o sessions.Origin) bool { return o.User == user }))
		left, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		return string(left)
	}
	if left := forget("1"); left != "" {
		t.Errorf("where there was nothing is %s", left)
	}
	check.Must(t, os.WriteFile(file,
		[]byte(`[{"prompt":"ada's","origin":{"user":"1"}},{"prompt":"bob's","origin":{"user":"2"}}]`), 0o600))
	if left := forget("1"); strings.Contains(left, "ada's") || !strings.Contains(left, "bob's") {
		t.Errorf("kept is %s", left)
	}
	if left := forget("2"); left != "" {
		t.Errorf("kept is %s", left)
	}
}
