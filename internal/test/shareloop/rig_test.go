package shareloop_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/bot/discord"
	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/page"
	"clank/browsermgr/profile"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/discordtest"
	"clank/internal/test/discordtest/voicetest"
	"clank/sessions"
	"clank/voice/discord/conn"
	"clank/voice/discord/golive"
)

// testGuild is an emulated Discord with a call that ada is in, and an account that goes live there.
type testGuild struct {
	*discordtest.Server

	guild   discordtest.Guild
	call    discordtest.Channel
	ada     discordtest.User
	account *golive.Account
}

func newTestGuild(t *testing.T) testGuild {
	t.Helper()
	s, err := discordtest.Start(discordtest.Config{Voice: &voicetest.Config{DAVE: 1, Seed: 1}})
	check.Must(t, err)
	t.Cleanup(func() {
		check.Must(t, s.Close())
	})
	w := testGuild{Server: s, ada: s.CreateUser("ada")}
	w.guild = s.CreateGuild("home", w.ada)
	w.call = s.CreateVoiceChannel(w.guild, "call")
	s.JoinVoice(w.call, w.ada)
	who := s.CreateAccount("eve", "of eve")
	s.AddMember(w.guild, who.User)
	w.account = &golive.Account{
		Format: conn.Format{Rate: 8, Bitrate: 4_000_000},
		HTTPClient: &http.Client{
			Transport: &http.Transport{
				TLSClientConfig:   &tls.Config{RootCAs: s.Voice.Roots(), MinVersion: tls.VersionTLS12},
				DisableKeepAlives: true,
			},
		},
		Dial: func(dispatch func(string, json.RawMessage)) golive.Gateway {
			return &discord.Gateway{
				Token: who.Token, UserToken: true, Intents: 1 | 1<<7, MinWait: 10 * time.Millisecond, OnDispatch: dispatch,
				URL: func(context.Context) (string, error) {
					return "ws" + strings.TrimPrefix(s.URL, "http") + "/?v=9&encoding=json", nil
				},
			}
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check.Must(t, w.account.Open(ctx))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		check.Must(t, w.account.Close(ctx))
	})
	return w
}

// marked is the colour of the page's mark in a frame.
type marked string

// marks returns the colours of the mark in each frame, as ffmpeg decodes it. A frame that cannot be decoded has none,
// so there are fewer.
func marks(t *testing.T, frames [][]byte) (list []marked) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-v", "error", "-i", ivf(t, frames), "-fps_mode", "passthrough",
		"-vf", "crop=32:32:iw-64:32,scale=1:1", "-f", "rawvideo", "-pix_fmt", "rgb24", "-").Output()
	check.Must(t, err)
	for ; len(out) >= 3; out = out[3:] {
		switch r, b := out[0], out[2]; {
		case r > 150 && b < 100:
			list = append(list, red)
		case b > 150 && r < 100:
			list = append(list, blue)
		default:
			list = append(list, "neither")
		}
	}
	return list
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
	check.Must(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

var ssimAll = regexp.MustCompile(`All:([0-9.]+)`)

// likeness returns how like the last of some frames is to a picture (SSIM).
func likeness(t *testing.T, frames [][]byte, png []byte) float64 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shot.png")
	check.Must(t, os.WriteFile(path, png, 0o600))
	last := fmt.Sprintf("[0:v]select=eq(n\\,%d),setpts=0,format=yuv420p[a]", len(frames)-1)
	out, err := exec.CommandContext(t.Context(), "ffmpeg", "-i", ivf(t, frames), "-i", path,
		"-lavfi", last+";[1:v]format=yuv420p[b];[a][b]ssim", "-f", "null", "-").CombinedOutput()
	found := ssimAll.FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("compare two pictures: %v\n%s", err, out)
	}
	v, err := strconv.ParseFloat(string(found[1]), 64)
	check.Must(t, err)
	return v
}

// Colours of the page's mark.
const (
	red  marked = "#e00000"
	blue marked = "#0000e0"
)

// moving is a page with text, colours, a mark in a corner and something that changes until it is told not to.
const moving = `<!doctype html><title>Ferries</title><style>
body { font: 20px/1.5 sans-serif; margin: 2em; background: linear-gradient(120deg, #f4f1e8, #cfe3ee) }
td { border-bottom: 1px solid #888; padding: 4px 24px } #n { font-size: 60px; color: #b0261b }
#mark { position: fixed; top: 0; right: 0; width: 128px; height: 128px; background: #e00000 }
</style><h1>Ferry times</h1><p id=n>0</p><table id=t></table><div id=mark></div><script>
for (let i = 0; i < 8; i++) t.insertRow().innerHTML = "<td>Line " + i + "</td><td>" + (8 + i) + ":15</td><td>Harbour " + "ABCDEFGH"[i] + "</td>";
let tick; const go = () => { tick = setInterval(() => n.textContent = 1 + +n.textContent, 100) }; go();
</script>`

// diary is the sessions of a program that has one, of a server, in which something is done all the time.
type diary struct {
	guild  string
	events chan sessions.Event
}

func (d diary) Session(context.Context, string) (sessions.Session, error) {
	return sessions.Session{
		ID: "s", State: sessions.SessionRunning,
		Origin: sessions.Origin{Kind: sessions.FromDiscord, Guild: d.guild, User: "1"},
	}, nil
}
func (d diary) SetShared(context.Context, string, bool) error { return nil }
func (d diary) Subscribe() (<-chan sessions.Event, func())    { return d.events, func() {} }
func (d diary) did() {
	d.events <- sessions.Event{Record: sessions.TaskRecord{Task: sessions.Task{SessionID: "s"}}}
}

// browse opens a page in a browser.
func browse(t *testing.T, html string) (*browsermgr.Manager, *browsermgr.Window) {
	t.Helper()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, html)
	}))
	t.Cleanup(site.Close)
	m := &browsermgr.Manager{Home: t.TempDir(), FirstPort: 18900, LastPort: 18949, Config: func() profile.Config {
		return profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true, LaunchTimeout: time.Minute}
	}}
	check.Must(t, m.Open(t.Context()))
	t.Cleanup(func() {
		check.Must(t, m.Close(context.Background()))
	})
	window, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: "s"})
	check.Must(t, err)
	check.Must(t, check.Err(window.Act(t.Context(), "navigate", map[string]any{"url": site.URL + "/"})))
	return m, window
}

func evaluate(t *testing.T, w *browsermgr.Window, script string) {
	t.Helper()
	check.Must(t, check.Err(w.Act(t.Context(), "evaluate", map[string]any{"fn": script})))
}

// shot returns a picture of the window without loss.
func shot(t *testing.T, w *browsermgr.Window) (png []byte) {
	t.Helper()
	if err := w.WithTab(t.Context(), func(tab *page.Tab) (err error) {
		png, err = tab.Screenshot(t.Context(), page.ScreenshotOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return png
}

// meter measures processor time.
type meter struct {
	from time.Time
	used time.Duration
}

func begin(t *testing.T) meter {
	t.Helper()
	return meter{time.Now(), browsertest.ProcessorTime(t)}
}

// perMinute returns the processor time that a minute takes, in seconds.
func (m meter) perMinute(t *testing.T) float64 {
	t.Helper()
	return (browsertest.ProcessorTime(t) - m.used).Seconds() / time.Since(m.from).Minutes()
}
