package control_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"clank/browsermgr"
	"clank/internal/test/browsertest"
)

// personal makes a profile that joins the shared browser as one that a person uses, and opens a page in it.
func personal(t *testing.T, c *client) string {
	t.Helper()
	c.open("/two") // the person's own tab
	dir := t.TempDir()
	browsertest.Must(t, os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte(devTools(t, c)), 0o600))
	if _, err := shared.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "person", Driver: "existing-session", UserDataDir: dir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.ok("POST", "/stop?profile=person", nil)
		c.ok("DELETE", "/profiles/person", nil)
	})
	return c.ok("POST", "/tabs/open?profile=person", map[string]any{"url": site + "/"}).str("targetId")
}

// devTools returns what a browser opened to others by a person writes into its directory: the port and the path.
func devTools(t *testing.T, c *client) string {
	t.Helper()
	status := c.ok("GET", "/", nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, status.str("cdpUrl")+"/json/version", nil)
	browsertest.Must(t, err)
	res, err := http.DefaultClient.Do(req)
	browsertest.Must(t, err)
	defer res.Body.Close()
	var version struct{ WebSocketDebuggerURL string }
	browsertest.Must(t, json.NewDecoder(res.Body).Decode(&version))
	u, err := url.Parse(version.WebSocketDebuggerURL)
	browsertest.Must(t, err)
	return u.Port() + "\n" + u.Path
}

func TestAPersonsBrowserIsSparedWhatTheContractNames(t *testing.T) {
	c := serve(t, nil)
	personal(t, c)
	name := c.ref("&profile=person", "Name")
	for _, action := range []string{
		`"kind":"click","selector":"button"`, `"kind":"type","ref":"e1","text":"x","slowly":true`, `"kind":"press","key":"a","delayMs":5`,
		`"kind":"drag","startSelector":"button","endRef":"e2"`, `"kind":"batch","actions":[{"kind":"press","key":"a"}]`,
		`"kind":"dragCoords","x":1,"y":1,"endX":2,"endY":2`,
	} {
		a := c.do("POST", "/act?profile=person", "{"+action+"}")
		if a.status != http.StatusNotImplemented || a.str("code") != "ACT_EXISTING_SESSION_UNSUPPORTED" {
			t.Errorf("%s: got %d %s", action, a.status, a.text)
		}
	}
	for _, r := range []struct {
		path, body string
		status     int
	}{
		{"/screenshot", `{"element":"button"}`, 400},
		{"/start?headless=true", "", 400},
		{"/hooks/file-chooser", `{"paths":["a.txt"],"element":"input"}`, 501},
		{"/hooks/file-chooser", `{"paths":["a.txt"]}`, 501},
		{"/wait/download", `{"timeoutMs":500}`, 501},
		{"/set/offline", `{"offline":true}`, 501},
		{"/set/headers", `{"headers":{"a":"b"}}`, 501},
		{"/set/credentials", `{"username":"a","password":"b"}`, 501},
		{"/set/geolocation", `{"latitude":1,"longitude":1}`, 501},
		{"/cookies/clear", "", 501},
		{"/set/timezone", `{"timezoneId":"Asia/Tokyo"}`, 200},
		{"/pdf", "", 200},
		{"/screenshot", `{"ref":"` + name + `","labels":true}`, 200},
		{"/act", `{"kind":"type","ref":"` + name + `","text":"Ada"}`, 200},
		{"/act", `{"kind":"fill","fields":[{"ref":"` + name + `","value":"Bob"}]}`, 200},
		{"/act", `{"kind":"click","ref":"` + name + `","button":"middle","modifiers":["Shift"]}`, 200},
		{"/act", `{"kind":"wait","selector":"button","loadState":"networkidle"}`, 200},
	} {
		path, query, _ := strings.Cut(r.path, "?")
		if a := c.do("POST", path+"?profile=person&"+query, r.body); a.status != r.status {
			t.Errorf("%s %s: got %d %s, want %d", r.path, r.body, a.status, a.text, r.status)
		}
	}
	if tabs := c.ok("GET", "/tabs?profile=person", nil); strings.Contains(tabs.text, "wsUrl") {
		t.Errorf("tabs: %s", tabs.text)
	}
}
