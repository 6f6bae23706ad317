package browsertool

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"clank/internal/test/check"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzFrames checks that for any input only whole messages are passed on, one per line, and that everything else is
// answered with an error.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		"", "\n\r\n", "garbage\n", `{"jsonrpc":"2.0","method":"x"}`, `{"jsonrpc":"2.0","id":1,"method":"x"}` + "\r\n[]\n{}",
		"\x00{\n}",
		`{"jsonrpc":"2.0","id":1,"method":"x","params":` + strings.Repeat("[", 200), `{"jsonrpc":"2.0","id":null,"error":{}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var refused bytes.Buffer
		passed, err := io.ReadAll(newMessageReader(io.NopCloser(bytes.NewReader(in)), &refused))
		check.Must(t, err)
		given := 0
		for line := range bytes.Lines(in) {
			if len(bytes.TrimSpace(line)) > 0 {
				given++
			}
		}
		got := 0
		for s := bufio.NewScanner(bytes.NewReader(passed)); s.Scan(); got++ {
			if _, err := jsonrpc.DecodeMessage(s.Bytes()); err != nil {
				t.Errorf("%q was passed on", s.Bytes())
			}
		}
		for s := bufio.NewScanner(&refused); s.Scan(); got++ {
			var answer struct {
				ID    any
				Error struct{ Code int }
			}
			if json.Unmarshal(s.Bytes(), &answer) != nil || answer.ID != nil || answer.Error.Code == 0 {
				t.Errorf("answered with %q", s.Bytes())
			}
		}
		if got != given {
			t.Errorf("%q: %d of %d lines were dealt with", in, got, given)
		}
	})
}

func TestAFileKeepsAHarmlessExtension(t *testing.T) {
	for _, tt := range []struct{ path, kind, want string }{
		{"/a/b.csv", "text/plain", ".csv"},
		{`C:\a\b.TXT`, "text/plain", ".TXT"},
		{"/a/b", "text/plain", ""},
		{"/a.d/b", "text/plain", ""},
		{"/a/b.", "text/plain", ""},
		{"/a/b.c d", "text/plain", ""},
		{"/a/b.verylongone", "text/plain", ""},
		{"csv", "text/plain", ""},
		{"/a/b.exe", "image/png", ".png"},
		{"/a/b", "application/pdf", ".pdf"},
	} {
		check.Equal(t, tt.path, safeExtension(nodeFile{Path: tt.path, MimeType: tt.kind}), tt.want)
	}
}

// FuzzExtension checks that a file name from a node cannot lead out of the directory.
func FuzzExtension(f *testing.F) {
	for _, s := range []string{"/a/b.csv", "../..", "a.b/c", "a.\x00", `a.\..`} {
		f.Add(s, "text/plain")
	}
	f.Fuzz(func(t *testing.T, path, kind string) {
		ext := safeExtension(nodeFile{Path: path, MimeType: kind})
		if len(ext) > 9 || strings.ContainsAny(ext, "/\\\x00 ") || filepath.Base("x"+ext) != "x"+ext {
			t.Errorf("%q: got %q", path, ext)
		}
	})
}
