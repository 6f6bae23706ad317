package dashboard

import (
	"context"
	"net/http"
	"time"

	"clank/dashboard/api"
	"clank/sessions"
)

// pageEvents streams what happens, without others' private tasks: the event "snapshot" where a reader begins or has
// missed something, then "task" and "step" for each change. With ?all=1 those are among it, as far as it
// may be told; its reader has the state from elsewhere, and does not answer questions. With ?questions=1 there is
// nothing but questions.
func (s *Server) pageEvents(w http.ResponseWriter, r *http.Request) error {
	missed, whole, at, ch, leave := s.feed.subscribeAfter(r.Header.Get("Last-Event-ID"))
	defer leave()
	all, asked := r.URL.Query().Get("all") == "1", r.URL.Query().Get("questions") == "1"
	v := visitorOf(r)
	if !all {
		defer s.presence.addPage(v)()
	}
	var snap api.PageSnapshot
	switch {
	case asked:
		snap.Questions = s.pending("", v)
	case !whole && !all:
		var err error
		if snap, err = s.snapshot(r.Context(), v); err != nil {
			return failed("read the state of the page", err)
		}
	}
	st, ok := openStream(w)
	if ok && (whole || st.sendJSON(at, "snapshot", snap)) {
		ours := func(f feedEvent) bool { return f.event == "question" || !asked && (all || f.readableBy(v)) }
		s.sendFrames(r, RoleViewer, st, missed, ch, ours, func(feedEvent) bool { return false })
	}
	return nil
}

// taskEvents streams one task until it is final: "snapshot" with its steps, then
// "task" and "step", and after the last "task" the stream ends.
func (s *Server) taskEvents(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	missed, whole, at, ch, leave := s.feed.subscribeAfter(r.Header.Get("Last-Event-ID"))
	defer leave()
	view, err := s.seenView(r)
	if err != nil {
		return err
	}
	view.Questions = s.pending(id, visitorOf(r))
	final := view.Task.State.Final()
	st, ok := openStream(w)
	if ok && (whole && !final || st.sendJSON(at, "snapshot", view)) && !final {
		ours := func(f feedEvent) bool { return f.task == id }
		s.sendFrames(r, RoleViewer, st, missed, ch, ours, func(f feedEvent) bool { return f.final })
	}
	return nil
}

// questionEvents streams the questions of a call that is no task: "snapshot" with those that wait, then "question".
// With ?answers=1 its reader can bring them before a person.
func (s *Server) questionEvents(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	_, _, at, ch, leave := s.feed.subscribeAfter("")
	defer leave()
	if r.URL.Query().Get("answers") == "1" {
		defer s.presence.addFollower(id)()
	}
	st, ok := openStream(w)
	if ok && st.sendJSON(at, "snapshot", api.TaskView{Questions: s.pending(id, theOperator)}) {
		ours := func(f feedEvent) bool { return f.event == "question" && f.task == id }
		s.sendFrames(r, RoleOperator, st, nil, ch, ours, func(feedEvent) bool { return false })
	}
	return nil
}

// sendFrames sends the frames that wanted picks and whoever asks may be told of, first those missed, until one is the
// last, the reader is gone, has not the role any more, or the request ends.
func (s *Server) sendFrames(
	r *http.Request, least Role, st *eventStream, missed []feedEvent, ch <-chan feedEvent, wanted, last func(feedEvent) bool,
) {
	v := visitorOf(r)
	sight := v.sight()
	send := func(f feedEvent) (goesOn bool) {
		if !wanted(f) || !sight.Includes(f.origin) || f.event == "question" && !v.mayAct(f.origin) {
			return true
		}
		return st.send(f.id, f.event, f.dataFor(v)) && !last(f)
	}
	for _, f := range missed {
		if !send(f) {
			return
		}
	}
	beat := time.NewTicker(s.Recheck)
	defer beat.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			v = s.identify(r)
			if sight = v.sight(); v.role < least || !st.keepAlive() {
				return
			}
		case f, ok := <-ch:
			if !ok || !send(f) {
				return
			}
		}
	}
}

func (s *Server) snapshot(ctx context.Context, v visitor) (api.PageSnapshot, error) {
	by := v.sight()
	list, err := s.sessionViews(ctx, v)
	if err != nil {
		return api.PageSnapshot{}, err
	}
	snap := api.PageSnapshot{Sessions: list, Tasks: []api.TaskView{}, Questions: s.pending("", v)}
	for _, kind := range doors {
		active, err := s.Manager.Tasks(ctx, sessions.TaskQuery{Kind: kind, SeenBy: by, States: []sessions.TaskState{sessions.TaskQueued, sessions.TaskRunning}})
		if err != nil {
			return api.PageSnapshot{}, err
		}
		for _, t := range active {
			if !v.mayRead(t.Origin) {
				continue
			}
			view, err := s.view(ctx, v, t.ID)
			if err != nil {
				return api.PageSnapshot{}, err
			}
			snap.Tasks = append(snap.Tasks, view)
		}
	}
	return snap, nil
}

// seenView is [Server.view] of the task that the path names, to who sees it.
func (s *Server) seenView(r *http.Request) (api.TaskView, error) {
	t, err := s.seenTask(r, "id")
	if err != nil {
		return api.TaskView{}, err
	}
	view, err := s.view(r.Context(), visitorOf(r), t.ID)
	if err != nil {
		return view, failed("read the task", err)
	}
	return view, nil
}

// view reads a task with its steps for v, without pictures.
func (s *Server) view(ctx context.Context, v visitor, id string) (api.TaskView, error) {
	t, err := s.Manager.Task(ctx, id)
	if err != nil {
		return api.TaskView{}, err
	}
	steps, err := s.Manager.Steps(ctx, id)
	if err != nil {
		return api.TaskView{}, err
	}
	mayRead := v.mayRead(t.Origin)
	return api.TaskView{Task: shownRecord(t, mayRead), Steps: shownSteps(steps, mayRead)}, nil
}
