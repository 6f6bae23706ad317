package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFileIsReadFromItsPathOrFromStdin(t *testing.T) {
	file := filepath.Join(t.TempDir(), "actions.json")
	if err := os.WriteFile(file, []byte("from the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "from the file", "-": "from stdin"} {
		got, err := readInputFile(t.Context(), strings.NewReader("from stdin"), path)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
}

func TestFileThatCannotBeReadOrIsTooLargeIsWrongUse(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none")
	for path, in := range map[string]io.Reader{missing: nil, "-": strings.NewReader(strings.Repeat("x", maxInputFile+1))} {
		_, err := readInputFile(t.Context(), in, path)
		if _, ok := errors.AsType[*usageError](err); !ok {
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
	if _, err := readInputFile(ctx, in, "-"); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}
