package dashboard_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/llm"
	"clank/sessions"
)

// event is one server-sent event.
type event struct{ id, name, data string }

// reading is an open stream.
type reading struct {
	t    *testing.T
	body io.ReadCloser
	sc   *bufio.Scanner
}

func (r *rig) read(path, after string, changes ...change) *reading {
	r.t.Helper()
	return r.readFrom(r.do("GET", path, "", append(changes, header("Last-Event-ID", after))...))
}

// readFrom starts reading a streamed response.
func (r *rig) readFrom(res *http.Response) *reading {
	r.t.Helper()
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		r.t.Fatalf("%s: %d %v", res.Request.URL, res.StatusCode, res.Header)
	}
	r.t.Cleanup(func() { res.Body.Close() })
	sc := bufio.NewScanner(res.Body)
	sc.Buffer(nil, 4<<20)
	return &reading{r.t, res.Body, sc}
}

// next returns the next event; ok is false at the end of the stream, and if nothing comes for a while.
func (s *reading) next() (event, bool) {
	s.t.Helper()
	defer time.AfterFunc(time.Minute, func() { s.body.Close() }).Stop()
	var e event
	for s.sc.Scan() {
		name, value, _ := strings.Cut(s.sc.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			e.data = value
		case "":
			if e.data != "" {
				return e, true
			}
		}
	}
	return event{}, false
}

func (s *reading) want(name string) event {
	s.t.Helper()
	e, ok := s.next()
	if !ok || e.name != name {
		s.t.Fatalf("event %q %s (more: %v), want %q", e.name, e.data, ok, name)
	}
	return e
}

func TestAStreamBeginsWithASnapshotAndResumesWhereItBroke(t *testing.T) {
	r := start(t)
	held := r.startTask(`{"prompt":"hold"}`)
	eventually(t, "the task has begun its act", func() bool {
		v, err := r.client().Task(t.Context(), held.TaskID)
		return err == nil && len(v.Steps) == 2
	})
	s := r.read("/api/events", "")
	snap := decode[api.PageSnapshot](t, s.want("snapshot").data)
	if len(snap.Sessions) != 1 || len(snap.Tasks) != 1 || len(snap.Tasks[0].Steps) != 2 {
		t.Fatalf("snapshot = %+v", snap)
	}
	r.backend.letGo()
	at := s.want("step")
	if decode[api.StepEvent](t, at.data).Step.Phase == sessions.PhaseBegun { // it was under way when the stream was opened
		at = s.want("step")
	}
	s.body.Close()

	var all []event
	eventually(t, "the task is done", func() bool {
		v, err := r.client().Task(t.Context(), held.TaskID)
		return err == nil && v.Task.State.Final()
	})
	s = r.read("/api/events", at.id)
	for {
		e, ok := s.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if e.name == "snapshot" {
			t.Fatal("a snapshot was sent though nothing was lost")
		}
		all = append(all, e)
		if e.name == "task" && strings.Contains(e.data, `"state":"done"`) {
			break
		}
	}
	var steps []int
	for _, e := range all {
		if e.name == "step" {
			steps = append(steps, decode[api.StepEvent](t, e.data).Step.N)
		}
	}
	if len(steps) != 7 || steps[0] != 3 || steps[6] != 6 {
		t.Errorf("steps after the break = %v", steps)
	}
	for _, id := range []string{"gone-3", "garbage", at.id + "99", strings.Replace(at.id, "-", "--", 1)} {
		r.read("/api/events", id).want("snapshot")
	}
}

func TestAPageGetsEventsOfTasksThatAreNotPrivateInDiscord(t *testing.T) {
	r := start(t)
	s := r.read("/api/events", "")
	s.want("snapshot")
	for prompt, private := range map[string]bool{"brief secret": true, "brief lamps": false} {
		origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c" + prompt, User: "u", Private: private}
		_, err := r.manager.Run(t.Context(), sessions.Task{Prompt: prompt, Origin: origin}, nil)
		check.Must(t, err)
	}
	mine := r.startTask(`{"prompt":"brief mine"}`) // after the others in the stream
	var told strings.Builder
	for e, ok := s.next(); !strings.Contains(e.data, mine.TaskID) || !strings.Contains(e.data, `"state":"done"`); e, ok = s.next() {
		if !ok {
			t.Fatal("the stream ended")
		}
		told.WriteString(e.data)
	}
	_, listed := r.ask("GET", "/api/sessions", "")
	for where, text := range map[string]string{"told": told.String(), "listed": listed} {
		if strings.Contains(text, "secret") || strings.Contains(text, "(private)") {
			t.Errorf("%s what is private: %s", where, text)
		}
		if !strings.Contains(text, "brief lamps") || !strings.Contains(text, "mine") {
			t.Errorf("%s too little: %s", where, text)
		}
	}
	hold := sessions.Task{Prompt: "hold secret", Origin: sessions.Origin{
		Kind: sessions.FromDiscord, User: "u",
		Private: true,
	}}
	running := make(chan struct{})
	go func() {
		defer close(running)
		_, _ = r.manager.Run(t.Context(), hold, nil)
	}()
	eventually(t, "the private task runs", func() bool { return len(r.backend.typed()) == 4 })
	if snapshot := r.read("/api/events", "").want("snapshot"); strings.Contains(snapshot.data, `"running"`) {
		t.Errorf("a page that comes later is told of the private task that runs: %s", snapshot.data)
	}
	r.backend.letGo()
	<-running
}

func TestATasksStreamEndsWithTheTask(t *testing.T) {
	r := start(t)
	held := r.startTask(`{"prompt":"hold"}`)
	path := "/api/tasks/" + held.TaskID + "/events"
	s := r.read(path, "")
	first := s.want("snapshot")
	r.startTask(`{"prompt":"brief, of no concern"}`)
	r.backend.letGo()
	last := event{}
	for e, ok := s.next(); ok; e, ok = s.next() {
		check.Lacks(t, e.data, "of no concern")
		last = e
	}
	if last.name != "task" || !strings.Contains(last.data, `"state":"done"`) {
		t.Errorf("last event = %+v", last)
	}
	s = r.read(path, first.id)
	if e, ok := s.next(); !ok || e.name != "snapshot" || !strings.Contains(e.data, `"state":"done"`) {
		t.Errorf("a finished task = %+v", e)
	}
	if e, ok := s.next(); ok {
		t.Errorf("after the end came %+v", e)
	}
}

func TestASlowReaderDoesNotBlockOthers(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of events")
	}
	r := start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.server.URL(), "http://"))
	check.Must(t, err)
	defer conn.Close()
	check.Must(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	if _, err := io.WriteString(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+r.token+
		"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	check.Must(t, check.Err(conn.Read(make([]byte, 1))))
	ctx, done := context.WithTimeout(t.Context(), 2*time.Minute)
	defer done()
	started := r.startTask(`{"prompt":"flood"}`)
	told := map[int]int{}
	rec, err := r.client().Follow(ctx, started.TaskID, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.Phase == sessions.PhaseDone {
			told[ev.Step.N]++
		}
	})
	if err != nil || rec.State != sessions.TaskDone {
		t.Fatalf("task = %s, %v", rec.State, err)
	}
	for n := 1; n <= rec.Steps; n++ {
		if told[n] != 1 {
			t.Fatalf("step %d was told %d times", n, told[n])
		}
	}
	if rec.Steps < floodActs {
		t.Errorf("%d steps", rec.Steps)
	}
}

func TestAClientReconnectsWhenItsConnectionBreaks(t *testing.T) {
	r := start(t)
	held := r.startTask(`{"prompt":"hold"}`)
	var cuts atomic.Int32
	resumed := sync.OnceFunc(r.backend.letGo)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// The first stream is cut once something came; the second one not even answered.
		n := cuts.Add(1)
		if n == 2 {
			panic(http.ErrAbortHandler)
		}
		req, _ := http.NewRequestWithContext(q.Context(), q.Method, r.server.URL()+q.URL.Path, nil)
		req.Header = q.Header.Clone()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer res.Body.Close()
		w.WriteHeader(res.StatusCode)
		buf := make([]byte, 4096)
		for {
			k, err := res.Body.Read(buf)
			_, _ = w.Write(buf[:k])
			w.(http.Flusher).Flush()
			if err != nil || n == 1 {
				return
			}
			if n == 3 {
				resumed()
			}
		}
	}))
	defer proxy.Close()
	c := &api.Client{Base: proxy.URL, Token: r.token}
	var seen []string
	rec, err := c.Follow(t.Context(), held.TaskID, func(ev sessions.Event) {
		if ev.Step != nil && ev.Step.Kind == sessions.StepAct {
			seen = append(seen, string(ev.Step.Phase)+" "+ev.Step.Label)
		}
	})
	if err != nil || rec.State != sessions.TaskDone {
		t.Fatalf("task = %s, %v", rec.State, err)
	}
	want := `begun open the demo shop|done open the demo shop|begun type "lamp" into Search|done type "lamp" into Search|begun press Enter|done press Enter`
	if got := strings.Join(seen, "|"); got != want {
		t.Errorf("told:\n%s\nwant:\n%s", got, want)
	}
}

func TestFollowingObeysItsContextAndRefusals(t *testing.T) {
	r := start(t)
	held := r.startTask(`{"prompt":"hold"}`)
	why := errors.New("enough")
	ctx, end := context.WithCancelCause(t.Context())
	_, err := r.client().Follow(ctx, held.TaskID, func(sessions.Event) { end(why) })
	check.Fails(t, err, why)
	var no *api.StatusError
	if _, err := r.client().Follow(t.Context(), "nope", nil); !errors.As(err, &no) || no.Status != 404 {
		t.Errorf("following nothing: %v", err)
	}
	c := &api.Client{Base: r.server.URL(), Token: "wrong"}
	if _, err := c.Sessions(t.Context()); !errors.As(err, &no) || no.Status != 401 {
		t.Errorf("a wrong token: %v", err)
	}
}

func TestTheClientOfEveryRoute(t *testing.T) {
	r := start(t)
	c := r.client()
	if h, err := c.Health(t.Context()); err != nil || h.Version != "test" {
		t.Errorf("health = %+v, %v", h, err)
	}
	rec := r.finish(`{"prompt":"lamps","origin":"terminal"}`)
	if im, err := c.View(t.Context(), rec.ID, 2); err != nil || im.MediaType != "image/png" || len(im.Data) == 0 {
		t.Errorf("view = %s, %d bytes, %v", im.MediaType, len(im.Data), err)
	}
	if list, err := c.Sessions(t.Context()); err != nil || len(list) != 1 || list[0].ID != rec.SessionID {
		t.Errorf("sessions = %v, %v", list, err)
	}
	if list, err := c.Tasks(t.Context(), map[string][]string{"origin": {"terminal"}}); err != nil || len(list) != 1 {
		t.Errorf("tasks = %v, %v", list, err)
	}
	check.Must(t, c.CloseSession(t.Context(), rec.SessionID))
	view, err := c.Settings(t.Context())
	if err != nil || len(view.Settings) < 20 {
		t.Fatalf("settings = %v, %v", view, err)
	}
	view, err = c.ChangeSettings(t.Context(),
		api.SettingsChange{Version: &view.Version, Changes: map[string]jsonRaw{"interaction.tasks.maxAtOnce": jsonRaw("5")}})
	if err != nil || r.server.Settings.Current().MaxTasks != 5 {
		t.Errorf("change = %v, %v", view, err)
	}
	nobody := &api.Client{Base: "http://127.0.0.1:1"}
	check.Fails(t, check.Err(nobody.Health(t.Context())), nil, "http://127.0.0.1:1")
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	check.Fails(t, check.Err((&api.Client{Base: other.URL}).Health(t.Context())), nil, "answered 404 Not Found")
}

var taskQueryAll = sessions.TaskQuery{}

func TestATaskOutlivesTheRequestThatStartedIt(t *testing.T) {
	r := start(t)
	started := r.startTask(`{"prompt":"hold the line"}`)
	if started.TaskID == "" || started.SessionID == "" {
		t.Fatalf("started = %+v", started)
	}
	r.backend.letGo()
	rec, err := r.client().Follow(t.Context(), started.TaskID, func(sessions.Event) {})
	if err != nil || rec.State != sessions.TaskDone || !strings.HasPrefix(rec.Answer, "Six lamps") {
		t.Fatalf("task = %+v, %v", rec, err)
	}
	if len(rec.Images) != 1 || len(rec.Images[0].Data) == 0 {
		t.Errorf("pictures = %d", len(rec.Images))
	}
	_, body := r.ask("GET", "/api/tasks/"+started.TaskID, "")
	view := decode[api.TaskView](t, body)
	if len(view.Steps) != 6 || view.Steps[1].View == nil || view.Steps[1].View.Data != nil ||
		view.Task.Images[0].Data != nil {
		t.Errorf("steps and pictures: %s", body)
	}
	if view.Task.Origin.Kind != sessions.FromDashboard || view.Task.Origin.Channel != api.PageChannel {
		t.Errorf("origin = %+v", view.Task.Origin)
	}
}

func TestPicturesAreServedAsPicturesOnly(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"lamps"}`)
	for _, path := range []string{"/api/steps/" + rec.ID + "/2/view", "/api/tasks/" + rec.ID + "/images/0"} {
		res := r.do("GET", path, "")
		res.Body.Close()
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != "image/png" ||
			!strings.Contains(res.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: %d %v", path, res.StatusCode, res.Header)
		}
	}
	if got, _ := r.ask("GET", "/api/tasks/"+rec.ID+"/images/1", ""); got != http.StatusNotFound {
		t.Errorf("a picture that is not there: %d", got)
	}
	if got, _ := r.ask("GET", "/api/steps/"+rec.ID+"/1/view", ""); got != http.StatusNotFound {
		t.Errorf("a step without a picture: %d", got)
	}
	session, err := r.store.Session(t.Context(), rec.SessionID)
	check.Must(t, err)
	page := llm.Image{MediaType: "text/html", Data: []byte("<script>alert(1)</script>")}
	step := sessions.Step{N: 2, Kind: sessions.StepAct, Phase: sessions.PhaseDone, Label: "open", View: &page}
	check.Must(t, r.store.SaveStep(t.Context(), rec, session, step, 20))
	if got, body := r.ask("GET", "/api/steps/"+rec.ID+"/2/view", ""); got != http.StatusNotFound ||
		strings.Contains(body, "alert") {
		t.Errorf("a page in place of a picture: %d %s", got, body)
	}
}

func TestASessionContinuesAndIsListedByItsFirstPrompt(t *testing.T) {
	r := start(t)
	first := r.finish(`{"prompt":"brief first"}`)
	second := r.finish(`{"prompt":"brief second","session_id":"` + first.SessionID + `"}`)
	terminal := r.finish(`{"prompt":"brief from a terminal","origin":"terminal"}`)
	if second.SessionID != first.SessionID || terminal.SessionID == first.SessionID {
		t.Errorf("sessions: %s, %s, %s", first.SessionID, second.SessionID, terminal.SessionID)
	}
	_, body := r.ask("GET", "/api/sessions", "")
	list := decode[[]api.SessionView](t, body)
	if len(list) != 2 || list[0].Prompt != "brief from a terminal" || list[1].Prompt != "brief first" ||
		list[0].Origin.Kind != sessions.FromTerminal {
		t.Errorf("sessions = %s", body)
	}
	_, body = r.ask("GET", "/api/tasks?steps=1&session="+first.SessionID, "")
	tasks := decode[[]api.TaskView](t, body)
	if len(tasks) != 2 || tasks[0].Task.ID != second.ID || len(tasks[1].Steps) != 1 {
		t.Errorf("tasks = %s", body)
	}
	_, body = r.ask("GET", "/api/tasks?limit=1&origin=dashboard&before="+second.Asked.Format(time.RFC3339Nano), "")
	if tasks = decode[[]api.TaskView](t, body); len(tasks) != 1 || tasks[0].Task.ID != first.ID {
		t.Errorf("tasks before = %s", body)
	}
}

func TestAClosedSessionCannotBeContinued(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"brief"}`)
	if got, body := r.ask("POST", "/api/sessions/"+rec.SessionID+"/close", "{}"); got != http.StatusNoContent {
		t.Fatalf("close = %d %s", got, body)
	}
	got, body := r.ask("POST", "/api/tasks", `{"prompt":"brief","session_id":"`+rec.SessionID+`"}`)
	if got != http.StatusConflict || !strings.Contains(body, "closed") {
		t.Errorf("going on = %d %s", got, body)
	}
}

func TestASessionThatIsNotThereIsNamed(t *testing.T) {
	r := start(t)
	got, body := r.ask("POST", "/api/tasks", `{"prompt":"brief","session_id":"nope"}`)
	if got != http.StatusNotFound || !strings.Contains(body, `there is no session \"nope\"`) {
		t.Errorf("got %d %s, want which session is not there", got, body)
	}
}

func TestStoppingOneTaskDoesNotAffectOthers(t *testing.T) {
	r := start(t)
	one, two := r.startTask(`{"prompt":"hold one"}`), r.startTask(`{"prompt":"hold two"}`)
	if stopped, err := r.client().Stop(t.Context(), one.TaskID); err != nil || !stopped {
		t.Fatalf("stop = %v, %v", stopped, err)
	}
	rec, err := r.client().Follow(t.Context(), one.TaskID, func(sessions.Event) {})
	if err != nil || rec.State != sessions.TaskStopped || rec.Reason != "stopped by you" {
		t.Errorf("stopped task = %s %q, %v", rec.State, rec.Reason, err)
	}
	if stopped, err := r.client().Stop(t.Context(), one.TaskID); err != nil || stopped {
		t.Errorf("stopping it again = %v, %v", stopped, err)
	}
	if v, err := r.client().Task(t.Context(), two.TaskID); err != nil || v.Task.State.Final() {
		t.Errorf("the other task = %+v, %v", v.Task, err)
	}
}

func TestSayingStopStopsThePagesWorkAndNothingElse(t *testing.T) {
	r := start(t)
	mine, terminal := r.startTask(`{"prompt":"hold mine"}`), r.startTask(`{"prompt":"hold terminal","origin":"terminal"}`)
	status, body := r.ask("POST", "/api/tasks", `{"prompt":"ok, stop please!"}`)
	if got := decode[api.TasksStopped](t, body); status != 200 || len(got.Stopped) != 1 || got.Stopped[0] != mine.TaskID {
		t.Errorf("stop = %d %s", status, body)
	}
	rec, err := r.client().Follow(t.Context(), mine.TaskID, func(sessions.Event) {})
	if err != nil || rec.State != sessions.TaskStopped {
		t.Errorf("task = %s, %v", rec.State, err)
	}
	if v, _ := r.client().Task(t.Context(), terminal.TaskID); v.Task.State.Final() {
		t.Errorf("the terminal's task is %s", v.Task.State)
	}
	if _, body := r.ask("POST", "/api/stop", "{}"); strings.TrimSpace(body) != `{"stopped":[]}` {
		t.Errorf("stopping nothing = %s", body)
	}
	check.Fails(t, check.Err(r.client().Start(t.Context(), api.TaskRequest{Prompt: "stop"})), nil, "a wish to stop")
	if got := r.startTask(`{"prompt":"stop","origin":"terminal"}`); got.TaskID == "" {
		t.Error("a terminal's words were taken as a wish to stop")
	}
}

func TestClosingEndsTasksAndStreams(t *testing.T) {
	r := start(t)
	started := r.startTask(`{"prompt":"hold"}`)
	for _, path := range []string{"/api/events", "/api/tasks/" + started.TaskID + "/events"} {
		res := r.do("GET", path, "")
		defer res.Body.Close()
	}
	began := time.Now()
	ctx, done := context.WithTimeout(t.Context(), 10*time.Second)
	defer done()
	check.Must(t, r.server.Close(ctx))
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("closing took %v", took)
	}
	rec, err := r.manager.Task(t.Context(), started.TaskID)
	if err != nil || !rec.State.Final() || !strings.Contains(rec.Reason, "stopped by the restart") {
		t.Errorf("task = %s %q, %v", rec.State, rec.Reason, err)
	}
}

func TestATaskIsTypedOnlyIfTheFrontEndSaysSo(t *testing.T) {
	r := start(t)
	for _, body := range []string{
		`{"prompt":"brief"}`, `{"prompt":"brief","origin":"terminal"}`,
		`{"prompt":"brief","typed":true}`, `{"prompt":"brief","origin":"terminal","typed":true}`,
	} {
		r.finish(body)
	}
	if got, want := r.backend.typed(), []bool{false, false, true, true}; !slices.Equal(got, want) {
		t.Errorf("typed: %v, want %v", got, want)
	}
}

func TestARunningTaskGetsANote(t *testing.T) {
	r := start(t)
	c := r.client()
	started, err := c.Start(t.Context(), api.TaskRequest{Prompt: "hold: find a lamp"})
	check.Must(t, err)
	for _, path := range []string{"/api/tasks/" + started.TaskID, "/api/sessions/" + started.SessionID} {
		got, body := r.ask("POST", path+"/say", `{"text":"the red one"}`)
		if said := decode[api.NoteAccepted](t, body); got != http.StatusAccepted || said.TaskID != started.TaskID {
			t.Errorf("%s: %d %s", path, got, body)
		}
	}
	if id, err := c.SendNote(t.Context(), started.TaskID,
		api.NoteRequest{Text: "from a terminal", Origin: sessions.FromTerminal}); err != nil || id != started.TaskID {
		t.Errorf("over the client: %q, %v", id, err)
	}
	for body, want := range map[string]int{
		`{"text":" "}`: 400, `{"text":"x","origin":"discord"}`: 400,
		`{"word":"x"}`: 400,
	} {
		if got, answer := r.ask("POST", "/api/tasks/"+started.TaskID+"/say", body); got != want {
			t.Errorf("%s: %d %s", body, got, answer)
		}
	}
	if got, body := r.ask("POST", "/api/tasks/"+started.TaskID+"/say", `{"text":"stop"}`); got != http.StatusOK ||
		!strings.Contains(body, started.TaskID) {
		t.Errorf("stop: %d %s", got, body)
	}
	if rec, err := c.Follow(t.Context(), started.TaskID, func(sessions.Event) {}); err != nil ||
		rec.State != sessions.TaskStopped {
		t.Fatalf("after the stop: %s, %v", rec.State, err)
	}
	got, body := r.ask("POST", "/api/tasks/"+started.TaskID+"/say", `{"text":"too late"}`)
	if got != http.StatusNotFound || !strings.Contains(body, "has ended (stopped); to go on, start a task in its session "+
		started.SessionID) {
		t.Errorf("after its end: %d %s", got, body)
	}
}

func TestWhatWasSaidTooLateHasTheLimitsOfItsTask(t *testing.T) {
	r := start(t)
	c := r.client()
	started, err := c.Start(t.Context(), api.TaskRequest{Prompt: "hold: find a lamp", MaxSteps: 7, MaxUSD: 0.5})
	check.Must(t, err)
	check.Must(t, check.Err(c.SendNote(t.Context(), started.TaskID, api.NoteRequest{Text: "brief"})))
	events, end := r.manager.Subscribe()
	defer end()
	r.backend.letGo()
	var late sessions.TaskRecord
	for late.ID == "" || late.ID == started.TaskID {
		select {
		case ev := <-events:
			late = ev.Record
		case <-time.After(10 * time.Second):
			t.Fatal("no task follows")
		}
	}
	if late.MaxSteps != 7 || late.MaxUSD != 0.5 {
		t.Errorf("%q may use %d steps and %v USD, want 7 and 0.5", late.Prompt, late.MaxSteps, late.MaxUSD)
	}
}

func TestTheChatSendsNotesToTheRunningTask(t *testing.T) {
	r := start(t)
	tb := r.arrive(launch(t), 1280, 860, "light")
	tb.say("hold: find a lamp")
	tb.waitFor(`document.querySelector(".step .sign.spin")`)
	tb.waitFor(`document.getElementById("prompt").placeholder === "Tell the running task"`)
	tb.say("the red one")
	tb.waitFor(`document.getElementById("hint-text").textContent.startsWith("Passed on")`)
	if got := tb.Eval(`document.querySelectorAll(".turn").length`); got != 1.0 {
		t.Errorf("what was said began another task: %v turns", got)
	}
	r.backend.letGo()
	tb.waitFor(status + ` === "Done"`)
	tb.waitFor(`document.body.textContent.includes("the red one")`)
	tb.waitFor(`document.getElementById("prompt").placeholder === "What should be done?"`)
}

func TestADraftSurvivesAConcurrentSave(t *testing.T) {
	r := start(t)
	tb := r.arrive(launch(t), 1280, 860, "light")
	tb.goTo(r.server.URL() + "/settings")
	field := `document.querySelector("[data-key='interaction.tasks.maxAtOnce'] input")`
	tb.Eval(field + `.focus(); ` + field + `.value = "9"; ` + field +
		`.dispatchEvent(new Event("input", { bubbles: true }))`)
	tb.waitFor(`!document.getElementById("save-bar").hidden`)
	preset := `document.querySelector("[data-key='agentStack.preset'] select")`
	tb.Eval(preset + `.value = "openai_api"; ` + preset + `.dispatchEvent(new Event("input", { bubbles: true }))`)
	tb.waitFor(`document.querySelector(".preview").textContent.includes("Assistant model: openai:gpt-5.6")`)

	r.change(`{"version":"","changes":{"interaction.tasks.maxAtOnce":6,"interaction.sessions.maxConcurrentSessions":33}}`)
	tb.Eval(`document.dispatchEvent(new Event("visibilitychange"))`)
	tb.waitFor(`document.getElementById("save-text").textContent.startsWith("Somebody else saved")`)
	if got := tb.Eval(field +
		`.value + " " + document.querySelector("[data-key='interaction.sessions.maxConcurrentSessions'] input").value`); got != "9 33" {
		t.Errorf("the draft and theirs = %v, want 9 33", got)
	}
	tb.Eval(`document.getElementById("save").click()`)
	tb.waitFor(`document.getElementById("save-text").textContent.startsWith("Saved")`)
	if now := r.server.Settings.Current(); now.MaxTasks != 9 || now.MaxSessions != 33 ||
		now.AssistantModel != "openai:gpt-5.6" {
		t.Errorf("saved: %d tasks, %d sessions, brain %q", now.MaxTasks, now.MaxSessions, now.AssistantModel)
	}
}

// records contains the record of every task but one.
type records struct {
	none   string
	broken bool
}

func (r *records) Has(task string) bool { return task != r.none }

func (r *records) Export(w io.Writer, task string) error {
	if _, err := io.WriteString(w, "record of "+task); err != nil {
		return err
	}
	if r.broken {
		return errors.New("the disk is gone")
	}
	return nil
}

func TestRecordOfATaskIsDownloaded(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"lamps"}`)
	path := "/api/tasks/" + rec.ID + "/run"
	have := &records{}
	r.server.Runs = have
	res := r.do(http.MethodGet, path, "")
	body, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || string(body) != "record of "+rec.ID || res.Header.Get("Content-Type") != "application/zip" ||
		!strings.Contains(res.Header.Get("Content-Disposition"), "run-"+rec.ID+".zip") {
		t.Errorf("%s %v %v", body, res.Header, err)
	}
	if status, body := r.ask(http.MethodHead, path, ""); status != http.StatusOK || body != "" {
		t.Errorf("HEAD: %d %q", status, body)
	}
	have.none = rec.ID
	if status, body := r.ask(http.MethodGet, path, ""); status != http.StatusNotFound ||
		!strings.Contains(body, "not recorded") {
		t.Errorf("a task that was not recorded: %d %s", status, body)
	}
	if status, _ := r.ask(http.MethodGet, "/api/tasks/nonsense/run", ""); status != http.StatusNotFound {
		t.Errorf("no such task: %d", status)
	}
}

func TestRecordAndFilmOfAPrivateTaskAreNotServed(t *testing.T) {
	r := start(t)
	origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", Private: true}
	rec, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "lamps", Origin: origin}, nil)
	check.Must(t, err)
	for _, what := range []string{"run", "film", "film/clip", "film/chapters"} {
		status, body := r.ask(http.MethodGet, "/api/tasks/"+rec.ID+"/"+what, "")
		if status != http.StatusForbidden || !strings.Contains(body, "privately") {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
}

func TestATruncatedRecordDownloadIsAborted(t *testing.T) {
	r := start(t)
	rec := r.finish(`{"prompt":"lamps"}`)
	r.server.Runs = &records{broken: true}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.server.URL()+"/api/tasks/"+rec.ID+"/run", nil)
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		res.Body.Close()
	}
	check.Fails(t, err, nil, "EOF")
}
