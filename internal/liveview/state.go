package liveview

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"clank/browsermgr"
	"clank/sessions"
)

// State is what a viewer sees in addition to the image; its type is "state".
type State struct {
	Type    string               `json:"type"`
	Session string               `json:"session"`
	Title   string               `json:"title"`
	URL     string               `json:"url"`
	Loading bool                 `json:"loading"`
	Tabs    []browsermgr.LiveTab `json:"tabs"`
	Dialog  *DialogState         `json:"dialog"`
	Chooser bool                 `json:"chooser"`
	Task    *TaskState           `json:"task"`
	Control ControlState         `json:"control"`
	Viewers []string             `json:"viewers"`
	May     sessions.Rights      `json:"may"`
	Size    Size                 `json:"size"` // of the viewport, in CSS pixels
}

// DialogState is an open dialog of the page.
type DialogState struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// TaskState is the last task of the session.
type TaskState struct {
	ID    string             `json:"id"`
	State sessions.TaskState `json:"state"`
	Step  int                `json:"step"`
	Label string             `json:"label"`
}

// ControlState is who controls the page.
type ControlState struct {
	Holder  string   `json:"holder"`
	Mine    bool     `json:"mine"`
	Waiting bool     `json:"waiting"`
	Offered bool     `json:"offered"`
	Wanted  []string `json:"wanted"`
}

// Size is a size in CSS pixels.
type Size struct {
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// showStates sends changes of the state. It repeats an unchanged state as a sign of life.
func (c *viewing) showStates(ctx context.Context) error {
	events, end := c.server.Sessions.Subscribe()
	defer func() { end() }()
	if err := c.readTask(ctx); err != nil {
		return err
	}
	tick := time.Tick(stateInterval)
	var last []byte
	var sent time.Time
	for {
		state, changed, err := c.state(ctx)
		if err != nil {
			return err
		}
		data, err := json.Marshal(state)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, last) || time.Since(sent) >= signInterval {
			c.sendMessage(ctx, json.RawMessage(data))
			last, sent = data, time.Now()
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick:
		case <-changed[0]:
		case <-changed[1]:
		case ev, ok := <-events:
			switch {
			case !ok: // this viewer was too slow
				events, end = c.server.Sessions.Subscribe()
				err = c.readTask(ctx)
			case ev.Record.SessionID == c.session.ID:
				err = c.updateTask(ctx, ev)
			}
			if err != nil {
				return err
			}
		}
	}
}

// readTask reads the session's last task.
func (c *viewing) readTask(ctx context.Context) error {
	tasks, err := c.server.Sessions.Tasks(ctx, sessions.TaskQuery{Session: c.session.ID, Limit: 1})
	if err != nil || len(tasks) == 0 {
		return err
	}
	return c.updateTask(ctx, sessions.Event{Record: tasks[0]})
}

// updateTask updates the task's progress. It fails if the session has ended with the task.
func (c *viewing) updateTask(ctx context.Context, ev sessions.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := &TaskState{ID: ev.Record.ID, State: ev.Record.State, Step: ev.Record.Steps}
	if c.task != nil && c.task.ID == t.ID {
		t.Label = c.task.Label
	}
	if ev.Step != nil {
		t.Label = ev.Step.Label
	}
	c.task = t
	if !ev.Record.State.Final() {
		return nil
	}
	session, err := c.server.Sessions.Session(ctx, c.session.ID)
	if err == nil && session.State == sessions.SessionClosed {
		err = sessions.ErrSessionClosed
	}
	return err
}

// state returns the current state, and channels that are closed or signaled when it may have changed.
func (c *viewing) state(ctx context.Context) (s State, changed [2]<-chan struct{}, err error) {
	window, err := c.server.Window(ctx, c.session, false)
	if err != nil {
		return State{}, changed, err
	}
	live := browsermgr.LiveState{Tabs: []browsermgr.LiveTab{}}
	if window != nil {
		live = window.Live()
	}
	held := c.server.Sessions.Control(c.session.ID)
	if held.Closed || held.Changed == nil && c.open && c.isClosed(ctx) {
		return State{}, changed, sessions.ErrSessionClosed
	}
	c.open = held.Changed != nil
	s = State{
		Type: "state", Session: c.session.ID, May: c.viewer.May,
		Title: live.Title, URL: live.URL, Loading: live.Loading, Tabs: live.Tabs, Chooser: live.Chooser,
		Control: ControlState{Holder: held.Holder, Waiting: held.Waiting, Offered: held.Offered, Wanted: held.Wanted},
	}
	if d := live.Dialog; d != nil {
		s.Dialog = &DialogState{Kind: d.Type, Text: d.Message}
	}
	s.Viewers, changed[0] = c.server.names(c.session.ID)
	changed[1] = held.Changed
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Control.Mine, s.Task, s.Size = c.takeover != nil, c.task, c.size
	if held.Holder != "" && c.takeover == nil {
		s.conceal()
	}
	return s, changed, nil
}

// conceal removes what other viewers must not see while a person controls the page.
func (s *State) conceal() {
	s.Title, s.URL = "", ""
	for i := range s.Tabs {
		s.Tabs[i].Title, s.Tabs[i].URL = "", ""
	}
	if s.Dialog != nil {
		s.Dialog.Text = ""
	}
}
