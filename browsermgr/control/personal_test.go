package control_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
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
