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
)

// BrowserKind is the family of a Chromium executable.
type BrowserKind string

// The kinds of [Executable].
const (
	Chrome   BrowserKind = "chrome"
	Chromium BrowserKind = "chromium"
	Brave    BrowserKind = "brave"
	Edge     BrowserKind = "edge"
	Canary   BrowserKind = "canary"
	Custom   BrowserKind = "custom" // configured, and of no name we know
)

// Executable is a browser that can be launched.
type Executable struct {
	Path string
	Kind BrowserKind
	// Snap says that the program is confined by snap: it may only use directories below the home that do not begin with
	// a dot, and /tmp is its own.
	Snap bool
}

// NotFoundError says that no browser is there. Its text names what was looked for and how to install one.
type NotFoundError struct {
	Tried   []string // names and paths, in the order in which they were tried
	Install string   // the command that installs one here
}

func (e *NotFoundError) Error() string {
	return fmt.Sprintf("no supported browser found (looked for %s); install one with: %s",
		strings.Join(e.Tried, ", "), e.Install)
}

// Find picks the browser to use: the configured one (a path, or a name on PATH; ~ is the home), or else the default
// browser of the desktop if it is of the Chromium family, then the usual names and places of the operating system, then
// what Playwright has downloaded. A configured one that is missing is an error that names it; nothing found is a
// *[NotFoundError].
func Find(ctx context.Context, configured string) (Executable, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = string(filepath.Separator)
	}
	f := finder{goos: runtime.GOOS, home: home, root: "/", lookPath: exec.LookPath, getenv: os.Getenv, output: runSystemTool}
	return f.find(ctx, configured)
}

// finder looks for browsers. Its fields are the machine it looks at.
type finder struct {
	goos     string
	home     string
	root     string // what absolute places are below
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
	for _, try := range []func(context.Context) (string, []string){f.desktopDefault, f.onPath, f.atKnownPaths, f.playwright} {
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
	if !strings.ContainsRune(name, filepath.Separator) {
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
		return "", fmt.Errorf("configured browser %s is no program that can be started", name)
	}
	return name, nil
}

func isExecutableFile(info os.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
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
	for _, place := range places {
		if path := f.firstMatch(place); path != "" {
			return path, nil
		}
	}
	return "", places
}

// firstMatch returns the first startable program that a pattern matches. ~ is the home.
func (f finder) firstMatch(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
		pattern = filepath.Join(f.home, rest)
	} else {
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

// desktopTimeout bounds a question to the desktop's own tools.
const desktopTimeout = 5 * time.Second

// runSystemTool runs a program of the system, for [desktopTimeout] at most, and returns what it prints.
func runSystemTool(ctx context.Context, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, desktopTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
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
