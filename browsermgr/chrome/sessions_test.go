package chrome_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"clank/browsermgr/chrome"
)

func TestRunningSessionIsReadFromItsDirectory(t *testing.T) {
	dir := chrome.DataDir{Path: t.TempDir(), Kind: chrome.Chrome}
	file := filepath.Join(dir.Path, "DevToolsActivePort")
	if _, err := chrome.FindSession(dir); !errors.Is(err, chrome.ErrNoSession) {
		t.Errorf("without the file: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{"", "x\n/devtools/browser/1", strconv.Itoa(port), fmt.Sprintf("%d\n/other", port), "99999\n/devtools/browser/1"} {
		write(text)
		if got, err := chrome.FindSession(dir); !errors.Is(err, chrome.ErrNoSession) {
			t.Errorf("%q reads as %+v, %v", text, got, err)
		}
	}
	write(fmt.Sprintf("%d\n/devtools/browser/ab-c\n", port))
	got, err := chrome.FindSession(dir)
	if err != nil || got.WebSocketURL != fmt.Sprintf("ws://127.0.0.1:%d/devtools/browser/ab-c", port) || got.Kind != chrome.Chrome {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := chrome.FindSession(dir); !errors.Is(err, chrome.ErrNoSession) || !strings.Contains(err.Error(), "nothing listens") {
		t.Errorf("a browser that has ended: %v", err)
	}
}

func TestUsualDirectoriesOfEachSystem(t *testing.T) {
	for goos, want := range map[string]string{
		"linux":  "/home/ada/.config/google-chrome",
		"darwin": "/home/ada/Library/Application Support/Google/Chrome",
	} {
		dirs := chrome.DataDirsOf(goos, "/home/ada", "relative")
		if len(dirs) < 4 || dirs[0].Path != want || dirs[0].Kind != chrome.Chrome {
			t.Errorf("%s: %+v", goos, dirs)
		}
	}
	if dirs := chrome.DataDirsOf("linux", "/home/ada", "/config"); dirs[1].Path != "/config/chromium" {
		t.Errorf("with XDG_CONFIG_HOME: %+v", dirs)
	}
}
