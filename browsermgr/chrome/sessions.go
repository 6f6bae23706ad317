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

// ErrNoSession is returned if no running browser has DevTools open on a user data directory.
var ErrNoSession = errors.New("no running browser has remote debugging switched on")

// DataDir is the user data directory of a person's own browser.
type DataDir struct {
	Path string
	Kind BrowserKind
}

// DataDirs returns the default user data directories of browsers for the current user, in order of preference. They may
// not exist.
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

// Session is a running browser with DevTools open.
type Session struct {
	DataDir
	WebSocketURL string
	Port         int
}

// FindSession reads the DevTools address that the browser on a user data directory has written to DevToolsActivePort.
// It does not connect to the browser, except to check that the port is open. The error wraps [ErrNoSession] if no
// browser listens.
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
	if !isListening(context.Background(), portOf(url)) {
		return Session{}, fmt.Errorf("%w on %s: nothing listens on its last port, %d", ErrNoSession, dir.Path, portOf(url))
	}
	return Session{DataDir: dir, WebSocketURL: url, Port: portOf(url)}, nil
}

// FindAnySession calls [FindSession] for dir or, if dir is empty, for each of the [DataDirs] until it finds a running
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
	return Session{}, fmt.Errorf("%w: looked at the %d usual directories of Chrome, Chromium, Brave and Edge",
		ErrNoSession, len(dirs))
}

// HasDisplay reports whether a window can be shown: always, except on Linux without a desktop session.
func HasDisplay() bool { return runtime.GOOS != "linux" || hasDisplay(os.Environ()) }
