package browsertool_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"clank/browseagent/browsertool"
)

func TestOnlyRegularFilesBelowTheDirectoriesAreRead(t *testing.T) {
	base := t.TempDir()
	dir, outside, link := filepath.Join(base, "media"), filepath.Join(base, "other"), filepath.Join(base, "link")
	for _, d := range []string{filepath.Join(dir, "sub"), outside} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(dir, "a.png"), filepath.Join(dir, "sub", "b"), filepath.Join(outside, "c")} {
		if err := os.WriteFile(f, []byte("data"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for to, from := range map[string]string{dir: link, filepath.Join(outside, "c"): filepath.Join(dir, "out"), outside: filepath.Join(dir, "outdir")} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		dirs    []string
		path    string
		ok      bool
		outside bool
	}{
		{[]string{dir}, filepath.Join(dir, "a.png"), true, false},
		{[]string{outside, "", dir}, filepath.Join(dir, "sub", "b"), true, false},
		{[]string{link}, filepath.Join(dir, "a.png"), true, false},
		{[]string{dir}, filepath.Join(link, "a.png"), true, false},
		{[]string{dir}, filepath.Join(dir, "..", "other", "c"), false, true},
		{[]string{dir}, filepath.Join(outside, "c"), false, true},
		{[]string{dir}, filepath.Join(dir, "out"), false, false},
		{[]string{dir}, filepath.Join(dir, "outdir", "c"), false, true},
		{[]string{dir}, dir, false, false},
		{[]string{dir}, filepath.Join(dir, "sub"), false, false},
		{[]string{dir}, filepath.Join(dir, "none"), false, false},
		{[]string{dir}, "a.png", false, true},
		{nil, filepath.Join(dir, "a.png"), false, true},
	} {
		got, err := browsertool.ReadMedia(tt.dirs, tt.path, 4)
		if (err == nil && string(got) == "data") != tt.ok || errors.Is(err, browsertool.ErrOutsideMedia) != tt.outside {
			t.Errorf("%s in %v: got %q, %v", tt.path, tt.dirs, got, err)
		}
	}
	if _, err := browsertool.ReadMedia([]string{dir}, filepath.Join(dir, "a.png"), 3); err == nil {
		t.Error("a file over the limit was read")
	}
}
