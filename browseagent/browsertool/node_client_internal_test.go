package browsertool

import (
	"path/filepath"
	"strings"
	"testing"
)

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
		if got := safeExtension(nodeFile{Path: tt.path, MimeType: tt.kind}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.path, got, tt.want)
		}
	}
}

// FuzzExtension checks that what a node calls its file cannot lead out of the
// directory.
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
