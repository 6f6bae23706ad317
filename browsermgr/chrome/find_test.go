package chrome_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr/chrome"

	"github.com/google/go-cmp/cmp"
)

// place writes files below root; those that end in "!" can be started.
func place(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		mode := os.FileMode(0o600)
		if rest, ok := strings.CutSuffix(name, "!"); ok {
			name, mode = rest, 0o700
		}
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFindOrder(t *testing.T) {
	desktop := map[string]string{"xdg-settings": "brave.desktop\n"}
	entry := "[Desktop Entry]\nExec=env BAMF=1 /usr/bin/brave-browser %U\n"
	cache := "home/.cache/ms-playwright/"
	for name, tt := range map[string]struct {
		machine chrome.FinderMachine
		files   map[string]string
		want    chrome.Executable
	}{
		"the desktop's default comes first": {
			chrome.FinderMachine{OS: "linux", Path: []string{"google-chrome", "xdg-settings", "brave-browser"}, Says: desktop},
			map[string]string{"usr/share/applications/brave.desktop": entry},
			chrome.Executable{Path: "usr/bin/brave-browser", Kind: chrome.Brave},
		},
		"a default of another family is passed over": {
			chrome.FinderMachine{OS: "linux", Path: []string{"google-chrome", "xdg-settings", "firefox"}, Says: desktop},
			map[string]string{"usr/share/applications/brave.desktop": "Exec=/usr/bin/firefox %u\n"},
			chrome.Executable{Path: "usr/bin/google-chrome", Kind: chrome.Chrome},
		},
		"names on PATH in order": {
			chrome.FinderMachine{OS: "linux", Path: []string{"chromium-browser", "chromium"}, Says: desktop},
			nil,
			chrome.Executable{Path: "usr/bin/chromium", Kind: chrome.Chromium},
		},
		"a known place": {
			chrome.FinderMachine{OS: "linux"},
			map[string]string{"opt/google/chrome/chrome!": "", cache + "chromium-9/chrome-linux/chrome!": ""},
			chrome.Executable{Path: "opt/google/chrome/chrome", Kind: chrome.Chrome},
		},
		"the newest that Playwright has": {
			chrome.FinderMachine{OS: "linux"},
			map[string]string{cache + "chromium-1100/chrome-linux64/chrome!": "", cache + "chromium-1200/chrome-linux64/chrome!": ""},
			chrome.Executable{Path: cache + "chromium-1200/chrome-linux64/chrome", Kind: chrome.Chromium},
		},
		"an app of macOS": {
			chrome.FinderMachine{OS: "darwin", Path: []string{"chromium"}},
			map[string]string{"home/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge!": ""},
			chrome.Executable{Path: "home/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", Kind: chrome.Edge},
		},
		"a wrapper around a snap is told": {
			chrome.FinderMachine{OS: "linux", Path: []string{"chromium-browser"}},
			map[string]string{"usr/bin/chromium-browser!": "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n"},
			chrome.Executable{Path: "usr/bin/chromium-browser", Kind: chrome.Chromium, Snap: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			place(t, root, tt.files)
			tt.machine.Root, tt.machine.Home = root, filepath.Join(root, "home")
			got, err := tt.machine.Find(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Path = filepath.Join(root, tt.want.Path)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestNothingFoundSaysWhatWasLookedForAndHowToInstall(t *testing.T) {
	for name, tt := range map[string]struct {
		machine chrome.FinderMachine
		files   map[string]string
		looked  string
		install string
	}{
		"Debian": {chrome.FinderMachine{OS: "linux", Path: []string{"apt-get"}}, nil, "google-chrome", "apt-get install chromium"},
		"Ubuntu": {
			chrome.FinderMachine{OS: "linux", Path: []string{"apt-get"}},
			map[string]string{"etc/os-release": "NAME=x\nID=ubuntu\n"},
			"/snap/bin/chromium", "google-chrome-stable",
		},
		"Fedora": {chrome.FinderMachine{OS: "linux", Path: []string{"dnf"}}, nil, "ms-playwright", "dnf install chromium"},
		"macOS":  {chrome.FinderMachine{OS: "darwin"}, nil, "Google Chrome.app", "brew install --cask chromium"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.machine.Root = t.TempDir()
			tt.machine.Home = filepath.Join(tt.machine.Root, "home")
			place(t, tt.machine.Root, tt.files)
			_, err := tt.machine.Find(t.Context(), "")
			if _, ok := errors.AsType[*chrome.NotFoundError](err); !ok {
				t.Fatalf("got %v, want a NotFoundError", err)
			}
			for _, want := range []string{"no supported browser found", tt.looked, tt.install} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not contain %q", err, want)
				}
			}
		})
	}
}

func TestConfiguredBrowser(t *testing.T) {
	root := t.TempDir()
	place(t, root, map[string]string{"home/my/browser!": "", "home/my/notes": "text"})
	m := chrome.FinderMachine{OS: "linux", Root: root, Home: filepath.Join(root, "home"), Path: []string{"chromium"}}
	got, err := m.Find(t.Context(), "~/my/browser")
	if err != nil || got.Path != filepath.Join(root, "home/my/browser") || got.Kind != chrome.Custom {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := m.Find(t.Context(), "chromium"); err != nil || got.Kind != chrome.Chromium {
		t.Errorf("by name: got %+v, %v", got, err)
	}
	for _, bad := range []string{"~/my/gone", "~/my/notes", "nochrome"} {
		_, err := m.Find(t.Context(), bad)
		if err == nil || !strings.Contains(err.Error(), filepath.Base(bad)) {
			t.Errorf("%s: got %v, want an error that names it", bad, err)
		}
	}
}
