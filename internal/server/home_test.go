package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"clank/internal/server"
	"clank/internal/test/check"
)

func TestAHomeIsForItsOwnerAlone(t *testing.T) {
	for name, c := range map[string]struct {
		mode    os.FileMode
		used    bool
		refused string
	}{
		"new, written by everybody":    {0o777, false, ""},
		"used, read by everybody":      {0o755, true, ""},
		"used, read by the group":      {0o750, true, ""},
		"used, the owner's":            {0o700, true, ""},
		"used, written by everybody":   {0o777, true, "run chmod 700"},
		"used, written by the group":   {0o770, true, "run chmod 700"},
		"used, written but not listed": {0o722, true, "run chmod 700"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "home")
			check.Must(t, os.Mkdir(dir, 0o700))
			if c.used {
				check.Must(t, os.WriteFile(filepath.Join(dir, "tokens.json"), []byte("[]"), 0o600))
			}
			check.Must(t, os.Chmod(dir, c.mode))
			_, err := server.OpenHome(func(key string) string { return map[string]string{"CLANK_HOME": dir}[key] })
			if c.refused != "" {
				c.refused += " " + dir
			}
			check.Outcome(t, name, err, c.refused)
			info, statErr := os.Stat(dir)
			check.Must(t, statErr)
			if err == nil && info.Mode().Perm() != 0o700 {
				t.Errorf("others still have it: %v", info.Mode().Perm())
			}
		})
	}
}

// homeOfSchema returns a home whose database has this number of a schema, below 65536.
func homeOfSchema(t *testing.T, schema int) *server.Home {
	t.Helper()
	h := &server.Home{Dir: t.TempDir()}
	db, err := h.OpenDatabase(t.Context())
	check.Must(t, err)
	check.Must(t, db.Close())
	file, err := os.OpenFile(h.DatabaseFile(), os.O_WRONLY, 0)
	check.Must(t, err)
	_, err = file.WriteAt([]byte{0, 0, byte(schema >> 8), byte(schema)}, 60) // the user version in the header
	check.Must(t, errors.Join(err, file.Close()))
	return h
}

func TestADatabaseIsNotMigratedWhileAnOlderProgramRuns(t *testing.T) {
	h := homeOfSchema(t, 1)
	old := &server.Home{Dir: h.Dir}
	check.Must(t, old.Claim())
	_, err := h.OpenDatabase(t.Context())
	check.Fails(t, err, nil, "the clank that runs with "+h.Dir+" is older than this program: restart it first")
	old.Release()
	_, err = h.OpenDatabase(t.Context())
	check.Fails(t, err, nil, "bring it up to date with 0002_profile.sql") // which fails, since the columns are there
}

func TestAnOlderProgramSaysWhichOneHasMadeTheDatabase(t *testing.T) {
	h := homeOfSchema(t, 1000)
	for kept, want := range map[string]string{
		"v9.1 1000": "a newer version (clank v9.1, its schema is 1000,", "v0.9 17": "a newer version (its schema is 1000,",
	} {
		check.Must(t, os.WriteFile(h.Path("clank.version"), []byte(kept+"\n"), 0o600))
		check.Fails(t, check.Err(h.OpenDatabase(t.Context())), nil, want, "install that version again", "clank restore")
	}
}
