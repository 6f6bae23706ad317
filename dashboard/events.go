package dashboard

import (
	"context"
	"net/http"
	"time"

	"clank/dashboard/api"
	"clank/sessions"
)

// pageEvents streams changes: a "snapshot" event at the start and whenever events were lost, then "task" and "step"
// events. Private tasks of others are left out; with ?all=1 they are included without their contents, the snapshot is
// empty, and the client does not count as someone who answers questions. With ?questions=1 only questions are sent.
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

// taskEvents streams one task: a "snapshot" with its steps, then "task" and "step" events until the task is final.
func (s *Server) taskEvents(w http.ResponseWriter, r *http.Request) error {
	s.following.RLock()
	defer s.following.RUnlock()
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

// questionEvents streams the questions of a call that is not a task: a "snapshot" with the unanswered ones, then
// "question" events. ?answers=1 means that the client can show them to a person.
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

// sendFrames sends the frames that wanted selects and the client may see, the missed ones first. It returns after the
// last frame, or when the client disconnects, loses the role, or the request ends.
func (s *Server) sendFrames(
	r *http.Request, least Role, st *eventStream, missed []feedEvent, ch <-chan feedEvent, wanted,
	last func(feedEvent) bool,
) {
	v := visitorOf(r)
	sight := v.sight()
	send := func(f feedEvent) (open bool) {
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
	beat := time.Tick(s.Recheck)
	for {
		select {
		case <-r.Context().Done():
			return
		case <-beat:
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
	for _, kind := range listedOrigins {
		active, err := s.Manager.Tasks(ctx,
			sessions.TaskQuery{Kind: kind, SeenBy: by, States: []sessions.TaskState{sessions.TaskQueued, sessions.TaskRunning}})
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

// seenView returns [Server.view] of the task that the path names, if the visitor sees the task.
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

// view returns a task with its steps, without images, as v sees it.
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
