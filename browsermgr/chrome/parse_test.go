package chrome_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"clank/browsermgr/chrome"

	"github.com/google/go-cmp/cmp"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

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
	for _, bad := range []string{"", "45629", "45629\n", "0\n/devtools/browser/x", "70000\n/devtools/browser/x", "1\n/json"} {
		if url, err := chrome.EndpointInFile(bad); err == nil {
			t.Errorf("%q gives %q", bad, url)
		}
	}
}

func TestDecorateKeepsWhatIsThereAndReplacesGarbage(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, map[string]string{
		"Default/Preferences": `{"profile":{"exit_type":"Crashed","created":13410000000000000001},"x":[1]}`,
		"Local State":         `{"profile":`,
	})
	if err := chrome.WriteProfilePrefs(dir, "work", "#0066CC"); err != nil {
		t.Fatal(err)
	}
	prefs := read(t, dir, "Default/Preferences")
	for _, want := range []string{`"exit_type":"Normal"`, `"exited_cleanly":true`, `13410000000000000001`, `"x":[1]`, `"name":"work"`} {
		if !strings.Contains(prefs, want) {
			t.Errorf("%s lacks %s", prefs, want)
		}
	}
	var state struct {
		Profile struct {
			InfoCache map[string]struct {
				Name  string `json:"name"`
				Color int32  `json:"profile_highlight_color"`
			} `json:"info_cache"`
		} `json:"profile"`
	}
	if err := json.Unmarshal([]byte(read(t, dir, "Local State")), &state); err != nil {
		t.Fatal(err)
	}
	if got := state.Profile.InfoCache["Default"]; got.Name != "work" || uint32(got.Color) != 0xFF0066CC {
		t.Errorf("profile: %+v", got)
	}
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestColors(t *testing.T) {
	if got, err := chrome.ParseColor("#FF4500"); err != nil || uint32(got) != 0xFFFF4500 {
		t.Errorf("got %x, %v", got, err)
	}
	for _, bad := range []string{"", "FF4500", "#FF450", "#FF45000", "#GG4500", "#+12345"} {
		if _, err := chrome.ParseColor(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestFlags(t *testing.T) {
	line := func(o chrome.LaunchOptions) string { return strings.Join(chrome.Flags(o, "/dir", 18800, true), " ") }
	got := line(chrome.LaunchOptions{Headless: true, Args: []string{"--lang=de"}})
	for _, want := range []string{
		"--remote-debugging-port=18800", "--user-data-dir=/dir", "--headless=new", "--no-proxy-server",
		"--disable-quic", "--window-size=1280,807", "--lang=de about:blank",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	for _, unwanted := range []string{"--no-sandbox", "isolation", "IsolateOrigins"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("%s has %s", got, unwanted)
		}
	}
	if got := line(chrome.LaunchOptions{Args: []string{"--proxy-server=127.0.0.1:1"}}); strings.Contains(got, "--no-proxy-server") {
		t.Errorf("the given proxy is switched off: %s", got)
	}
	if got := line(chrome.LaunchOptions{}); strings.Contains(got, "--headless") {
		t.Errorf("headed: %s", got)
	}
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
	features, rest := chrome.MergeDisabledFeatures([]string{"--disable-features=One,Two", "--mute-audio", "--disable-features=Three"})
	for _, want := range []string{"MediaRouter", "WebRtcHideLocalIpsWithMdns", "WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "One", "Two", "Three"} {
		if !strings.Contains(","+features+",", ","+want+",") {
			t.Errorf("feature %s is on: %s", want, features)
		}
	}
	if got, want := strings.Join(rest, " "), "--mute-audio"; got != want {
		t.Errorf("rest %q, want %q", got, want)
	}
}
