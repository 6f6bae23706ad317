package chrome

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// DefaultLaunchTimeout is how long a browser may take until its DevTools listen, and DefaultReadyTimeout from then to
// its answer to a first command.
const (
	DefaultLaunchTimeout = 15 * time.Second
	DefaultReadyTimeout  = 8 * time.Second
)

// LaunchOptions says what to launch and how. Executable is required.
type LaunchOptions struct {
	// Executable is the program, see [Find].
	Executable string
	// UserDataDir is the browser's directory, made if it is missing and kept afterwards. Empty means a temporary one
	// below TempDir, which is removed when the browser has ended.
	UserDataDir string
	// TempDir is where temporary directories are made; empty means the system's.
	TempDir string
	// Headless runs without a window.
	Headless bool
	// NoSandbox does without Chromium's sandbox from the start. Without it the sandbox is tried, except as root, whom
	// Chromium refuses it, and given up only if Chromium says that it cannot have it; see Process.SandboxNote.
	NoSandbox bool
	// Ports are those that the DevTools may listen on: the first that is free is taken. None lets the system choose.
	Ports []int
	// ProfileName and Color (#RRGGBB) are how the browser's window shows whose it is; empty leaves it as it was.
	ProfileName, Color string
	// Proxy, if set, is where all traffic goes, as http://host:port: nothing goes around it, not to this machine
	// either, and Chromium looks up no names. Args that would lead around it are refused; see [ProxyBypassFlag].
	Proxy string
	// Args are added after the flags of our own. Those that [DevToolsExposingFlag] finds are refused.
	Args []string
	// Env is the environment; nil means that of this program. Proxy variables are taken out either way: what pages may
	// reach is settled with flags.
	Env []string
	// Timeout bounds the launch until the DevTools listen; zero means [DefaultLaunchTimeout].
	Timeout time.Duration
	// ReadyTimeout bounds the time from then to the answer to a first command; zero means [DefaultReadyTimeout].
	ReadyTimeout time.Duration
	// Logger receives what happens out of sight; nil discards it.
	Logger *slog.Logger
}

func (o LaunchOptions) validate() error {
	if o.Executable == "" {
		return errors.New("launch browser: no executable given")
	}
	for _, port := range o.Ports {
		if port < 1 || port > 65535 {
			return fmt.Errorf("launch browser: %d is no port", port)
		}
	}
	if flag := ProxyBypassFlag(o.Args); o.Proxy != "" && flag != "" {
		return fmt.Errorf("launch browser: %w: %s", ErrProxyBypass, flag)
	}
	if flag := DevToolsExposingFlag(o.Args); flag != "" {
		return fmt.Errorf("launch browser: %w: %s", ErrDevToolsExposed, flag)
	}
	if o.Color != "" {
		if _, err := parseColor(o.Color); err != nil {
			return fmt.Errorf("launch browser: %w", err)
		}
	}
	if !o.Headless && runtime.GOOS == "linux" && !hasDisplay(o.environ()) {
		return ErrNoDisplay
	}
	return o.checkSnap()
}

// ErrNoDisplay says that a window was wanted where none can be shown.
var ErrNoDisplay = errors.New("launch browser: a window needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set: " +
	"run it headless, or start the program with xvfb-run")

func hasDisplay(env []string) bool {
	return slices.ContainsFunc(env, func(kv string) bool {
		key, value, _ := strings.Cut(kv, "=")
		return value != "" && (key == "DISPLAY" || key == "WAYLAND_DISPLAY")
	})
}

// checkSnap refuses directories that a snap would not see, or see elsewhere.
func (o LaunchOptions) checkSnap() error {
	if !IsSnap(o.Executable) {
		return nil
	}
	dir := cmp.Or(o.UserDataDir, o.TempDir)
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("launch browser: %w", err)
	}
	rest, err := filepath.Rel(home, dir)
	if err == nil && dir != "" && !strings.HasPrefix(rest, ".") && !strings.Contains(rest, "/.") {
		return nil
	}
	if dir == "" {
		dir = os.TempDir()
	}
	return fmt.Errorf("launch browser: %s is a snap, which may not use %s: install a browser that is none (%s), "+
		"or set a home that is not hidden", o.Executable, dir, "https://www.google.com/chrome")
}

func (o LaunchOptions) environ() []string {
	if o.Env != nil {
		return o.Env
	}
	return os.Environ()
}

// browserEnv returns the environment without proxy variables, and with the HOME that Chromium insists on.
func (o LaunchOptions) browserEnv() []string {
	var env []string
	home := false
	for _, kv := range o.environ() {
		key, _, _ := strings.Cut(kv, "=")
		switch strings.ToLower(key) {
		case "http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy", "auto_proxy", "socks_server", "socks_version":
			continue
		case "home":
			home = true
		}
		env = append(env, kv)
	}
	if !home {
		if dir, err := os.UserHomeDir(); err == nil {
			env = append(env, "HOME="+dir)
		}
	}
	return env
}

// headlessFrameHeight is the height of what Chromium draws above the page, tabs and address, in pixels.
const headlessFrameHeight = 87

// flags returns the command line without the program. Site isolation stays as Chromium has it: on.
func (o LaunchOptions) flags(dir string, port int, sandbox bool) []string {
	const width, height = 1280, 720 // of pages in pixels, or of the window if it is not headless
	features, args := mergeDisabledFeatures(o.Args)
	flags := []string{
		fmt.Sprintf("--remote-debugging-port=%d", port),
		"--user-data-dir=" + dir,
		"--no-first-run",
		"--no-default-browser-check",
		"--disable-sync",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-features=" + features,
		"--disable-session-crashed-bubble",
		"--hide-crash-restore-bubble",
		"--disable-quic",
		"--password-store=basic",
	}
	if o.Headless {
		flags = append(flags, "--headless=new", "--disable-gpu",
			// Without a real screen the window's own frame still counts, and a screen smaller than the window would
			// clip it.
			fmt.Sprintf("--window-size=%d,%d", width, height+headlessFrameHeight),
			fmt.Sprintf("--screen-info={%dx%d}", max(1920, width), max(1080, height+headlessFrameHeight)),
			// Pictures of whole pages lose classic scroll bars, and the page's layout with them.
			"--hide-scrollbars")
	} else {
		flags = append(flags, fmt.Sprintf("--window-size=%d,%d", width, height))
	}
	switch runtime.GOOS {
	case "linux":
		flags = append(flags, "--disable-dev-shm-usage")
	case "darwin":
		if o.Headless {
			flags = append(flags, "--use-mock-keychain")
		}
	}
	if !sandbox {
		flags = append(flags, "--no-sandbox")
	}
	flags = append(flags, o.networkFlags()...)
	return append(append(flags, args...), "about:blank")
}
