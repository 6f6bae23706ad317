package control_test

import (
	"bytes"
	"context"
	"image"
	_ "image/jpeg" // for decoding
	_ "image/png"  // for decoding
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestWhatPagesTellIsKept(t *testing.T) {
	c := serve(t, nil)
	c.open("/")
	c.ok("POST", "/act", map[string]any{"kind": "evaluate", "fn": "console.warn('look here'); fetch('/missing?token=hidden').then(r => r.status)"})
	for path, want := range map[string]string{
		"/console?level=warn": "look here", "/requests?filter=missing": "404", "/har": `"version":"1.2"`, "/errors": `"errors":[]`,
	} {
		eventually(t, path+" tells "+want, func() bool { return strings.Contains(c.ok("GET", path, nil).text, want) })
	}
	if text := c.ok("GET", "/requests", nil).text; strings.Contains(text, "hidden") {
		t.Errorf("a secret is told: %s", text)
	}
	a := c.do("POST", "/response/body", map[string]any{"url": "**/never", "timeoutMs": 500})
	if a.status != http.StatusInternalServerError || !strings.Contains(a.str("error"), "requests") {
		t.Errorf("a body that does not come: got %d %s", a.status, a.text)
	}
}

func TestPagesSeeTheStateThatWasSet(t *testing.T) {
	c := serve(t, nil)
	c.open("/")
	for path, want := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"/set/timezone":        {`{"timezoneId":"Mars/Olympus"}`, 500, "Invalid timezone ID"},
		"/set/device":          {`{"name":"Pocket Calculator"}`, 500, "Pocket Calculator"},
		"/set/offline":         {`{}`, 400, "offline is required"},
		"/set/media":           {`{"colorScheme":"pink"}`, 400, "colorScheme"},
		"/set/geolocation":     {`{}`, 400, "latitude"},
		"/cookies/set":         {`{}`, 400, "cookie is required"},
		"/storage/cloud/set":   {`{"key":"a"}`, 400, "local or session"},
		"/permissions/grant":   {`{"origin":"ftp://x","permissions":["geolocation"]}`, 400, "origin"},
		"/storage/session/set": {`{"value":"a"}`, 400, "key is required"},
	} {
		if a := c.do("POST", path, want.body); a.status != want.status || !strings.Contains(a.str("error"), want.says) {
			t.Errorf("%s %s: got %d %s, want %d %q", path, want.body, a.status, a.text, want.status, want.says)
		}
	}
	for path, body := range map[string]string{
		"/set/timezone": `{"timezoneId":"Asia/Tokyo"}`, "/set/media": `{"colorScheme":"dark"}`, "/storage/local/set": `{"key":" k ","value":"v"}`,
		"/cookies/set": `{"cookie":{"name":"crumb","value":"1","url":"` + site + `"}}`,
	} {
		c.ok("POST", path, body)
	}
	got := c.ok("POST", "/act", map[string]any{"kind": "evaluate", "fn": `[Intl.DateTimeFormat().resolvedOptions().timeZone,
		matchMedia('(prefers-color-scheme: dark)').matches, localStorage.getItem(' k '), document.cookie].join()`})
	if got.body["result"] != "Asia/Tokyo,true,v,crumb=1" {
		t.Errorf("the page sees %s", got.text)
	}
	values, _ := c.ok("GET", "/storage/local?key=%20k%20", nil).body["values"].(map[string]any)
	if values[" k "] != "v" {
		t.Errorf("storage: %v", values)
	}
	grant := c.ok("POST", "/permissions/grant", map[string]any{"origin": site + "/x", "permissions": []string{"geolocation"}})
	if grant.str("origin") != site || grant.str("grantMethod") != "cdp" {
		t.Errorf("grant: %s", grant.text)
	}
	c.ok("POST", "/cookies/clear", nil)
	c.ok("POST", "/storage/local/clear", nil)
}

func TestPicturesGoToFiles(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	for name, body := range map[string]string{
		"view": `{}`, "full": `{"fullPage":"true","type":"jpeg"}`, "element": `{"element":"button"}`, "labels": `{"labels":true}`,
	} {
		a := c.ok("POST", "/screenshot", body)
		data, err := os.ReadFile(a.str("path"))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := image.Decode(bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "labels" && (a.body["labels"] != true || a.body["labelsCount"] == 0.0 || a.body["annotations"] == nil) {
			t.Errorf("labels: %s", a.text)
		}
	}
	if a := c.ok("GET", "/snapshot?labels=1", nil); a.str("imagePath") == "" || a.str("imageType") == "" || a.body["labelsCount"] == nil {
		t.Errorf("snapshot with labels: %s", a.text)
	}
	if a := c.do("POST", "/screenshot", `{"fullPage":true,"ref":"e1"}`); a.status != 400 || !strings.Contains(a.text, "fullPage is not supported for element screenshots") {
		t.Errorf("full page of an element: got %d %s", a.status, a.text)
	}
	if data, err := os.ReadFile(c.ok("POST", "/pdf", nil).str("path")); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) {
		t.Errorf("pdf: %v", err)
	}
	c.ok("POST", "/highlight", map[string]any{"ref": c.ref(target, "Press me")})
}

func TestATabCanBeWatchedLive(t *testing.T) {
	c := serve(t, nil)
	c.open("/")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(c.server.URL(), "http", "ws", 1)+"/screencast?maxWidth=400", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	conn.SetReadLimit(16 << 20)
	for _, want := range []websocket.MessageType{websocket.MessageText, websocket.MessageBinary} {
		kind, data, err := conn.Read(ctx)
		if err != nil || kind != want || len(data) == 0 {
			t.Fatalf("got a message of kind %v and %d bytes, %v; want kind %v", kind, len(data), err, want)
		}
	}
	if a := c.do("GET", "/screencast", nil); a.status != 400 {
		t.Errorf("without a WebSocket: got %d %s", a.status, a.text)
	}
	// The server's end is the live view's.
	if err := c.server.Close(ctx); err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, _, err = conn.Read(ctx)
	}
	if ctx.Err() != nil {
		t.Error("the live view goes on")
	}
}

func TestFilesComeAndGo(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/files")
	a := c.ok("POST", "/act", map[string]any{"kind": "click", "ref": c.ref(target, "Get")})
	downloads, _ := a.body["downloads"].([]any)
	if len(downloads) != 1 || downloads[0].(map[string]any)["suggestedFilename"] != "report.txt" {
		t.Errorf("act: %s", a.text)
	}
	if a := c.ok("POST", "/navigate", map[string]any{"url": site + "/report"}); a.body["download"] == nil {
		t.Errorf("navigate: %s", a.text)
	}
	a = c.ok("POST", "/download", map[string]any{"ref": c.ref(target, "Get"), "path": "mine.txt"})
	if saved, _ := a.body["download"].(map[string]any); filepath.Base(saved["path"].(string)) != "mine.txt" {
		t.Errorf("download: %s", a.text)
	}
	if err := os.WriteFile(filepath.Join(features.Dir, "uploads", "a.txt"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.ok("POST", "/hooks/file-chooser", map[string]any{"paths": []string{"a.txt"}, "element": "input"})
	if a := c.ok("POST", "/act", `{"kind":"evaluate","fn":"document.querySelector('input').files[0].name"}`); a.body["result"] != "a.txt" {
		t.Errorf("upload: %s", a.text)
	}
	for _, step := range []struct{ path, body, want string }{
		{"/wait/download", `{"path":"../../x","timeoutMs":500}`, "Invalid path: must stay within downloads directory"},
		{"/trace/stop", `{"path":"../../x.zip"}`, "Invalid path"},
		{"/trace/stop", `{"path":"/etc/x.zip"}`, "Invalid path"},
		{"/hooks/file-chooser", `{"paths":["/etc/passwd"],"element":"input"}`, "Invalid path"},
		{"/hooks/file-chooser", `{}`, "paths"},
		{"/download", `{"path":"x"}`, "ref is required"},
	} {
		if a := c.do("POST", step.path, step.body); a.status != 400 || !strings.Contains(a.str("error"), step.want) {
			t.Errorf("%s %s: got %d %s, want 400 %q", step.path, step.body, a.status, a.text, step.want)
		}
	}
}

func TestTraces(t *testing.T) {
	c := serve(t, nil)
	target := c.open("/")
	if a := c.do("POST", "/trace/stop", nil); a.status != 500 {
		t.Errorf("stop of none: got %d %s", a.status, a.text)
	}
	c.ok("POST", "/trace/start", nil)
	if a := c.do("POST", "/trace/start", nil); a.status != 500 {
		t.Errorf("a second start: got %d %s", a.status, a.text)
	}
	c.ok("POST", "/act", map[string]any{"kind": "click", "ref": c.ref(target, "Press me")})
	data, err := os.ReadFile(c.ok("POST", "/trace/stop", nil).str("path"))
	if err != nil || !bytes.HasPrefix(data, []byte("PK")) {
		t.Errorf("trace: %d bytes, %v", len(data), err)
	}
}

func TestProfilesLiveAndDie(t *testing.T) {
	c := serve(t, nil)
	made := c.ok("POST", "/profiles/create", map[string]any{"name": "work", "driver": "clawd"})
	if made.str("profile") != "work" || made.str("transport") != "cdp" {
		t.Errorf("create: %s", made.text)
	}
	if a := c.do("POST", "/profiles/create", map[string]any{"name": "work"}); a.status != 409 || !strings.Contains(a.text, "already exists") {
		t.Errorf("create again: got %d %s", a.status, a.text)
	}
	if a := c.ok("GET", "/?profile=work", nil); a.body["running"] != false || a.str("profile") != "work" {
		t.Errorf("status: %s", a.text)
	}
	if a := c.ok("GET", "/doctor?profile=work", nil); a.body["checks"] == nil {
		t.Errorf("doctor: %s", a.text)
	}
	if a := c.ok("POST", "/stop?profile=work", nil); a.body["stopped"] != false {
		t.Errorf("stop: %s", a.text)
	}
	if a := c.do("POST", "/start?headless=maybe", nil); a.status != 400 {
		t.Errorf("start: got %d %s", a.status, a.text)
	}
	c.ok("DELETE", "/profiles/work", nil)
	if a := c.do("DELETE", "/profiles/work", nil); a.status != 404 {
		t.Errorf("delete again: got %d %s", a.status, a.text)
	}
	if a := c.do("DELETE", "/profiles/clank", nil); a.status != 400 || !strings.Contains(a.text, "cannot delete the default profile") {
		t.Errorf("delete the default one: got %d %s", a.status, a.text)
	}
}
