package record_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/jpeg"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/record"
	"clank/internal/test/browsertest"
	"clank/internal/test/check"
)

// patient are trace options for a slow machine.
var patient = record.TraceOptions{Screenshots: true, Snapshots: true, DocumentLimit: 20 * time.Second}

// line is any line of a trace.
type line = map[string]any

// contents reads a trace file.
func contents(tb testing.TB, path string) (lines []line, network []line, files map[string][]byte) {
	tb.Helper()
	z, err := zip.OpenReader(path)
	check.Must(tb, err)
	defer z.Close()
	files = map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		check.Must(tb, err)
		data, err := io.ReadAll(r)
		check.Must(tb, err)
		files[f.Name] = data
	}
	parse := func(name string) (list []line) {
		scan := bufio.NewScanner(bytes.NewReader(files[name]))
		scan.Buffer(nil, 8<<20)
		for scan.Scan() {
			var l line
			if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
				tb.Fatalf("%s: %v in %s", name, err, scan.Text())
			}
			list = append(list, l)
		}
		return list
	}
	return parse("trace.trace"), parse("trace.network"), files
}

// of selects lines by type.
func of(lines []line, kind string) (list []line) {
	for _, l := range lines {
		if l["type"] == kind {
			list = append(list, l)
		}
	}
	return list
}

var shop = map[string]any{
	"/{$}": `<link rel=stylesheet href=/style.css><b>Basket</b><input id=name value=Ada><input type=password value=hunter2>
<input type=hidden name=csrf value=hunter2><div id=host></div><button onclick="buy()">Buy</button><script>
host.attachShadow({mode: 'open'}).innerHTML = '<i>in the shadow</i>';
function buy() { console.log('bought', {n: 1}); fetch('/api', {method: 'POST', body: 'password=hunter2'}).then(r => r.text());
document.querySelector('b').textContent = 'Sold'; setTimeout(() => { throw new RangeError('too many') }) }</script>`,
	"/style.css": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, "b { color: red }")
	},
	"/api": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"items": 1, "token": "hunter2"}`)
	},
}

// buy traces opening the shop and buying, and returns the path of the trace.
func buy(t *testing.T, w traceFixture, opts record.TraceOptions, url string) string {
	t.Helper()
	tab := browsertest.Tab(t, w.browser, page.TabOptions{URL: "about:blank"})
	check.Must(t, w.tracer.Start(w.browser, opts))
	end := w.tracer.BeginAction(t.Context(), tab, "navigate", map[string]any{"url": url + "/?token=hunter2"})
	_, err := tab.Navigate(browsertest.Within(t, browsertest.Patience), url)
	end(err)
	act := page.Action{Kind: actiontable.KindClick, Selector: "button"}
	end = w.tracer.BeginAction(t.Context(), tab, "act", act)
	_, err = tab.Act(browsertest.Within(t, browsertest.Patience), act)
	end(err)
	act = page.Action{Kind: actiontable.KindClick, Selector: "#missing", TimeoutMs: 500}
	end = w.tracer.BeginAction(t.Context(), tab, "act", act)
	_, err = tab.Act(browsertest.Within(t, browsertest.Patience), act)
	end(err)
	w.tracer.BeginAction(t.Context(), tab, "act", map[string]any{"kind": "type", "ref": "e1", "text": "hunter2"})(nil)
	browsertest.Eventually(t, "the error and the answer are recorded", func() bool {
		requests := w.recorder.Requests(tab, "/api", false).Entries
		return len(w.recorder.Errors(tab, false).Entries) == 1 && len(requests) == 1 &&
			len(w.recorder.HAR(tab).Log.Entries) > 2 &&
			w.recorder.HAR(tab).Log.Entries[2].Response.TransferSize > 0
	})
	path := filepath.Join(t.TempDir(), "trace.zip")
	check.Must(t, w.tracer.Stop(browsertest.Within(t, browsertest.Patience), path))
	return path
}

// finish ends the trace and reads it.
func (w traceFixture) finish(t *testing.T) (lines, network []line) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.zip")
	check.Must(t, w.tracer.Stop(browsertest.Within(t, browsertest.Patience), path))
	lines, network, _ = contents(t, path)
	return lines, network
}

// documents returns each frame's HTML before the action, by frame id.
func documents(lines []line) map[string]string {
	byID := map[string]string{}
	for _, l := range of(lines, "frame-snapshot") {
		if s := l["snapshot"].(line); s["phase"] == "before" {
			html, _ := json.Marshal(s["html"])
			byID[s["frameId"].(string)] = string(html)
		}
	}
	return byID
}

func TestATraceTellsWhatHappened(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	url := browsertest.Routes(t, shop)
	lines, network, files := contents(t, buy(t, w, patient, url))
	w.wantNothingLeft(t)
	for name, data := range files {
		if bytes.Contains(data, []byte("hunter2")) {
			t.Errorf("%s holds a secret", name)
		}
	}
	if lines[0]["type"] != "context-options" || lines[0]["version"] != 10.0 {
		t.Errorf("got first line %v", lines[0])
	}
	var titles []string
	for _, l := range of(lines, "before") {
		titles = append(titles, l["title"].(string))
	}
	check.Equal(t, "actions", strings.Join(titles, "; "), "navigate "+url+"/?token=[REDACTED]; click button; click "+
		"#missing; type e1")
	after := of(lines, "after")
	if len(after) != 4 || after[1]["error"] != nil || !strings.Contains(fmt.Sprint(after[2]["error"]), "#missing") {
		t.Errorf("got ends %v", after)
	}
	snaps := of(lines, "frame-snapshot")
	if len(snaps) != 8 {
		t.Fatalf("got %d documents, want one before and after each of 4 actions", len(snaps))
	}
	text, _ := json.Marshal(snaps)
	check.Contains(t, string(text), `"Basket"`, `"Sold"`, `"in the shadow"`, `__playwright_shadow_root_`,
		`"__playwright_value_":"Ada"`, `"html":[[1,`)
	pictures := of(lines, "screencast-frame")
	if len(pictures) == 0 {
		t.Fatal("got no picture")
	}
	check.Must(t, check.Err(jpeg.Decode(bytes.NewReader(files[pictures[0]["file"].(string)])))) // the first picture
	check.Contains(t, fmt.Sprint(of(lines, "console")), "text:bought {n: 1}")
	check.Contains(t, fmt.Sprint(of(lines, "event")), "pageError", "too many", "RangeError")
	bodies := map[string]string{}
	for _, l := range network {
		s := l["snapshot"].(line)
		address := s["request"].(line)["url"].(string)
		if file, ok := s["response"].(line)["content"].(line)["_file"].(string); ok {
			bodies[strings.TrimPrefix(address, url)] = string(files[file])
		}
	}
	if bodies["/style.css"] != "b { color: red }" || bodies["/api"] != `{"items": 1, "token": "[REDACTED]"}` {
		t.Errorf("got bodies %q", bodies)
	}
}

func TestATraceWithoutPicturesAndDocuments(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	lines, _, _ := contents(t, buy(t, w, record.TraceOptions{Sources: true}, browsertest.Routes(t, shop)))
	check.Equal(t, "documents and pictures", len(of(lines, "frame-snapshot"))+len(of(lines, "screencast-frame")), 0)
	check.Equal(t, "actions", len(of(lines, "before")), 4)
	check.Contains(t, fmt.Sprint(of(lines, "stderr")), "sources were asked for")
}

func TestFramesOfOtherProcessesAreInTheTrace(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	inner := strings.Replace(
		browsertest.Routes(t, map[string]any{"/": `<p>from elsewhere<iframe srcdoc="<p>innermost"></iframe>`}), "127.0.0.1",
		"localhost", 1)
	tab := browsertest.Tab(t, w.browser,
		page.TabOptions{URL: browsertest.Routes(t,
			map[string]any{"/": `<iframe src="` + inner + `"></iframe><iframe srcdoc="<p>beside"></iframe>`})})
	check.Must(t, w.tracer.Start(w.browser, patient))
	browsertest.Eventually(t, "the frames have loaded", func() bool {
		text, _ := tab.Text(t.Context(), "")
		return strings.Contains(text, "innermost") && strings.Contains(text, "beside")
	})
	w.tracer.BeginAction(t.Context(), tab, "look", nil)(nil)
	lines, _ := w.finish(t)
	byID := documents(lines)
	mainID, otherID := "frame@"+string(tab.MainFrame().ID()), "frame@"+string(tab.Frames()[1].ID())
	check.Contains(t, byID[mainID], `"/snapshot/`+otherID+`"`, `"/snapshot/`+mainID+`.2"`)
	check.Contains(t, byID[otherID], "from elsewhere", `"/snapshot/`+otherID+`.1"`)
	check.Contains(t, byID[mainID+".2"], "beside")
	check.Contains(t, byID[otherID+".1"], "innermost")
}

func TestFramesOfOtherOriginsInTheProcessOfThePageAreInTheTrace(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	named := func(host, html string) string {
		return strings.Replace(browsertest.Routes(t, map[string]any{"/": html}), "127.0.0.1", host, 1)
	}
	far := named("127.0.0.1", `<p>of another site`)
	lodger := named("pay.shop.localhost", `<p>lodger<input type=password value=hunter2><iframe src="`+far+
		`"></iframe><iframe srcdoc="<p>within the lodger"></iframe>`)
	url := named("www.shop.localhost", `<iframe src="`+lodger+`"></iframe><iframe srcdoc="<p>wrapping<iframe src='`+lodger+
		`'></iframe>"></iframe>`)
	tab := browsertest.Tab(t, w.browser, page.TabOptions{URL: url})
	check.Must(t, w.tracer.Start(w.browser, patient))
	browsertest.Eventually(t, "the frames are known", func() bool { return len(tab.Frames()) == 5 })
	w.tracer.BeginAction(t.Context(), tab, "look", nil)(nil)
	lines, _ := w.finish(t)
	docs := documents(lines)
	check.Equal(t, "documents", len(docs), 8)
	id := func(f *frame.Frame) string { return "frame@" + string(f.ID()) }
	main := id(tab.MainFrame())
	around := map[string]string{} // where each frame has to be
	for _, f := range tab.Frames()[1:] {
		if f.Parent() != tab.MainFrame() {
			check.Contains(t, docs[id(f)], "of another site")
			check.Contains(t, docs[id(f.Parent())], `"/snapshot/`+id(f)+`"`)
			continue
		}
		check.Contains(t, docs[id(f)], `"lodger"`, `"/snapshot/`+id(f)+`.2"`)
		check.Contains(t, docs[id(f)+".2"], "within the lodger")
		for _, holder := range []string{main, main + ".2"} {
			if strings.Contains(docs[holder], `"/snapshot/`+id(f)+`"`) {
				around[holder] = id(f)
			}
		}
	}
	if len(around) != 2 || around[main] == around[main+".2"] {
		t.Errorf("the frames have their places at %v in %v", around, docs)
	}
	for name, html := range docs {
		if strings.Contains(html, "hunter2") {
			t.Errorf("the password is in %s", name)
		}
	}
}

func TestAHugeDocumentIsLeftOutAndSaidSo(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	tab := browsertest.Tab(t, w.browser,
		page.TabOptions{URL: browsertest.Routes(t,
			map[string]any{"/": `<p id=long hidden><script>long.append('x'.repeat(3_000_000))</script>`})})
	check.Must(t, w.tracer.Start(w.browser, patient))
	w.tracer.BeginAction(t.Context(), tab, "look", nil)(nil)
	lines, _ := w.finish(t)
	check.Equal(t, "documents", len(of(lines, "frame-snapshot")), 0)
	check.Contains(t, fmt.Sprint(of(lines, "log")), "no document before the action", "2097152 characters")
}

func TestOneTraceAtATime(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	check.Fails(t, w.tracer.Stop(t.Context(), filepath.Join(t.TempDir(), "none.zip")), record.ErrNoTrace)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() { errs[i] = w.tracer.Start(w.browser, record.TraceOptions{}) })
	}
	wg.Wait()
	started := 0
	for _, err := range errs {
		switch {
		case err == nil:
			started++
		case !errors.Is(err, record.ErrTraceRunning):
			t.Errorf("got %v, want ErrRunning", err)
		}
	}
	if started != 1 {
		t.Errorf("%d of %d starters started a trace, want 1", started, len(errs))
	}
	dir := t.TempDir()
	stopped := 0
	for i := range errs {
		wg.Go(func() {
			errs[i] = w.tracer.Stop(browsertest.Within(t, browsertest.Patience), filepath.Join(dir, strconv.Itoa(i)))
		})
	}
	wg.Wait()
	for _, err := range errs {
		switch {
		case err == nil:
			stopped++
		case !errors.Is(err, record.ErrNoTrace):
			t.Errorf("got %v, want ErrNone", err)
		}
	}
	if files, _ := os.ReadDir(dir); stopped != 1 || len(files) != 1 {
		t.Errorf("%d stops and %d files, want one of each", stopped, len(files))
	}
}

func TestNothingIsLeftOfATraceThatIsGivenUp(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	tab := browsertest.Tab(t, w.browser, page.TabOptions{URL: browsertest.Routes(t, shop)})
	start := func() func(error) {
		check.Must(t, w.tracer.Start(w.browser, patient))
		return w.tracer.BeginAction(t.Context(), tab, "look", nil)
	}
	end := start()
	w.tracer.Abort()
	end(nil) // an action may outlast its trace
	w.wantNothingLeft(t)

	start()(nil)
	dir := t.TempDir()
	stopped := errors.New("stopped by a person")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	check.Fails(t, w.tracer.Stop(ctx, filepath.Join(dir, "trace.zip")), stopped)
	w.wantNothingLeft(t)

	start()(nil)
	check.Fails(t, w.tracer.Stop(browsertest.Within(t, browsertest.Patience),
		filepath.Join(dir, "missing", "trace.zip")), os.ErrNotExist)
	w.wantNothingLeft(t)
	if files, _ := os.ReadDir(dir); len(files) != 0 {
		t.Errorf("got %d files beside, want none", len(files))
	}
}

func TestNothingIsLeftWhenTheBrowserIsKilled(t *testing.T) {
	own := browsertest.Launch(t)
	w := openTraced(t, own)
	tab := browsertest.Tab(t, w.browser, page.TabOptions{URL: browsertest.Routes(t, shop)})
	check.Must(t, w.tracer.Start(w.browser, patient))
	end := w.tracer.BeginAction(t.Context(), tab, "look", nil)
	browsertest.Kill(t, own)
	<-w.browser.Done()
	end(errors.New("gone"))
	browsertest.Eventually(t, "the directory is empty", func() bool {
		files, err := os.ReadDir(w.dir)
		return err == nil && len(files) == 0
	})
	err := w.tracer.Stop(t.Context(), filepath.Join(t.TempDir(), "trace.zip"))
	if !errors.Is(err, record.ErrNoTrace) || !errors.Is(err, page.ErrBrowserGone) {
		t.Errorf("got %v, want that there is none because the browser is gone", err)
	}
	check.Fails(t, w.tracer.Start(w.browser, patient), page.ErrBrowserGone)
}

func TestADialogDoesNotHoldUpATrace(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	tab := browsertest.Tab(t, w.browser,
		page.TabOptions{URL: browsertest.Routes(t, map[string]any{"/": `<button onclick="alert('stop')">Ask</button>`})})
	check.Must(t, w.tracer.Start(w.browser, patient))
	end := w.tracer.BeginAction(t.Context(), tab, "click", nil)
	if _, err := tab.Act(browsertest.Within(t, browsertest.Patience),
		page.Action{Kind: actiontable.KindClick, Selector: "button"}); err != nil {
		t.Fatal(err)
	}
	end(nil)
	check.Must(t, tab.AnswerDialog(browsertest.Within(t, browsertest.Patience), true, ""))
	lines, _ := w.finish(t)
	check.Contains(t, fmt.Sprint(of(lines, "log")), "no document after the action: a dialog is open")
}

func TestPicturesComeAtABoundedRate(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	tab := browsertest.Tab(t, w.browser,
		page.TabOptions{URL: browsertest.Routes(t,
			map[string]any{"/": `<p id=p>0</p><script>const draw = () => { p.textContent++; requestAnimationFrame(draw) }; draw()</script>`})})
	check.Must(t, w.tracer.Start(w.browser, record.TraceOptions{Screenshots: true}))
	// The page runs for as long as it takes to draw a hundred frames.
	_, err := tab.Act(browsertest.Within(t, 60*time.Second), page.Action{
		Kind: actiontable.KindWait, TimeoutMs: 50_000,
		Fn: `() => { const first = window.first ??= +p.textContent; return +p.textContent > first + 100 }`,
	})
	check.Must(t, err)
	lines, _ := w.finish(t)
	var times []float64
	for _, l := range of(lines, "screencast-frame") {
		if l["pageId"] == "page@"+tab.ID() {
			times = append(times, l["timestamp"].(float64))
		}
	}
	if len(times) < 3 {
		t.Errorf("got %d pictures, want several", len(times))
	}
	for i := range len(times) - 3 {
		if gap := times[i+3] - times[i]; gap < 240 {
			t.Errorf("pictures %d to %d came within %.0f ms, want at least the interval of 250", i, i+3, gap)
		}
	}
}

func TestWhatThereIsNoRoomForIsLeftOutAndSaidOnce(t *testing.T) {
	w := openTraced(t, browser.Process(t))
	tab := browsertest.Tab(t, w.browser, page.TabOptions{URL: browsertest.Routes(t, shop)})
	check.Must(t, w.tracer.Start(w.browser, patient))
	w.tracer.SetBudget("bodies", 3)
	for range 2 {
		if _, err := tab.Act(browsertest.Within(t, browsertest.Patience),
			page.Action{Kind: actiontable.KindClick, Selector: "button"}); err != nil {
			t.Fatal(err)
		}
	}
	browsertest.Eventually(t, "both answers are recorded", func() bool {
		ended := 0
		for _, e := range w.recorder.HAR(tab).Log.Entries {
			if strings.HasSuffix(e.Request.URL, "/api") && e.Time > 0 && e.Response.TransferSize > 0 {
				ended++
			}
		}
		return ended == 2
	})
	lines, network := w.finish(t)
	if notes := of(lines, "stderr"); len(notes) != 1 ||
		!strings.Contains(fmt.Sprint(notes), "bodies are left out from here on") {
		t.Errorf("got notes %v, want one", notes)
	}
	if len(network) < 2 {
		t.Errorf("got %d requests, want them without their bodies", len(network))
	}
}

// viewer finds the command line of the trace viewer, or skips the test: it needs node and an unpacked playwright-core.
func viewer(t *testing.T) (node, cli string) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("the viewer's own reader needs node")
	}
	cli = filepath.Join(os.Getenv("CLANK_PLAYWRIGHT_CORE"), "cli.js")
	if _, err := os.Stat(cli); err != nil {
		t.Skip("the viewer's own reader needs playwright-core: set CLANK_PLAYWRIGHT_CORE to its folder")
	}
	return node, cli
}

func TestTheViewersOwnReaderOpensATrace(t *testing.T) {
	node, cli := viewer(t)
	w := openTraced(t, browser.Process(t))
	path := buy(t, w, patient, browsertest.Routes(t, shop))
	dir := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), node, append([]string{cli, "trace"}, args...)...)
		cmd.Dir = dir
		return cmd
	}
	ask := func(args ...string) string {
		out, err := command(args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	ask("open", path)
	check.Contains(t, ask("actions"), "navigate http://", "click button", "click #missing")
	check.Contains(t, ask("action", "2"), `selector: "button"`, "before, after")
	check.Contains(t, ask("console"), "bought {n: 1}", "too many")
	check.Contains(t, ask("errors"), "#missing", "not found or not visible")
	check.Contains(t, ask("requests"), "style.css", "POST")
	ask("screenshot", "2")

	serve := command("snapshot", "2", "--phase", "after", "--serve")
	check.OwnGroup(serve)
	out, err := serve.StdoutPipe()
	check.Must(t, err)
	check.Must(t, serve.Start())
	defer func() {
		check.KillGroup(serve)
		_ = serve.Wait()
	}()
	text, err := bufio.NewReader(out).ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(text), "http://")
	if err != nil || !ok {
		t.Fatalf("got %q (%v), want where the document is served", text, err)
	}
	tab := browsertest.Tab(t, w.browser, page.TabOptions{URL: "http://" + address})
	if _, err := tab.Act(browsertest.Within(t, 30*time.Second),
		page.Action{Kind: actiontable.KindWait, URL: "**/snapshot/**", TimeoutMs: 20_000}); err != nil {
		t.Fatal(err)
	}
	res, err := tab.Act(browsertest.Within(t, 30*time.Second),
		page.Action{Kind: actiontable.KindEvaluate, TimeoutMs: 20_000, Fn: `async () => {
	const shown = () => { const b = document.querySelector('b'); return b && [b.textContent, getComputedStyle(b).color,
		document.querySelector('#name')?.value, document.querySelector('#host')?.shadowRoot?.textContent].join(' | ') };
	while (!(shown()?.includes('255') && shown().includes('shadow'))) await new Promise(done => setTimeout(done, 50));
	return shown(); }`})
	if got, want := string(res.Value), `"Sold | rgb(255, 0, 0) | Ada | in the shadow"`; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}
