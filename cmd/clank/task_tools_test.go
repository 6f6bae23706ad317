package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"clank/cancel"
	"clank/internal/recording"
	"clank/internal/server"
	"clank/internal/test/check"
	"clank/sessions"
)

func TestTheTaskPagesToolsWorkOnALivePage(t *testing.T) {
	t.Parallel()
	_, environ := newTestHome(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/lamps" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `<!doctype html><title>Lamp</title><link rel=icon href=data:,><button>Light it</button>
<script>console.warn("no lamp"); fetch("/lamps?token=hunter2")</script>`)
	}))
	t.Cleanup(site.Close)
	withServer(t, environ, func(a *server.Server) {
		check.Must(t, a.OpenCalls(t.Context(), "127.0.0.1:0"))
		board, err := a.OpenDashboard(context.WithoutCancel(t.Context()), "127.0.0.1:0")
		check.Must(t, err)
		origin := sessions.Origin{Kind: sessions.FromDashboard, Channel: "dashboard"}
		prompt := "open " + site.URL + `, click "Light it", read`
		done, err := a.Sessions.Run(t.Context(), sessions.Task{Prompt: prompt, Origin: origin, Typed: true}, nil)
		if err != nil || done.State != sessions.TaskDone {
			t.Fatalf("the task is %s: %s %s %v", done.State, done.Answer, done.Reason, err)
		}
		log := board.Tools.PageLog(done)
		if told := fmt.Sprint(log.Console); !log.Open || !strings.Contains(told, "no lamp") {
			t.Errorf("console: %+v", log)
		}
		if told := fmt.Sprint(log.Requests); !strings.Contains(told, "404") || strings.Contains(told, "hunter2") {
			t.Errorf("requests: %s", told)
		}
		later := done
		later.Started, later.Ended = done.Ended, done.Ended
		if log := board.Tools.PageLog(later); len(log.Requests) > 0 {
			t.Errorf("a task that did nothing has asked for %+v", log.Requests)
		}
		if _, err := board.Tools.SaveScript(done.ID, "light"); err != nil {
			t.Error(err)
		}
		check.Fails(t, check.Err(board.Tools.SaveScript(done.ID, "light")),
			nil, "script light: there is one already (--replace replaces it)")
		played := 0
		summary, err := board.Tools.Replay(t.Context(), done.ID, func(recording.StepComparison) { played++ })
		if err != nil || !summary.Matches() || played != summary.Steps || played == 0 {
			t.Errorf("replay: %+v %v, %d steps told", summary, err, played)
		}
		check.Fails(t, check.Err(board.Tools.Replay(t.Context(), done.SessionID, nil)), recording.ErrRunNotFound)
		check.Must(t, a.Sessions.CloseSession(t.Context(), done.SessionID, cancel.Actor{Moderator: true}))
		if log := board.Tools.PageLog(done); log.Open || len(log.Console) > 0 {
			t.Errorf("of a page that is closed: %+v", log)
		}
	})
}
