package golive_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	tabs "clank/browsermgr/page"
	"clank/internal/discordtest/member"
	"clank/sessions"
	"clank/sharing"
	"clank/videosource"
	"clank/voice/discord/golive"
)

// moving is a page with text, colours and something that changes until it is told not to.
const moving = `<!doctype html><title>Ferries</title><style>
body { font: 20px/1.5 sans-serif; margin: 2em; background: linear-gradient(120deg, #f4f1e8, #cfe3ee) }
td { border-bottom: 1px solid #888; padding: 4px 24px } #n { font-size: 60px; color: #b0261b }
</style><h1>Ferry times</h1><p id=n>0</p><table id=t></table><script>
for (let i = 0; i < 8; i++) t.insertRow().innerHTML = "<td>Line " + i + "</td><td>" + (8 + i) + ":15</td><td>Harbour " + "ABCDEFGH"[i] + "</td>";
const tick = setInterval(() => n.textContent = 1 + +n.textContent, 100);
</script>`

// few is how many frames come at least, on however slow a machine.
const few = 5

// diary is the sessions of a program that has one, in which something is done all the time.
type diary struct{ events chan sessions.Event }

func (diary) Session(context.Context, string) (sessions.Session, error) {
	return sessions.Session{ID: "s", State: sessions.SessionRunning, Origin: sessions.Origin{Kind: sessions.FromDiscord, User: "1"}}, nil
}
func (diary) SetShared(context.Context, string, bool) error { return nil }
func (d diary) Subscribe() (<-chan sessions.Event, func())  { return d.events, func() {} }
func (d diary) did() {
	d.events <- sessions.Event{Record: sessions.Record{Task: sessions.Task{SessionID: "s"}}}
}

// TestShareLoop is the whole way of a share: a page in Chromium, its pictures, Go Live with both encryptions, a viewer made of davey,
// and ffmpeg, which decodes what came.
func TestShareLoop(t *testing.T) {
	if os.Getenv("CLANK_SHARE_LOOP") == "" {
		t.Skip("CLANK_SHARE_LOOP=1 shares a page for some seconds; it needs ffmpeg, and npm for davey")
	}
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		t.Skip("Debian's package ffmpeg is missing")
	}
	private := davey(t)
	window := browse(t)
	w := newCity(t)
	a := w.signIn(t, w.CreateAccount("eve", "of eve"), true)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()

	d := diary{events: make(chan sessions.Event, 64)}
	stage := &golive.Stage{Publisher: a.Publisher()}
	shares := &sharing.Manager{
		Sessions: d,
		Screen:   func(context.Context, sessions.Session) (videosource.Screenshotter, error) { return window, nil },
		Stages:   func(sharing.Call) []sharing.Stage { return []sharing.Stage{stage} },
		Source:   func() *videosource.Source { return &videosource.Source{Heartbeat: time.Second} },
	}
	defer shares.Close(ctx)
	call := sharing.Call{ID: "call", Guild: w.guild.ID, Channel: w.call.ID}
	if _, err := shares.Share(ctx, call, "s", sessions.Origin{Kind: sessions.FromDiscord, User: "1"}); err != nil {
		t.Fatal(err)
	}
	ada, err := w.WatchStream(ctx, a.Publisher().Current().State().Key, w.ada, member.Options{Privacy: private})
	if err != nil {
		t.Fatal(err)
	}
	defer ada.Close()
	ada.Want(100)

	frames := watch(ctx, t, ada, d, 10*time.Second)
	evaluate(t, window, "void clearInterval(tick)")
	still := watch(ctx, t, ada, d, 3*time.Second)
	last := still[len(still)-1]
	frames = append(frames, still...)
	got, ssim := decode(t, frames), likeness(t, last, shot(t, window))
	fmt.Fprintf(os.Stdout, "share: frames=%d decoded=%d ssim=%.3f\n", len(frames), got, ssim)
	if got != len(frames) || len(frames) < few || ssim < 0.95 {
		t.Errorf("of %d frames %d could be decoded, and the last is as like the page as %.3f; want at least %d, all, 0.95", len(frames), got, ssim, few)
	}
}

// browse opens the page in a browser.
func browse(t *testing.T) *browsermgr.Window {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	if err != nil {
		t.Fatal(err)
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, moving)
	}))
	t.Cleanup(site.Close)
	m := &browsermgr.Manager{Home: t.TempDir(), Executable: func() string { return exe.Path }, Headless: true, FirstPort: 18900, LastPort: 18949, LaunchTimeout: time.Minute}
	if err := m.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	window, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := window.Act(t.Context(), "navigate", map[string]any{"url": site.URL + "/"}); err != nil {
		t.Fatal(err)
	}
	return window
}

func evaluate(t *testing.T, w *browsermgr.Window, script string) {
	t.Helper()
	if _, err := w.Act(t.Context(), "evaluate", map[string]any{"fn": script}); err != nil {
		t.Fatal(err)
	}
}

// shot is a picture of the window without loss.
func shot(t *testing.T, w *browsermgr.Window) (png []byte) {
	t.Helper()
	if err := w.Tab(t.Context(), func(tab *tabs.Tab) (err error) {
		png, err = tab.Screenshot(t.Context(), tabs.ScreenshotOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return png
}

// watch is what comes for some time, in which something is done twice a second.
func watch(ctx context.Context, t *testing.T, m *member.Member, d diary, long time.Duration) (frames [][]byte) {
	t.Helper()
	over := time.After(long)
	act := time.NewTicker(500 * time.Millisecond)
	defer act.Stop()
	for {
		select {
		case f := <-m.Frames():
			switch {
			case f.Err == nil && f.Video:
				frames = append(frames, f.Data)
			case len(frames) > 0:
				t.Errorf("a frame came that cannot be read: %v", f.Err)
			}
		case <-act.C:
			d.did()
		case <-over:
			if len(frames) == 0 {
				t.Fatal("no frame came")
			}
			return frames
		case <-ctx.Done():
			t.Fatal(context.Cause(ctx))
		}
	}
}

// ivf writes VP8 frames as a file that ffmpeg reads.
func ivf(t *testing.T, frames [][]byte) string {
	t.Helper()
	var out bytes.Buffer
	out.WriteString("DKIF\x00\x00\x20\x00VP80")
	out.Write(frames[0][6:10]) // the size, as in a key frame
	out.Write([]byte{10, 0, 0, 0, 1, 0, 0, 0})
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(frames))))
	out.Write(make([]byte, 4))
	for i, f := range frames {
		out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(f))))
		out.Write(binary.LittleEndian.AppendUint64(nil, uint64(i)))
		out.Write(f)
	}
	path := filepath.Join(t.TempDir(), "frames.ivf")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// decode is how many frames ffmpeg can decode.
func decode(t *testing.T, frames [][]byte) int {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", ivf(t, frames), "-fps_mode", "passthrough", "-f", "framecrc", "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(out, []byte("\n0,"))
}

var ssimAll = regexp.MustCompile(`All:([0-9.]+)`)

// likeness is how like a frame is to a picture (SSIM).
func likeness(t *testing.T, frame, png []byte) float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shot.png")
	if err := os.WriteFile(path, png, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-i", ivf(t, [][]byte{frame}), "-i", path,
		"-lavfi", "[0:v]format=yuv420p[a];[1:v]format=yuv420p[b];[a][b]ssim", "-f", "null", "-").CombinedOutput()
	found := ssimAll.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("compare two pictures: %v\n%s", err, out)
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
