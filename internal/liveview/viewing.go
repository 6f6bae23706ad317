package liveview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr"
	"clank/browsermgr/page"
	"clank/sessions"

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
	hands   *browsermgr.Takeover
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
func (c *viewing) held() (*browsermgr.Takeover, error) {
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
	var hands *browsermgr.Takeover
	if err == nil {
		hands, err = window.TakeOver(within, c.viewer.Name)
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
