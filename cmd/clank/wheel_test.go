package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/internal/test/llmtest"
	"clank/sessions"

	"github.com/coder/websocket"
)

// toldEvent is an event reported by the page, and the time of its handler.
type toldEvent struct {
	what string
	at   float64 // in milliseconds since 1970
}

// loginSite serves a login in two pages, which report every event and repeat all they know.
func loginSite(t *testing.T) (base string, told chan toldEvent) {
	t.Helper()
	told = make(chan toldEvent, 1000)
	const head = `<!doctype html><meta charset=utf-8><title>%s</title><style>body {margin: 0}
form > *, button {position: absolute; box-sizing: border-box; left: 0; width: 200px; height: 30px}</style>
<script>
const now = () => performance.timeOrigin + performance.now();
const tell = (what) => fetch('/told?what=' + encodeURIComponent(what) + '&at=' + now());
for (const type of ['mousedown', 'keydown', 'compositionstart', 'input', 'submit', 'change'])
	addEventListener(type, (e) => { console.log(type, e.target.value); tell(type); }, true);
</script>`
	const first = `<form method=post action=/second enctype=multipart/form-data>
<input name=user aria-label=User style="top:0"><input name=pass type=password aria-label=Password style="top:40px">
<input name=name aria-label=Name style="top:80px"><input name=card type=file aria-label=Card style="top:120px">
<input name=word type=hidden>
<button type=button style="top:160px" onclick="this.form.word.value = prompt('Your word?')">Word</button>
<button style="top:200px">Sign in</button></form>`
	const second = `<h1>Welcome, %s (%s)</h1><p>%s %s %s</p>
<form><input name=pin aria-label=PIN style="top:240px" readonly></form>
<script>
for (let i = 0; i < 10; i++) {
	const key = document.createElement('button');
	key.style.cssText = 'width:30px;top:280px;left:' + 40 * i + 'px';
	key.textContent = 'abcdefghij'[i];
	key.onclick = () => { document.forms[0].pin.value += i; tell('digit'); };
	document.body.append(key);
}
document.cookie = 'user=%s';
console.log('hello', %q);
history.replaceState('', '', '?as=' + encodeURIComponent(%q));
tell('second');
</script>`
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, head+first, "Sign in") })
	mux.HandleFunc("GET /told", func(_ http.ResponseWriter, r *http.Request) {
		at, _ := strconv.ParseFloat(r.FormValue("at"), 64)
		told <- toldEvent{r.FormValue("what"), at}
	})
	mux.HandleFunc("POST /second", func(w http.ResponseWriter, r *http.Request) {
		file, info, err := r.FormFile("card")
		var card []byte
		if err == nil {
			card, _ = io.ReadAll(file)
		} else {
			t.Errorf("no file came: %v", err)
			return
		}
		user, file2 := r.FormValue("user"), info.Filename+strconv.Itoa(len(card))
		fmt.Fprintf(w, head+second, user, user, r.FormValue("pass"), r.FormValue("name"), r.FormValue("word"), file2,
			user, user, user)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, told
}

// wheel is a person who watches and controls a session.
type wheel struct {
	t     *testing.T
	conn  *websocket.Conn
	told  chan toldEvent
	state chan map[string]any

	latencies []float64 // of input, in milliseconds
}

// read receives the server's messages, and acknowledges frames.
func (w *wheel) read() {
	for {
		kind, data, err := w.conn.Read(context.Background())
		if err != nil {
			close(w.state)
			return
		}
		var m map[string]any
		if kind == websocket.MessageBinary {
			w.send(map[string]any{"type": "ack", "n": 1})
		} else if json.Unmarshal(data, &m) == nil {
			w.state <- m
		}
	}
}

func (w *wheel) send(m map[string]any) {
	data, err := json.Marshal(m)
	if err == nil {
		err = w.conn.Write(context.Background(), websocket.MessageText, data)
	}
	if err != nil && w.t.Context().Err() == nil {
		w.t.Logf("send %v: %v", m["type"], err)
	}
}

// until waits for a state.
func (w *wheel) until(what string, is func(state map[string]any) bool) {
	w.t.Helper()
	within := testDeadline(w.t)
	for {
		select {
		case m, ok := <-w.state:
			switch {
			case !ok || m["type"] == "ended":
				w.t.Fatalf("the view ended before %s: %v", what, m)
			case m["type"] == "error":
				w.t.Fatalf("before %s: %v", what, m["text"])
			case m["type"] == "state" && is(m):
				return
			}
		case <-within.Done():
			w.t.Fatalf("not within time: %s", what)
		}
	}
}

// input sends input and waits for the event that it causes in the page, if any. It measures the time until then.
func (w *wheel) input(want string, fields map[string]any) {
	w.t.Helper()
	fields["type"] = "input"
	sent := time.Now()
	w.send(fields)
	if want != "" {
		got := w.await(want)
		w.latencies = append(w.latencies, got.at-float64(sent.UnixMicro())/1000)
	}
}

func (w *wheel) await(want string) toldEvent {
	w.t.Helper()
	within := testDeadline(w.t)
	for {
		select {
		case got := <-w.told:
			if got.what == want {
				return got
			}
		case <-within.Done():
			w.t.Fatalf("the page has not told of %q", want)
		}
	}
}

func (w *wheel) click(x, y int) {
	w.t.Helper()
	at := func(kind string) map[string]any {
		return map[string]any{"kind": kind, "x": x, "y": y, "clicks": 1}
	}
	w.input("", at("move"))
	w.input("mousedown", at("down"))
	w.input("", at("up"))
}

func (w *wheel) keys(text string) {
	w.t.Helper()
	for _, r := range text {
		upper := strings.ToUpper(string(r))
		code, keyCode := "Key"+upper, int(upper[0])
		w.input("input", map[string]any{"kind": "keydown", "key": string(r), "code": code, "keyCode": keyCode})
		w.input("", map[string]any{"kind": "keyup", "key": string(r), "code": code, "keyCode": keyCode})
	}
}

func (w *wheel) do(what string, fields map[string]any) {
	fields["type"], fields["what"] = "do", what
	w.send(fields)
}

// hands is a way in which a person controls a page.
type hands interface { //nolint:interfacebloat // each is a way to work a page
	take()
	click(x, y int)
	keys(text string)
	paste(text string)
	compose(draft, text string)
	files(name, text string)
	answer(text string) // to a dialog
	give()
}

func (w *wheel) take() {
	w.t.Helper()
	w.send(map[string]any{"type": "take"})
	w.until("the hold", func(m map[string]any) bool { return m["control"].(map[string]any)["mine"] == true })
}

func (w *wheel) paste(text string) {
	w.t.Helper()
	w.input("input", map[string]any{"kind": "text", "text": text})
}

func (w *wheel) compose(draft, text string) {
	w.t.Helper()
	w.input("compositionstart", map[string]any{"kind": "compose", "text": draft, "caret": len(draft)})
	w.input("input", map[string]any{"kind": "commit", "text": text})
}

func (w *wheel) files(name, text string) {
	w.do("files", map[string]any{"files": []map[string]any{{"name": name, "data": []byte(text)}}})
}

func (w *wheel) answer(text string) { w.do("dialog", map[string]any{"accept": true, "text": text}) }

func (w *wheel) give() { w.send(map[string]any{"type": "give"}) }

// TestWheel tests that a person can log in by hand while a task waits, and that nobody else learns what they typed.
// make wheel prints its measurements.
func TestWheel(t *testing.T) {
	inHalf(t, true)
	t.Parallel()
	for way, open := range map[string]func(w *wheel, r *serverFixture, session string) hands{
		"socket": func(w *wheel, _ *serverFixture, _ string) hands { return w },
		"pane":   openPane,
		"link":   openLink,

		"activity": openActivity,
	} {
		t.Run(way, func(t *testing.T) { logInByHand(t, way, open) })
	}
}

func logInByHand(t *testing.T, way string, open func(w *wheel, r *serverFixture, session string) hands) {
	t.Helper()
	base, told := loginSite(t)
	logs := new(check.Log)
	r := newServerFixture(t, logs)
	r.updateSettings(map[string]any{"interaction.consent.safety": "allow"})
	board := r.openDashboard(t)
	opened, watched := make(chan struct{}), make(chan struct{})
	r.script.Set([]llmtest.Turn{
		openPage(base + "/"),
		func(req llmtest.Request) llmtest.Reply { // once somebody watches, who can be asked
			close(opened)
			<-watched
			return toolTurn("ask_to_take_over", map[string]any{"reason": "sign in, please"})(req)
		},
		toolTurn("browser_snapshot", map[string]any{}),
		toolTurn("browser_screenshot", map[string]any{}),
		llmtest.Say("You are signed in."),
	})
	task := sessions.Task{
		Prompt: "sign in for me", Origin: sessions.Origin{
			Kind: sessions.FromDiscord, Guild: r.guild.ID, Channel: r.room.ID, User: r.ada.ID, UserName: "ada",
		},
	}
	if way != "activity" {
		task.Origin = sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel}
	}
	begun := make(chan sessions.TaskRecord, 1)
	ended := make(chan sessions.TaskRecord, 1)
	go func() { // it ends with the task
		rec, err := r.server.Sessions.Run(t.Context(), task, func(ev sessions.Event) {
			select {
			case begun <- ev.Record:
			default:
			}
		})
		if err != nil {
			t.Error(err)
		}
		ended <- rec
	}()
	<-opened
	started := <-begun
	session, err := r.server.Sessions.Session(t.Context(), started.SessionID)
	check.Must(t, err)
	window, _ := r.server.Browsers.Lookup(session.ID)
	var target string
	check.Must(t, window.WithTab(testDeadline(t), func(tab *page.Tab) error { target = tab.TargetID(); return nil }))
	control := func(method, path string, body any) string {
		t.Helper()
		query := url.Values{"profile": {session.Profile}, "targetId": {target}}
		status, answer, err := r.server.Tools.ControlAPI.Call(testDeadline(t), method, path, query, body)
		check.Must(t, err)
		return strconv.Itoa(status) + string(answer)
	}
	if got := control("POST", "/trace/start", map[string]any{}); !strings.HasPrefix(got, "200") {
		t.Fatalf("start a trace: %s", got)
	}

	live := "ws" + strings.TrimPrefix(board.URL(), "http") + "/api/sessions/" + started.SessionID + "/live"
	conn, _, err := websocket.Dial(testDeadline(t), live,
		&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + r.server.LocalSecret}}})
	check.Must(t, err)
	conn.SetReadLimit(16 << 20)
	w := &wheel{t: t, conn: conn, told: told, state: make(chan map[string]any, 1000)}
	go w.read()
	t.Cleanup(func() { _ = conn.CloseNow() })
	mine := func(m map[string]any) bool { return m["control"].(map[string]any)["holder"] != "" }
	w.until("the page", func(m map[string]any) bool {
		return m["title"] == "Sign in" && !mine(m) && len(m["viewers"].([]any)) == 1
	})
	close(watched)
	w.until("the model's wish", func(m map[string]any) bool {
		task, _ := m["task"].(map[string]any)
		return task["label"] == "ask a person to take over: sign in, please"
	})
	p := open(w, r, started.SessionID)
	p.take()
	if got := control("GET", "/snapshot", nil); strings.HasPrefix(got, "200") {
		t.Errorf("a page that a person works is read: %s", got)
	}

	const user, password, name, word = "krillbaud", "Tr0ub4dor&3x", "日本語名前", "blue-falcon-77"
	const card, pin = "card-5150-krill", "739148265" // long, as times are in all files
	p.click(100, 15)
	p.keys(user)
	p.click(100, 55)
	p.paste(password)
	p.click(100, 95)
	p.compose("にほ", name)
	p.click(100, 135)
	w.until("the file chooser", func(m map[string]any) bool { return m["chooser"] == true })
	p.files("card.txt", card)
	w.until("the end of the choice", func(m map[string]any) bool { return m["chooser"] == false })
	p.click(100, 175)
	w.until("the dialog", func(m map[string]any) bool {
		d, _ := m["dialog"].(map[string]any)
		if others := way != "socket"; others && d != nil && (d["text"] != "" || m["url"] != "" || m["title"] != "") {
			t.Errorf("while somebody works the page others are told %v", m)
		}
		return d != nil
	})
	p.answer(word)
	w.until("its end", func(m map[string]any) bool { return m["dialog"] == nil })
	p.click(100, 215)
	w.await("second")
	for _, digit := range pin {
		p.click(int(digit-'0')*40+15, 295)
		w.await("digit")
	}
	p.give()
	w.until("the end of the hold", func(m map[string]any) bool { return !mine(m) })

	rec := <-ended
	if rec.State != sessions.TaskDone {
		t.Fatalf("the task ended %s: %s %s", rec.State, rec.Reason, rec.Answer)
	}
	secrets := []string{user, password, name, word, card, pin}
	var leaks []string
	search := func(where string, data []byte) {
		for _, s := range secrets {
			for _, as := range []string{s, url.QueryEscape(s), strings.Trim(strconv.QuoteToASCII(s), `"`)} {
				if bytes.Contains(data, []byte(as)) {
					i := bytes.Index(data, []byte(as))
					around := data[max(0, i-60):min(len(data), i+60)]
					leaks = append(leaks, fmt.Sprintf("%s has %q: …%q…", where, as, around))
					break
				}
			}
		}
	}
	for _, path := range []string{"/console", "/requests", "/har", "/errors", "/snapshot", "/tabs"} {
		got := control("GET", path, nil)
		if !strings.HasPrefix(got, "200") {
			t.Errorf("%s: %.200s", path, got)
		}
		search(path, []byte(got))
	}
	if got := control("POST", "/trace/stop", map[string]any{}); !strings.HasPrefix(got, "200") {
		t.Errorf("stop the trace: %.300s", got)
	}
	snapshots := 0
	for i, req := range r.model.Requests() {
		search("request "+strconv.Itoa(i), req.Body)
		snapshots += strings.Count(string(req.Body), "Welcome, [secret typed by a person]")
	}
	if snapshots == 0 {
		t.Error("the model has not seen the page that the person left")
	}
	check.Must(t, r.server.Sessions.CloseSession(testDeadline(t), started.SessionID, cancel.Actor{Moderator: true}))
	files := 0
	check.Must(t, filepath.WalkDir(r.server.Home.Dir, func(path string, d fs.DirEntry, err error) error {
		// The browser's own, and what it is given, are nobody else's.
		if err != nil || d.Name() == "user-data" || strings.HasPrefix(d.Name(), ".staging-") {
			return fs.SkipDir
		}
		if d.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil //nolint:nilerr // a socket, or gone meanwhile
		}
		files++
		search(path, data)
		if archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data))); err == nil {
			for _, f := range archive.File {
				part, err := f.Open()
				check.Must(t, err)
				inside, err := io.ReadAll(part)
				check.Must(t, err)
				search(path+":"+f.Name, inside)
			}
		}
		return nil
	}))
	search("the log", []byte(logs.String()))
	for _, leak := range leaks {
		t.Error(leak)
	}
	slices.Sort(w.latencies)
	p95 := w.latencies[len(w.latencies)*95/100]
	t.Logf("wheel: way=%s kinds=mouse,keys,paste,ime,file,dialog inputs=%d input_p50_ms=%.1f input_p95_ms=%.1f files=%d "+
		"leaks=%d",
		way, len(w.latencies), w.latencies[len(w.latencies)/2], p95, files, len(leaks))
}
