package browsermgr_test

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/browsermgr/page/login"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/sessions"
)

// reportingPage reports all its events to the site; so does its frame, which is out of process.
const reportingPage = `<!doctype html><title>Sign in</title><style>
* {box-sizing: border-box} body {margin: 0} body > * {position: absolute; left: 0; width: 200px; height: 30px}</style>
<input id=user aria-label=User style="top:0">
<input id=pin aria-label=PIN style="top:40px">
<input id=file type=file style="top:80px">
<button id=ask style="top:120px" onclick="tell(confirm('Sure?') ? 'sure' : 'unsure')">Ask</button>
<div id=box draggable=true style="top:160px">Box</div>
<div id=hole style="top:200px" ondragover="event.preventDefault()" ondrop="tell('dropped')">Hole</div>
<iframe id=far style="left:300px;top:0;width:300px;height:200px;border:0"></iframe>
<div style="top:3000px">End</div>
<script>
const where = parent === window ? '' : ' far';
const tell = (what) => fetch('/told?what=' + encodeURIComponent(what), {mode: 'no-cors'});
if (parent === window) far.src = location.href.replace('127.0.0.1', 'localhost');
for (const type of ['mousedown', 'mouseup', 'dblclick', 'keydown', 'compositionend', 'wheel', 'touchstart'])
	addEventListener(type, (e) => tell([type, e.key ?? e.data ?? e.detail ?? ''].join(' ').trim() + where), true);
addEventListener('input', (e) => { console.log(e.target.value); tell('value ' + e.target.value); }, true);
</script>`

// reportingSite serves reportingPage and yields its reports.
func reportingSite(t *testing.T) (base string, told chan string) {
	t.Helper()
	told = make(chan string, 1000)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, reportingPage)
	})
	mux.HandleFunc("GET /told", func(_ http.ResponseWriter, r *http.Request) { told <- r.FormValue("what") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, told
}

func TestAPersonWorksAPageUnseen(t *testing.T) {
	base, told := reportingSite(t)
	recorder := new(record.Store).NewRecorder()
	m := manager(t, func(m *browsermgr.Manager) {
		m.NewObservers = func(string, bool) []page.Observer {
			transfers, err := files.NewTransfers(files.Options{Downloads: t.TempDir(), Uploads: files.UploadPolicy{}})
			check.Must(t, err)
			return []page.Observer{recorder, transfers}
		}
		m.Secrets = new(login.Filler)
	})
	w := window(t, m, browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/"})
	user, ask := refOf(t, w, "User"), refOf(t, w, "Ask")
	var tab *page.Tab
	check.Must(t, w.WithTab(t.Context(), func(found *page.Tab) error { tab = found; return nil }))
	h, err := w.TakeOver(t.Context(), "ada")
	check.Must(t, err)
	defer h.End()
	recorder.Console(tab, "", true)

	_, err = w.TakeOver(t.Context(), "bob")
	check.Fails(t, err, page.ErrHeld)
	for what, err := range map[string]error{
		"snapshot":   check.Err(w.Snapshot(t.Context(), sessions.SnapshotOptions{})),
		"act":        check.Err(w.Act(t.Context(), "click", map[string]any{"ref": ask})),
		"screenshot": check.Err(w.Screenshot(t.Context(), "")),
		"tab":        check.Err(tab.Snapshot(t.Context(), page.SnapshotOptions{})),
		"picture":    check.Err(tab.Screenshot(t.Context(), page.ScreenshotOptions{})),
	} {
		if err == nil || !strings.Contains(err.Error(), page.ErrHeld.Error()) {
			t.Errorf("%s of a page that a person works: %v", what, err)
		}
	}

	in := func(evs ...page.PersonInput) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			for _, ev := range evs {
				check.Must(t, h.Input(ev))
			}
		}
	}
	do := func(c browsermgr.Command) func(*testing.T) {
		return func(t *testing.T) {
			t.Helper()
			check.Must(t, check.Err(h.Do(browsertest.Within(t, 20*time.Second), c)))
		}
	}
	click := func(x, y float64) []page.PersonInput {
		at := func(kind string) page.PersonInput { return page.PersonInput{Kind: kind, X: x, Y: y, Clicks: 1} }
		return []page.PersonInput{at("move"), at("down"), at("up")}
	}
	key := func(key, code string, keyCode, mods int) []page.PersonInput {
		ev := page.PersonInput{Key: key, Code: code, KeyCode: keyCode, Mods: mods}
		down, up := ev, ev
		down.Kind, up.Kind = "keydown", "keyup"
		return []page.PersonInput{down, up}
	}
	finger := [][3]float64{{1, 100, 215}}
	both := func(a, b []page.PersonInput) []page.PersonInput { return append(a, b...) }
	for _, step := range []struct {
		name string
		do   func(*testing.T)
		want string // what the page tells at last
	}{
		{"the mouse", in(click(100, 15)...), "mouseup 1"},
		{"a key", in(key("a", "KeyA", 65, 0)...), "value a"},
		{"a key of another layout", in(key("ü", "BracketLeft", 219, 0)...), "value aü"},
		{"AltGr", in(key("@", "KeyQ", 81, 3)...), "value aü@"},
		{"pasted text", in(page.PersonInput{Kind: "text", Text: "Kraken-9"}), "value aü@Kraken-9"},
		{"a composition begins", in(page.PersonInput{Kind: "compose", Text: "に", Caret: 1}), "value aü@Kraken-9に"},
		{"its end", in(page.PersonInput{Kind: "commit", Text: "日本"}), "value aü@Kraken-9日本"},
		{"a short text", in(both(click(100, 55), []page.PersonInput{{Kind: "text", Text: "4x7"}})...), "value 4x7"},
		{"select all", in(key("a", "KeyA", 65, 2)...), "keydown a"},
		{"the wheel", in(page.PersonInput{Kind: "wheel", X: 50, Y: 300, DY: 1}), "wheel 0"},
		{"a finger", in(page.PersonInput{Kind: "touch", Phase: "start", Points: finger}), "touchstart 0"},
		{"its release", in(page.PersonInput{Kind: "touch", Phase: "end"}), "mouseup 1"},
		{"a frame of another process", in(click(400, 15)...), "mouseup 1 far"},
		{"keys in it", in(key("z", "KeyZ", 90, 0)...), "value z"},
		{"a dialog", in(click(100, 135)...), ""},
		{"its answer", do(browsermgr.Command{What: "dialog", Accept: true}), "sure"},
		{"a file chooser", in(click(60, 95)...), "mouseup 1"},
		{"a file", func(t *testing.T) {
			t.Helper()
			browsertest.Eventually(t, "the chooser", func() bool { return w.Live().Chooser })
			given := []files.PersonFile{{Name: "../ours.txt", Data: []byte("x")}}
			do(browsermgr.Command{What: "files", Files: given})(t)
		}, `value C:\fakepath\ours.txt`},
	} {
		t.Run(step.name, func(t *testing.T) {
			if step.name == "its answer" {
				browsertest.Eventually(t, "the dialog", func() bool { return w.Live().Dialog != nil })
			}
			step.do(t)
			for within := browsertest.Within(t, 20*time.Second); step.want != ""; {
				select {
				case got := <-told:
					if got == step.want {
						return
					}
				case <-within.Done():
					t.Fatalf("the page has not told %q", step.want)
				}
			}
		})
	}
	t.Run("drag and drop", func(t *testing.T) {
		from, to := page.PersonInput{Kind: "move", X: 100, Y: 175}, page.PersonInput{Kind: "move", X: 100, Y: 215}
		down := from
		down.Kind, down.Clicks = "down", 1
		in(from, down)(t)
		within := browsertest.Within(t, 20*time.Second)
		for {
			to.X++
			in(to)(t)
			up := to
			up.Kind = "up"
			if to.X > 110 {
				in(up)(t)
			}
			select {
			case got := <-told:
				if got == "dropped" {
					return
				}
			case <-time.After(20 * time.Millisecond):
			case <-within.Done():
				t.Fatal("nothing was dropped")
			}
			if to.X > 150 {
				to.X = 100
				in(from, down)(t)
			}
		}
	})
	if got := recorder.Console(tab, "", false).Entries; len(got) != 0 {
		t.Errorf("recorded meanwhile: %v", got)
	}
	if got := recorder.Requests(tab, "told", false).Entries; len(got) != 0 {
		t.Errorf("%d requests recorded meanwhile", len(got))
	}

	do(browsermgr.Command{What: "resize", W: 640, H: 480})(t)

	// Afterwards the page is there for others, without what was typed.
	const repeat = `() => { console.log('it was ' + user.value); location.hash = user.value; }`
	act(t, endLater(h, w), "evaluate", map[string]any{"fn": repeat})
	secrets := []string{"Kraken-9", url.QueryEscape("aü@Kraken-9日本"), "日本", "4x7", "aü@Krak"}
	snapshot, err := w.Snapshot(t.Context(), sessions.SnapshotOptions{})
	check.Must(t, err)
	check.Contains(t, snapshot, `"User" [typed by a person]`, "••••••••")
	text, err := w.Text(t.Context(), user)
	check.Must(t, err)
	browsertest.Eventually(t, "the console", func() bool { return len(recorder.Console(tab, "", false).Entries) > 0 })
	address, title, tabs := state(t, w)
	all := fmt.Sprint(snapshot, text, address, title, tabs,
		recorder.Console(tab, "", false).Entries, recorder.Requests(tab, "", false).Entries,
		act(t, w, "evaluate", map[string]any{"fn": `() => user.value`}))
	for _, secret := range secrets {
		if strings.Contains(all, secret) {
			t.Errorf("%q is told in:\n%s", secret, all)
		}
	}
	if want := base + "/#"; !strings.HasPrefix(address, want) {
		t.Errorf("address %q, want %q…", address, want)
	}
	shot, err := w.Screenshot(t.Context(), "")
	check.Must(t, err)
	img, err := jpeg.Decode(bytes.NewReader(shot.Data))
	check.Must(t, err)
	if shot.Width != 1280 || shot.Height != 720 {
		t.Errorf("the viewport is left at %v × %v", shot.Width, shot.Height)
	}
	for name, y := range map[string]int{"User": 15, "PIN": 55} {
		if r, g, b, _ := img.At(20, y).RGBA(); r>>8 != g>>8 || g != b || r>>8 < 0x58 || r>>8 > 0x68 {
			t.Errorf("the picture shows the field %s: %x %x %x", name, r>>8, g>>8, b>>8)
		}
	}
}

// endLater ends a takeover while somebody else is waiting for the window.
func endLater(h *browsermgr.Takeover, w *browsermgr.Window) *browsermgr.Window {
	h.Release()
	return w
}

func TestEndOfATakeoverOfAPageThatDoesNotAnswer(t *testing.T) {
	base, told := reportingSite(t)
	w := window(t, sharedManager(t), browsermgr.WindowOptions{Key: "a"})
	act(t, w, "navigate", map[string]any{"url": base + "/"})
	h, err := w.TakeOver(t.Context(), "ada")
	check.Must(t, err)
	check.Must(t, h.Input(page.PersonInput{Kind: "down", X: 100, Y: 135, Clicks: 1}))
	check.Must(t, h.Input(page.PersonInput{Kind: "up", X: 100, Y: 135, Clicks: 1}))
	browsertest.Eventually(t, "the dialog", func() bool { return w.Live().Dialog != nil })
	h.End()
	if live := w.Live(); live.Dialog != nil {
		t.Errorf("dialog %+v is open still", live.Dialog)
	}
	for within := browsertest.Within(t, 20*time.Second); ; {
		select {
		case got := <-told:
			if got == "unsure" {
				return
			}
		case <-within.Done():
			t.Fatal("the dialog was not dismissed")
		}
	}
}
