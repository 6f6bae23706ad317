package server

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/record"
	"clank/dashboard/api"
	"clank/internal/recording"
	"clank/sessions"
)

// taskTools implements dashboard.TaskTools.
type taskTools struct{ *Server }

// PageLog returns the console messages and requests of the session's page while the task ran.
func (a taskTools) PageLog(t sessions.TaskRecord) api.PageLog {
	log := api.PageLog{Console: []api.ConsoleLine{}, Requests: []api.PageRequest{}}
	w, ok := a.Browsers.Lookup(t.SessionID)
	if !ok {
		return log
	}
	tab, observers := w.Observed()
	i := slices.IndexFunc(observers, func(o page.Observer) bool { _, ok := o.(*record.Recorder); return ok })
	if tab == nil || i < 0 {
		return log
	}
	kept := observers[i].(*record.Recorder)
	within := func(at string) bool {
		when, err := time.Parse(time.RFC3339, at)
		return err == nil && !when.Before(t.Started.Truncate(time.Millisecond)) && (t.Ended.IsZero() || !when.After(t.Ended))
	}
	log.Open = true
	for _, e := range kept.Console(tab, "", false).Entries {
		line := api.ConsoleLine{At: e.Timestamp, Type: e.Type, Text: e.Text}
		if e.Location.URL != "" {
			line.From = fmt.Sprintf("%s:%d", e.Location.URL, e.Location.LineNumber+1)
		}
		log.Console = append(log.Console, line)
	}
	for _, e := range kept.Errors(tab, false).Entries {
		log.Console = append(log.Console,
			api.ConsoleLine{At: e.Timestamp, Type: "error", Text: strings.TrimPrefix(e.Name+": "+e.Message, ": ")})
	}
	log.Console = slices.DeleteFunc(log.Console, func(l api.ConsoleLine) bool { return !within(l.At) })
	slices.SortStableFunc(log.Console, func(x, y api.ConsoleLine) int { return strings.Compare(x.At, y.At) })
	for _, q := range kept.Requests(tab, "", false).Entries {
		if within(q.Timestamp) {
			log.Requests = append(log.Requests, api.PageRequest{
				At: q.Timestamp, Method: q.Method, URL: q.URL, Type: q.ResourceType, Status: q.Status, Failure: q.FailureText,
			})
		}
	}
	return log
}

func (a taskTools) openRun(task string) (*recording.Recording, error) {
	found, err := recording.FindRuns(a.recorder.Dir, task)
	if err != nil {
		return nil, err
	}
	if filepath.Base(found[0]) != task { // the id of a session, not of a task
		return nil, recording.ErrRunNotFound
	}
	return recording.OpenRecording(found[0])
}

// SaveScript saves the record of a task as a script.
func (a taskTools) SaveScript(task, name string) ([]string, error) {
	run, err := a.openRun(task)
	if err != nil {
		return nil, err
	}
	script, notes, err := recording.MakeScript(run, name)
	if err != nil {
		return nil, err
	}
	return notes, recording.ScriptStore{Dir: a.Home.ScriptsDir()}.Save(script, false)
}

// Replay replays the record of a task in a new window, which is closed afterwards. It asks people the same questions
// again.
func (a taskTools) Replay(ctx context.Context, task string,
	report func(recording.StepComparison),
) (recording.ReplaySummary, error) {
	run, err := a.openRun(task)
	if err != nil {
		return recording.ReplaySummary{}, err
	}
	player, err := recording.NewPlayer(run, nil)
	if err != nil {
		return recording.ReplaySummary{}, err
	}
	player.Places(a.NamedPages())
	session := "replay-" + sessions.RandomID(6)
	backend := a.ReplayBackend(player, nil)
	defer func() {
		if err := backend.Close(context.WithoutCancel(ctx), session); err != nil {
			a.logger.Warn("the window of a replay is not closed", "err", err)
		}
	}()
	return player.Replay(ctx, backend, session, report)
}
