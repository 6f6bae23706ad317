package dashboard_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"clank/dashboard/api"
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

func (r *rig) read(path, after string) *reading {
	r.t.Helper()
	res := r.do("GET", path, "", header("Last-Event-ID", after))
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" {
		r.t.Fatalf("%s: %d %v", path, res.StatusCode, res.Header)
	}
	r.t.Cleanup(func() { res.Body.Close() })
	sc := bufio.NewScanner(res.Body)
	sc.Buffer(nil, 4<<20)
	return &reading{r.t, res.Body, sc}
}

// next returns the next event; ok is false at the end of the stream.
func (s *reading) next() (event, bool) {
	s.t.Helper()
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

func TestAStreamBeginsWithASnapshotAndGoesOnWhereItBroke(t *testing.T) {
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

func TestAPageIsNotToldOfDiscord(t *testing.T) {
	r := start(t)
	s := r.read("/api/events", "")
	s.want("snapshot")
	for _, private := range []bool{true, false} {
		origin := sessions.Origin{Kind: sessions.FromDiscord, Guild: "g", Channel: "c", User: "u", Private: private}
		if _, err := r.manager.Run(t.Context(), sessions.Task{Prompt: "brief secret", Origin: origin}, nil); err != nil {
			t.Fatal(err)
		}
	}
	mine := r.startTask(`{"prompt":"brief mine"}`) // after the others in the stream
	for {
		e, ok := s.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		if strings.Contains(e.data, "secret") || !strings.Contains(e.data, mine.TaskID) {
			t.Errorf("told: %s", e.data)
		}
		if strings.Contains(e.data, `"state":"done"`) {
			break
		}
	}
	if _, body := r.ask("GET", "/api/sessions", ""); strings.Contains(body, "secret") || !strings.Contains(body, "mine") {
		t.Errorf("listed: %s", body)
	}
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
		if strings.Contains(e.data, "of no concern") {
			t.Errorf("another task's event: %s", e.data)
		}
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

func TestAReaderWhoDoesNotReadHoldsNobodyUp(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of events")
	}
	r := start(t)
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.server.URL(), "http://"))
	must(t, err)
	defer conn.Close()
	must(t, conn.(*net.TCPConn).SetReadBuffer(4096))
	if _, err := io.WriteString(conn, "GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+r.token+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
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

func TestAClientComesBackWhenItsConnectionBreaks(t *testing.T) {
	r := start(t)
	held := r.startTask(`{"prompt":"hold"}`)
	var cuts atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// Every stream is cut after a while; the second one not even answered.
		n := cuts.Add(1)
		if n == 2 {
			panic(http.ErrAbortHandler)
		}
		ctx, done := context.WithCancel(q.Context())
		defer done()
		if n == 1 {
			time.AfterFunc(50*time.Millisecond, done)
		}
		req, _ := http.NewRequestWithContext(ctx, q.Method, r.server.URL()+q.URL.Path, nil)
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
			if err != nil {
				return
			}
		}
	}))
	defer proxy.Close()
	c := &api.Client{Base: proxy.URL, Token: r.token}
	go func() {
		for cuts.Load() < 3 {
			select {
			case <-time.After(time.Millisecond):
			case <-t.Context().Done():
				return
			}
		}
		r.backend.letGo()
	}()
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
	if !errors.Is(err, why) {
		t.Errorf("error = %v", err)
	}
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
	if err := c.CloseSession(t.Context(), rec.SessionID); err != nil {
		t.Error(err)
	}
	view, err := c.Settings(t.Context())
	if err != nil || len(view.Settings) < 20 {
		t.Fatalf("settings = %v, %v", view, err)
	}
	view, err = c.ChangeSettings(t.Context(), api.SettingsChange{Version: &view.Version, Changes: map[string]jsonRaw{"interaction.tasks.maxAtOnce": jsonRaw("5")}})
	if err != nil || r.server.Settings.Current().MaxTasks != 5 {
		t.Errorf("change = %v, %v", view, err)
	}
	nobody := &api.Client{Base: "http://127.0.0.1:1"}
	if _, err := nobody.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1") {
		t.Errorf("nobody there: %v", err)
	}
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	if _, err := (&api.Client{Base: other.URL}).Health(t.Context()); err == nil {
		t.Error("another program passes for clank")
	}
}
