package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/files"
	"clank/internal/test/check"

	"golang.org/x/text/unicode/norm"
)

func TestCleanName(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt": "a.txt", "  a b.txt ": "a b.txt", "../../etc/passwd": "passwd", `C:\x\evil.exe`: "evil.exe", `a/b\c`: "c",
		"": "download.bin", ".": "download.bin", "..": "download.bin", "a/..": "download.bin", "x/": "download.bin",
		"\x00\x1f\x7f": "download.bin",
		".\x00.":       "download.bin", "a\nb\r.txt": "ab.txt", "\u202egnp.exe": "gnp.exe", "käse 你好.pdf": "käse 你好.pdf",
		"a\xff.txt": "a.txt", ".profile": "_profile",
		"-rf": "_rf", "~x": "_x", "a.pdf. . ": "a.pdf", "...": "download.bin",
		"invoice.pdf          .exe": "invoice.pdf .exe",
		"CON":                       "_CON", "con.txt": "_con.txt", "Aux .x": "_Aux .x", "COM¹.log": "_COM¹.log",
		"console.log": "console.log",
		"nul":         "_nul",
		"a:b.txt":     "a_b.txt", "e\u200b\u0301": "é", `<a>"|?*`: "_a_____", "e\u0301.txt": "é.txt",
		"a\u200b\u00ad\ufeff\U000e0041.txt": "a.txt", "a\u00a0\u3000b": "a b",
		"photo\u2066gpj.\u2069exe": "photogpj.exe", ".\u200b.": "download.bin", "--help.sh": "_-help.sh",
		strings.Repeat("a", 300) + ".tar.gz":                      strings.Repeat("a", 197) + ".gz",
		strings.Repeat("a", 300):                                  strings.Repeat("a", 200),
		strings.Repeat("a", 150) + "." + strings.Repeat("b", 150): strings.Repeat("a", 150) + "." + strings.Repeat("b", 49),
		strings.Repeat("你", 200) + ".txt":                         strings.Repeat("你", 68) + ".txt",
	} {
		check.Equal(t, in, files.CleanName(in), want)
	}
}

func FuzzCleanName(f *testing.F) {
	for _, s := range []string{
		"a.txt", "..", "../x", `\`, "\x00", "\u202e", strings.Repeat("ü", 300) + ".a", "a\xff",
		" . . ",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name := files.CleanName(s)
		switch {
		case name == "" || name == "." || name == "..", strings.ContainsAny(name, `/\`), name != strings.TrimSpace(name),
			!utf8.ValidString(name), utf8.RuneCountInString(name) > 200, len(name) > 210,
			strings.ContainsFunc(name, unicode.IsControl),
			strings.ContainsAny(name, `<>:"|?*`), strings.HasSuffix(name, "."), strings.ContainsRune(".-~", rune(name[0])),
			!norm.NFC.IsNormalString(name),
			strings.ContainsFunc(name, func(r rune) bool { return unicode.In(r, unicode.Cf, unicode.Bidi_Control) }):
			t.Errorf("%q: got %q", s, name)
		}
		if again := files.CleanName(name); again != name {
			t.Errorf("%q: got %q, and of that %q", s, name, again)
		}
	})
}

// uploadTree returns a downloads folder with all kinds of entries, reached through a link.
func uploadTree(tb testing.TB) (dir, outside string) {
	tb.Helper()
	home := tb.TempDir()
	dir, outside = filepath.Join(home, "link"), filepath.Join(home, "outside")
	real := filepath.Join(home, "real")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(real, "sub", "deep"), 0o700), os.Mkdir(outside, 0o700), os.Symlink(real, dir),
		os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600),
		os.WriteFile(filepath.Join(real, "file"), []byte("f"), 0o600),
		os.Symlink(outside, filepath.Join(real, "out")), os.Symlink(filepath.Join(real, "sub"), filepath.Join(real, "in")),
		os.Symlink(filepath.Join(outside, "secret"), filepath.Join(real, "linked")),
		os.Link(filepath.Join(outside, "secret"), filepath.Join(real, "hard")),
	} {
		check.Must(tb, err)
	}
	return dir, outside
}

func TestOutputStaysInTheFolder(t *testing.T) {
	dir, outside := uploadTree(t)
	folder, err := files.OpenFolder(dir)
	check.Must(t, err)
	t.Cleanup(func() { _ = folder.Close() })
	for path, want := range map[string]string{
		"a": "a", "sub/a": "sub/a", "./sub//deep/../a": "sub/a", "file": "file", "..a": "..a", filepath.Join(dir, "a"): "a",
		filepath.Join(dir, "sub", "a"): "sub/a",
	} {
		if got, err := folder.ResolveTarget(path); err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", path, got, err, want)
		}
	}
	for _, path := range []string{
		"", ".", "..", "/", "../a", "sub/../../a", "/etc/passwd", outside + "/a", "out/a", "in/a", "linked", "hard", "sub",
		"sub/", "none/a", "file/a", "a\x00b",
		filepath.Join(dir, "..", "outside", "a"), filepath.Join(dir, "out", "a"), dir,
	} {
		_, err := folder.ResolveTarget(path)
		if err == nil || !strings.HasPrefix(err.Error(), "Invalid path: must stay within downloads directory") {
			t.Errorf("%q: got %v, want it refused", path, err)
		}
	}
}

func FuzzOutput(f *testing.F) {
	dir, _ := uploadTree(f)
	folder, err := files.OpenFolder(dir)
	check.Must(f, err)
	for _, s := range []string{
		"a", "../a", "out/a", "in/../../x", dir + "/a", "/a", "sub/deep/../../..", "\x00",
		"linked/x",
	} {
		f.Add(s)
	}
	real, err := filepath.EvalSymlinks(dir)
	check.Must(f, err)
	f.Fuzz(func(t *testing.T, path string) {
		rel, err := folder.ResolveTarget(path)
		if err != nil {
			return
		}
		parent, err := filepath.EvalSymlinks(filepath.Dir(filepath.Join(real, rel)))
		if err != nil || parent != real && !strings.HasPrefix(parent, real+"/") {
			t.Errorf("%q: got %q, which is in %q", path, rel, parent)
		}
	})
}

func TestUploadsAreFilesOfTheirFolders(t *testing.T) {
	dir, outside := uploadTree(t)
	second, inbound := t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(second, "two"), filepath.Join(inbound, "id1", "cv.pdf"),
		filepath.Join(inbound, "id2", "file"),
	} {
		check.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)))
	}
	u := files.UploadPolicy{
		Folders: []string{filepath.Join(dir, "missing"), dir, second},
		Inbound: func(session string) string {
			if session == "s" {
				return inbound
			}
			return ""
		},
	}
	given := []string{
		"file", filepath.Join(dir, "file"), "two", "media://inbound/id1", "media/inbound/id1", filepath.Join(second, "two"),
		"cv.pdf",
	}
	got, err := u.Resolve("s", given)
	check.Must(t, err)
	for i, path := range got {
		if real, err := filepath.EvalSymlinks(path); err != nil || real != path || !filepath.IsAbs(path) {
			t.Errorf("%q: got %q, which is not a real path", given[i], path)
		}
	}
	if want := filepath.Join(inbound, "id2", "file"); got[0] != want {
		t.Errorf("got %q for a name that the uploads folder has, too, want what was sent: %q", got[0], want)
	}
	for _, path := range []string{"media://inbound/id1", "cv.pdf", filepath.Join(inbound, "id1", "cv.pdf")} {
		check.Fails(t, check.Err(u.Resolve("other", []string{path})), fault.ErrInvalid, "Invalid path")
		check.Fails(t, check.Err(u.Resolve("", []string{path})), fault.ErrInvalid, "Invalid path")
	}
	for _, path := range []string{
		"", "none", "..", "sub", "linked", "hard", "out/secret", "../outside/secret", outside + "/secret", "/etc/passwd",
		"file\x00", "file:///etc/passwd",
		"media://inbound/", "media://inbound/..", "media://inbound/../x", "media://inbound/a/b", `media://inbound/a\b`,
		"media://inbound/none",
		"media://outbound/id1", "media://inbound/%2e%2e", "media://inbound/id1?x", "id1/cv.pdf",
	} {
		check.Fails(t, check.Err(u.Resolve("s", []string{"file", path})), nil, "Invalid path")
	}
	// They are there, and are refused for their names.
	for _, name := range []string{"a%b", "a?b", "a#b", `a\b`, "sub/c"} {
		path := filepath.Join(inbound, filepath.FromSlash(name))
		check.Must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)))
		if got, err := u.Resolve("s", []string{"media://inbound/" + name}); err == nil ||
			!strings.Contains(err.Error(), "is not media://inbound/<id>") {
			t.Errorf("%q: got %q, %v; want it refused for its name", name, got, err)
		}
	}
	check.Fails(t, check.Err((files.UploadPolicy{Folders: []string{dir}}).Resolve("s", []string{"media://inbound/id1"})),
		nil, "media://inbound/id1", "no file came with this session's tasks")
}

func FuzzUploads(f *testing.F) {
	dir, _ := uploadTree(f)
	inbound := f.TempDir()
	u := files.UploadPolicy{Folders: []string{dir}, Inbound: func(string) string { return inbound }}
	real, err := filepath.EvalSymlinks(dir)
	check.Must(f, err)
	for _, s := range []string{
		"file", "../file", dir + "/file", "media://inbound/x", "media/inbound/../x", "linked",
		"out/secret", "hard", "sub/../file",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if got, err := u.Resolve("s", []string{path}); err == nil && got[0] != filepath.Join(real, "file") {
			t.Errorf("%q: got %q", path, got)
		}
	})
}

func TestStagingRemovesWhatKilledProcessesLeft(t *testing.T) {
	dir := t.TempDir()
	ended := exec.Command("true")
	check.Must(t, ended.Run())
	keep := map[string]bool{ // by name: whether it stays
		fmt.Sprintf(".staging-%d-1", ended.Process.Pid): false, fmt.Sprintf(".staging-%d-1", os.Getpid()): true,
		".staging-x": true, "mine": true,
	}
	for name := range keep {
		path := filepath.Join(dir, name)
		check.Must(t, os.Mkdir(path, 0o700))
	}
	folder, err := files.OpenFolder(dir)
	check.Must(t, err)
	defer func() { _ = folder.Close() }()
	made, err := folder.MakeStaging()
	check.Must(t, err)
	if info, err := os.Stat(made); err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(made) != folder.Dir() {
		t.Errorf("got %s, %v; want a private directory in the folder", made, err)
	}
	for name, stays := range keep {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: got %v, want it to stay: %v", name, err, stays)
		}
	}
}

// take moves a file from staging to its target.
func take(folder *files.Folder, from, rel string) error {
	n, err := folder.OpenStaged(from)
	if err != nil {
		return err
	}
	return errors.Join(folder.MoveIn(n, rel), n.Close())
}

func TestTakePutsAFileInPlaceOfAnother(t *testing.T) {
	dir, outside := uploadTree(t)
	folder, err := files.OpenFolder(dir)
	check.Must(t, err)
	defer func() { _ = folder.Close() }()
	staging, err := folder.MakeStaging()
	check.Must(t, err)
	from := filepath.Join(staging, "x")
	for rel, want := range map[string]string{
		"file": "", "sub/new": "", "linked": "not a regular file", "hard": "several hard links",
		"out/a": "not in a real directory", "none/a": "not in a real directory",
	} {
		check.Must(t, os.WriteFile(from, []byte("new"), 0o600))
		check.Outcome(t, rel, take(folder, from, rel), want)
		if got, _ := os.ReadFile(filepath.Join(dir, rel)); want == "" && string(got) != "new" {
			t.Errorf("%s: got %q", rel, got)
		}
	}
	if got, err := os.ReadFile(filepath.Join(outside, "secret")); err != nil || string(got) != "s" {
		t.Errorf("got %q, %v outside", got, err)
	}
	check.Fails(t, take(folder, filepath.Join(staging, "gone"), "a"), fs.ErrNotExist)
}

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
		if got.Type != tt.mediaType || got.Executable != tt.executable || !strings.Contains(got.Mismatch, tt.disagrees) ||
			tt.disagrees == "" && got.Mismatch != "" {
			t.Errorf("%s with %q: got %+v, want %s, executable %v, %q", tt.name, tt.head, got, tt.mediaType, tt.executable,
				tt.disagrees)
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
