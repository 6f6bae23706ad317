package chrome

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

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

// desktopDefault returns the default browser of the desktop, if it is of the Chromium family. It needs xdg-settings or
// xdg-mime; where neither is installed it finds nothing. macOS keeps its default in a binary registry of handlers that
// no stable tool prints, so there the usual places decide.
func (f finder) desktopDefault(ctx context.Context) (string, []string) {
	if f.goos != "linux" {
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

// desktopExec returns the program that a desktop entry starts (Desktop Entry Specification, key Exec).
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

// program returns the first word of an Exec line that names a program: "env" and its assignments are passed over.
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

// kindOf tells the family by the name of the program.
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

// IsSnap reports whether a program is confined by snap, see [Executable]: it is one, or the script that Ubuntu's apt
// package puts in a snap's place.
func IsSnap(path string) bool {
	if strings.HasPrefix(path, "/snap/") {
		return true
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && (strings.HasPrefix(real, "/snap/") || real == "/usr/bin/snap") {
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

// installCommand returns the one command that installs a browser here.
func (f finder) installCommand() string {
	if f.goos == "darwin" {
		return "brew install --cask chromium"
	}
	release, _ := os.ReadFile(filepath.Join(f.root, "etc/os-release")) // without it nothing is known
	for line := range strings.Lines(string(release)) {
		// On Ubuntu the apt package is an empty shell around a snap, which may not use our directories.
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
