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
	check.Equal(t, "where there was nothing", forget("1"), "")
	check.Must(t, os.WriteFile(file,
		[]byte(`[{"prompt":"ada's","origin":{"user":"1"}},{"prompt":"bob's","origin":{"user":"2"}}]`), 0o600))
	if left := forget("1"); strings.Contains(left, "ada's") || !strings.Contains(left, "bob's") {
		t.Errorf("kept is %s", left)
	}
	check.Equal(t, "kept", forget("2"), "")
}

func TestNoPasswordIsKeptWithATaskThatIsToGoOn(t *testing.T) {
	const masked = "password: " + sessions.SecretMask
	for _, c := range []struct {
		prompt string
		steps  int
		want   string // empty if nothing is kept
	}{
		{prompt: "read the news", want: "read the news"},
		{prompt: masked},
		{prompt: masked, steps: 1, want: "go on"},
	} {
		file := filepath.Join(t.TempDir(), "unfinished.json")
		check.Must(t, dashboard.SaveUnfinished(file, sessions.TaskRecord{
			Task: sessions.Task{Prompt: c.prompt}, Steps: c.steps, State: sessions.TaskInterrupted,
		}))
		kept, err := os.ReadFile(file)
		if errors.Is(err, os.ErrNotExist) != (c.want == "") || !strings.Contains(string(kept), c.want) {
			t.Errorf("of %q after %d steps is kept %q, %v; want %q", c.prompt, c.steps, kept, err, c.want)
		}
	}
}
