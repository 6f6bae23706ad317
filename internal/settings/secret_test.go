package settings_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"clank/internal/settings"
	"clank/internal/test/check"
)

func TestASecretComesFromItsVariableOrItsFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		check.Must(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	key, empty, two := write("key", " sk-file\n"), write("empty", "\n"), write("two", "a\nb\n")
	for _, tc := range []struct{ name, env, file, want, wantErr string }{
		{name: "neither"},
		{name: "the variable", env: " sk-env\n", want: "sk-env"},
		{name: "the file", file: key, want: "sk-file"},
		{name: "both", env: "sk-env", file: key, wantErr: "both OPENAI_API_KEY and OPENAI_API_KEY_FILE are set"},
		{name: "no such file", file: filepath.Join(dir, "none"), wantErr: "read the file named by OPENAI_API_KEY_FILE"},
		{name: "an empty file", file: empty, wantErr: "is empty"},
		{name: "a folder", file: dir, wantErr: "is not a file with a key in it"},
		{name: "two lines", file: two, wantErr: "a key is one line"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := map[string]string{"OPENAI_API_KEY": tc.env, "OPENAI_API_KEY_FILE": tc.file}
			got, err := settings.ReadSecret("OPENAI_API_KEY", func(k string) string { return env[k] })
			if got.Reveal() != tc.want || got.IsSet() != (tc.want != "") {
				t.Errorf("secret = %q, want %q", got.Reveal(), tc.want)
			}
			check.Outcome(t, tc.name, err, tc.wantErr)
		})
	}
}

func TestASecretDoesNotPrintItself(t *testing.T) {
	s, err := settings.ReadSecret("A_KEY", func(name string) string { return map[string]string{"A_KEY": "sk-hush"}[name] })
	check.Must(t, err)
	data, err := json.Marshal(map[string]any{"key": s})
	check.Must(t, err)
	text := fmt.Sprintf("%v %+v %#v %s %s %v", s, s, s, s, data, s.LogValue())
	check.Contains(t, text, "(present)")
	check.Lacks(t, text, "hush")
}
