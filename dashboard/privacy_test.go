package dashboard_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/test/check"
	"clank/internal/watches"
	"clank/sessions"
	"clank/sessions/approval"
)

// privateReaders are everybody who may read the page; "" is the operator without a Discord account.
var privateReaders = []string{"", "boss", "chief", "owner", "member", "moderator", "viewer", "other"}

// startPrivate starts a page whose films, records, pages and files tell the canary.
func startPrivate(t *testing.T) (r *rig, as func(who string) change) {
	t.Helper()
	r, d, key := startPeople(t, withTools(&tools{saved: map[string]bool{}}), func(s *dashboard.Server) {
		s.Links, s.Runs, s.Setup = new(linkBook), new(records), new(setup)
		s.Live = paneFunc(func(w http.ResponseWriter, _ *http.Request, v sessions.Viewer) {
			_, _ = w.Write([]byte(canary + v.From.User))
		})
	})
	d.set("chief", dashboard.Person{Operator: true})
	keys := map[string]change{"": header("Authorization", "Bearer "+r.token)}
	for _, who := range privateReaders[1:] {
		keys[who] = key(who)
	}
	return r, func(who string) change { return keys[who] }
}

// TestPrivateTasksAreReadableOnlyByTheRequester has people ask privately for something with a word that is nowhere
// else, and looks for the word in all that everybody is sent.
func TestPrivateTasksAreReadableOnlyByTheRequester(t *testing.T) {
	for asker, where := range map[string]string{"": "", "boss": "", "owner": `,"place":"g1/c1"`} {
		t.Run("asked by "+asker, func(t *testing.T) {
			r, as := startPrivate(t)
			streams := map[string][]*reading{}
			for _, who := range privateReaders {
				for _, path := range []string{"/api/events", "/api/events?all=1"} {
					s := r.read(path, "", as(who))
					s.want("snapshot")
					streams[who] = append(streams[who], s)
				}
			}
			status, body := r.ask("POST", "/api/tasks", `{"prompt":"hold `+canary+`","private":true`+where+`}`, as(asker))
			begun := decode[api.TaskStarted](t, body)
			if status != http.StatusAccepted {
				t.Fatalf("ask: %d %s", status, body)
			}
			eventually(t, "the task works", func() bool {
				steps, err := r.manager.Steps(t.Context(), begun.TaskID)
				return err == nil && len(steps) > 1
			})
			r.addPrivateFile(begun.SessionID)
			for _, who := range privateReaders { // while it works
				snapshot := r.read("/api/events", "", as(who)).want("snapshot").data
				r.readsIf(who == asker, who, "the snapshot", snapshot)
				r.readPrivate(begun, asker, who, as(who), false)
				status, body := r.ask("POST", "/api/tasks/"+begun.TaskID+"/say", `{"text":"go on"}`, as(who))
				if (status == http.StatusAccepted) != (who == asker) {
					t.Errorf("%q tells it something: %d %s", who, status, body)
				}
			}
			follow := map[string]*reading{}
			for _, who := range []string{"", "boss", "chief", asker} {
				follow[who] = r.read("/api/tasks/"+begun.TaskID+"/events", "", as(who))
			}
			r.backend.letGo()
			for who, s := range follow {
				r.readsIf(who == asker, who, "the stream of the task", s.rest(func(event) bool { return false }))
			}
			r.askPrivateQuestion(begun, asker, as)
			for _, o := range []sessions.Origin{from, {Kind: sessions.FromDiscord, Guild: "g2", Channel: "c9", User: "other"}} {
				check.Must(t, check.Err(r.manager.Run(t.Context(), sessions.Task{Prompt: "brief last", Origin: o}, nil)))
			}
			for who, list := range streams {
				for i, s := range list {
					told := s.rest(func(e event) bool {
						return strings.Contains(e.data, "brief last") && strings.Contains(e.data, `"state":"done"`)
					})
					r.readsIf(who == asker, who, "the stream", told)
					if there := strings.Contains(told, begun.TaskID); i == 1 && there != r.sees(begun.TaskID, who) {
						t.Errorf("the stream with all that is there, for %q: names the task: %v", who, there)
					}
				}
			}
			for _, who := range privateReaders {
				r.readPrivate(begun, asker, who, as(who), true)
			}
			r.doWithPrivate(begun, asker, as)
		})
	}
}

// sees reports whether somebody is told that a private task is there: operators, and who asked.
func (r *rig) sees(task, who string) bool {
	rec, err := r.manager.Task(r.t.Context(), task)
	check.Must(r.t, err)
	return who == "" || who == "boss" || who == "chief" || who == rec.Origin.User
}

// readsIf checks that a text has the canary, or that it has not.
func (r *rig) readsIf(want bool, who, what, text string) {
	r.t.Helper()
	if got := strings.Contains(text, canary); got != want {
		r.t.Errorf("%s, for %q: tells what is private: %v, want %v", what, who, got, want)
	}
}

// rest reads a stream until last is true of an event, or it ends.
func (s *reading) rest(last func(event) bool) string {
	s.t.Helper()
	var told strings.Builder
	for e, ok := s.next(); ok; e, ok = s.next() {
		told.WriteString(e.data)
		if last(e) {
			break
		}
	}
	return told.String()
}

// addPrivateFile has a page offer a file to the task of a session, and begins a watch for the same person.
func (r *rig) addPrivateFile(session string) {
	r.t.Helper()
	path := filepath.Join(r.t.TempDir(), "kept")
	check.Must(r.t, os.WriteFile(path, []byte(canary), 0o600))
	r.manager.AddDownload(session, sessions.File{Name: canary + ".pdf", Path: path})
	se, err := r.manager.Session(r.t.Context(), session)
	check.Must(r.t, err)
	w := watches.Watch{
		ID: "w1", What: canary, URL: "https://shop.test/" + canary, State: watches.StateActive,
		Origin: se.Origin,
	}
	check.Must(r.t, r.store.AddWatch(r.t.Context(), w, 99, 99))
}

// readPrivate asks all that can be read as somebody. What tells of a task must tell the canary to who asked, if they
// may use the route at all.
func (r *rig) readPrivate(begun api.TaskStarted, asker, who string, as change, ended bool) {
	r.t.Helper()
	tells := []string{
		"/activity", "/tasks/{id}", "/api/tasks", "/api/tasks?steps=1", "/api/tasks/{id}", "/api/tasks/{id}/export/html",
		"/api/tasks/{id}/export/json", "/api/sessions", "/api/sessions/{id}/live", "/watches", "/api/watches",
	}
	paths := slices.Concat(tells, []string{
		"/activity?q=zebraf", "/api/tasks?steps=1&q=zebraf", "/api/tasks/{id}/film", "/api/records?limit=100",
		"/api/costs.csv?by=person",
	})
	if ended {
		rec, err := r.manager.Task(r.t.Context(), begun.TaskID)
		check.Must(r.t, err)
		for _, f := range rec.Downloads {
			tells = append(tells, "/api/tasks/{id}/downloads/"+f.ID)
		}
		if len(rec.Downloads) != 1 {
			r.t.Fatalf("%d files were offered", len(rec.Downloads))
		}
		paths = append(paths, tells[len(tells)-1])
	}
	for _, route := range r.server.Routes() {
		path, get := strings.CutPrefix(route.Pattern, "GET ")
		streams := strings.HasSuffix(path, "events") || strings.HasSuffix(path, "questions") ||
			strings.Contains(path, "pprof") || strings.Contains(path, "/call") || strings.Contains(path, "{kind}")
		if get && !streams && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		id := begun.TaskID
		if strings.Contains(path, "/sessions/") || strings.HasPrefix(path, "/s/") {
			id = begun.SessionID
		}
		at := strings.NewReplacer("{$}", "", "{id}", id, "{task}", id, "{n}", "2", "{i}", "0", "{name}", "x", "{kind}",
			"json").Replace(path)
		status, body := r.ask("GET", at, "", as)
		r.readsIf(who == asker && slices.Contains(tells, path), who, path, body)
		picture := strings.HasSuffix(path, "/view") || strings.HasSuffix(path, "/images/{i}") ||
			strings.HasSuffix(path, "/run")
		if picture && ended && (status == http.StatusOK) != (who == asker &&
			(asker != "owner" || !strings.HasSuffix(path, "/run"))) {
			r.t.Errorf("%s, for %q: %d", path, who, status)
		}
	}
}

// askPrivateQuestion has the task ask: only who asked for it reads the question, and can allow it.
func (r *rig) askPrivateQuestion(begun api.TaskStarted, asker string, as func(string) change) {
	r.t.Helper()
	rec, err := r.manager.Task(r.t.Context(), begun.TaskID)
	check.Must(r.t, err)
	o := rec.Origin
	q := approval.Question{
		Class: approval.ClassSend, Source: string(o.Kind), Guild: o.Guild, Channel: o.Channel, User: o.User, Private: true,
		Task: rec.ID, Session: rec.SessionID, Text: "Send " + canary, Detail: canary, Origin: "https://" + canary + ".test",
	}
	answer := r.question(q)
	eventually(r.t, "the question waits", func() bool { return len(r.desk.Pending()) == 1 })
	path := "/api/questions/" + r.desk.Pending()[0].ID
	others := slices.DeleteFunc(slices.Clone(privateReaders), func(who string) bool { return who == asker })
	for _, who := range append(others, asker) {
		_, list := r.ask("GET", "/api/questions", "", as(who))
		r.readsIf(who == asker, who, "the questions", list)
		if status, body := r.ask("POST", path, `{"allow":true}`, as(who)); (status < 400) != (who == asker) {
			r.t.Errorf("%q allows it: %d %s", who, status, body)
		}
	}
	if a := <-answer; a.err != nil || !a.answer.Allowed {
		r.t.Errorf("what the person said: %+v", a)
	}
}

// doWithPrivate does with the task what can be done with one that is over.
func (r *rig) doWithPrivate(begun api.TaskStarted, asker string, as func(string) change) {
	r.t.Helper()
	for _, who := range privateReaders {
		for _, do := range []struct {
			act, body string
			status    int // for an operator who asked
		}{
			{"retry", "{}", http.StatusAccepted},
			{"replay", "{}", http.StatusOK},
			{"script", `{"name":"a"}`, http.StatusConflict},
		} {
			status, body := r.ask("POST", "/api/tasks/"+begun.TaskID+"/"+do.act, do.body, as(who))
			if (status == do.status) != (who == asker && asker != "owner") {
				r.t.Errorf("%s by %q: %d %s", do.act, who, status, body)
			}
		}
		status, body := r.ask("POST", "/api/links", `{"session":"`+begun.SessionID+`"}`, as(who))
		if status != http.StatusForbidden {
			r.t.Errorf("a link to the page, by %q: %d %s", who, status, body)
		}
		status, body = r.ask("POST", "/api/tasks", `{"prompt":"brief","session_id":"`+begun.SessionID+`"}`, as(who))
		if (status == http.StatusAccepted) != (who == asker) {
			r.t.Errorf("%q goes on: %d %s", who, status, body)
		}
		r.readsIf(false, who, "what is said about going on", body)
	}
	list, err := r.manager.Tasks(r.t.Context(), sessions.TaskQuery{Session: begun.SessionID})
	check.Must(r.t, err)
	for _, rec := range list {
		if o := rec.Origin; !o.Private || o.User != asker {
			r.t.Errorf("the session was gone on with from %+v", o)
		}
	}
}

// TestThePrivateOptionOfTheChat asks privately on the page, and looks at it as another operator.
func TestThePrivateOptionOfTheChat(t *testing.T) {
	c := launch(t)
	r, _, _ := startPeople(t)
	tb := r.arrive(c, 360, 740, "light")
	tb.waitFor(`document.getElementById("is-private").hidden`)
	tb.click("#options summary")
	tb.click("#private")
	tb.waitFor(`!document.getElementById("is-private").hidden && document.documentElement.scrollWidth <= innerWidth`)
	if dir := os.Getenv("SHOTS"); dir != "" {
		check.Must(t, os.WriteFile(dir+"/private-narrow.png", tb.Screenshot(), 0o600))
	}
	tb.say("brief " + canary)
	tb.waitFor(status + ` === "Done" && document.querySelector(".session small").textContent.endsWith("private")`)
	tb.waitFor(`document.getElementById("private").checked && document.getElementById("private").disabled`)
	tb.waitFor(`document.getElementById("share").hidden && !document.getElementById("close-session").hidden`)
	tb.say("brief again")
	tb.waitFor(`document.querySelectorAll(".turn").length === 2`)
	list, err := r.manager.Tasks(t.Context(), sessions.TaskQuery{})
	check.Must(t, err)
	if len(list) != 2 || !list[0].Origin.Private || !list[1].Origin.Private || list[0].SessionID != list[1].SessionID {
		t.Errorf("asked for: %+v", list)
	}

	_, answer := r.ask("POST", "/api/login/discord", `{"state":"fresh","code":"boss"}`, header("Authorization", ""))
	other := c.open(r.server.URL()+"/login", 1280, 800, "dark")
	other.Eval(`localStorage.setItem("clank-key", "` + decode[map[string]string](t, answer)["key"] + `")`)
	other.goTo(r.server.URL() + "/")
	other.waitFor(`!document.getElementById("no-sessions").hidden`)
	other.goTo(r.server.URL() + "/activity")
	other.waitFor(`document.querySelectorAll("#tasks .task").length === 2`)
	check.Lacks(t, other.Eval(`document.documentElement.innerHTML`).(string), canary)
	c.clean()
}
