package dashboard

import (
	"context"
	"net/http"
	"time"

	"clank/dashboard/wire"
	"clank/sessions"
)

// pageEvents streams what happens on the page and in terminals: the event
// "snapshot" where a reader begins or has missed something, then "task" and
// "step" for each change.
func (s *Server) pageEvents(w http.ResponseWriter, r *http.Request) {
	missed, whole, at, ch, leave := s.feed.read(r.Header.Get("Last-Event-ID"))
	defer leave()
	defer s.asked.watch()()
	var snap wire.PageSnapshot
	if !whole {
		var err error
		if snap, err = s.snapshot(r.Context()); err != nil {
			s.refuse(w, r, "read the state of the page", err)
			return
		}
	}
	st, err := openStream(w)
	if err != nil {
		return
	}
	if !whole && st.sendJSON(at, "snapshot", snap) != nil {
		return
	}
	ours := func(f frame) bool { return f.kind != sessions.FromDiscord }
	follow(r.Context(), st, missed, ch, ours, func(frame) bool { return false })
}

// taskEvents streams one task until it is final: "snapshot" with its steps, then
// "task" and "step", and after the last "task" the stream ends.
func (s *Server) taskEvents(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	missed, whole, at, ch, leave := s.feed.read(r.Header.Get("Last-Event-ID"))
	defer leave()
	view, err := s.view(r.Context(), id)
	if err != nil {
		s.refuse(w, r, "read the task", err)
		return
	}
	view.Questions = s.pending(id)
	st, err := openStream(w)
	if err != nil {
		return
	}
	if !whole || view.Task.State.Final() {
		if st.sendJSON(at, "snapshot", view) != nil || view.Task.State.Final() {
			return
		}
	}
	ours := func(f frame) bool { return f.task == id }
	follow(r.Context(), st, missed, ch, ours, func(f frame) bool { return f.final })
}

// follow sends the frames that wanted picks, first those missed, until one is
// the last, the reader is gone, or ctx ends.
func follow(ctx context.Context, st *stream, missed []frame, ch <-chan frame, wanted, last func(frame) bool) {
	for _, f := range missed {
		if wanted(f) && (st.send(f.id, f.event, f.data) != nil || last(f)) {
			return
		}
	}
	beat := time.NewTicker(streamBeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if st.beat() != nil {
				return
			}
		case f, ok := <-ch:
			if !ok {
				return
			}
			if wanted(f) && (st.send(f.id, f.event, f.data) != nil || last(f)) {
				return
			}
		}
	}
}

func (s *Server) snapshot(ctx context.Context) (wire.PageSnapshot, error) {
	list, err := s.sessionViews(ctx)
	if err != nil {
		return wire.PageSnapshot{}, err
	}
	snap := wire.PageSnapshot{Sessions: list, Tasks: []wire.TaskView{}, Questions: s.pending("")}
	for _, kind := range []sessions.OriginKind{sessions.FromDashboard, sessions.FromTerminal} {
		active, err := s.Manager.Tasks(ctx, sessions.TaskQuery{Kind: kind, States: []sessions.TaskState{sessions.TaskQueued, sessions.TaskRunning}})
		if err != nil {
			return wire.PageSnapshot{}, err
		}
		for _, t := range active {
			v, err := s.view(ctx, t.ID)
			if err != nil {
				return wire.PageSnapshot{}, err
			}
			snap.Tasks = append(snap.Tasks, v)
		}
	}
	return snap, nil
}

// view reads a task with its steps, without pictures.
func (s *Server) view(ctx context.Context, id string) (wire.TaskView, error) {
	t, err := s.Manager.Task(ctx, id)
	if err != nil {
		return wire.TaskView{}, err
	}
	steps, err := s.Manager.Steps(ctx, id)
	if err != nil {
		return wire.TaskView{}, err
	}
	return wire.TaskView{Task: light(t), Steps: lightSteps(t, steps)}, nil
}
