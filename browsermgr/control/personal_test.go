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
)

// personal makes a profile that joins the shared browser as one that a person uses, and opens a page in it.
func personal(t *testing.T, c *client) string {
	t.Helper()
	c.open("/two") // the person's own tab
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "DevToolsActivePort"), []byte(devTools(t, c)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := shared.CreateProfile(t.Context(), browsermgr.CreateProfileOptions{Name: "person", Driver: "existing-session", UserDataDir: dir}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.ok("POST", "/stop?profile=person", nil)
		c.ok("DELETE", "/profiles/person", nil)
	})
	return c.ok("POST", "/tabs/open?profile=person", map[string]any{"url": site + "/"}).str("targetId")
}

// devTools is what a browser that a person lets others into writes into its directory: the port and the path.
func devTools(t *testing.T, c *client) string {
	t.Helper()
	status := c.ok("GET", "/", nil)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, status.str("cdpUrl")+"/json/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var version struct{ WebSocketDebuggerURL string }
	if err := json.NewDecoder(res.Body).Decode(&version); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(version.WebSocketDebuggerURL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port() + "\n" + u.Path
}

func TestInAPersonsBrowserSomeThingsAreNotDone(t *testing.T) {
	c := serve(t, nil)
	target := personal(t, c)
	for name, body := range map[string]string{
		"batch":          `{"kind":"batch","actions":[{"kind":"press","key":"a"}]}`,
		"dragCoords":     `{"kind":"dragCoords","x":1,"y":1,"endX":2,"endY":2}`,
		"click":          `{"kind":"click","selector":"button"}`,
		"hover":          `{"kind":"hover","selector":"button"}`,
		"scrollIntoView": `{"kind":"scrollIntoView","selector":"button"}`,
		"drag":           `{"kind":"drag","startRef":"e1","endSelector":"button"}`,
		"select":         `{"kind":"select","selector":"input","values":["a"]}`,
		"type":           `{"kind":"type","selector":"input","text":"a"}`,
		"type slowly":    `{"kind":"type","ref":"e1","text":"a","slowly":true}`,
		"press":          `{"kind":"press","key":"a","delayMs":10}`,
	} {
		a := c.do("POST", "/act?profile=person", body)
		if a.status != http.StatusNotImplemented || a.str("code") != "ACT_EXISTING_SESSION_UNSUPPORTED" || !strings.Contains(a.str("error"), name) {
			t.Errorf("%s: got %d %s, want 501 ACT_EXISTING_SESSION_UNSUPPORTED", name, a.status, a.text)
		}
	}
	for _, step := range []struct {
		path, body string
		status     int
	}{
		{"/screenshot", `{"element":"button"}`, 400},
		{"/start?headless=true", ``, 400},
		{"/hooks/file-chooser", `{"paths":["a.txt"],"element":"input"}`, 501},
		{"/hooks/file-chooser", `{"paths":["a.txt"]}`, 501},
		{"/wait/download", `{"timeoutMs":500}`, 501},
		{"/download", `{"ref":"e1","path":"x"}`, 501},
		{"/set/offline", `{"offline":true}`, 501},
		{"/set/headers", `{"headers":{"a":"b"}}`, 501},
		{"/set/credentials", `{"username":"a","password":"b"}`, 501},
		{"/set/geolocation", `{"latitude":1,"longitude":1}`, 501},
		{"/cookies/clear", ``, 501},
	} {
		path, query, _ := strings.Cut(step.path, "?")
		if a := c.do("POST", path+"?profile=person&"+query, step.body); a.status != step.status || a.str("error") == "" {
			t.Errorf("%s: got %d %s, want %d", step.path, a.status, a.text, step.status)
		}
	}
	if a := c.ok("POST", "/act", map[string]any{"kind": "evaluate", "fn": "navigator.onLine", "targetId": target}); a.body["result"] != true {
		t.Errorf("the person's browser is offline: %s", a.text)
	}
}

func TestInAPersonsBrowserWhatWorksIsAllowed(t *testing.T) {
	c := serve(t, nil)
	target := personal(t, c)
	refs, _ := c.ok("GET", "/snapshot?profile=person&targetId="+target, nil).body["refs"].(map[string]any)
	var button, input string
	for ref, v := range refs {
		switch v.(map[string]any)["name"] {
		case "Press me":
			button = ref
		case "Name":
			input = ref
		}
	}
	for _, body := range []map[string]any{
		{"kind": "click", "ref": button, "button": "middle", "modifiers": []string{"Shift"}, "timeoutMs": 5000},
		{"kind": "type", "ref": input, "text": "Ada", "timeoutMs": 5000},
		{"kind": "fill", "fields": []any{map[string]any{"ref": input, "value": "Bob"}}, "timeoutMs": 5000},
		{"kind": "wait", "selector": "button", "loadState": "networkidle"},
		{"kind": "evaluate", "fn": "1", "timeoutMs": 5000},
	} {
		c.ok("POST", "/act?profile=person", body)
	}
	c.ok("POST", "/set/timezone?profile=person", map[string]any{"timezoneId": "Asia/Tokyo"})
	c.ok("POST", "/screenshot?profile=person", map[string]any{"ref": button, "labels": true})
	c.ok("POST", "/pdf?profile=person", nil)
	tabs, _ := c.ok("GET", "/tabs?profile=person", nil).body["tabs"].([]any)
	for _, tab := range tabs {
		if address, ok := tab.(map[string]any)["wsUrl"]; ok {
			t.Errorf("the address of a browser that is not ours is told: %v", address)
		}
	}
}
