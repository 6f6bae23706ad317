package profile_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/profile"
	"clank/internal/test/check"

	"github.com/gofrs/flock"
)

// cookieFile exists in every state of these tests, and identifies the state.
const cookieFile = "Default/Cookies"

// stateKeys returns a function that returns a new key at each call.
func stateKeys(n int) func(context.Context) ([]string, error) {
	var keys []string
	for range n {
		var b [32]byte
		_, _ = rand.Read(b[:])
		keys = append(keys, base64.StdEncoding.EncodeToString(b[:]))
	}
	return func(context.Context) ([]string, error) { return keys, nil }
}

func noKeys(context.Context) ([]string, error) { return nil, errors.New("the keyring is locked") }

// makeState returns a user data directory with typical files of Chromium, and the contents of its cookie file.
func makeState(t *testing.T, cookies string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "clank@person-1", "user-data")
	for _, name := range []string{
		cookieFile, "Local State", "Default/Service Worker/ScriptCache/1", "Default/WebStorage/1/CacheStorage/2",
		"Default/IndexedDB/Cache/3",
		"Default/Cache/f_1", "Default/Code Cache/js/4", "GrShaderCache/5", "component_crx_cache/6",
	} {
		writeState(t, dir, name, cookies)
	}
	writeState(t, dir, "Default/Sessions/", "")
	check.Must(t, os.Symlink("somewhere", filepath.Join(dir, "SingletonCookie")))
	return dir
}

func writeState(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if strings.HasSuffix(name, "/") { // an empty folder
		check.Must(t, os.MkdirAll(path, 0o700))
		return
	}
	check.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	check.Must(t, os.WriteFile(path, []byte(text), 0o600))
}

// filesBelow lists the files below a directory with their contents.
func filesBelow(t *testing.T, dir string) (list []string) {
	t.Helper()
	check.Must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && e.Name() != "clank.lock" {
			data, err := os.ReadFile(path)
			check.Must(t, err)
			name, _ := filepath.Rel(dir, path)
			list = append(list, name+"="+string(data))
		}
		return err
	}))
	return list
}

func TestAStateIsPackedWithoutItsCaches(t *testing.T) {
	dir, keys := makeState(t, "secret"), stateKeys(1)
	pack := filepath.Join(filepath.Dir(dir), profile.PackName)
	for range 2 { // the second pack takes the place of the first
		check.Must(t, profile.PackState(t.Context(), dir, keys))
		data, err := os.ReadFile(pack)
		check.Must(t, err)
		info, err := os.Stat(pack)
		check.Must(t, err)
		sealed := bytes.HasPrefix(data, []byte("age-encryption.org/v1\n")) && !bytes.Contains(data, []byte("secret"))
		if info.Mode().Perm() != 0o600 || !sealed {
			t.Errorf("the pack has the mode %v and begins %.40q", info.Mode(), data)
		}
		if got := filesBelow(t, filepath.Dir(dir)); len(got) != 1 {
			t.Errorf("besides the pack there are %.200q", got)
		}
		check.Must(t, profile.UnpackState(t.Context(), dir, keys))
		want := []string{
			"Default/Cookies=secret", "Default/IndexedDB/Cache/3=secret", "Default/Service Worker/ScriptCache/1=secret",
			"Default/WebStorage/1/CacheStorage/2=secret", "Local State=secret",
		}
		if got := filesBelow(t, dir); !slices.Equal(got, want) {
			t.Errorf("unpacked %q, want %q", got, want)
		}
		if info, err := os.Stat(filepath.Join(dir, "Default", "Sessions")); err != nil || !info.IsDir() {
			t.Errorf("an empty folder is lost: %v", err)
		}
	}
}

// TestACrashLosesNothing checks the files after a crash at each point of packing and unpacking.
func TestACrashLosesNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		left map[string]string // besides the pack of the state “packed”, by where it lies beside the directory
		want string
	}{
		"nothing happened": {nil, "packed"},
		"while packing": {
			map[string]string{"user-data/" + cookieFile: "newer", ".state.age123": "half"}, "newer",
		},
		"before the old is moved":  {map[string]string{"user-data/" + cookieFile: "newer"}, "newer"},
		"while the old is removed": {map[string]string{"user-data.packed/Default/half": "old"}, "packed"},
		"while unpacking":          {map[string]string{"user-data.unpacked/" + cookieFile: "half"}, "packed"},
		"before the first file":    {map[string]string{"user-data/": ""}, "packed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, keys := makeState(t, "packed"), stateKeys(1)
			check.Must(t, profile.PackState(t.Context(), dir, keys))
			for name, text := range tt.left {
				writeState(t, filepath.Dir(dir), name, text)
			}
			check.Must(t, profile.UnpackState(t.Context(), dir, keys))
			for range 2 { // as it is found, and once more from the pack
				if data, err := os.ReadFile(filepath.Join(dir, cookieFile)); err != nil || string(data) != tt.want {
					t.Errorf("got %q, %v, want %q", data, err, tt.want)
				}
				if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "*.*")); len(left) != 1 {
					t.Errorf("left beside it: %q", left)
				}
				check.Must(t, profile.PackState(t.Context(), dir, keys))
				check.Must(t, profile.UnpackState(t.Context(), dir, keys))
			}
		})
	}
}

func TestAPackThatCannotBeReadStays(t *testing.T) {
	keys := stateKeys(1)
	same := func(data []byte) []byte { return data }
	for name, tt := range map[string]struct {
		damage func([]byte) []byte
		keys   func(context.Context) ([]string, error)
		want   string
	}{
		"another key": {same, stateKeys(2), "another key"},
		"no key":      {same, noKeys, "keyring is locked"},
		"a bit":       {func(data []byte) []byte { data[len(data)-100] ^= 1; return data }, keys, "damaged"},
		"half":        {func(data []byte) []byte { return data[:len(data)/2] }, keys, "damaged"},
		"the end":     {func(data []byte) []byte { return data[:len(data)-1] }, keys, "damaged"},
		"the head":    {func(data []byte) []byte { data[2] ^= 1; return data }, keys, "damaged"},
		"empty":       {func([]byte) []byte { return nil }, keys, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := makeState(t, strings.Repeat("secret", 1000))
			pack := filepath.Join(filepath.Dir(dir), profile.PackName)
			check.Must(t, profile.PackState(t.Context(), dir, keys))
			data, err := os.ReadFile(pack)
			check.Must(t, err)
			data = tt.damage(data)
			check.Must(t, os.WriteFile(pack, data, 0o600))
			err = profile.UnpackState(t.Context(), dir, tt.keys)
			check.Fails(t, err, nil, tt.want, pack, "clank browser --browser-profile clank@person-1 reset-profile")
			now, _ := os.ReadFile(pack)
			if left, _ := filepath.Glob(filepath.Dir(dir) + "/*"); !bytes.Equal(now, data) || len(left) != 1 {
				t.Errorf("the pack has changed, or is not alone: %q", left)
			}
		})
	}
}

func TestAStateThatCannotBePackedStays(t *testing.T) {
	keys := stateKeys(1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tt := range map[string]struct {
		ctx  context.Context
		keys func(context.Context) ([]string, error)
		want string
	}{
		"no key":       {t.Context(), noKeys, "the keyring is locked"},
		"in a hurry":   {gone, keys, "context canceled"},
		"it is in use": {t.Context(), keys, "in use"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := makeState(t, "kept")
			want := filesBelow(t, filepath.Dir(dir))
			lock := flock.New(filepath.Join(dir, "clank.lock"))
			if tt.want == "in use" {
				check.Must(t, lock.Lock())
			}
			check.Fails(t, profile.PackState(tt.ctx, dir, tt.keys), nil, tt.want)
			if got := filesBelow(t, filepath.Dir(dir)); !slices.Equal(got, want) {
				t.Errorf("left %q, want %q", got, want)
			}
			check.Must(t, lock.Unlock())
		})
	}
}

func TestAnOlderKeyStillUnpacks(t *testing.T) {
	dir, old, both := makeState(t, "kept"), stateKeys(1), stateKeys(2)
	given, _ := old(t.Context())
	fresh, _ := both(t.Context())
	fresh[1] = given[0]
	check.Must(t, profile.PackState(t.Context(), dir, old))
	check.Must(t, profile.UnpackState(t.Context(), dir, both))
	check.Must(t, profile.PackState(t.Context(), dir, both)) // with the first
	check.Fails(t, profile.UnpackState(t.Context(), dir, old), nil, "another key")
}

// archived returns an archive with one entry, whose header may declare a larger size.
func archived(tb testing.TB, h tar.Header, text string) []byte {
	tb.Helper()
	var b bytes.Buffer
	archive := tar.NewWriter(&b)
	h.Mode = 0o600
	check.Must(tb, archive.WriteHeader(&h))
	check.Must(tb, check.Err(io.WriteString(archive, text)))
	_ = archive.Flush() // it refuses where something is missing
	return b.Bytes()
}

// sparseFile is an archive with a sparse file of a terabyte that has four bytes of data: [tar.Writer] cannot write one.
func sparseFile(tb testing.TB) []byte {
	tb.Helper()
	var records strings.Builder
	for _, r := range []string{
		"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=huge",
		"GNU.sparse.realsize=1099511627776",
	} {
		fmt.Fprintf(&records, "%d %s\n", len(r)+4, r)
	}
	where := "1\n1099511627772\n4\n" // one piece
	where += strings.Repeat("\x00", 512-len(where))
	data := archived(tb, tar.Header{Name: "pax", Size: int64(records.Len())}, records.String())
	var checksum int
	check.Must(tb, check.Err(fmt.Sscanf(string(data[148:154]), "%o", &checksum)))
	copy(data[148:], fmt.Sprintf("%06o", checksum+tar.TypeXHeader-tar.TypeReg))
	data[156] = tar.TypeXHeader
	return append(data, archived(tb, tar.Header{Name: "huge", Size: 516}, where+"abcd")...)
}

// unpacked extracts an archive into a folder, and returns the files next to it.
func unpacked(t *testing.T, archive []byte) (into string, beside []fs.DirEntry, err error) {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	check.Must(t, check.Err(w.Write(archive)))
	check.Must(t, w.Close())
	dir := t.TempDir()
	err = profile.Unpack(t.Context(), &b, filepath.Join(dir, "into"))
	beside, _ = os.ReadDir(dir)
	return filepath.Join(dir, "into"), beside[1:], err
}

func TestAnArchiveThatWouldDoMoreThanFillItsFolderIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		archive []byte
		want    string
	}{
		"above":     {archived(t, tar.Header{Name: "../outside"}, ""), "escapes"},
		"absolute":  {archived(t, tar.Header{Name: "/tmp/outside"}, ""), "escapes"},
		"link":      {archived(t, tar.Header{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "../b"}, ""), "neither"},
		"hard link": {archived(t, tar.Header{Name: "a", Typeflag: tar.TypeLink, Linkname: "../b"}, ""), "neither"},
		"device":    {archived(t, tar.Header{Name: "zero", Typeflag: tar.TypeChar}, ""), "neither"},
		"sparse":    {sparseFile(t), "neither"},
		"cut off":   {archived(t, tar.Header{Name: "short", Size: 1 << 40}, "text"), "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, beside, err := unpacked(t, tt.archive)
			check.Fails(t, err, nil, tt.want)
			if len(beside) != 0 {
				t.Errorf("there is something beside the folder: %v", beside)
			}
		})
	}
}

func FuzzAnArchiveFillsItsFolderAlone(f *testing.F) {
	for _, name := range []string{"a", "../outside", "/outside", "."} {
		f.Add(archived(f, tar.Header{Name: name, Size: 4}, "text"))
	}
	f.Add(archived(f, tar.Header{Name: "folder/", Typeflag: tar.TypeDir}, ""))
	f.Add(archived(f, tar.Header{Name: "link", Typeflag: tar.TypeSymlink, Linkname: "../outside"}, ""))
	f.Add(archived(f, tar.Header{Name: "short", Size: 1 << 40}, "text"))
	f.Add(sparseFile(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		into, beside, _ := unpacked(t, data)
		if len(beside) != 0 {
			t.Errorf("there is something beside the folder: %v", beside)
		}
		size := int64(0)
		check.Must(t, filepath.WalkDir(into, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			info, err := e.Info()
			if size += info.Size(); !e.Type().IsRegular() {
				t.Errorf("it made %s, %v", path, e.Type())
			}
			return err
		}))
		if size > int64(len(data)) {
			t.Errorf("%d bytes became %d", len(data), size)
		}
	})
}

// BenchmarkState packs and unpacks a state of 50 MB, half of which can be compressed.
func BenchmarkState(b *testing.B) {
	dir, keys := filepath.Join(b.TempDir(), "user-data"), stateKeys(1)
	check.Must(b, os.MkdirAll(filepath.Join(dir, "Default"), 0o700))
	for i := range 200 {
		data := make([]byte, 250_000)
		_, _ = rand.Read(data[:len(data)/2])
		check.Must(b, os.WriteFile(filepath.Join(dir, "Default", string(rune('A'+i))), data, 0o600))
	}
	var packing time.Duration
	for b.Loop() {
		begun := time.Now()
		check.Must(b, profile.PackState(b.Context(), dir, keys))
		packing += time.Since(begun)
		check.Must(b, profile.UnpackState(b.Context(), dir, keys))
	}
	b.ReportMetric(float64(packing.Milliseconds())/float64(b.N), "pack_ms/op")
}
