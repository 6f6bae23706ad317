package control_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/control"
	"clank/internal/test/browsertest"

	"github.com/coder/websocket"
)

func TestATabCanBeWatchedLive(t *testing.T) {
	c := serve(t, nil)
	c.open("/")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, strings.Replace(c.server.URL(), "http", "ws", 1)+"/screencast?maxWidth=400", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	browsertest.Must(t, err)
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
	browsertest.Must(t, c.server.Close(ctx))
	for err == nil {
		_, _, err = conn.Read(ctx)
	}
	if ctx.Err() != nil {
		t.Error("the live view goes on")
	}
}

func TestTheModeOfSnapshotsCanBeSet(t *testing.T) {
	c := serve(t, func(s *control.Server) { s.SnapshotMode = func() string { return "efficient" } })
	c.open("/")
	if got := c.ok("GET", "/snapshot", nil).str("snapshot"); strings.Contains(got, "heading") {
		t.Errorf("got\n%s", got)
	}
}

func TestAPageThatClosesItselfHasDoneWhatWasAsked(t *testing.T) {
	c := serve(t, nil)
	opener := c.open("/opens")
	c.ok("POST", "/act", `{"kind":"evaluate","fn":"void window.open('/shuts')"}`)
	var popup string
	eventually(t, "the popup shows its page", func() bool {
		for _, tab := range c.listed() {
			if tab["url"] == site+"/shuts" {
				popup = tab["targetId"].(string)
			}
		}
		return popup != ""
	})
	ref := c.ref(popup, "Shut")
	a := c.ok("POST", "/act", map[string]any{"kind": "click", "ref": ref, "targetId": popup})
	if a.body["ok"] != true {
		t.Errorf("got %s", a.text)
	}
	listed := func(target string) bool {
		return slices.ContainsFunc(c.listed(), func(tab map[string]any) bool { return tab["targetId"] == target })
	}
	eventually(t, "the popup is gone", func() bool { return !listed(popup) })
	if !listed(opener) {
		t.Error("the opener is gone too")
	}
}

func TestFilesAreKeptUnderNewNames(t *testing.T) {
	f := &control.Features{Dir: t.TempDir()}
	seen := map[string]bool{}
	for range 2 {
		path, err := f.SaveFile("pictures", "browser-", ".png", []byte("picture"))
		browsertest.Must(t, err)
		if ok, err := filepath.Match("browser-*.png", filepath.Base(path)); err != nil || !ok || seen[path] {
			t.Errorf("kept at %s", path)
		}
		seen[path] = true
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != 7 {
			t.Errorf("%v, %v", info, err)
		}
	}
}

func TestFilesThatCannotBeKeptAreAnError(t *testing.T) {
	if _, err := (*control.Features)(nil).SaveFile("pictures", "a", "b", nil); err == nil {
		t.Error("kept in no folder")
	}
	file := filepath.Join(t.TempDir(), "file")
	browsertest.Must(t, os.WriteFile(file, nil, 0o600))
	f := &control.Features{Dir: file}
	if path, err := f.SaveFile("pictures", "a", "b", nil); err == nil || errors.Is(err, os.ErrExist) {
		t.Errorf("kept at %q, %v", path, err)
	}
}
