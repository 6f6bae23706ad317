package liveview_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/chrome"
	"clank/browsermgr/profile"
	"clank/cancel"
	"clank/internal/liveview"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
	"clank/internal/test/sessionstest"
	"clank/sessions"
	"clank/videosource"

	"github.com/coder/websocket"
)

// rig is a server whose viewers are who a test says.
type rig struct {
	*liveview.Server
	t    *testing.T
	as   sessions.Viewer // of the next connection
	site string
}

func start(t *testing.T, window func(context.Context, sessions.Session, bool) (*browsermgr.Window, error)) *rig {
	t.Helper()
	m := sessionstest.OpenManager(t)
	r := &rig{t: t, Server: &liveview.Server{Sessions: m, Scopes: m.Scopes, Window: window}}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		as := r.as // read before the answer, with which join ends
		if conn, err := websocket.Accept(w, req, nil); err == nil {
			r.Serve(req.Context(), conn, strings.TrimPrefix(req.URL.Path, "/"), as)
		}
	}))
	t.Cleanup(site.Close)
	t.Cleanup(func() { check.Must(t, r.Close(context.Background())) })
	r.site = "ws" + strings.TrimPrefix(site.URL, "http")
	return r
}

// session makes a session of somebody.
func (r *rig) session(o sessions.Origin) string {
	r.t.Helper()
	rec, err := r.Sessions.Run(r.t.Context(), sessions.Task{Prompt: "p", Origin: o}, nil)
	check.Must(r.t, err)
	return rec.SessionID
}

// viewer is one end of a view.
type viewer struct {
	t      *testing.T
	conn   *websocket.Conn
	frames *int // that came
}

func (r *rig) join(session string, as sessions.Viewer) viewer {
	r.t.Helper()
	r.as = as
	conn, _, err := websocket.Dial(r.t.Context(), r.site+"/"+session, nil)
	check.Must(r.t, err)
	conn.SetReadLimit(16 << 20)
	r.t.Cleanup(func() { _ = conn.CloseNow() })
	return viewer{r.t, conn, new(int)}
}

func (v viewer) send(m map[string]any) {
	v.t.Helper()
	data, err := json.Marshal(m)
	check.Must(v.t, err)
	check.Must(v.t, v.conn.Write(v.t.Context(), websocket.MessageText, data))
}

// next returns the next text message for which is is true, or the next frame if is is nil.
func (v viewer) next(what string, is func(m map[string]any) bool) map[string]any {
	v.t.Helper()
	ctx := browsertest.Within(v.t, 20*time.Second)
	for {
		kind, data, err := v.conn.Read(ctx)
		if err != nil {
			v.t.Fatalf("before %s: %v", what, err)
		}
		m := map[string]any{}
		if kind == websocket.MessageBinary {
			*v.frames++
			m["kind"] = data[0]
			length := binary.BigEndian.Uint32(data[1:])
			data = data[5 : 5+length]
		}
		check.Must(v.t, json.Unmarshal(data, &m))
		if (kind == websocket.MessageBinary) == (is == nil) && (is == nil || is(m)) {
			return m
		}
	}
}

func discord(user string, private bool) sessions.Origin {
	o := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: user, UserName: "@" + user}
	o.Private = private
	return o
}

func noWindow(_ context.Context, _ sessions.Session, open bool) (*browsermgr.Window, error) {
	if open {
		return nil, errors.New("there is no browser here")
	}
	return nil, nil //nolint:nilnil // none is open
}

func TestWhoMayWatchAndWork(t *testing.T) {
	t.Parallel()
	r := start(t, noWindow)
	operator := sessions.Origin{Kind: sessions.FromDashboard, Moderator: true}
	all := sessions.Rights{Control: true, Stop: true, Note: true}
	bob := sessions.Viewer{From: discord("bob", false), May: all}
	invited := bob
	invited.Invited = true
	open, private := r.session(discord("ada", false)), r.session(discord("ada", true))
	closed := r.session(discord("ada", false))
	check.Must(t, r.Sessions.CloseSession(t.Context(), closed, cancel.Actor{Moderator: true}))
	for _, tc := range []struct {
		name    string
		session string
		as      sessions.Viewer
		refused string
		works   bool
	}{
		{"the owner", open, sessions.Viewer{From: discord("ada", false), May: all}, "", true},
		{"somebody else", open, bob, "belongs to somebody else", false},
		{"who was invited to watch", open, sessions.Viewer{From: discord("bob", false), Invited: true}, "", false},
		{"who was invited to work", open, invited, "", true},
		{"the operator", open, sessions.Viewer{From: operator, May: all}, "", true},
		{"the owner of a private one", private, sessions.Viewer{From: discord("ada", false), May: all}, "", true},
		{"the operator, of a private one", private, sessions.Viewer{From: operator, May: all}, "private", false},
		{"who was invited to a private one", private, invited, "private", false},
		{"anybody, of a closed one", closed, sessions.Viewer{From: operator, May: all}, "closed", false},
		{"anybody, of one that is not there", "nosuch", sessions.Viewer{From: operator, May: all}, "not there", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r.t = t
			v := r.join(tc.session, tc.as)
			first := v.next("an answer", func(m map[string]any) bool { return m["type"] != "error" })
			reason, _ := first["reason"].(string)
			if (first["type"] == "ended") != (tc.refused != "") || !strings.Contains(reason, tc.refused) {
				t.Fatalf("%v, want %q", first, tc.refused)
			}
			refuses := func(text string) {
				t.Helper()
				v.next(text, func(m map[string]any) bool {
					return m["type"] == "error" && strings.Contains(m["text"].(string), text)
				})
			}
			if tc.refused != "" {
				return
			}
			v.send(map[string]any{"type": "input", "kind": "move"})
			refuses("take over first")
			v.send(map[string]any{"type": "take"})
			refuses(map[bool]string{true: "there is no browser here", false: "not work it"}[tc.works])
			check.Equal(t, "holder", r.Sessions.Control(tc.session).Holder, "")
			if !tc.as.May.Stop {
				v.send(map[string]any{"type": "stop"})
				refuses("may not stop")
			}
			check.Must(t, v.conn.Close(websocket.StatusNormalClosure, ""))
			browsertest.Eventually(t, "the viewer's end", func() bool { return len(r.Viewers(tc.session)) == 0 })
		})
	}
}

// watched reports whether a state says that these watch.
func watched(by ...any) func(m map[string]any) bool {
	return func(m map[string]any) bool { list, _ := m["viewers"].([]any); return slices.Equal(list, by) }
}

func TestViewersSeeEachOtherAndAreSentAway(t *testing.T) {
	t.Parallel()
	r := start(t, noWindow)
	id := r.session(discord("ada", false))
	as := func(name string) sessions.Viewer {
		return sessions.Viewer{Name: name, From: discord("ada", false), Invited: true}
	}
	ada := r.join(id, as("ada"))
	ada.next("one viewer", watched("ada"))
	bob := r.join(id, as("bob"))
	for _, v := range []viewer{ada, bob} {
		v.next("two viewers", watched("ada", "bob"))
	}
	r.Drop(id, func(v sessions.Viewer) bool { return v.Name == "bob" }, errors.New("the link was revoked"))
	bob.next("the end", func(m map[string]any) bool { return m["reason"] == "the link was revoked" })
	eve := r.join(id, as("eve"))
	eve.next("two viewers", watched("ada", "eve"))
	r.Drop(id, func(v sessions.Viewer) bool { return v.Name == "eve" }, &cancel.Cause{Reason: cancel.ShuttingDown})
	eve.next("the end", func(m map[string]any) bool { return m["reason"] == "clank is shutting down" })
	ada.next("one viewer", watched("ada"))
	check.Must(t, r.Close(t.Context()))
	ada.next("the end", func(m map[string]any) bool { return m["type"] == "ended" })
}

func TestClosingASessionEndsItsViews(t *testing.T) {
	r := start(t, noWindow)
	id := r.session(discord("ada", false))
	v := r.join(id, sessions.Viewer{Name: "ada", From: discord("ada", false)})
	v.next("the state", func(m map[string]any) bool { return m["type"] == "state" })
	check.Must(t, r.Sessions.CloseSession(t.Context(), id, cancel.Actor{ID: "ada"}))
	end := v.next("the end", func(m map[string]any) bool { return m["type"] == "ended" })
	check.Contains(t, end["reason"].(string), "closed")
}

// keyFrames is an encoder whose frames show all.
type keyFrames struct{}

func (keyFrames) Encode(context.Context, []byte, bool, int) ([]byte, error) {
	return []byte{0x10, 0, 0, 0x9d, 0x01, 0x2a, 64, 0, 48, 0}, nil
}

func (keyFrames) Close() {}

// TestSlowViewersGetTheLatestFrame tests that frames wait for a viewer nowhere, that the shown tab follows the window,
// that video is sent where pictures come late, and that nothing is captured without viewers.
func TestTheStateIsSentAgainAsASignOfLife(t *testing.T) {
	t.Parallel()
	r := start(t, noWindow)
	v := r.join(r.session(discord("ada", false)), sessions.Viewer{From: discord("ada", false)})
	var last map[string]any
	v.next("the same state twice", func(m map[string]any) bool {
		same := reflect.DeepEqual(m, last)
		last = m
		return same
	})
}

func TestSlowViewersGetTheLatestFrame(t *testing.T) {
	t.Parallel()
	exe, err := chrome.Find(t.Context(), os.Getenv("CLANK_CHROMIUM"))
	check.Must(t, err)
	var casts atomic.Int32 // Chromium's state: 1 = it captures
	m := &browsermgr.Manager{
		Home: t.TempDir(), FirstPort: 18450, LastPort: 18459,
		OnSent: func(method string, _ any) {
			switch method {
			case "Page.startScreencast":
				casts.Store(1)
			case "Page.stopScreencast":
				casts.Store(0)
			}
		},
		Config: func() profile.Config {
			c := profile.Config{Executable: exe.Path, Headless: new(true), NoSandbox: true}
			c.LaunchTimeout = time.Minute
			return c
		},
	}
	check.Must(t, m.Open(t.Context()))
	t.Cleanup(func() { check.Must(t, m.Close(context.Background())) })
	r := start(t, func(ctx context.Context, s sessions.Session, open bool) (*browsermgr.Window, error) {
		if open {
			w, _, err := m.Window(ctx, browsermgr.WindowOptions{Key: s.ID})
			return w, err
		}
		w, _ := m.Lookup(s.ID)
		return w, nil
	})
	r.OpenEncoder = func(context.Context) (videosource.Encoder, error) { return keyFrames{}, nil }
	id := r.session(discord("ada", false))
	v := r.join(id, sessions.Viewer{Name: "ada", From: discord("ada", false), May: sessions.Rights{Control: true}})
	v.next("the empty state", func(m map[string]any) bool { return m["type"] == "state" })
	w, _, err := m.Window(t.Context(), browsermgr.WindowOptions{Key: id})
	check.Must(t, err)
	const move = `() => {
		setInterval(() => { document.body.style.background = 'hsl(' + performance.now() / 10 + ' 90% 50%)' }, 30)
	}`
	check.Must(t, check.Err(w.Act(t.Context(), "evaluate", map[string]any{"fn": move})))
	first := v.next("a frame", nil)
	if first["vw"] != 1280.0 || first["vh"] != 720.0 {
		t.Errorf("the frame shows %v × %v", first["vw"], first["vh"])
	}
	second := v.next("another", nil)
	// Two frames are on their way: more does not come until one has been shown, and then the latest.
	v.send(map[string]any{"type": "take"})
	v.next("the hold", func(m map[string]any) bool { c, _ := m["control"].(map[string]any); return c["mine"] == true })
	check.Equal(t, "frames came before one was shown", *v.frames, 2)
	v.send(map[string]any{"type": "ack", "n": first["n"]})
	third := v.next("the latest", nil)
	if third["n"].(float64) < second["n"].(float64) { // whoever takes over is shown the latest once more
		t.Errorf("frame %v comes after %v", third["n"], second["n"])
	}
	v.send(map[string]any{"type": "ack", "n": third["n"]})
	v.send(map[string]any{"type": "do", "what": "tabNew"})
	v.next("the other tab", func(m map[string]any) bool { list, _ := m["tabs"].([]any); return len(list) == 2 })
	v.send(map[string]any{"type": "ack", "n": 0})
	v.send(map[string]any{"type": "ack", "n": 0})
	v.send(map[string]any{"type": "do", "what": "resize", "w": 400, "h": 300})
	for size := 0.0; size != 400; size = v.next("a picture of another size", nil)["vw"].(float64) {
		v.send(map[string]any{"type": "ack", "n": 0})
	}
	v.send(map[string]any{"type": "give"})
	browsertest.Eventually(t, "the end of the hold", func() bool { return r.Sessions.Control(id).Holder == "" })
	const later = `() => new Promise((then) => setTimeout(() => { // than pictures are shown on a good line
		document.body.style.background = 'hsl(' + performance.now() / 10 + ' 90% 50%)';
		then();
	}, 150))`
	for _, tc := range []struct {
		says string
		want byte
	}{{"video", 2}, {"pictures", 1}} {
		v.send(map[string]any{"type": tc.says})
		for kind := byte(0); kind != tc.want; {
			kind, _ = v.next("a frame of another kind", nil)["kind"].(byte)
			check.Must(t, check.Err(w.Act(t.Context(), "evaluate", map[string]any{"fn": later})))
			v.send(map[string]any{"type": "ack", "n": 0})
		}
	}
	check.Must(t, v.conn.Close(websocket.StatusNormalClosure, ""))
	browsertest.Eventually(t, "the end of the capture", func() bool { return casts.Load() == 0 })
}
