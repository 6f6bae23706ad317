package cmdline_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/internal/cmdline"
)

func TestFileIsReadFromItsPathOrFromStdin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "actions.json")
	if err := os.WriteFile(file, []byte("from the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "from the file", "-": "from stdin"} {
		got, err := cmdline.ReadFile(t.Context(), strings.NewReader("from stdin"), path)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
}

func TestFileThatCannotBeReadOrIsTooLargeIsWrongUse(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for path, in := range map[string]io.Reader{missing: nil, "-": strings.NewReader(strings.Repeat("x", cmdline.MaxFile+1))} {
		_, err := cmdline.ReadFile(t.Context(), in, path)
		if _, ok := errors.AsType[*cmdline.UsageError](err); !ok {
			t.Errorf("%s: got %v", path, err)
		}
	}
}

func TestReadingStdinEndsWithItsCaller(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := cmdline.ReadFile(ctx, in, "-"); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}
