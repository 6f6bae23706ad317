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
	"clank/cancel"
	"clank/sessions"

	"github.com/coder/websocket"
)

const (
	writeTimeout     = 10 * time.Second
	lastWriteTimeout = time.Second // after the view has ended
	// stateInterval is how often the state of the page other than its image is polled, while someone watches.
	stateInterval = 150 * time.Millisecond
	// signInterval is how often an unchanged state is sent again. A pane connects again if it hears nothing three times.
	signInterval = 5 * time.Second
	// takeTimeout bounds waiting for the running step.
	takeTimeout = 2 * time.Minute
	doTimeout   = time.Minute
	// maxInFlight is the number of unacknowledged frames to a viewer. With more, frames would be outdated when they
	// arrive.
	maxInFlight = 2
	// unreadTimeout is how long frames may stay unacknowledged.
	unreadTimeout = time.Minute
	maxCommands   = 16
	maxMessage    = 64 << 10
	maxUpload     = 28 << 20 // size of a message with files, in base64
	// A connection is slow if lateFrames consecutive frames were acknowledged later than lateAfter.
	lateAfter  = 120 * time.Millisecond
	lateFrames = 3
	// Limits of the image size.
	minSize, maxSize = 64, 4096
)

// message is a message of a viewer. Type is take (control), give (it back), offer (it to anyone), input, do, stop,
// note, ack (of a frame), size (in which images are displayed), video (its browser decodes VP8), or pictures (it does
// not). Input and do have the fields of [page.PersonInput] and [browsermgr.Command].
type message struct {
	Type string `json:"type"`
	Text string `json:"text"` // text of a note
	W    int    `json:"w"`    // width of a size
	H    int    `json:"h"`
}

// viewing is a connected viewer.
type viewing struct {
	server        *Server
	conn          *websocket.Conn
	viewer        sessions.Viewer
	session       sessions.Session
	acks          chan struct{}
	streamChanged chan struct{} // signals that another stream is to be shown
	commands      chan func(context.Context)
	open          bool // the session was open when its state was last read; used by showStates
	number        int  // number of sent frames; used by showFrames

	mu       sync.Mutex
	size     Size
	sent     []time.Time // times of the unacknowledged frames
	late     int         // number of consecutive late frames
	decodes  bool        // the viewer decodes VP8
	video    bool        // video is sent
	width    int         // maximum size of images
	height   int
	control  *sessions.Control
	takeover *browsermgr.Takeover
	taking   bool
	task     *TaskState
}

// run serves the viewer until the view ends, and returns the reason.
func (c *viewing) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	c.width, c.height = maxSize, maxSize
	c.conn.SetReadLimit(maxMessage)
	var work sync.WaitGroup
	// Canceling the context of a read closes the connection without a close frame, so the reader has a context of its
	// own. It ends with the connection.
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

// work runs slow operations one after another.
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

// later queues a slow operation.
func (c *viewing) later(do func(context.Context)) error {
	select {
	case c.commands <- do:
		return nil
	default:
		return errors.New("too much at once: wait until the page has done what it was told")
	}
}

// read handles the viewer's messages until the connection ends.
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
			return errors.New("a message is not understood") // the message is not quoted: it may contain what a person typed
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
			c.sendMessage(ctx, map[string]string{"type": "error", "text": err.Error()})
		}
	}
}

var errNotHeld = errors.New("take over first: you do not control this page")

// take handles a message. It does not block, so that inputs stay in order.
func (c *viewing) take(ctx context.Context, m message) error {
	switch m.Type {
	case "ack":
		c.recordShown()
	case "video", "pictures":
		c.setDecodes(m.Type == "video")
	case "size":
		c.mu.Lock()
		defer c.mu.Unlock()
		c.width, c.height = min(max(m.W, minSize), maxSize), min(max(m.H, minSize), maxSize)
		if !c.video {
			signal(c.streamChanged)
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

// held returns the viewer's control of the page, or an error if they do not have it.
func (c *viewing) held() (*browsermgr.Takeover, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.takeover == nil || !c.control.Touch() {
		return nil, errNotHeld
	}
	return c.takeover, nil
}

func (c *viewing) input(ev page.PersonInput) error {
	h, err := c.held()
	if err != nil {
		return err
	}
	return h.Input(ev)
}

// beginTaking starts waiting for control of the page.
func (c *viewing) beginTaking(ctx context.Context) error {
	if !c.viewer.May.Control {
		return errors.New("you may watch this page, not work it")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.taking || c.takeover != nil {
		return nil
	}
	c.taking = true
	return c.later(func(run context.Context) {
		err := c.takeOver(run)
		c.mu.Lock()
		c.taking = false
		c.mu.Unlock()
		if err != nil {
			c.sendMessage(ctx, map[string]string{"type": "error", "text": err.Error()})
		}
	})
}

// takeOver takes control of the page for the viewer.
func (c *viewing) takeOver(ctx context.Context) error {
	within, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	request := sessions.ControlRequest{From: c.viewer.From, Invited: c.viewer.Invited}
	control, err := c.server.Sessions.TakeControl(within, c.session.ID, request)
	if err != nil {
		return err
	}
	window, err := c.server.Window(within, c.session, true)
	var takeover *browsermgr.Takeover
	if err == nil {
		takeover, err = window.TakeOver(within, c.viewer.Name)
	}
	if err != nil {
		control.End()
		return err
	}
	control.OnEnd(takeover.Release)
	c.conn.SetReadLimit(maxUpload)
	c.mu.Lock()
	c.control, c.takeover = control, takeover
	c.mu.Unlock()
	signal(c.streamChanged)
	if ctx.Err() != nil { // the viewer has left meanwhile
		c.giveBack()
	}
	go func() { // ends when the viewer gives up control or leaves
		<-control.Ended()
		c.mu.Lock()
		mine := c.control == control
		if mine {
			c.control, c.takeover = nil, nil
		}
		c.mu.Unlock()
		signal(c.streamChanged)
		if err := control.Err(); mine && err != nil {
			text := "You no longer control this page: " + err.Error()
			c.sendMessage(ctx, map[string]string{"type": "error", "text": text})
		}
	}()
	return nil
}

// giveBack ends the viewer's control, if they have it.
func (c *viewing) giveBack() {
	c.mu.Lock()
	control := c.control
	c.control, c.takeover = nil, nil
	c.mu.Unlock()
	signal(c.streamChanged)
	if control != nil {
		control.End()
		c.conn.SetReadLimit(maxMessage)
	}
}

// do runs a command of the person who controls the page.
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
		c.sendMessage(ctx, map[string]string{"type": "error", "text": err.Error()})
	case command.What == "copy":
		c.sendMessage(ctx, map[string]string{"type": "clipboard", "text": copied})
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

// writing returns the context of one message. It outlives ctx a little: canceling a write closes the connection, and
// the viewer would not read why the view has ended.
func writing(ctx context.Context) (context.Context, context.CancelFunc) {
	return cancel.Linger(ctx, writeTimeout, lastWriteTimeout)
}

// sendMessage sends a text message. Errors are ignored, because the connection ends with them.
func (c *viewing) sendMessage(ctx context.Context, v any) {
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

// signal sends to a channel with a buffer of one, unless it is full.
func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}
