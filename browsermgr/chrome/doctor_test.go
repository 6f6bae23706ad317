package chrome_test

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"clank/browsermgr/chrome"
	"clank/internal/test/check"
)

// machine returns a fake machine with these files, and the free bytes by directory.
func machine(t *testing.T, files map[string]string, left map[string]uint64) chrome.Machine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("these are the ways of Linux")
	}
	root := t.TempDir()
	place(t, root, files)
	return chrome.Machine{Root: root, EUID: os.Geteuid(), Arch: runtime.GOARCH, Free: func(dir string) (uint64, bool) {
		bytes, ok := left[cmp.Or(strings.TrimPrefix(dir, root), "/")]
		return bytes, ok
	}}
}

func find(t *testing.T, checks []chrome.Check, id string) chrome.Check {
	t.Helper()
	for _, c := range checks {
		if c.ID == id {
			return c
		}
	}
	t.Fatalf("no check %s in %+v", id, checks)
	return chrome.Check{}
}

func TestUsualCausesAreFound(t *testing.T) {
	self := read(t, "", os.Args[0])
	subject := chrome.MachineSubject{Executable: "/opt/browser", DataDir: "/home/data", TempDir: "/tmp"}
	for name, tc := range map[string]struct {
		files   map[string]string
		left    map[string]uint64
		euid    int
		arch    string
		adjust  func(*chrome.MachineSubject)
		id      string
		status  chrome.CheckStatus
		summary string
		hint    string
	}{
		"root": {id: "linux-sandbox", status: chrome.CheckFail, summary: "runs as root", hint: "noSandbox"},
		"root by choice": {
			id: "linux-sandbox", status: chrome.CheckWarn, summary: "switched off",
			adjust: func(s *chrome.MachineSubject) { s.NoSandbox = true },
		},
		"Ubuntu's restriction": {
			euid: 1000, id: "linux-sandbox", status: chrome.CheckFail, summary: "AppArmor",
			hint: "userns", files: map[string]string{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"},
		},
		"restricted but with a profile": {euid: 1000, id: "linux-sandbox", status: chrome.CheckPass, files: map[string]string{
			"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1",
			"/etc/apparmor.d/browser":                                "profile /opt/browser { userns, }",
		}},
		"no user namespaces": {
			euid: 1000, id: "linux-sandbox", status: chrome.CheckFail, summary: "max_user_namespaces",
			files: map[string]string{"/proc/sys/user/max_user_namespaces": "0"},
		},
		"Debian's switch": {
			euid: 1000, id: "linux-sandbox", status: chrome.CheckFail,
			summary: "unprivileged_userns_clone", files: map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "0"},
		},
		"seccomp": {euid: 1000, id: "linux-sandbox", status: chrome.CheckInfo, summary: "seccomp", files: map[string]string{
			"/.dockerenv": "", "/proc/self/status": "Name:\tx\nSeccomp:\t2\n",
		}},
		"small shared memory": {
			id: "shared-memory", status: chrome.CheckInfo, summary: "64 MiB", hint: "--shm-size",
			left: map[string]uint64{"/dev/shm": 64 << 20},
		},
		"full disk": {
			id: "disk-space", status: chrome.CheckFail, summary: "5 MiB",
			left: map[string]uint64{"/tmp": 5 << 20, "/": 500 << 20}, files: map[string]string{"/tmp/x": ""},
		},
		"nearly full disk": {
			id: "disk-space", status: chrome.CheckWarn, summary: "500 MiB",
			left: map[string]uint64{"/": 500 << 20},
		},
		"few processes": {
			id: "limits", status: chrome.CheckWarn, summary: "at most 100 processes",
			files: map[string]string{"/sys/fs/cgroup/pids.max": "100"},
		},
		"few open files": {
			id: "limits", status: chrome.CheckWarn, summary: "at most 64 open files", hint: "ulimit -n",
			files: map[string]string{
				"/proc/self/limits": "Limit                     Soft Limit           Hard Limit           Units     \n" +
					"Max open files            64                   64                   files     \n",
			},
		},
		"little memory": {
			id: "limits", status: chrome.CheckWarn, summary: "256 MiB",
			files: map[string]string{"/sys/fs/cgroup/memory.max": "268435456"},
		},
		"no limits": {
			id: "limits", status: chrome.CheckPass, summary: "container (kubepods)",
			files: map[string]string{"/sys/fs/cgroup/pids.max": "max", "/proc/1/cgroup": "0::/kubepods/x"},
		},
		"no fonts": {id: "fonts", status: chrome.CheckWarn, hint: "fonts-liberation"},
		"fonts": {
			id: "fonts", status: chrome.CheckPass,
			files: map[string]string{"/usr/share/fonts/truetype/a/A.TTF": "x"},
		},
		"snap": {
			id: "snap", status: chrome.CheckWarn, summary: "is a snap",
			adjust: func(s *chrome.MachineSubject) { s.Snap = true },
		},
		"WSL": {
			id: "platform", status: chrome.CheckInfo, summary: "Windows Subsystem",
			files: map[string]string{"/proc/version": "Linux 5 Microsoft"},
		},
		"WSL on a drive": {
			id: "platform", status: chrome.CheckWarn, summary: "Windows drive",
			files: map[string]string{"/proc/version": "Linux 5 microsoft"}, adjust: func(s *chrome.MachineSubject) {
				s.DataDir = "/mnt/c/x"
			},
		},
		"wrong processor": {
			id: "platform", status: chrome.CheckFail, summary: "made for " + runtime.GOARCH, arch: "sparc",
			files: map[string]string{"/opt/browser": self},
		},
		"a script": {
			id: "libraries", status: chrome.CheckInfo,
			files: map[string]string{"/opt/browser": "#!/bin/sh\n"},
		},
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
			if (c.Status == chrome.CheckFail || c.Status == chrome.CheckWarn) && c.FixHint == "" {
				t.Errorf("no way out: %+v", c)
			}
		})
	}
}

func TestDirectoryThatCannotBeWrittenFails(t *testing.T) {
	m := machine(t, map[string]string{"/home/x": ""}, nil)
	home := filepath.Join(m.Root, "home")
	check.Must(t, os.Chmod(home, 0o500))
	t.Cleanup(func() { check.Must(t, os.Chmod(home, 0o700)) })
	check.ObeyModes(t)
	c := find(t, m.Checks(chrome.MachineSubject{DataDir: "/home/data"}), "permissions")
	if c.Status != chrome.CheckFail || !strings.Contains(c.FixHint, "chown") {
		t.Errorf("got %+v", c)
	}
}

func TestDirectoryOfSomebodyElseIsTold(t *testing.T) {
	m := machine(t, map[string]string{"/home/data/x": ""}, nil)
	m.EUID = os.Geteuid() + 1
	if c := find(t, m.Checks(chrome.MachineSubject{DataDir: "/home/data"}), "permissions"); c.Status != chrome.CheckWarn ||
		c.FixHint == "" {
		t.Errorf("got %+v", c)
	}
}

func TestThisMachineRunsBrowsers(t *testing.T) {
	for _, c := range chrome.ThisMachine().Checks(chrome.MachineSubject{
		NoSandbox:  os.Geteuid() == 0,
		Executable: "/usr/bin/chromium", DataDir: t.TempDir(), TempDir: os.TempDir(),
	}) {
		if c.Status == chrome.CheckFail && c.ID != "disk-space" {
			t.Errorf("%+v", c)
		}
		if c.Label == "" || c.Summary == "" {
			t.Errorf("nothing to read: %+v", c)
		}
	}
}

func TestBrowserIsJudgedByWhatWasSeen(t *testing.T) {
	healthy := chrome.BrowserFacts{
		Enabled: true, Started: true, Connected: true, HTTP: true, Ready: true, Headless: true,
		Acceleration: "software", Deep: true, PageNodes: 3,
	}
	for name, tc := range map[string]struct {
		change func(*chrome.BrowserFacts)
		id     string
		want   chrome.CheckStatus
		ok     bool
	}{
		"healthy": {func(*chrome.BrowserFacts) {}, "cdp-websocket", chrome.CheckPass, true},
		"switched off": {
			func(b *chrome.BrowserFacts) { b.Enabled = false }, "plugin-enabled", chrome.CheckFail,
			false,
		},
		"no program": {
			func(b *chrome.BrowserFacts) { b.FindError = "none" }, "managed-executable",
			chrome.CheckFail, false,
		},
		"no display": {func(b *chrome.BrowserFacts) { b.Headless = false }, "display", chrome.CheckFail, false},
		"another program has it": {
			func(b *chrome.BrowserFacts) { b.DirHolder = "x" }, "profile-lock", chrome.CheckWarn,
			true,
		},
		"port taken": {
			func(b *chrome.BrowserFacts) { b.PortHolder = "x" }, "devtools-port", chrome.CheckWarn,
			true,
		},
		"merely not running": {
			func(b *chrome.BrowserFacts) { b.Connected, b.HTTP, b.Ready = false, false, false },
			"cdp-http", chrome.CheckInfo, true,
		},
		"look without a browser": {
			func(b *chrome.BrowserFacts) { b.Connected, b.HTTP, b.Ready = false, false, false },
			"live-snapshot", chrome.CheckInfo, true,
		},
		"hangs": {
			func(b *chrome.BrowserFacts) { b.Ready, b.ProbeError = false, "silent" }, "cdp-websocket",
			chrome.CheckFail, false,
		},
		"HTTP hangs": {func(b *chrome.BrowserFacts) { b.HTTP = false }, "cdp-http", chrome.CheckWarn, true},
		"empty page": {func(b *chrome.BrowserFacts) { b.PageNodes = 0 }, "live-snapshot", chrome.CheckWarn, true},
		"page that fails": {
			func(b *chrome.BrowserFacts) { b.PageError = "x" }, "live-snapshot", chrome.CheckFail,
			false,
		},
		"remote out of reach": {func(b *chrome.BrowserFacts) {
			b.Started, b.Connected, b.Ready, b.ProbeError = false, false, false, "x"
		}, "attach-target", chrome.CheckFail, false},
		"hosted, not asked": {
			func(b *chrome.BrowserFacts) { b.Started, b.Connected, b.Ready = false, false, false },
			"cdp-websocket", chrome.CheckInfo, true,
		},
		"person's, not there": {func(b *chrome.BrowserFacts) {
			b.Started, b.Personal, b.Connected, b.Ready, b.ProbeError = false, true, false, false, "x"
		}, "attach-target", chrome.CheckInfo, true},
		"person's, and connected": {
			func(b *chrome.BrowserFacts) { b.Started, b.Personal = false, true }, "attach-target",
			chrome.CheckPass, true,
		},
	} {
		b := healthy
		tc.change(&b)
		checks := b.Checks()
		if got := find(t, checks, tc.id); got.Status != tc.want || chrome.NoCheckFailed(checks) != tc.ok {
			t.Errorf("%s: %+v, ok %t", name, got, chrome.NoCheckFailed(checks))
		}
		for _, c := range checks {
			if c.Status == chrome.CheckFail && c.FixHint == "" {
				t.Errorf("%s: no way out: %+v", name, c)
			}
		}
	}
}
