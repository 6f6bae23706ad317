package profile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"clank/browsermgr/fault"
	"clank/browsermgr/profile"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

func file(t *testing.T) *profile.Store {
	t.Helper()
	return &profile.Store{Path: filepath.Join(t.TempDir(), "browser", "profiles.json"), FirstPort: 18800, LastPort: 18899}
}

func create(t *testing.T, f *profile.Store, p profile.Profile) profile.Profile {
	t.Helper()
	p, err := f.Create(p)
	check.Must(t, err)
	return p
}

func names(t *testing.T, f *profile.Store) []string {
	t.Helper()
	list, err := f.List()
	check.Must(t, err)
	var names []string
	for _, p := range list {
		names = append(names, p.Name)
	}
	return names
}

func TestBuiltInProfilesAreAlwaysThere(t *testing.T) {
	f := file(t)
	check.Diff(t, "names", names(t, f), []string{"clank", "user"})
	user, err := f.Find("user")
	if err != nil || user.Driver != profile.DriverExistingSession || !*user.AttachOnly || user.Color != "#00AA00" {
		t.Errorf("%+v, %v", user, err)
	}
	for _, name := range []string{"", "clank", "openclaw"} {
		if p, err := f.Find(name); err != nil || p.Name != "clank" || p.Color != "#FF4500" {
			t.Errorf("%q finds %+v, %v", name, p, err)
		}
	}
	check.Fails(t, check.Err(f.Find("nobody")), profile.ErrNotFound, "clank, user", "nobody")
	create(t, f, profile.Profile{Name: "openclaw"})
	if p, err := f.Find("openclaw"); err != nil || p.Name != "openclaw" {
		t.Errorf("a real profile of that name: %+v, %v", p, err)
	}
	f.DefaultName = "work"
	check.Diff(t, "names", names(t, f), []string{"work", "clank", "openclaw", "user"})
}

func TestPortsAndColoursAreGivenOutOnce(t *testing.T) {
	f := file(t)
	f.PortInUse = func(port int) bool { return port == 18802 }
	a := create(t, f, profile.Profile{Name: "a"})
	b := create(t, f, profile.Profile{Name: "b", Driver: "clawd"})
	c := create(t, f, profile.Profile{Name: "c", Color: "#abcdef"})
	if a.CDPPort != 18801 || b.CDPPort != 18803 || c.CDPPort != 18804 {
		t.Errorf("ports %d %d %d", a.CDPPort, b.CDPPort, c.CDPPort)
	}
	if a.Color != "#0066CC" || b.Color != "#9933FF" || c.Color != "#ABCDEF" || b.Driver != profile.DriverManaged {
		t.Errorf("colours %s %s %s, driver %s", a.Color, b.Color, c.Color, b.Driver)
	}
	check.Must(t, f.Delete("a"))
	again := &profile.Store{Path: f.Path, FirstPort: 18800, LastPort: 18899}
	if p, err := again.Find("b"); err != nil || p.CDPPort != b.CDPPort || p.Color != b.Color {
		t.Errorf("after a restart: %+v, %v", p, err)
	}
	if p := create(t, again, profile.Profile{Name: "d", Color: "red"}); p.CDPPort != 18801 || p.Color != "#0066CC" {
		t.Errorf("the next one takes what is free: %+v", p)
	}
}

func TestPortsOfAddressesCountAsUsedAnd9222IsNeverGivenOut(t *testing.T) {
	f := file(t)
	f.FirstPort, f.LastPort = 9220, 9224
	create(t, f, profile.Profile{Name: "remote", CDPURL: "http://box:9221"})
	a := create(t, f, profile.Profile{Name: "a"})
	b := create(t, f, profile.Profile{Name: "b"})
	if a.CDPPort != 9223 || b.CDPPort != 9224 {
		t.Errorf("ports %d %d", a.CDPPort, b.CDPPort)
	}
	check.Fails(t, check.Err(f.Create(profile.Profile{Name: "c"})), profile.ErrNoPort)
	check.Equal(t, "a profile that needs no port has", create(t, f, profile.Profile{
		Name: "mine", Driver: profile.DriverExistingSession,
		UserDataDir: t.TempDir(),
	}).CDPPort, 0)
}

func TestPortOfAStartIsKept(t *testing.T) {
	f := file(t)
	p, err := f.Find("")
	check.Must(t, err)
	ports, err := f.Ports(p)
	if err != nil || ports[0] != 18800 || len(ports) != 100 {
		t.Fatalf("ports %v, %v", ports, err)
	}
	check.Must(t, f.AssignPort(p, 18807))
	p, err = f.Find("")
	if err != nil || p.CDPPort != 18807 || p.Color != profile.DefaultColor {
		t.Errorf("%+v, %v", p, err)
	}
	if ports, err = f.Ports(p); err != nil || len(ports) != 100 || ports[0] != 18807 {
		t.Errorf("ports %v, %v", ports, err)
	}
	check.Equal(t, "port", create(t, f, profile.Profile{Name: "a"}).CDPPort, 18800)
}

func TestWhatCannotBeIsRefused(t *testing.T) {
	f := file(t)
	create(t, f, profile.Profile{Name: "taken"})
	long := strings.Repeat("a", 65)
	for _, tc := range []struct {
		p    profile.Profile
		want string
		kind error
	}{
		{profile.Profile{}, "name is required", fault.ErrInvalid},
		{profile.Profile{Name: "Up"}, "invalid profile name", fault.ErrInvalid},
		{profile.Profile{Name: "../up"}, "invalid profile name", fault.ErrInvalid},
		{profile.Profile{Name: "-a"}, "invalid profile name", fault.ErrInvalid},
		{profile.Profile{Name: long}, "invalid profile name", fault.ErrInvalid},
		{profile.Profile{Name: "a\n"}, "invalid profile name", fault.ErrInvalid},
		{profile.Profile{Name: "taken"}, "already exists", profile.ErrExists},
		{profile.Profile{Name: "clank"}, "already exists", profile.ErrExists},
		{profile.Profile{Name: "a", Driver: "selenium"}, "unsupported profile driver", fault.ErrInvalid},
		{profile.Profile{Name: "a", Driver: "extension"}, "no browser extension", fault.ErrInvalid},
		{profile.Profile{Name: "a", CDPURL: "ftp://u:s3cr3t@h"}, "cdpUrl", fault.ErrInvalid},
		{profile.Profile{Name: "a", UserDataDir: "/x"}, "driver=existing-session is required", fault.ErrInvalid},
		{profile.Profile{Name: "a", Driver: profile.DriverExistingSession, UserDataDir: "x"}, "absolute", fault.ErrInvalid},
		{
			profile.Profile{Name: "a", Driver: profile.DriverExistingSession, UserDataDir: "~/nowhere/at/all"},
			"not there",
			fault.ErrInvalid,
		},
		{profile.Profile{Name: "a", CDPPort: 70000}, "not a port", fault.ErrInvalid},
	} {
		_, err := f.Create(tc.p)
		if !errors.Is(err, tc.kind) || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%+v: %v, want %q", tc.p, err, tc.want)
		}
	}
	for name, want := range map[string]string{
		"clank": "cannot delete the default profile", "user": "built in", "nobody": "not found",
		"../up": "invalid profile name",
	} {
		if err := f.Delete(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("delete %s: %v, want %q", name, err, want)
		}
	}
	check.Diff(t, "names", names(t, f), []string{"clank", "taken", "user"})
}

func TestManyAtOnceLoseNothing(t *testing.T) {
	first := file(t)
	// as another program has it
	second := &profile.Store{Path: first.Path, FirstPort: first.FirstPort, LastPort: first.LastPort}
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			f := []*profile.Store{first, second}[i%2]
			if _, err := f.Create(profile.Profile{Name: fmt.Sprintf("p%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	list, err := first.List()
	check.Must(t, err)
	ports := map[int]string{}
	for _, p := range list {
		if other, ok := ports[p.CDPPort]; ok && p.CDPPort != 0 {
			t.Errorf("%s and %s both have port %d", p.Name, other, p.CDPPort)
		}
		ports[p.CDPPort] = p.Name
	}
	check.Equal(t, "profiles", len(list), 42)
	left, err := os.ReadDir(filepath.Dir(first.Path))
	if err != nil || len(left) != 2 {
		t.Errorf("files: %v, %v", left, err)
	}
}

func TestDamagedFileIsToldAndLeftAlone(t *testing.T) {
	for _, text := range []string{
		"{", `{"profiles":{"../up":{}}}`, `{"profiles":{"a":{"cdpPort":"x"}}}`,
		`{"profiles":{"a":{"driver":"x"}}}`,
	} {
		f := file(t)
		check.Must(t, os.MkdirAll(filepath.Dir(f.Path), 0o700))
		check.Must(t, os.WriteFile(f.Path, []byte(text), 0o600))
		check.Fails(t, check.Err(f.List()), nil, f.Path)
		check.Fails(t, check.Err(f.Create(profile.Profile{Name: "b"})), nil, f.Path)
		if got, err := os.ReadFile(f.Path); err != nil || string(got) != text {
			t.Errorf("%s became %s, %v", text, got, err)
		}
	}
}

func TestEnsureMakesWhatIsMissing(t *testing.T) {
	f := file(t)
	a, err := f.Ensure("a")
	if err != nil || a.CDPPort == 0 || a.Driver != profile.DriverManaged {
		t.Fatalf("%+v, %v", a, err)
	}
	again, err := f.Ensure("a")
	if diff := cmp.Diff(a, again); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	check.Fails(t, check.Err(f.Ensure("Bad Name")), fault.ErrInvalid)
}

func TestAnInstanceFollowsItsBaseAndIsNotStored(t *testing.T) {
	f := file(t)
	headless := true
	base := create(t, f, profile.Profile{
		Name: "work", Color: "#123456", Headless: &headless, Args: []string{"--lang=de"},
		CDPPort: 18805,
	})
	for _, name := range []string{"work@server-123", "work@person-123"} {
		want := base
		want.Name, want.CDPPort, want.Stored = name, 0, false
		for _, find := range []func(string) (profile.Profile, error){f.Find, f.Ensure} {
			got, err := find(name)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
		check.Must(t, f.AssignPort(want, 18810))
		check.Must(t, f.CheckDeletable(name))
		check.Must(t, f.Delete(name))
	}
	check.Must(t, check.Err(f.Ensure("new@server-1")))
	check.Diff(t, "list", names(t, f), []string{"clank", "new", "user", "work"})
	for _, p := range []profile.Profile{
		{Name: "far", CDPURL: "http://box:9222"},
		{Name: "mine", Driver: profile.DriverExistingSession},
		{Name: "near", AttachOnly: &headless, CDPPort: 18890},
	} {
		create(t, f, p)
		check.Fails(t, check.Err(f.Find(p.Name+"@server-1")), fault.ErrInvalid, "one state for all")
	}
	check.Fails(t, check.Err(f.Find("nobody@server-1")), profile.ErrNotFound) // without a base
	for _, name := range []string{
		"work@", "@server-1", "work@server-", "work@x", "work@server-1@server-2",
		"work@server-../x", "work@Server-1", "../x@server-1", "work@server-1 ",
	} {
		check.Fails(t, check.Err(f.Ensure(name)), nil, strconv.Quote(name))
	}
	for _, name := range []string{"work@server-1", "clank@person-1"} {
		if _, err := f.Create(profile.Profile{Name: name, CDPURL: "http://box:9222"}); !errors.Is(err, fault.ErrInvalid) {
			t.Errorf("%s made by hand: %v", name, err)
		}
	}
}

func FuzzAProfileFileIsReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		`{"profiles":{"a":{"cdpUrl":"ws://h"}}}`, `{"profiles":{"a":null}}`,
		`{"profiles":{"a":{"color":"x","cdpPort":-1}}}`, `[]`, ``,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "profiles.json")
		check.Must(t, os.WriteFile(path, []byte(text), 0o600))
		list, err := (&profile.Store{Path: path, FirstPort: 18800, LastPort: 18899}).List()
		if err != nil {
			return
		}
		for _, p := range list {
			if profile.CheckName(p.Name) != nil || p.Color == "" || p.Driver == "" {
				t.Errorf("%q yields %+v", text, p)
			}
		}
	})
}

// folder creates a folder with a file in it.
func folder(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	check.Must(t, os.Mkdir(path, 0o700))
	check.Must(t, os.WriteFile(filepath.Join(path, "cookies"), []byte(path), 0o600))
	return path
}

func TestMovedFolderCanBeBroughtBack(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the specification is that of Linux desktops")
	}
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	old := filepath.Join(data, "Trash", "files", "my profile%") // without a note
	check.Must(t, os.MkdirAll(old, 0o700))
	seen := map[string]bool{old: true}
	for range 3 { // of the same name
		from := folder(t, "my profile%")
		to, err := profile.MoveToTrash(t.Context(), from)
		check.Must(t, err)
		if seen[to] || filepath.Dir(to) != filepath.Join(data, "Trash", "files") {
			t.Errorf("moved to %s", to)
		}
		seen[to] = true
		if got, err := os.ReadFile(filepath.Join(to, "cookies")); err != nil || string(got) != from {
			t.Errorf("contents %q, %v", got, err)
		}
		if _, err := os.Stat(from); !os.IsNotExist(err) {
			t.Errorf("the folder is still there: %v", err)
		}
		note, err := os.ReadFile(filepath.Join(data, "Trash", "info", filepath.Base(to)+".trashinfo"))
		check.Must(t, err)
		want := "[Trash Info]\nPath=" + strings.TrimSuffix(from, "my profile%") + "my%20profile%25\nDeletionDate=20"
		if !strings.HasPrefix(string(note), want) {
			t.Errorf("note %q, want it to begin with %q", note, want)
		}
	}
	if list, err := os.ReadDir(old); err != nil || len(list) != 0 {
		t.Errorf("what was there before: %v, %v", list, err)
	}
}

func TestWhatCannotBeMovedStays(t *testing.T) {
	check.Fails(t, check.Err(profile.MoveToTrash(t.Context(), filepath.Join(t.TempDir(), "missing"))), fs.ErrNotExist)
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere the tool decides")
	}
	blocked := filepath.Join(t.TempDir(), "file")
	check.Must(t, os.WriteFile(blocked, nil, 0o600))
	t.Setenv("XDG_DATA_HOME", blocked)
	from := folder(t, "work")
	check.Fails(t, check.Err(profile.MoveToTrash(t.Context(), from)), nil, "move "+from+" to the trash", blocked)
	check.Must(t, check.Err(os.Stat(filepath.Join(from, "cookies"))))
}

// other is a directory on another file system.
const other = "/dev/shm"

func elsewhereDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(other, "clank-trash-") //nolint:usetesting // a file system of its own is wanted
	if err != nil {
		t.Skip("no second file system here:", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if os.Rename(t.TempDir(), filepath.Join(dir, "x")) == nil {
		t.Skip(other, "is part of the first file system here")
	}
	return dir
}

func TestFolderOfAnotherFileSystemGoesToItsTrash(t *testing.T) {
	dir := elsewhereDir(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	from := filepath.Join(dir, filepath.Base(dir)+"-work")
	check.Must(t, os.Mkdir(from, 0o700))
	to, err := profile.MoveToTrash(t.Context(), from)
	check.Must(t, err)
	bin, note := filepath.Dir(filepath.Dir(to)), filepath.Join(filepath.Dir(filepath.Dir(to)), "info", filepath.Base(to)+
		".trashinfo")
	t.Cleanup(func() {
		for _, path := range []string{to, note, filepath.Dir(to), filepath.Dir(note), bin} {
			_ = os.Remove(path)
		}
	})
	if !strings.HasPrefix(to, other) {
		t.Errorf("moved to %s", to)
	}
	check.Must(t, check.Err(os.Stat(note)))
	if info, err := os.Stat(bin); err != nil || info.Mode().Perm()&fs.FileMode(0o077) != 0 {
		t.Errorf("others may look into the trash: %v, %v", info, err)
	}
}

func TestATrashThatLeadsElsewhereIsNotUsed(t *testing.T) {
	dir := elsewhereDir(t)
	elsewhere := t.TempDir()
	bin := filepath.Join(other, ".Trash-"+strconv.Itoa(os.Getuid()))
	_ = os.Remove(bin) // an empty one, or the link of a run that was killed
	if err := os.Symlink(elsewhere, bin); err != nil {
		t.Skip("there is a trash already:", err)
	}
	t.Cleanup(func() { _ = os.Remove(bin) })
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	check.Fails(t, check.Err(profile.MoveToTrash(t.Context(), dir)), nil, bin+" is not a directory of this user")
	check.Must(t, check.Err(os.Stat(dir)))
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) > 0 {
		t.Errorf("put there: %v, %v", left, err)
	}
}
