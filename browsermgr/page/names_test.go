package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// TestNamesRolesAndStatesAreChromiums compares each element with a ref with Chromium's accessibility tree, on pages
// with a case for each rule of accname 1.2, HTML-AAM, SVG-AAM and ARIA 1.3.
func TestNamesRolesAndStatesAreChromiums(t *testing.T) {
	files, err := filepath.Glob("testdata/names/*.html")
	if err != nil || len(files) < 8 {
		t.Fatalf("got %v, %v", files, err)
	}
	var names browsertest.Names
	for _, file := range files {
		text, err := os.ReadFile(file)
		check.Must(t, err)
		names.Compare(t, openTab(t, site(t, map[string]string{"/": string(text)}).URL), filepath.Base(file))
	}
	t.Log(names)
	if names.Elements < 1000 || names.Equal+names.Known < names.Elements {
		t.Errorf("%s of 1000 or more, want no unknown differences", names)
	}
}
