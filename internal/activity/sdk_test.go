package activity_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"clank/internal/test/check"
)

// TestTheActivityBundleMatchesItsBuildScript tests that nobody has changed the bundle by hand, or the script alone.
func TestTheActivityBundleMatchesItsBuildScript(t *testing.T) {
	if os.Getenv("CLANK_PEERS") == "" {
		t.Skip("make test-peers does this: it needs npm")
	}
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "../../scripts/bundle-activity-sdk", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"sdk.js", "sdk-licences.txt"} {
		made, err := os.ReadFile(filepath.Join(dir, name))
		check.Must(t, err)
		kept, err := os.ReadFile(filepath.Join("assets", name))
		check.Must(t, err)
		if !bytes.Equal(made, kept) {
			t.Errorf("%s is not what scripts/bundle-activity-sdk makes; run it", name)
		}
	}
}
