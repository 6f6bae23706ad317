package chrome_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/internal/test/check"

	"github.com/google/go-cmp/cmp"
)

// parentDir makes the test program act as a parent that is killed: it launches a browser on that directory, prints its
// pid, and waits.
const parentDir = "CHROME_TEST_PARENT_DIR"

// mark is set in the environment of browsers, so that each of their processes can be found.
const mark = "CHROME_TEST_MARK"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentDir); dir != "" {
		os.Exit(playParent(dir))
	}
	os.Exit(check.Main(m))
}

func playParent(dir string) int {
	exe, err := chrome.Find(context.Background(), os.Getenv("CLANK_CHROMIUM"))
	if err == nil {
		var p *chrome.Process
		o := chrome.LaunchOptions{
			Executable: exe.Path, UserDataDir: dir, Headless: true, NoSandbox: true, Pipe: true,
			Env: os.Environ(),
		}
		if dir == "temporary" {
			o.UserDataDir = ""
		}
		if p, err = chrome.Launch(context.Background(), o); err == nil {
			fmt.Fprintln(os.Stdout, "ready", p.PID, p.UserDataDir)
			<-p.Done()
		}
	}
	fmt.Fprintln(os.Stdout, "failed", err)
	return 1
}

// browser finds the Chromium of this machine.
func browser(t *testing.T) string {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	return exe.Path
}

// launch launches a headless browser, which is stopped when the test ends, with a pipe unless ports are given.
func launch(t *testing.T, o chrome.LaunchOptions) *chrome.Process {
	t.Helper()
	if o.Executable == "" {
		o.Executable = browser(t)
	}
	o.Headless, o.NoSandbox, o.Pipe = true, true, o.Ports == nil
	p, err := chrome.Launch(t.Context(), o)
	check.Must(t, err)
	t.Cleanup(func() { stop(t, p) })
	return p
}

func stop(t *testing.T, p *chrome.Process) {
	t.Helper()
	if err := p.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}

// program writes a shell script that stands in for a browser.
func program(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	place(t, dir, map[string]string{"fake-browser!": "#!/bin/sh\n" + script + "\n"})
	return filepath.Join(dir, "fake-browser")
}

// eventually waits for an effect in another process.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline.C:
			t.Fatalf("not within a minute: %s", what)
		case <-tick.C:
		}
	}
}

func ended(t *testing.T, p *chrome.Process) {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		t.Fatal("Done is not closed within a minute")
	}
}

// group lists the running processes of a process group.
func group(t *testing.T, pgid int) []string {
	t.Helper()
	return processes(t, func(stat []string, _ string) bool { return stat[2] == strconv.Itoa(pgid) })
}

// marked lists the running processes whose environment has the mark, crash handlers included.
func marked(t *testing.T, value string) []string {
	t.Helper()
	return processes(t, func(_ []string, dir string) bool {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		return err == nil && strings.Contains(string(env), mark+"="+value)
	})
}

func processes(t *testing.T, want func(stat []string, dir string) bool) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	check.Must(t, err)
	var found []string
	for _, dir := range dirs {
		data, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		stat := strings.Fields(string(data)[strings.LastIndexByte(string(data), ')')+1:])
		if stat[0] != "Z" && want(stat, dir) {
			found = append(found, filepath.Base(dir))
		}
	}
	return found
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	list, err := os.ReadDir(dir)
	check.Must(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// command is a CDP command.
type command struct {
	method string
	params any
}

func (c command) ProtoReq() string             { return c.method }
func (c command) MarshalJSON() ([]byte, error) { return json.Marshal(c.params) }

// call sends a CDP command to the browser and returns the answer. A pipe allows only one call.
func call(t *testing.T, p *chrome.Process, method string, params any) json.RawMessage {
	t.Helper()
	options := cdp.Options{CallTimeout: time.Minute}
	var conn *cdp.Conn
	if p.Pipe != nil {
		conn = cdp.New(p.Pipe, options) // ends with the browser
	} else {
		var err error
		conn, err = cdp.Dial(t.Context(), p.WebSocketURL, options)
		check.Must(t, err)
		defer conn.Close()
	}
	conn.Start(func(cdp.Event) {})
	answer, err := cdp.Ask[json.RawMessage](t.Context(), conn.Session("", cdp.ErrGone), command{method, params})
	check.Must(t, err)
	return answer
}

// parent starts a program that launches a browser on dir, and returns it and the browser's pid and directory.
func parent(t *testing.T, dir, markValue string) (cmd *exec.Cmd, pid int, userData string) {
	t.Helper()
	browser(t)
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), parentDir+"="+dir, mark+"="+markValue)
	out, err := cmd.StdoutPipe()
	check.Must(t, err)
	check.Must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	check.Must(t, err)
	if _, err := fmt.Sscanf(line, "ready %d %s", &pid, &userData); err != nil {
		t.Fatalf("the parent said %q", line)
	}
	return cmd, pid, userData
}

func killNow(t *testing.T, pid int) {
	t.Helper()
	check.Must(t, check.Kill(pid))
}

func FuzzEndpoint(f *testing.F) {
	f.Add("DevTools listening on ws://127.0.0.1:45629/devtools/browser/70d4", "45629\n/devtools/browser/70d4")
	f.Add("DevTools listening on ws://[::1]:1/devtools/browser/x\r\n", "1\n/devtools/browser/x\n")
	f.Add("DevTools listening on ws://", "45629")
	f.Add("", "99999\n/devtools/browser/x")
	f.Fuzz(func(t *testing.T, line, file string) {
		if url, ok := chrome.EndpointInLine(line); ok && (!strings.HasPrefix(url, "ws://") || !strings.Contains(line, url)) {
			t.Errorf("%q gives %q", line, url)
		}
		if url, err := chrome.EndpointInFile(file); err == nil && !strings.HasPrefix(url, "ws://127.0.0.1:") {
			t.Errorf("%q gives %q", file, url)
		}
	})
}

func TestEndpoint(t *testing.T) {
	url, ok := chrome.EndpointInLine("\x1b[0mDevTools listening on ws://[::1]:18855/devtools/browser/71d9\r\n")
	if want := "ws://[::1]:18855/devtools/browser/71d9"; !ok || url != want {
		t.Errorf("got %q, want %q", url, want)
	}
	url, err := chrome.EndpointInFile("45629\n/devtools/browser/70d4")
	if want := "ws://127.0.0.1:45629/devtools/browser/70d4"; err != nil || url != want {
		t.Errorf("got %q, %v, want %q", url, err, want)
	}
	for _, bad := range []string{
		"", "45629", "45629\n", "0\n/devtools/browser/x", "70000\n/devtools/browser/x",
		"1\n/json",
	} {
		check.Fails(t, check.Err(chrome.EndpointInFile(bad)), nil, "DevToolsActivePort is not complete")
	}
}

func TestDecorateKeepsWhatIsThereAndReplacesGarbage(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, map[string]string{
		"Default/Preferences": `{"profile":{"exit_type":"Crashed","created":13410000000000000001},"x":[1]}`,
		"Local State":         `{"profile":`,
	})
	check.Must(t, chrome.WriteProfilePrefs(dir, "work", "#0066CC"))
	prefs := read(t, dir, "Default/Preferences")
	for _, want := range []string{
		`"exit_type":"Normal"`, `"exited_cleanly":true`, `13410000000000000001`, `"x":[1]`,
		`"name":"work"`,
	} {
		check.Contains(t, prefs, want)
	}
	var state struct {
		Profile struct {
			InfoCache map[string]struct {
				Name  string `json:"name"`
				Color int32  `json:"profile_highlight_color"`
			} `json:"info_cache"`
		} `json:"profile"`
	}
	check.Must(t, json.Unmarshal([]byte(read(t, dir, "Local State")), &state))
	if got := state.Profile.InfoCache["Default"]; got.Name != "work" || uint32(got.Color) != 0xFF0066CC {
		t.Errorf("profile: %+v", got)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	check.Must(t, err)
	return string(data)
}

func TestColors(t *testing.T) {
	if got, err := chrome.ParseColor("#FF4500"); err != nil || uint32(got) != 0xFFFF4500 {
		t.Errorf("got %x, %v", got, err)
	}
	for _, bad := range []string{"", "FF4500", "#FF450", "#FF45000", "#GG4500", "#+12345"} {
		check.Fails(t, check.Err(chrome.ParseColor(bad)), nil, bad, "#RRGGBB")
	}
}

func TestFlags(t *testing.T) {
	line := func(o chrome.LaunchOptions) string { return strings.Join(chrome.Flags(o, "/dir", 18800, true), " ") }
	got := line(chrome.LaunchOptions{Headless: true, Args: []string{"--lang=de"}})
	for _, want := range []string{
		"--remote-debugging-port=18800", "--user-data-dir=/dir", "--headless=new", "--no-proxy-server",
		"--disable-quic", "--window-size=1280,807", "--lang=de about:blank",
	} {
		check.Contains(t, got, want)
	}
	for _, unwanted := range []string{"--no-sandbox", "isolation", "IsolateOrigins"} {
		check.Lacks(t, got, unwanted)
	}
	check.Lacks(t, line(chrome.LaunchOptions{Args: []string{"--proxy-server=127.0.0.1:1"}}), "--no-proxy-server")
	check.Lacks(t, line(chrome.LaunchOptions{}), "--headless")
}

func TestAWindowIsGuardedAsNoneIs(t *testing.T) {
	o := chrome.LaunchOptions{Proxy: "http://127.0.0.1:4000", Args: []string{"--disable-features=A"}}
	headed := chrome.Flags(o, "/dir", 18800, true)
	o.Headless = true
	looks := regexp.MustCompile(`^--(headless|disable-gpu|window-size|screen-info|hide-scrollbars|use-mock-keychain)`)
	headless := slices.DeleteFunc(chrome.Flags(o, "/dir", 18800, true), looks.MatchString)
	if diff := cmp.Diff(headless, slices.DeleteFunc(headed, looks.MatchString)); diff != "" {
		t.Errorf("besides looks there is a difference (-headless +headed):\n%s", diff)
	}
}

func TestFeaturesThatAnOperatorSwitchesOffJoinOurs(t *testing.T) {
	features, rest := chrome.MergeDisabledFeatures([]string{
		"--disable-features=One,Two", "--mute-audio",
		"--disable-features=Three", "--enable-features=Other,BackForwardCache",
	})
	for _, want := range []string{
		"MediaRouter", "WebRtcHideLocalIpsWithMdns", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup",
		"One", "Two", "Three",
	} {
		if !strings.Contains(","+features+",", ","+want+",") {
			t.Errorf("feature %s is on: %s", want, features)
		}
	}
	check.Lacks(t, features, "BackForwardCache")
	check.Equal(t, "rest", strings.Join(rest, " "), "--mute-audio --enable-features=Other,BackForwardCache")
}

func TestFlagsThatTakeAProtectionAwayAreFound(t *testing.T) {
	for flag, want := range map[string]bool{
		"--disable-web-security": true, "-No-Sandbox": true, "--disable-gpu-sandbox": true,
		"--disable-site-isolation-trials": true, "--disable-features=Translate,IsolateOrigins": true,
		"--disable-features=NetworkServiceSandbox": true, "--single-process": true, "--renderer-cmd-prefix=sh": true,
		"--ignore-certificate-errors-spki-list=x": true, "--allow-running-insecure-content": true,
		"--unsafely-treat-insecure-origin-as-secure=http://a": true, "--allow-file-access-from-files": true,
		"--ssl-key-log-file=/tmp/x": true, "--browser-subprocess-path=/tmp/x": true, "--no-zygote": true,
		"--gpu-launcher=sh": true, "--log-net-log=/tmp/x": true, "--use-fake-ui-for-media-stream": true,
		"--auto-accept-camera-and-microphone-capture": true,
		"--lang=de": false, "--site-per-process": false, "--isolate-origins=https://a.example": false,
		"--disable-features=Translate": false, "--enable-features=IsolateOrigins": false, "--disable-extensions": false,
		"--force-dark-mode": false, "--mute-audio": false,
	} {
		if got := chrome.ProtectionWeakeningFlag([]string{"--lang=fr", flag}); (got == flag) != want {
			t.Errorf("%s: found %q", flag, got)
		}
	}
}

// place writes files below root; names that end in "!" are executable.
func place(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		mode := os.FileMode(0o600)
		if rest, ok := strings.CutSuffix(name, "!"); ok {
			name, mode = rest, 0o700
		}
		path := filepath.Join(root, name)
		check.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check.Must(t, os.WriteFile(path, []byte(text), mode))
	}
}

func TestFindOrder(t *testing.T) {
	desktop, x11 := map[string]string{"xdg-settings": "brave.desktop\n"}, map[string]string{"DISPLAY": ":0"}
	entry := "[Desktop Entry]\nExec=env BAMF=1 /usr/bin/brave-browser %U\n"
	cache := "home/.cache/ms-playwright/"
	for name, tt := range map[string]struct {
		machine chrome.FinderMachine
		files   map[string]string
		want    chrome.Executable
	}{
		"the desktop's default comes first": {
			chrome.FinderMachine{
				OS: "linux", Path: []string{"google-chrome", "xdg-settings", "brave-browser"}, Env: x11,
				Says: desktop,
			},
			map[string]string{"usr/share/applications/brave.desktop": entry},
			chrome.Executable{Path: "usr/bin/brave-browser", Kind: chrome.Brave},
		},
		"also on Wayland": {
			chrome.FinderMachine{
				OS: "linux", Path: []string{"google-chrome", "xdg-settings", "brave-browser"},
				Env: map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, Says: desktop,
			},
			map[string]string{"usr/share/applications/brave.desktop": entry},
			chrome.Executable{Path: "usr/bin/brave-browser", Kind: chrome.Brave},
		},
		"without a desktop nothing is asked": {
			chrome.FinderMachine{OS: "linux", Path: []string{"google-chrome", "xdg-settings", "brave-browser"}, Says: desktop},
			map[string]string{"usr/share/applications/brave.desktop": entry},
			chrome.Executable{Path: "usr/bin/google-chrome", Kind: chrome.Chrome},
		},
		"a default of another family is passed over": {
			chrome.FinderMachine{
				OS: "linux", Path: []string{"google-chrome", "xdg-settings", "firefox"}, Env: x11,
				Says: desktop,
			},
			map[string]string{"usr/share/applications/brave.desktop": "Exec=/usr/bin/firefox %u\n"},
			chrome.Executable{Path: "usr/bin/google-chrome", Kind: chrome.Chrome},
		},
		"names on PATH in order": {
			chrome.FinderMachine{OS: "linux", Path: []string{"chromium-browser", "chromium"}, Env: x11, Says: desktop},
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
			map[string]string{
				cache + "chromium-1100/chrome-linux64/chrome!": "",
				cache + "chromium-1200/chrome-linux64/chrome!": "",
			},
			chrome.Executable{Path: cache + "chromium-1200/chrome-linux64/chrome", Kind: chrome.Chromium},
		},
		"an app of macOS": {
			chrome.FinderMachine{OS: "darwin", Path: []string{"chromium"}},
			map[string]string{"home/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge!": ""},
			chrome.Executable{Path: "home/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", Kind: chrome.Edge},
		},
		"a program of Windows": {
			chrome.FinderMachine{OS: "windows", Env: map[string]string{"ProgramFiles(x86)": "/Program Files (x86)"}},
			map[string]string{"Program Files (x86)/Microsoft/Edge/Application/msedge.exe!": ""},
			chrome.Executable{Path: "Program Files (x86)/Microsoft/Edge/Application/msedge.exe", Kind: chrome.Edge},
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
			check.Must(t, err)
			tt.want.Path = filepath.Join(root, tt.want.Path)
			check.Diff(t, "find", got, tt.want)
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
		"Debian": {
			chrome.FinderMachine{OS: "linux", Path: []string{"apt-get"}},
			nil, "google-chrome",
			"apt-get install chromium",
		},
		"Ubuntu": {
			chrome.FinderMachine{OS: "linux", Path: []string{"apt-get"}},
			map[string]string{"etc/os-release": "NAME=x\nID=ubuntu\n"},
			"/snap/bin/chromium", "google-chrome-stable",
		},
		"Fedora": {chrome.FinderMachine{OS: "linux", Path: []string{"dnf"}}, nil, "ms-playwright", "dnf install chromium"},
		"macOS":  {chrome.FinderMachine{OS: "darwin"}, nil, "Google Chrome.app", "brew install --cask chromium"},
		"Windows": {
			chrome.FinderMachine{OS: "windows", Env: map[string]string{"LocalAppData": "/l"}},
			nil,
			"/l/Google/Chrome/Application/chrome.exe", "winget install Google.Chrome",
		},
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
				check.Fails(t, err, nil, want)
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
		check.Fails(t, check.Err(m.Find(t.Context(), bad)), nil, filepath.Base(bad))
	}
}
