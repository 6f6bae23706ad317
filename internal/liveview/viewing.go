package liveview

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/sessions"
	"clank/videosource"

	"github.com/coder/websocket"
)

const (
	writeTimeout     = 10 * time.Second
	lastWriteTimeout = time.Second // once the view has ended
	// stateInterval is how often it is looked whether the page has changed beside its picture, while somebody watches.
	stateInterval = 150 * time.Millisecond
	// takeTimeout bounds waiting for the step that runs.
	takeTimeout = 2 * time.Minute
	doTimeout   = time.Minute
	// maxInFlight is how many frames may be on their way to a viewer. More would be old when they come.
	maxInFlight = 2
	// unreadTimeout is how long a viewer may leave frames unread.
	unreadTimeout = time.Minute
	maxCommands   = 16
	maxMessage    = 64 << 10
	maxUpload     = 28 << 20 // of a message with files, in base64
	// A line is narrow on which so many frames in a row were shown so late.
	lateAfter  = 120 * time.Millisecond
	lateFrames = 3
	// Bounds of how large pictures may be.
	minSize, maxSize = 64, 4096
)

// message is what a viewer says. Type is take, give (it back), offer (it to whoever wants it), input, do, stop, note,
// ack (of a frame), size (that pictures are shown at), video (its browser decodes VP8), or pictures (it does not). Input
// and do have the fields of [page.PersonInput] and [browsermgr.Command].
type message struct {
	Type string `json:"type"`
	Text string `json:"text"` // of a note
	W    int    `json:"w"`    // of a size
	H    int    `json:"h"`
}

// State is what a viewer sees beside the picture; its type is "state".
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

// DialogState is a dialog of the page that waits for an answer.
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

// ControlState is who works the page.
type ControlState struct {
	Holder  string   `json:"holder"`
	Mine    bool     `json:"mine"`
	Waiting bool     `json:"waiting"`
	Offered bool     `json:"offered"`
	Wanted  []string `json:"wanted"`
}

// Size is one in CSS pixels.
type Size struct {
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// viewing is one viewer at work.
type viewing struct {
	server   *Server
	conn     *websocket.Conn
	viewer   sessions.Viewer
	session  sessions.Session
	acks     chan struct{}
	turned   chan struct{} // frames of another stream, or others of it, are to be shown
	commands chan func(context.Context)
	open     bool // the session was when its state was last read; for showStates
	number   int  // of frames that were sent; for showFrames

	mu      sync.Mutex
	size    Size
	sent    []time.Time // when the frames were sent that are on their way
	late    int         // how many frames in a row were
	decodes bool        // the viewer does VP8
	video   bool        // is sent
	width   int         // that pictures have at most
	height  int
	control *sessions.Control
	hands   *browsermgr.Hands
	taking  bool
	task    *TaskState
}

// run serves the viewer and returns why that has ended.
func (c *viewing) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	c.width, c.height = maxSize, maxSize
	c.conn.SetReadLimit(maxMessage)
	var work sync.WaitGroup
	// The reader's context is another one: where that of a read ends, the connection is cut, and could not be closed
	// with a word. It ends with the connection.
	reading := context.WithoutCancel(ctx)
	go func() { cancel(c.read(reading)) }()
	work.Go(func() { c.work(ctx) })
	work.Go(func() { cancel(c.showStates(ctx)) })
	work.Go(func() { cancel(c.showFrames(ctx)) })
	<-ctx.Done()
	c.giveBack()
	work.Wait()
	return context.Cause(ctx)
}

// work does what takes time, one thing after the other.
func (c *viewing) work(ctx context.Context) {
	for {
		select {
		case do := <-c.commands:
			do(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// later has something done that takes time.
func (c *viewing) later(do func(context.Context)) error {
	select {
	case c.commands <- do:
		return nil
	default:
		return errors.New("too much at once: wait until the page has done what it was told")
	}
}

// read takes what the viewer says until the connection ends.
func (c *viewing) read(ctx context.Context) error {
	for {
		_, data, err := c.conn.Read(ctx)
		if err != nil {
			return err
		}
		var m message
		var input page.PersonInput
		var command browsermgr.Command
		err = json.Unmarshal(data, &m)
		switch {
		case err != nil:
		case m.Type == "input":
			err = json.Unmarshal(data, &input)
		case m.Type == "do":
			err = json.Unmarshal(data, &command)
		}
		if err != nil {
			return errors.New("a message is not understood") // and is not repeated: it may be what somebody typed
		}
		switch m.Type {
		case "input":
			err = c.input(input)
		case "do":
			err = c.later(func(ctx context.Context) { c.do(ctx, command) })
		default:
			err = c.take(ctx, m)
		}
		if err != nil {
			c.tell(ctx, map[string]string{"type": "error", "text": err.Error()})
		}
	}
}

var errNotHeld = errors.New("take over first: you do not work this page")

// take does what a message says. It does not wait, so that input follows upon input.
func (c *viewing) take(ctx context.Context, m message) error {
	switch m.Type {
	case "ack":
		c.noteShown()
	case "video", "pictures":
		c.setDecodes(m.Type == "video")
	case "size":
		c.mu.Lock()
		defer c.mu.Unlock()
		c.width, c.height = min(max(m.W, minSize), maxSize), min(max(m.H, minSize), maxSize)
		if !c.video {
			signal(c.turned)
		}
	case "take":
		return c.beginTaking(ctx)
	case "give":
		c.giveBack()
	case "offer":
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.control != nil {
			c.control.Offer()
		}
	case "stop":
		if !c.viewer.May.Stop {
			return errors.New("you may not stop this task")
		}
		return c.stop(ctx)
	case "note":
		if !c.viewer.May.Note {
			return errors.New("you may not tell this task anything")
		}
		_, err := c.server.Sessions.SendNote(ctx, c.session.ID, c.viewer.From, m.Text)
		return err
	default:
		return fmt.Errorf("there is no message of type %q", m.Type)
	}
	return nil
}

// held returns the viewer's hands while they work the page.
func (c *viewing) held() (*browsermgr.Hands, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hands == nil || !c.control.Touch() {
		return nil, errNotHeld
	}
	return c.hands, nil
}

func (c *viewing) input(ev page.PersonInput) error {
	h, err := c.held()
	if err != nil {
		return err
	}
	return h.Input(ev)
}

// beginTaking begins to wait for the page.
func (c *viewing) beginTaking(ctx context.Context) error {
	if !c.viewer.May.Control {
		return errors.New("you may watch this page, not work it")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taking || c.hands != nil {
		return nil
	}
	c.taking = true
	return c.later(func(run context.Context) {
		err := c.takeOver(run)
		c.mu.Lock()
		c.taking = false
		c.mu.Unlock()
		if err != nil {
			c.tell(ctx, map[string]string{"type": "error", "text": err.Error()})
		}
	})
}

// takeOver gets the page for the viewer.
func (c *viewing) takeOver(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	request := sessions.ControlRequest{From: c.viewer.From, Invited: c.viewer.Invited}
	control, err := c.server.Sessions.TakeControl(within, c.session.ID, request)
	if err != nil {
		return err
	}
	window, err := c.server.Window(within, c.session, true)
	var hands *browsermgr.Hands
	if err == nil {
		hands, err = window.BeginControl(within, c.viewer.Name)
	}
	if err != nil {
		control.End()
		return err
	}
	control.OnEnd(hands.Release)
	c.conn.SetReadLimit(maxUpload)
	c.mu.Lock()
	c.control, c.hands = control, hands
	c.mu.Unlock()
	signal(c.turned)
	if ctx.Err() != nil { // the viewer has gone meanwhile
		c.giveBack()
	}
	go func() { // it ends with the hold, which ends with the viewer
		<-control.Ended()
		c.mu.Lock()
		mine := c.control == control
		if mine {
			c.control, c.hands = nil, nil
		}
		c.mu.Unlock()
		signal(c.turned)
		if err := control.Err(); mine && err != nil {
			text := "You do not work this page any more: " + err.Error()
			c.tell(ctx, map[string]string{"type": "error", "text": text})
		}
	}()
	return nil
}

// giveBack ends the viewer's hold, if they have one.
func (c *viewing) giveBack() {
	c.mu.Lock()
	control := c.control
	c.control, c.hands = nil, nil
	c.mu.Unlock()
	signal(c.turned)
	if control != nil {
		control.End()
		c.conn.SetReadLimit(maxMessage)
	}
}

// do does a command of the person who works the page.
func (c *viewing) do(ctx context.Context, command browsermgr.Command) {
	ctx, cancel := context.WithTimeout(ctx, doTimeout)
	defer cancel()
	h, err := c.held()
	var copied string
	if err == nil {
		copied, err = h.Do(ctx, command)
	}
	switch {
	case err != nil:
		c.tell(ctx, map[string]string{"type": "error", "text": err.Error()})
	case command.What == "copy":
		c.tell(ctx, map[string]string{"type": "clipboard", "text": copied})
	}
}

// stop stops the session's tasks.
func (c *viewing) stop(ctx context.Context) error {
	tasks, err := c.server.Sessions.Tasks(ctx, sessions.TaskQuery{
		Session: c.session.ID, States: []sessions.TaskState{sessions.TaskQueued, sessions.TaskRunning},
	})
	for _, t := range tasks {
		c.server.Scopes.StopWork(t.ID, c.viewer.Actor, true)
	}
	return err
}

// showFrames sends what the page shows as fast as the viewer shows it.
func (c *viewing) showFrames(ctx context.Context) error {
	leaveLast := func() {} // called once there is the next, so that the capture goes on
	defer func() { leaveLast() }()
	for {
		c.mu.Lock()
		key := streamKey{session: c.session.ID, hands: c.hands}
		if !c.video {
			key.width, key.height = c.width, c.height
		}
		c.mu.Unlock()
		view, leave := c.server.subscribe(key, c.session)
		leaveLast()
		leaveLast = leave
		if err := c.showView(ctx, view.Frames()); err != nil {
			return err
		}
	}
}

// showView sends frames until others are to be shown. Its error is that of the viewer.
func (c *viewing) showView(ctx context.Context, frames <-chan videosource.Frame) error {
	unread := time.NewTimer(unreadTimeout)
	defer unread.Stop()
	for {
		next := frames
		c.mu.Lock()
		if len(c.sent) >= maxInFlight {
			next = nil
		} else {
			unread.Reset(unreadTimeout)
		}
		c.mu.Unlock()
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-c.turned:
			return nil
		case <-c.acks:
		case <-unread.C:
			return errors.New("the viewer does not show what it is sent")
		case f, ok := <-next:
			if !ok {
				return errClosing
			}
			if err := c.sendFrame(ctx, f); err != nil {
				return err
			}
		}
	}
}

// noteShown notes that the viewer has shown the frame that was sent first. Where pictures come late, video is sent from
// then on: it has a hundredth of their bits, but needs a browser that encodes it.
func (c *viewing) noteShown() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sent) == 0 {
		return
	}
	if time.Since(c.sent[0]) > lateAfter {
		c.late++
	} else {
		c.late = 0
	}
	c.sent = c.sent[1:]
	signal(c.acks)
	if c.late >= lateFrames && c.decodes && !c.video {
		c.video = true
		signal(c.turned)
	}
}

// setDecodes notes whether the viewer's browser decodes video.
func (c *viewing) setDecodes(decodes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.decodes = decodes
	if !decodes && c.video {
		c.video = false
		signal(c.turned)
	}
}

// frameHeader says what a frame shows.
type frameHeader struct {
	N  int     `json:"n"`
	W  int     `json:"w"` // of the picture
	H  int     `json:"h"`
	VW float64 `json:"vw"` // of the viewport, in CSS pixels
	VH float64 `json:"vh"`
}

// The kinds of frames.
const (
	kindJPEG byte = 1
	kindVP8  byte = 2
)

func (c *viewing) sendFrame(ctx context.Context, f videosource.Frame) error {
	c.number++
	head, err := json.Marshal(frameHeader{c.number, f.Width, f.Height, f.View.Width, f.View.Height})
	if err != nil {
		return err
	}
	kind := kindVP8
	if f.JPEG {
		kind = kindJPEG
	}
	data := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(head))) //nolint:gosec // it is short
	c.mu.Lock()
	c.sent = append(c.sent, time.Now())
	c.size = Size{f.View.Width, f.View.Height}
	c.mu.Unlock()
	ctx, cancel := writing(ctx)
	defer cancel()
	return c.conn.Write(ctx, websocket.MessageBinary, append(append(data, head...), f.Data...))
}

// writing returns the context of one message. It outlives ctx a little: a write that is cut off cuts the connection, and
// the viewer would not read why the view has ended.
func writing(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWriteTimeout, cancel) })
	return longer, func() { stop(); cancel() }
}

// tell sends a text message. Whoever cannot be told anything any more is about to be gone.
func (c *viewing) tell(ctx context.Context, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return
	}
	ctx, cancel := writing(ctx)
	defer cancel()
	_ = c.conn.Write(ctx, websocket.MessageText, data)
}

// showStates tells what changes beside the picture.
func (c *viewing) showStates(ctx context.Context) error {
	events, end := c.server.Sessions.Subscribe()
	defer func() { end() }()
	if err := c.readTask(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(stateInterval)
	defer tick.Stop()
	var last []byte
	for {
		state, changed, err := c.state(ctx)
		if err != nil {
			return err
		}
		data, err := json.Marshal(state)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, last) {
			c.tell(ctx, json.RawMessage(data))
			last = data
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		case <-changed[0]:
		case <-changed[1]:
		case ev, ok := <-events:
			switch {
			case !ok: // this viewer was too slow
				events, end = c.server.Sessions.Subscribe()
				err = c.readTask(ctx)
			case ev.Record.SessionID == c.session.ID:
				err = c.noteTask(ctx, ev)
			}
			if err != nil {
				return err
			}
		}
	}
}

// readTask finds the session's last task.
func (c *viewing) readTask(ctx context.Context) error {
	tasks, err := c.server.Sessions.Tasks(ctx, sessions.TaskQuery{Session: c.session.ID, Limit: 1})
	if err != nil || len(tasks) == 0 {
		return err
	}
	return c.noteTask(ctx, sessions.Event{Record: tasks[0]})
}

// noteTask takes over how far a task is. It fails if the session has ended with it.
func (c *viewing) noteTask(ctx context.Context, ev sessions.Event) error {
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

// state returns what the viewer sees, and what to wait for until that may be something else.
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
	s.Control.Mine, s.Task, s.Size = c.hands != nil, c.task, c.size
	if held.Holder != "" && c.hands == nil {
		s.conceal()
	}
	return s, changed, nil
}

// conceal takes out what others do not see while somebody works the page.
func (s *State) conceal() {
	s.Title, s.URL = "", ""
	for i := range s.Tabs {
		s.Tabs[i].Title, s.Tabs[i].URL = "", ""
	}
	if s.Dialog != nil {
		s.Dialog.Text = ""
	}
}

// isClosed reports whether the session was closed for good.
func (c *viewing) isClosed(ctx context.Context) bool {
	s, err := c.server.Sessions.Session(ctx, c.session.ID)
	return errors.Is(err, sessions.ErrNotFound) || err == nil && s.State == sessions.SessionClosed
}

// signal puts a token into a channel that holds one.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
