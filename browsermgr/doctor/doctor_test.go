package doctor_test

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"clank/browsermgr/doctor"
)

// machine is a made-up machine with these files, and so many bytes left by directory.
func machine(t *testing.T, files map[string]string, left map[string]uint64) doctor.Machine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("these are the ways of Linux")
	}
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return doctor.Machine{Root: root, EUID: os.Geteuid(), Arch: runtime.GOARCH, Free: func(dir string) (uint64, bool) {
		bytes, ok := left[cmp.Or(strings.TrimPrefix(dir, root), "/")]
		return bytes, ok
	}}
}

func find(t *testing.T, checks []doctor.Check, id string) doctor.Check {
	t.Helper()
	for _, c := range checks {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no check %s in %+v", id, checks)
	return doctor.Check{}
}

func TestUsualCausesAreFound(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	subject := doctor.Subject{Executable: "/opt/browser", DataDir: "/home/data", TempDir: "/tmp"}
	for name, tc := range map[string]struct {
		files   map[string]string
		left    map[string]uint64
		euid    int
		arch    string
		adjust  func(*doctor.Subject)
		id      string
		status  doctor.Status
		summary string
		hint    string
	}{
		"root":                 {id: "linux-sandbox", status: doctor.Warn, summary: "runs as root", hint: "noSandbox"},
		"root by choice":       {id: "linux-sandbox", status: doctor.Info, summary: "switched off", adjust: func(s *doctor.Subject) { s.NoSandbox = true }},
		"Ubuntu's restriction": {euid: 1000, id: "linux-sandbox", status: doctor.Warn, summary: "AppArmor", hint: "userns", files: map[string]string{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"}},
		"restricted but with a profile": {euid: 1000, id: "linux-sandbox", status: doctor.Pass, files: map[string]string{
			"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1", "/etc/apparmor.d/browser": "profile /opt/browser { userns, }",
		}},
		"no user namespaces": {euid: 1000, id: "linux-sandbox", status: doctor.Warn, summary: "max_user_namespaces", files: map[string]string{"/proc/sys/user/max_user_namespaces": "0"}},
		"Debian's switch":    {euid: 1000, id: "linux-sandbox", status: doctor.Warn, summary: "unprivileged_userns_clone", files: map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "0"}},
		"seccomp": {euid: 1000, id: "linux-sandbox", status: doctor.Info, summary: "seccomp", files: map[string]string{
			"/.dockerenv": "", "/proc/self/status": "Name:\tx\nSeccomp:\t2\n",
		}},
		"small shared memory": {id: "shared-memory", status: doctor.Info, summary: "64 MiB", hint: "--shm-size", left: map[string]uint64{"/dev/shm": 64 << 20}},
		"full disk":           {id: "disk-space", status: doctor.Fail, summary: "5 MiB", left: map[string]uint64{"/tmp": 5 << 20, "/": 500 << 20}, files: map[string]string{"/tmp/x": ""}},
		"nearly full disk":    {id: "disk-space", status: doctor.Warn, summary: "500 MiB", left: map[string]uint64{"/": 500 << 20}},
		"few processes":       {id: "limits", status: doctor.Warn, summary: "at most 100 processes", files: map[string]string{"/sys/fs/cgroup/pids.max": "100"}},
		"little memory":       {id: "limits", status: doctor.Warn, summary: "256 MiB", files: map[string]string{"/sys/fs/cgroup/memory.max": "268435456"}},
		"no limits":           {id: "limits", status: doctor.Pass, summary: "container (kubepods)", files: map[string]string{"/sys/fs/cgroup/pids.max": "max", "/proc/1/cgroup": "0::/kubepods/x"}},
		"no fonts":            {id: "fonts", status: doctor.Warn, hint: "fonts-liberation"},
		"fonts":               {id: "fonts", status: doctor.Pass, files: map[string]string{"/usr/share/fonts/truetype/a/A.TTF": "x"}},
		"snap":                {id: "snap", status: doctor.Warn, summary: "is a snap", adjust: func(s *doctor.Subject) { s.Snap = true }},
		"WSL":                 {id: "platform", status: doctor.Info, summary: "Windows Subsystem", files: map[string]string{"/proc/version": "Linux 5 Microsoft"}},
		"WSL on a drive": {id: "platform", status: doctor.Warn, summary: "Windows drive", files: map[string]string{"/proc/version": "Linux 5 microsoft"}, adjust: func(s *doctor.Subject) {
			s.DataDir = "/mnt/c/x"
		}},
		"wrong processor": {id: "platform", status: doctor.Fail, summary: "made for " + runtime.GOARCH, arch: "sparc", files: map[string]string{"/opt/browser": string(program)}},
		"a script":        {id: "libraries", status: doctor.Info, files: map[string]string{"/opt/browser": "#!/bin/sh\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := machine(t, tc.files, tc.left)
			m.EUID = tc.euid
			if tc.arch != "" {
				m.Arch = tc.arch
			}
			s := subject
			if tc.adjust != nil {
				tc.adjust(&s)
			}
			c := find(t, m.Checks(s), tc.id)
			if c.Status != tc.status || !strings.Contains(c.Summary, tc.summary) || !strings.Contains(c.FixHint, tc.hint) {
				t.Errorf("got %+v", c)
			}
			if (c.Status == doctor.Fail || c.Status == doctor.Warn) && c.FixHint == "" {
				t.Errorf("no way out: %+v", c)
			}
		})
	}
}

func TestDirectoryThatCannotBeWrittenFails(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	m := machine(t, map[string]string{"/home/x": ""}, nil)
	if err := os.Chmod(filepath.Join(m.Root, "home"), 0o500); err != nil {
		t.Fatal(err)
	}
	c := find(t, m.Checks(doctor.Subject{DataDir: "/home/data"}), "permissions")
	if c.Status != doctor.Fail || !strings.Contains(c.FixHint, "chown") {
		t.Errorf("got %+v", c)
	}
}

func TestDirectoryOfSomebodyElseIsTold(t *testing.T) {
	m := machine(t, map[string]string{"/home/data/x": ""}, nil)
	m.EUID = os.Geteuid() + 1
	if c := find(t, m.Checks(doctor.Subject{DataDir: "/home/data"}), "permissions"); c.Status != doctor.Warn || c.FixHint == "" {
		t.Errorf("got %+v", c)
	}
}

func TestThisMachineRunsBrowsers(t *testing.T) {
	for _, c := range doctor.Here().Checks(doctor.Subject{Executable: "/usr/bin/chromium", DataDir: t.TempDir(), TempDir: os.TempDir()}) {
		if c.Status == doctor.Fail && c.ID != "disk-space" {
			t.Errorf("%+v", c)
		}
		if c.Label == "" || c.Summary == "" {
			t.Errorf("nothing to read: %+v", c)
		}
	}
}
