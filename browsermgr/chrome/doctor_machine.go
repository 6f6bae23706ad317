package chrome

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Machine describes the machine to check.
type Machine struct {
	// Root is the prefix of absolute paths; empty means /.
	Root string
	// EUID is the effective user id.
	EUID int
	// Arch is the processor architecture, as in runtime.GOARCH.
	Arch string
	// Free returns the free bytes in a directory's file system; ok is false if unknown.
	Free func(dir string) (bytes uint64, ok bool)
}

// ThisMachine describes this machine.
func ThisMachine() Machine {
	return Machine{EUID: os.Geteuid(), Arch: runtime.GOARCH, Free: freeBytes}
}

// MachineSubject describes the browser that is to run on the machine.
type MachineSubject struct {
	Executable string // path; empty if none was found
	Snap       bool   // confined by snap
	DataDir    string // may not exist yet
	TempDir    string
	NoSandbox  bool // the sandbox is disabled on purpose
	Headless   bool
}

// Checks runs all checks.
func (m Machine) Checks(s MachineSubject) []Check {
	checks := []Check{
		m.sandbox(s), m.sharedMemory(), m.disk(s.DataDir, s.TempDir), m.permissions(s.DataDir), m.container(), m.platform(s),
	}
	if s.Executable != "" {
		checks = append(checks, m.libraries(s.Executable))
	}
	checks = append(checks, m.fonts())
	if s.Snap {
		checks = append(checks, snapCheck(s))
	}
	return checks
}

func (m Machine) path(p string) string {
	if filepath.VolumeName(p) != "" {
		return p
	}
	return filepath.Join("/", m.Root, p)
}

// readText returns a short file without surrounding space; "" if it cannot be read.
func (m Machine) readText(p string) string {
	data, err := os.ReadFile(m.path(p))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func (m Machine) exists(p string) bool {
	_, err := os.Stat(m.path(p))
	return err == nil
}

// sandbox checks whether Chromium's sandbox is available: it needs user namespaces or a setuid root helper.
func (m Machine) sandbox(s MachineSubject) Check {
	c := Check{ID: "linux-sandbox", Label: "Chromium's sandbox", Status: CheckPass, Summary: "nothing forbids it"}
	forbidden := ""
	switch {
	case m.readText("/proc/sys/user/max_user_namespaces") == "0":
		forbidden = "user.max_user_namespaces is 0"
	case m.readText("/proc/sys/kernel/unprivileged_userns_clone") == "0":
		forbidden = "kernel.unprivileged_userns_clone is 0"
	case m.readText("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && !m.appArmorAllows(s.Executable):
		forbidden = "AppArmor restricts user namespaces (Ubuntu since 23.10), and has no profile for this browser"
	}
	switch {
	case s.NoSandbox:
		c.Status, c.Summary = CheckWarn, "switched off: a page that breaks out of its process has the rights of this program"
		c.FixHint = "unless a container does its work, run clank as another user than root, switch \"Disable the Chromium " +
			"sandbox\" off and unset CLANK_NO_SANDBOX"
	case m.EUID == 0:
		c.Status, c.Summary = CheckFail, "this program runs as root, to whom Chromium refuses its sandbox; browsers do "+
			"not start"
		c.FixHint = "run it as another user; or, in a container, set noSandbox or CLANK_NO_SANDBOX=1 to do without"
	case forbidden != "" && !m.hasHelper(s.Executable):
		c.Status, c.Summary = CheckFail, forbidden+"; browsers do not start without the sandbox"
		c.FixHint = "install Google Chrome or your system's own package, which come with a profile or a helper for it; or " +
			"add an AppArmor profile with \"userns,\" for " + cmp.Or(s.Executable, "the browser") +
			"; or, in a container, set noSandbox or CLANK_NO_SANDBOX=1 to do without"
	case m.inContainer() != "" && strings.Contains(m.readText("/proc/self/status"), "Seccomp:\t2"):
		c.Status, c.Summary = CheckInfo, "system calls are filtered here (seccomp), which often forbids the sandbox; "+
			"browsers do not start then"
		c.FixHint = "start the container with a seccomp profile that allows user namespaces"
	}
	return c
}

// appArmorAllows reports whether an AppArmor profile grants the program user namespaces.
func (m Machine) appArmorAllows(program string) bool {
	files, err := filepath.Glob(m.path("/etc/apparmor.d/*"))
	if err != nil || program == "" {
		return false
	}
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		text := string(data)
		return err == nil && strings.Contains(text, "userns") && strings.Contains(text, filepath.Base(program))
	})
}

// hasHelper reports whether the setuid helper is next to the program.
func (m Machine) hasHelper(program string) bool {
	for _, dir := range []string{filepath.Dir(program), "/usr/lib/chromium", "/opt/google/chrome"} {
		info, err := os.Stat(m.path(filepath.Join(dir, "chrome-sandbox")))
		if err == nil && info.Mode()&os.ModeSetuid != 0 {
			return true
		}
	}
	return false
}

const mib = 1 << 20

func (m Machine) sharedMemory() Check {
	c := Check{ID: "shared-memory", Label: "Shared memory", Status: CheckPass, Summary: "not limited"}
	if size, ok := m.Free(m.path("/dev/shm")); ok && size < 256*mib {
		c.Status, c.Summary = CheckInfo,
			fmt.Sprintf("/dev/shm has %d MiB left, too little for Chromium; it is started with --disable-dev-shm-usage "+
				"and uses the temporary directory instead", size/mib)
		c.FixHint = "faster: start the container with --shm-size=1g"
	}
	return c
}

func (m Machine) disk(dirs ...string) Check {
	c := Check{ID: "disk-space", Label: "Disk space", Status: CheckPass, Summary: "enough"}
	for _, dir := range dirs {
		dir = m.nearestExisting(dir)
		left, ok := m.Free(dir)
		if !ok || left >= 1024*mib {
			continue
		}
		status := CheckWarn
		if left < 100*mib {
			status = CheckFail
		}
		if c.Status != CheckFail {
			c.Status, c.Summary = status, fmt.Sprintf("only %d MiB are left below %s", left/mib, dir)
			c.FixHint = "make room: a browser that cannot write loses logins, or does not start"
		}
	}
	return c
}

// nearestExisting returns dir, or its nearest ancestor that exists.
func (m Machine) nearestExisting(dir string) string {
	for dir != filepath.Dir(dir) && dir != "" && !m.exists(dir) {
		dir = filepath.Dir(dir)
	}
	return m.path(dir)
}

func (m Machine) permissions(dir string) Check {
	c := Check{ID: "permissions", Label: "Profile directory", Status: CheckPass, Summary: "can be written"}
	near := m.nearestExisting(dir)
	owner, writable, err := accessTo(near)
	if err != nil {
		c.Status, c.Summary = CheckFail, fmt.Sprintf("%s cannot be looked at: %v", near, err)
		return c
	}
	mine := owner == m.EUID
	fix := fmt.Sprintf("sudo chown -R %d %s", m.EUID, near)
	switch {
	case !writable:
		c.Status, c.Summary, c.FixHint = CheckFail, near+" cannot be written by this program", fix
	case !mine && m.exists(dir):
		c.Status, c.Summary, c.FixHint = CheckWarn,
			fmt.Sprintf("%s belongs to user %d, and this program runs as %d; files in it may be out of reach", near, owner,
				m.EUID), fix
	}
	return c
}

// inContainer returns the kind of container we are in; "" for none.
func (m Machine) inContainer() string {
	switch {
	case m.exists("/.dockerenv"):
		return "Docker"
	case m.exists("/run/.containerenv"):
		return "Podman"
	}
	groups := m.readText("/proc/1/cgroup")
	for _, kind := range []string{"docker", "kubepods", "lxc", "containerd"} {
		if strings.Contains(groups, kind) {
			return kind
		}
	}
	return ""
}

func (m Machine) container() Check {
	c := Check{ID: "limits", Label: "Limits", Status: CheckPass, Summary: "no narrow limit on processes or memory"}
	kind := m.inContainer()
	if kind != "" {
		c.Summary = "in a container (" + kind + "); " + c.Summary
	}
	const processes, memory = 200, 512 * mib
	if n, ok := m.limit("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"); ok && n < processes {
		c.Status, c.Summary = CheckWarn,
			fmt.Sprintf("at most %d processes and threads are allowed; one Chromium needs about %d", n, processes)
		c.FixHint = "raise the limit: --pids-limit 1000"
	}
	const files = 512
	if n, ok := m.ownLimit("Max open files"); ok && n < files {
		c.Status = CheckWarn
		c.Summary = fmt.Sprintf("at most %d open files are allowed; one Chromium needs about %d", n, files)
		c.FixHint = "raise the limit: ulimit -n 4096, or LimitNOFILE=4096 of a systemd service"
	}
	if n, ok := m.limit("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"); ok && n < memory {
		c.Status, c.Summary = CheckWarn, fmt.Sprintf("at most %d MiB of memory are allowed; pages will crash", n/mib)
		c.FixHint = "raise the limit: --memory 1g"
	}
	return c
}

// ownLimit reads a limit of this process by its name in /proc/self/limits (proc(5)). ok is false for unlimited.
func (m Machine) ownLimit(name string) (uint64, bool) {
	_, rest, _ := strings.Cut(m.readText("/proc/self/limits"), name)
	if fields := strings.Fields(rest); len(fields) > 0 {
		n, err := strconv.ParseUint(fields[0], 10, 64)
		return n, err == nil
	}
	return 0, false
}

// limit reads the first of the files that holds a number.
func (m Machine) limit(files ...string) (uint64, bool) {
	for _, file := range files {
		if n, err := strconv.ParseUint(m.readText(file), 10, 64); err == nil {
			return n, true
		}
	}
	return 0, false
}

// platform checks the operating system and architecture.
func (m Machine) platform(s MachineSubject) Check {
	c := Check{ID: "platform", Label: "System", Status: CheckPass, Summary: "Linux on " + m.Arch}
	if runtime.GOOS != "linux" {
		c.Summary = runtime.GOOS + " on " + m.Arch
	}
	if strings.Contains(strings.ToLower(m.readText("/proc/version")), "microsoft") {
		c.Status, c.Summary = CheckInfo, "Windows Subsystem for Linux"
		if strings.HasPrefix(s.DataDir, "/mnt/") {
			c.Status, c.Summary = CheckWarn, "Windows Subsystem for Linux, and the profile is on a Windows drive, where file "+
				"locks fail and everything is slow"
			c.FixHint = "keep the profiles on the Linux side: set CLANK_HOME to a directory in your Linux home"
		} else if !s.Headless {
			c.FixHint = "a window needs WSLg; without it run headless"
		}
	}
	if arch := programArch(m.path(s.Executable)); s.Executable != "" && arch != "" && arch != m.Arch {
		c.Status, c.Summary = CheckFail, fmt.Sprintf("%s is made for %s, and this machine is %s", s.Executable, arch, m.Arch)
		c.FixHint = "install a browser for " + m.Arch + "; on arm64 that is Chromium: Google Chrome has no Linux build for it"
	}
	return c
}

func (m Machine) fonts() Check {
	c := Check{ID: "fonts", Label: "Fonts", Status: CheckPass, Summary: "there are some"}
	if runtime.GOOS != "linux" {
		return c
	}
	for _, dir := range []string{
		"/usr/share/fonts", "/usr/local/share/fonts", os.Getenv("HOME") + "/.fonts",
		os.Getenv("HOME") + "/.local/share/fonts",
	} {
		if m.hasFont(m.path(dir)) {
			return c
		}
	}
	c.Status, c.Summary = CheckWarn, "no font is installed: text in pictures of pages is missing or made of boxes"
	c.FixHint = "apt-get install fonts-liberation fonts-noto-cjk (or your system's like)"
	return c
}

func (Machine) hasFont(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		switch strings.ToLower(filepath.Ext(path)) {
		case ".ttf", ".otf", ".ttc", ".pfb":
			found = err == nil
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

func snapCheck(s MachineSubject) Check {
	return Check{
		ID: "snap", Label: "Snap", Status: CheckWarn,
		Summary: s.Executable + " is a snap: it sees only directories in your home that are not hidden, and a /tmp " +
			"of its own",
		FixHint: "install a browser that is no snap, such as Google Chrome's .deb; or set CLANK_HOME to a directory in " +
			"your home that is not hidden",
	}
}
