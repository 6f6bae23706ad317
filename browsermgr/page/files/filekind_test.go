package files_test

import (
	"strings"
	"testing"

	"clank/browsermgr/page/files"
)

func TestIdentifyTellsWhatAFileIs(t *testing.T) {
	const pdf, png, zip, exe, elf = "%PDF-1.7\n", "\x89PNG\r\n\x1a\n", "PK\x03\x04", "MZ\x90\x00\x03", "\x7fELF\x02\x01"
	for _, tt := range []struct {
		name, head, mediaType string
		executable            bool
		disagrees             string
	}{
		{"a.pdf", pdf, "application/pdf", false, ""},
		{"a.PDF", exe, "application/x-msdownload", true, "named .pdf, and its content is a program"},
		{"a.pdf", "<html><script>", "text/html", false, "named .pdf, and its content is text/html"},
		{"a.pdf", zip, "application/zip", false, "named .pdf, and its content is application/zip"},
		{"a.png", png, "image/png", false, ""},
		{"a.jpg", png, "image/png", false, "named .jpg, and its content is image/png"},
		{"a.docx", zip, "application/zip", false, ""},
		{"a.docm", zip, "application/zip", true, ""},
		{"setup.exe", exe, "application/x-msdownload", true, ""},
		{"setup", elf, "application/x-executable", true, "named without an ending, and its content is a program"},
		{"a.txt", "#!/bin/sh\nrm -rf ~", "text/x-script", true, "named .txt, and its content is a program"},
		{"a.txt", "\xef\xbb\xbf#!/bin/sh", "text/x-script", true, "named .txt"},
		{"a.sh", "echo", "text/plain", true, ""},
		{"a.txt", "plain words", "text/plain", false, ""},
		{"a.txt", png, "image/png", false, "named .txt, and its content is image/png"},
		{"link.desktop", "[Desktop Entry]\nExec=x", "application/x-desktop", true, ""},
		{"x.iso", "data", "text/plain", true, ""},
		{"a.pdf .exe", pdf, "application/pdf", true, ""},
		{"Lib.jar", zip, "application/zip", true, ""},
		{"applet", "\xca\xfe\xba\xbe", "application/x-mach-binary", true, "program"},
		{"empty.png", "", "text/plain", false, ""},
		{"download.bin", "\x00\x01\x02", "application/octet-stream", false, ""},
	} {
		got := files.IdentifyFile(tt.name, []byte(tt.head))
		if got.Type != tt.mediaType || got.Executable != tt.executable || !strings.Contains(got.Mismatch, tt.disagrees) || tt.disagrees == "" && got.Mismatch != "" {
			t.Errorf("%s with %q: got %+v, want %s, executable %v, %q", tt.name, tt.head, got, tt.mediaType, tt.executable, tt.disagrees)
		}
	}
}

func FuzzIdentify(f *testing.F) {
	f.Add("a.pdf", []byte("%PDF"))
	f.Add("", []byte(nil))
	f.Add("x.exe", []byte("MZ"))
	f.Fuzz(func(t *testing.T, name string, head []byte) {
		k := files.IdentifyFile(name, head)
		if k.Type == "" || strings.Contains(k.Type, ";") {
			t.Errorf("%q: got %+v", name, k)
		}
	})
}
