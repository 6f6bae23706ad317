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

// acceptTimeout is how long a task may take to be accepted or refused.
const acceptTimeout = 15 * time.Second

// startTask puts a task in line and answers as soon as it is there. The task goes on when whoever asked goes away; it
// ends with the server. On the page, saying "stop" stops.
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
		return refuse(http.StatusRequestTimeout, "the task is not begun: clank could not be reached in time, and whoever asked for it has given up")
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
		Model: in.Model, MaxSteps: in.MaxSteps, MaxUSD: in.MaxUSD, Headed: in.Headed, Typed: in.Typed, Allow: in.Allow, Files: files,
	}, in.Asks)
	return writeResult(w, http.StatusAccepted, "start the task", api.TaskStarted{TaskID: started.ID, SessionID: started.SessionID, State: started.State, Position: started.Position}, err)
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

// begin hands t to the Manager and waits until it is accepted or refused. A task that nobody waits for any more before
// that is not done. asks: who follows it answers its questions.
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
		s.unfinished.add(t, rec)
		if !first && len(t.Files) > 0 { // else it may be asked for again
			if err := s.Inbox.Discard(t.Files...); err != nil {
				s.Logger.Warn("files of a task are not removed", "error", err)
			}
		}
		refused <- err
	})
	ctx, done := context.WithTimeoutCause(ctx, acceptTimeout, &cancel.Cause{Reason: cancel.TimedOut, Detail: "the task was neither accepted nor refused"})
	defer done()
	select {
	case rec := <-accepted:
		return rec, nil
	case err := <-refused:
		select {
		case rec := <-accepted: // it was over at once
			return rec, nil
		default:
			return sessions.TaskRecord{}, err
		}
	case <-ctx.Done():
		giveUp(context.Cause(ctx))
		return sessions.TaskRecord{}, context.Cause(ctx)
	}
}

// runLate starts what was said to a task that ended before it heard it, as the next task of its session. Whoever reads the
// page of a task that was stopped or failed gets back what they typed.
func (s *Server) runLate(ctx context.Context, t sessions.Task, rec sessions.TaskRecord) {
	if len(rec.Late) == 0 {
		return
	}
	next := sessions.Task{
		Prompt: strings.Join(rec.Late, "\n"), SessionID: rec.SessionID, Origin: t.Origin, Runtime: t.Runtime, Model: t.Model, MaxSteps: t.MaxSteps,
		Profile: t.Profile, Headed: t.Headed,
	}
	if rec.Closed {
		next.SessionID = ""
	}
	var err error
	if t.Origin.Kind == sessions.FromDiscord {
		next.Origin, err = s.Accounts.Origin(ctx, t.Origin) // who they are by now
	}
	if err == nil {
		_, err = s.begin(ctx, next, false)
	}
	if err != nil {
		s.Logger.Warn("what was said too late for a task is not done", "task", rec.ID, "error", err)
	}
}

// listTasks lists tasks, last asked first: those that [taskQuery] reads from the query; with ?steps=1 each has its
// steps and the names of its pictures.
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

// stopTask stops one task, wherever it was asked for. A task that has ended already is none to stop, and no error.
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

// stopChannel stops everything that was asked for on the page.
func (s *Server) stopChannel(w http.ResponseWriter, r *http.Request) error {
	return writeJSON(w, http.StatusOK, s.stopAll(visitorOf(r), operator()))
}
