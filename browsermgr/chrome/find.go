package chrome

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"clank/internal/hardening"
)

// BrowserKind is the family of a Chromium executable.
type BrowserKind string

// Values of Executable.Kind.
const (
	Chrome   BrowserKind = "chrome"
	Chromium BrowserKind = "chromium"
	Brave    BrowserKind = "brave"
	Edge     BrowserKind = "edge"
	Canary   BrowserKind = "canary"
	Custom   BrowserKind = "custom" // configured, with an unknown name
)

// Executable is a browser program.
type Executable struct {
	Path string
	Kind BrowserKind
	// Snap reports that snap confines the program: below the home it may only use directories that do not begin with a
	// dot, and it has its own /tmp.
	Snap bool
}

// NotFoundError says that no browser is installed. Its text names what was tried and how to install one.
type NotFoundError struct {
	Tried   []string // names and paths, in order
	Install string   // the command that installs one here
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no supported browser found (looked for %s); install one with: %s",
		strings.Join(e.Tried, ", "), e.Install)
}

// Find chooses a browser: the configured one (a path, or a name on PATH; ~ is the home directory), or else the
// default browser of the desktop, if there is one and it is based on Chromium, then the usual names and paths of the
// operating system, then Playwright's download. If the configured one is missing, the error names it; if none is found,
// it is a *[NotFoundError].
func Find(ctx context.Context, configured string) (Executable, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = string(filepath.Separator)
	}
	f := finder{
		goos: runtime.GOOS, home: home, root: "/", lookPath: exec.LookPath, getenv: os.Getenv,
		output: runSystemTool,
	}
	return f.find(ctx, configured)
}

// finder finds browsers. Its fields describe the machine.
type finder struct {
	goos     string
	home     string
	root     string // prefix of absolute paths
	lookPath func(name string) (string, error)
	getenv   func(key string) string
	output   func(ctx context.Context, name string, args ...string) (string, error)
}

func (f finder) find(ctx context.Context, configured string) (Executable, error) {
	if configured != "" {
		path, err := f.configured(configured)
		if err != nil {
			return Executable{}, err
		}
		return describeExecutable(path, Custom), nil
	}
	var looked []string
	for _, try := range []func(context.Context) (string, []string){
		f.desktopDefault, f.onPath, f.atKnownPaths,
		f.playwright,
	} {
		path, names := try(ctx)
		if path != "" {
			return describeExecutable(path, Chromium), nil
		}
		looked = append(looked, names...)
	}
	return Executable{}, &NotFoundError{Tried: looked, Install: f.installCommand()}
}

func (f finder) configured(name string) (string, error) {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		name = filepath.Join(f.home, rest)
	}
	if filepath.Base(name) == name {
		path, err := f.lookPath(name)
		if err != nil {
			return "", fmt.Errorf("configured browser %q is not on PATH: %w", name, err)
		}
		return path, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return "", fmt.Errorf("configured browser is missing: %w", err)
	}
	if !isExecutableFile(info) {
		return "", fmt.Errorf("configured browser %s is not an executable file", name)
	}
	return name, nil
}

func isExecutableFile(info os.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode().Perm()&0o111 != 0)
}

func (f finder) onPath(context.Context) (string, []string) {
	names := map[string][]string{"linux": linuxNames}[f.goos]
	for _, name := range names {
		if path, err := f.lookPath(name); err == nil {
			return path, nil
		}
	}
	return "", names
}

func (f finder) atKnownPaths(context.Context) (string, []string) {
	places := linuxPaths
	if f.goos == "darwin" {
		places = nil
		for _, app := range macApps {
			program := filepath.Join(app+".app", "Contents", "MacOS", app)
			places = append(places, filepath.Join("/Applications", program), filepath.Join("~/Applications", program))
		}
	}
	if f.goos == "windows" {
		places = nil
		for _, app := range windowsApps {
			for _, folder := range []string{"ProgramFiles", "ProgramFiles(x86)", "LocalAppData"} {
				if dir := f.getenv(folder); dir != "" {
					places = append(places, filepath.Join(dir, filepath.FromSlash(app)))
				}
			}
		}
	}
	for _, place := range places {
		if path := f.firstMatch(place); path != "" {
			return path, nil
		}
	}
	return "", places
}

// firstMatch returns the first executable that a pattern matches. ~ is the home directory.
func (f finder) firstMatch(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(f.home, rest)
	} else if filepath.VolumeName(pattern) == "" {
		pattern = filepath.Join(f.root, pattern)
	}
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return ""
	}
	for _, match := range slices.Backward(matches) { // the highest version sorts last
		if info, err := os.Stat(match); err == nil && isExecutableFile(info) {
			return match
		}
	}
	return ""
}

func (f finder) playwright(context.Context) (string, []string) {
	caches := []string{"~/.cache/ms-playwright"}
	programs := []string{"chromium-*/chrome-linux64/chrome", "chromium-*/chrome-linux/chrome"}
	if f.goos == "darwin" {
		caches = []string{"~/Library/Caches/ms-playwright"}
		programs = []string{
			"chromium-*/chrome-mac*/Chromium.app/Contents/MacOS/Chromium",
			"chromium-*/chrome-mac*/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
		}
	}
	if f.goos == "windows" {
		caches, programs = []string{"~/AppData/Local/ms-playwright"}, []string{"chromium-*/chrome-win*/chrome.exe"}
	}
	if dir := f.getenv("PLAYWRIGHT_BROWSERS_PATH"); filepath.IsAbs(dir) {
		caches = append([]string{dir}, caches...)
	}
	for _, cache := range caches {
		for _, program := range programs {
			if path := f.firstMatch(cache + "/" + program); path != "" {
				return path, nil
			}
		}
	}
	return "", caches
}

func describeExecutable(path string, otherwise BrowserKind) Executable {
	return Executable{Path: path, Kind: kindOf(path, otherwise), Snap: IsSnap(path)}
}

// desktopTimeout bounds a call of a desktop tool.
const desktopTimeout = 5 * time.Second

// runSystemTool runs a system program for at most [desktopTimeout] and returns its output.
func runSystemTool(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, desktopTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = hardening.Environ()
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			return "", fmt.Errorf("run %s: %s", name, describeExit(exit.ProcessState))
		}
		return "", fmt.Errorf("run %s: %w", name, err)
	}
	return string(out), nil
}

var linuxNames = []string{
	"google-chrome", "google-chrome-stable", "chrome", "brave-browser", "brave-browser-stable", "brave",
	"microsoft-edge", "microsoft-edge-stable", "chromium", "chromium-browser",
}

var linuxPaths = []string{
	"/opt/google/chrome/chrome", "/opt/brave.com/brave/brave-browser", "/opt/microsoft/msedge/msedge",
	"/usr/lib/chromium*/chromium*", "/snap/bin/chromium", "/snap/bin/brave",
}

var macApps = []string{
	"Google Chrome", "Brave Browser", "Microsoft Edge", "Chromium", "Google Chrome Canary",
}

var windowsApps = []string{
	"Google/Chrome/Application/chrome.exe", "BraveSoftware/Brave-Browser/Application/brave.exe",
	"Microsoft/Edge/Application/msedge.exe", "Chromium/Application/chrome.exe", "Google/Chrome SxS/Application/chrome.exe",
}

// desktopDefault returns the desktop's default browser if it is based on Chromium. It needs xdg-settings or xdg-mime;
// without them it finds nothing. Without a desktop it does not run them: they start about forty programs and take as
// much time as a tenth of a launch. On macOS no stable tool prints the default, so only the usual paths are tried.
func (f finder) desktopDefault(ctx context.Context) (string, []string) {
	if f.goos != "linux" || !f.hasDesktop() {
		return "", nil
	}
	for _, ask := range [][]string{
		{"xdg-settings", "get", "default-web-browser"},
		{"xdg-mime", "query", "default", "x-scheme-handler/http"},
	} {
		if _, err := f.lookPath(ask[0]); err != nil {
			continue
		}
		out, err := f.output(ctx, ask[0], ask[1:]...)
		entry := strings.TrimSpace(out)
		if err != nil || entry == "" || entry != filepath.Base(entry) {
			continue
		}
		if path := f.desktopExec(entry); path != "" && kindOf(path, "") != "" {
			return path, nil
		}
	}
	return "", []string{"the desktop's default browser"}
}

// hasDesktop reports whether clank runs in a desktop session on Linux.
func (f finder) hasDesktop() bool {
	return f.getenv("DISPLAY") != "" || f.getenv("WAYLAND_DISPLAY") != "" || f.getenv("XDG_CURRENT_DESKTOP") != ""
}

// desktopExec returns the program of a desktop entry (Desktop Entry Specification, key Exec).
func (f finder) desktopExec(entry string) string {
	dirs := []string{
		filepath.Join(f.home, ".local/share/applications"), filepath.Join(f.root, "usr/local/share/applications"),
		filepath.Join(f.root, "usr/share/applications"), filepath.Join(f.root, "var/lib/snapd/desktop/applications"),
	}
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, entry))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if command, ok := strings.CutPrefix(strings.TrimSpace(line), "Exec="); ok {
				return f.program(command)
			}
		}
	}
	return ""
}

// program returns the program of an Exec line, skipping "env" and its assignments.
func (f finder) program(command string) string {
	for command != "" {
		var word string
		if rest, ok := strings.CutPrefix(command, `"`); ok {
			word, command, _ = strings.Cut(rest, `"`)
		} else {
			word, command, _ = strings.Cut(command, " ")
		}
		command = strings.TrimLeft(command, " ")
		if word == "" || filepath.Base(word) == "env" || strings.Contains(word, "=") {
			continue
		}
		path, err := f.lookPath(word)
		if err != nil {
			return ""
		}
		return path
	}
	return ""
}

// kindOf derives the browser family from the program's name.
func kindOf(path string, otherwise BrowserKind) BrowserKind {
	name := strings.ToLower(filepath.Base(path))
	switch {
	case strings.Contains(name, "brave"):
		return Brave
	case strings.Contains(name, "edge"):
		return Edge
	case strings.Contains(name, "canary"):
		return Canary
	case strings.Contains(name, "chromium"):
		return Chromium
	case strings.Contains(name, "chrome"):
		if strings.Contains(path, "ms-playwright") {
			return Chromium
		}
		return Chrome
	default:
		return otherwise
	}
}

// IsSnap reports whether snap confines a program (see [Executable]): it is a snap, or Ubuntu's apt package that starts
// a snap.
func IsSnap(path string) bool {
	if strings.HasPrefix(path, "/snap/") {
		return true
	}
	if real, err := filepath.EvalSymlinks(path); err == nil &&
		(strings.HasPrefix(real, "/snap/") || real == "/usr/bin/snap") {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	head := make([]byte, 4096)
	n, _ := file.Read(head)
	script := string(head[:n])
	return strings.HasPrefix(script, "#!") && strings.Contains(script, "/snap/bin/")
}

// installCommand returns a command that installs a browser on this system.
func (f finder) installCommand() string {
	if f.goos == "darwin" {
		return "brew install --cask chromium"
	}
	if f.goos == "windows" {
		return "winget install Google.Chrome"
	}
	release, _ := os.ReadFile(filepath.Join(f.root, "etc/os-release")) // if it is missing, the distribution is unknown
	for line := range strings.Lines(string(release)) {
		// On Ubuntu the apt package only installs a snap, which may not use our directories.
		if strings.TrimSpace(line) == "ID=ubuntu" {
			return "curl -fsSLo /tmp/chrome.deb https://dl.google.com/linux/direct/google-chrome-stable_current_amd64.deb" +
				" && sudo apt-get install -y /tmp/chrome.deb"
		}
	}
	for _, command := range []string{"apt-get install", "dnf install", "pacman -S", "apk add", "zypper install"} {
		manager, _, _ := strings.Cut(command, " ")
		if _, err := f.lookPath(manager); err == nil {
			return command + " chromium"
		}
	}
	return "apt-get install chromium (or this system's own package manager)"
}
