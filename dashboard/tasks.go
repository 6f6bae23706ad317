package dashboard

import (
	"context"
	"net/http"
	"strings"
	"time"

	"clank/cancel"
	"clank/dashboard/api"
	"clank/internal/settings"
	"clank/sessions"
)

// acceptTimeout is how long the Manager may take to accept or refuse a task.
const acceptTimeout = 15 * time.Second

// startTask queues a task and answers as soon as it is accepted. The task keeps running when the client disconnects;
// it ends with the server. The prompt "stop" on the page stops tasks.
func (s *Server) startTask(w http.ResponseWriter, r *http.Request) error {
	var in api.TaskRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	v := visitorOf(r)
	origin, err := s.askingOrigin(r.Context(), v, in)
	if err != nil {
		return err
	}
	if !in.Until.IsZero() && time.Now().After(in.Until) {
		return refuse(http.StatusRequestTimeout, "the task is not begun: clank could not be reached in time, and whoever "+
			"asked for it has given up")
	}
	if strings.TrimSpace(in.Prompt) == "" {
		return refuse(http.StatusBadRequest, "say what is to be done")
	}
	if origin.Kind != sessions.FromTerminal && s.Host.IsStop(in.Prompt) {
		return writeJSON(w, http.StatusOK, s.stopAll(v, origin))
	}
	var files []sessions.File
	if len(in.Files) > 0 {
		if files, err = s.Inbox.Received(in.Files); err != nil {
			return failed("find the files", err)
		}
	}
	started, err := s.begin(r.Context(), sessions.Task{
		SessionID: in.SessionID, Prompt: in.Prompt, Origin: origin, Runtime: in.Runtime, Profile: in.Profile,
		Model: in.Model, MaxSteps: in.MaxSteps, MaxUSD: in.MaxUSD, Headed: in.Headed, Typed: in.Typed, Allow: in.Allow,
		Files: files,
	}, in.Asks)
	return writeStarted(w, "start the task", started, err)
}

func originOf(kind sessions.OriginKind) (sessions.Origin, bool) {
	switch kind {
	case "", sessions.FromDashboard:
		return sessions.Origin{Kind: sessions.FromDashboard, Channel: api.PageChannel}, true
	case sessions.FromTerminal:
		return sessions.Origin{Kind: sessions.FromTerminal, Channel: api.TerminalChannel}, true
	default:
		return sessions.Origin{}, false
	}
}

// begin passes t to the Manager and waits until it is accepted or refused. If ctx ends before that, the task does not
// run. asks means that the client that follows the task answers its questions.
func (s *Server) begin(ctx context.Context, t sessions.Task, asks bool) (sessions.TaskRecord, error) {
	accepted := make(chan sessions.TaskRecord, 1)
	refused := make(chan error, 1)
	work, giveUp := context.WithCancelCause(context.WithoutCancel(ctx))
	s.launch(func(life context.Context) {
		defer giveUp(nil)
		defer context.AfterFunc(life, func() { giveUp(context.Cause(life)) })()
		first, quiet := true, func() {}
		defer func() { quiet() }()
		rec, err := s.Manager.Run(work, t, func(ev sessions.Event) {
			if first {
				first = false
				if asks {
					quiet = s.presence.addFollower(ev.Record.ID)
				}
				accepted <- ev.Record
			}
		})
		if rec.Origin.Kind != sessions.FromTerminal && (rec.State == sessions.TaskDone || rec.State == sessions.TaskLimited) {
			s.runLate(life, t, rec)
		}
		s.unfinished.add(rec)
		if !first && len(t.Files) > 0 { // otherwise the client may send it again
			if err := s.Inbox.Discard(t.Files...); err != nil {
				s.Logger.Warn("files of a task are not removed", "error", err)
			}
		}
		refused <- err
	})
	ctx, done := context.WithTimeoutCause(ctx, acceptTimeout,
		&cancel.Cause{Reason: cancel.TimedOut, Detail: "the task was neither accepted nor refused"})
	defer done()
	select {
	case rec := <-accepted:
		return rec, nil
	case err := <-refused:
		select {
		case rec := <-accepted: // it ended at once
			return rec, nil
		default:
			return sessions.TaskRecord{}, err
		}
	case <-ctx.Done():
		giveUp(context.Cause(ctx))
		return sessions.TaskRecord{}, context.Cause(ctx)
	}
}

// runLate starts a message that a task did not receive before it ended as the next task of its session. If the task
// was stopped or failed, the page offers the text for editing instead.
func (s *Server) runLate(ctx context.Context, t sessions.Task, rec sessions.TaskRecord) {
	if len(rec.Late) == 0 {
		return
	}
	next := rec.Continue().Task(t.Origin)
	next.Prompt = strings.Join(rec.Late, "\n")
	if rec.Closed {
		next.SessionID = ""
	}
	var err error
	if t.Origin.Kind == sessions.FromDiscord {
		next.Origin, err = s.Accounts.Origin(ctx, t.Origin) // their current rights
	}
	if err == nil {
		_, err = s.begin(ctx, next, false)
	}
	if err != nil {
		s.Logger.Warn("what was said too late for a task is not done", "task", rec.ID, "error", err)
	}
}

// listTasks serves the tasks that [taskQuery] selects, newest first; with ?steps=1 including their steps and the
// media types of their images.
func (s *Server) listTasks(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	query, err := taskQuery(q, 50)
	if err != nil {
		return err
	}
	v := visitorOf(r)
	query.SeenBy = v.sight()
	list, err := s.Manager.Tasks(r.Context(), query)
	if err != nil {
		return failed("list the tasks", err)
	}
	views := make([]api.TaskView, len(list))
	for i, t := range list {
		views[i] = api.TaskView{Task: shownRecord(t, v.mayRead(t.Origin))}
		if q.Get("steps") == "" {
			continue
		}
		if views[i], err = s.view(r.Context(), v, t.ID); err != nil {
			return failed("read a task's steps", err)
		}
	}
	return writeJSON(w, http.StatusOK, views)
}

func (s *Server) task(w http.ResponseWriter, r *http.Request) error {
	v, err := s.seenView(r)
	return writeResult(w, http.StatusOK, "read the task", v, err)
}

// stopTask stops one task of any origin. If the task has already ended, the response lists no task and is not an
// error.
func (s *Server) stopTask(w http.ResponseWriter, r *http.Request) error {
	t, err := s.seenTask(r, "id")
	if err != nil {
		return err
	}
	out := api.TasksStopped{Stopped: []string{}}
	if t.State.Final() {
		return writeJSON(w, http.StatusOK, out)
	}
	v := visitorOf(r)
	found, stopped := s.Scopes.StopWork(t.ID, v.actor(t.Origin), v.role == RoleOperator || s.anyoneMayStop())
	switch {
	case stopped:
		out.Stopped = append(out.Stopped, t.ID)
	case found:
		return refuse(http.StatusForbidden, "only who asked for it, or somebody who may manage messages there, can stop it")
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Server) anyoneMayStop() bool { return s.Settings.Current().WhoMayStop == settings.StopAnyone }

// stopChannel stops all tasks that were started from the page.
func (s *Server) stopChannel(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.stopAll(visitorOf(r), operator()))
}
