package dashboard_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"clank/dashboard"
	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/internal/test/check"
	"clank/sessions"
)

// tools are those of a task whose page is open, whose record makes a script once, and whose replay differs in a step.
type tools struct {
	saved    map[string]bool
	replayed chan error // what ended a replay that was asked to hold; nil = none holds
}

func (*tools) PageLog(sessions.TaskRecord) api.PageLog {
	return api.PageLog{
		Open: true,
		Console: []api.ConsoleLine{{
			At: "2026-01-02T03:04:05.000Z", Type: "error", Text: "<b>no</b> lamp",
			From: "https://shop.test/a.js:3",
		}},
		Requests: []api.PageRequest{
			{
				At: "2026-01-02T03:04:05.000Z", Method: "GET", URL: "https://shop.test/?token=[REDACTED]", Type: "fetch",
				Status: 404,
			},
		},
	}
}

func (k *tools) SaveScript(task, name string) ([]string, error) {
	if task == "t1" {
		return nil, recording.ErrRunNotFound
	}
	if k.saved[name] {
		return nil, errors.New("there is one of that name")
	}
	k.saved[name] = true
	return []string{"The screenshot is left out."}, nil
}

func (k *tools) Replay(ctx context.Context, _ string,
	report func(recording.StepComparison),
) (recording.ReplaySummary, error) {
	report(recording.StepComparison{Step: 1, Label: "open the demo shop"})
	if k.replayed != nil {
		<-ctx.Done()
		k.replayed <- context.Cause(ctx)
		return recording.ReplaySummary{}, context.Cause(ctx)
	}
	report(recording.StepComparison{
		Step: 2, Label: "press Enter",
		Differences: []recording.Difference{{Kind: recording.DifferenceTitle, Was: "Shop", Is: "<i>Closed</i>"}},
	})
	return recording.ReplaySummary{Steps: 2, Same: 1, Different: 1}, nil
}

func withTools(k *tools) func(*dashboard.Server) { return func(s *dashboard.Server) { s.Tools = k } }

func TestATaskIsExportedAsOnePageWithoutScriptsAndAsJSON(t *testing.T) {
	r := startIn(t, t.TempDir(), "127.0.0.1:0", withTools(&tools{}))
	done := r.finish(`{"prompt":"evil <script>alert(1)</script>"}`)
	for kind, want := range map[string][]string{
		"html": {
			"evil &lt;script&gt;alert(1)&lt;/script&gt;", `src="data:image/png;base64,`, "open the demo shop",
			"do {&#34;x&#34;:1}", "default-src 'none'",
		},
		"json": {`"prompt": "evil`, `"label": "open the demo shop"`},
	} {
		res := r.do("GET", "/api/tasks/"+done.ID+"/export/"+kind, "")
		check.Equal(t, kind+": Content-Disposition", res.Header.Get("Content-Disposition"),
			`attachment; filename="task-`+done.ID+"."+kind+`"`)
		check.Must(t, res.Body.Close())
		_, body := r.ask("GET", "/api/tasks/"+done.ID+"/export/"+kind, "")
		check.Contains(t, body, want...)
		if kind == "html" && (strings.Contains(body, "<script") || strings.Contains(body, "http-equiv=\"refresh") ||
			strings.Contains(body, `src="http`)) {
			t.Errorf("the page has a script or needs something else:\n%s", body)
		}
	}
	if status, _ := r.ask("GET", "/api/tasks/"+done.ID+"/export/exe", ""); status != http.StatusNotFound {
		t.Errorf("another kind: %d", status)
	}
}

func TestThePageOfAPrivateTaskHidesItsContents(t *testing.T) {
	r := startActivity(t)
	r.server.Tools = &tools{}
	_, page := r.ask("GET", "/tasks/t3", "")
	check.Contains(t, page, "Asked privately", "Ada", " USD")
	check.Lacks(t, page, "secret", "example.com", "data-view")
	for _, path := range []string{
		"GET page", "GET export/html", "GET export/json", "POST retry", "POST replay",
		"POST script",
	} {
		method, end, _ := strings.Cut(path, " ")
		status, body := r.ask(method, "/api/tasks/t3/"+end, "{}")
		if end == "script" {
			status, body = r.ask(method, "/api/tasks/t3/"+end, `{"name":"a"}`)
		}
		if status != http.StatusForbidden {
			t.Errorf("%s of a private task: %d %s", path, status, body)
		}
	}
	if status, _ := r.ask("GET", "/tasks/nothing", ""); status != http.StatusNotFound {
		t.Errorf("a task that is not there: %d", status)
	}
}

func TestATaskIsRetriedAndReplayedOnlyWhenItHasEnded(t *testing.T) {
	k := &tools{}
	r := startIn(t, t.TempDir(), "127.0.0.1:0", withTools(k))
	begun := r.startTask(`{"prompt":"hold on"}`)
	for _, end := range []string{"retry", "replay"} {
		if status, body := r.ask("POST", "/api/tasks/"+begun.TaskID+"/"+end, "{}"); status != http.StatusConflict {
			t.Errorf("%s of a task that runs: %d %s", end, status, body)
		}
	}
	r.backend.letGo()
	done := r.finish(`{"prompt":"brief","model":"plain","max_steps":3}`)
	status, body := r.ask("POST", "/api/tasks/"+done.ID+"/retry", "{}")
	again, err := r.manager.Task(t.Context(), decode[api.TaskStarted](t, body).TaskID)
	if status != http.StatusAccepted || err != nil || again.Prompt != "brief" || again.MaxSteps != 3 ||
		again.SessionID == done.SessionID {
		t.Errorf("retry: %d %s; %+v %v", status, body, again, err)
	}
	if typed := r.backend.typed(); typed[len(typed)-1] {
		t.Error("what is retried counts as typed")
	}
	_, stream := r.ask("POST", "/api/tasks/"+done.ID+"/replay", "{}")
	check.Contains(t, stream, "event: step\n", `"label":"press Enter"`, "event: end\n", "2 steps played: 1 as recorded, "+
		"1 different")

	k.replayed = make(chan error, 1)
	res := r.do("POST", "/api/tasks/"+done.ID+"/replay", "{}")
	check.Must(t, res.Body.Close()) // whoever asked has left
	check.Fails(t, <-k.replayed, context.Canceled)
	res = r.do("POST", "/api/tasks/"+done.ID+"/replay", "{}")
	defer res.Body.Close()
	eventually(t, "the replay is stopped", func() bool {
		_, body := r.ask("POST", "/api/stop", "{}")
		return strings.Contains(body, "replay-")
	})
	check.Fails(t, <-k.replayed, nil, "stopped")
}

func TestThePageOfATask(t *testing.T) {
	k := &tools{saved: map[string]bool{}}
	r := startIn(t, t.TempDir(), "127.0.0.1:0", withTools(k))
	c := launch(t)
	tb := r.arrive(c, 360, 740, "dark")
	task := r.startTask(`{"prompt":"hold lamps"}`)
	tb.goTo(r.server.URL() + "/tasks/" + task.TaskID)
	tb.waitFor(`document.querySelector("#steps")?.textContent.includes("open the demo shop")`)
	tb.Eval(`document.getElementById("note").value = "only brass ones"; document.querySelector("#tell button").click()`)
	tb.waitFor(`document.getElementById("said").textContent.startsWith("Passed on")`)
	r.backend.letGo()
	tb.waitFor(`document.getElementById("retry")`)
	tb.waitFor(`[...document.querySelectorAll("#steps [data-view] img")].filter((i) => i.complete && i.naturalWidth > 0).length > 0`)
	if got := tb.Eval(`document.documentElement.scrollWidth - innerWidth`); got != 0.0 {
		t.Errorf("the page is %v px too wide", got)
	}
	tb.Eval(`document.getElementById("console").open = document.getElementById("network").open = true`)
	tb.waitFor(`document.querySelector("#console .bad")?.textContent.includes("<b>no</b> lamp") && document.querySelector("#network .bad")?.textContent.includes("404 GET")`)
	tb.click("#script")
	tb.Eval(`document.querySelector("#script-form input").value = "find-lamps"; document.querySelector("#script-form [type=submit]").click()`)
	tb.waitFor(`document.getElementById("said").textContent === "Saved as the script find-lamps. The screenshot is left out."`)
	tb.click("#replay")
	if got := tb.Eval(`document.querySelector(".effects").textContent`); !strings.Contains(got.(string), "press Enter") {
		t.Errorf("the warning names %v", got)
	}
	tb.click("#replay-yes")
	tb.waitFor(`document.getElementById("replay-text").textContent.startsWith("2 steps played") && document.querySelector("#replayed .bad")`)
	tb.click("#retry")
	tb.waitFor(`!location.pathname.endsWith("` + task.TaskID + `") && document.querySelector("#retry")`)
	c.clean()
}
