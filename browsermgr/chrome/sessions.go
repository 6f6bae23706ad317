package chrome

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// ErrNoSession says that no running browser has its DevTools open on a user data directory.
var ErrNoSession = errors.New("no running browser has remote debugging switched on")

// DataDir names the folder where a browser that a person uses keeps its profile.
type DataDir struct {
	Path string
	Kind BrowserKind
}

// DataDirs returns the usual user data directories of this machine's person, in the order of preference. They need not
// exist.
func DataDirs() []DataDir {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	return dataDirs(runtime.GOOS, home, os.Getenv("XDG_CONFIG_HOME"))
}

func dataDirs(goos, home, config string) []DataDir {
	names := []struct {
		kind                BrowserKind
		linux, mac, windows string
	}{
		{Chrome, "google-chrome", "Google/Chrome", "Google/Chrome"},
		{Chromium, "chromium", "Chromium", "Chromium"},
		{Brave, "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser", "BraveSoftware/Brave-Browser"},
		{Edge, "microsoft-edge", "Microsoft Edge", "Microsoft/Edge"},
		{Canary, "google-chrome-unstable", "Google/Chrome Canary", "Google/Chrome SxS"},
	}
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	var dirs []DataDir
	for _, n := range names {
		path := filepath.Join(config, n.linux)
		switch goos {
		case "darwin":
			path = filepath.Join(home, "Library", "Application Support", n.mac)
		case "windows":
			path = filepath.Join(home, "AppData", "Local", n.windows, "User Data")
		}
		dirs = append(dirs, DataDir{path, n.kind})
	}
	if goos == "linux" {
		dirs = append(dirs, DataDir{filepath.Join(home, "snap", "chromium", "common", "chromium"), Chromium})
	}
	return dirs
}

// Session is a running browser whose DevTools are open.
type Session struct {
	DataDir
	WebSocketURL string
	Port         int
}

// FindSession reads where the browser on a user data directory listens, as it has written it there itself
// (DevToolsActivePort). It neither connects nor asks. The error wraps [ErrNoSession] if no browser listens.
func FindSession(dir DataDir) (Session, error) {
	data, err := os.ReadFile(filepath.Join(dir.Path, "DevToolsActivePort"))
	if errors.Is(err, fs.ErrNotExist) {
		return Session{}, fmt.Errorf("%w on %s", ErrNoSession, dir.Path)
	}
	if err != nil {
		return Session{}, fmt.Errorf("read where the browser on %s listens: %w", dir.Path, err)
	}
	url, err := endpointInFile(string(data))
	if err != nil {
		return Session{}, fmt.Errorf("%w on %s: %w", ErrNoSession, dir.Path, err)
	}
	if !IsListening(context.Background(), portOf(url)) {
		return Session{}, fmt.Errorf("%w on %s: port %d is what it had last, and nothing listens there", ErrNoSession, dir.Path, portOf(url))
	}
	return Session{DataDir: dir, WebSocketURL: url, Port: portOf(url)}, nil
}

// FindAnySession calls [FindSession] for dir, or, if dir is empty, for the [DataDirs] until it finds one with a running
// browser.
func FindAnySession(dir string) (Session, error) {
	if dir != "" {
		return FindSession(DataDir{Path: dir, Kind: Custom})
	}
	dirs := DataDirs()
	for _, d := range dirs {
		session, err := FindSession(d)
		if err == nil || !errors.Is(err, ErrNoSession) {
			return session, err
		}
	}
	return Session{}, fmt.Errorf("%w: looked at the %d usual directories of Chrome, Chromium, Brave and Edge", ErrNoSession, len(dirs))
}

// HasDisplay reports whether a window could be shown: always, except on Linux without a desktop session.
func HasDisplay() bool { return runtime.GOOS != "linux" || hasDisplay(os.Environ()) }
