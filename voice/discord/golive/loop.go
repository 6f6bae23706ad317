package golive

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"clank/videosource"
	"clank/voice"
	"clank/voice/discord/conn"
)

// streamLoop is the state of a stream that belongs to its goroutine.
type streamLoop struct {
	*Stream
	created       bool // Discord knows the stream and must be told when it ends
	server        string
	endpoint      string
	token         string
	conn          StreamConn
	pending       chan connectResult // of the connection being opened; nil if none is
	earlyEvents   []connEvent        // events of connections before one of them was open
	cancelConnect context.CancelFunc
	connNumber    int // of the connection; events of older ones are ignored
	transport     int // index into the publisher's options; one that failed is not tried again
	viewer        *videosource.Viewer
	wantedQuality int
	ready         bool // frames can be sent
	width         int  // announced
	height        int
	deadline      *time.Timer
	deadlineErr   error // the error when the deadline passes
}

type connEvent struct {
	transport int
	event     conn.Event
}

type connectResult struct {
	conn        StreamConn
	transport   int
	fallbackErr error // why it is not the way that was tried first
	err         error
}

// loop returns why the stream has ended.
func (l *streamLoop) loop(ctx context.Context) error {
	l.deadline = time.NewTimer(time.Hour)
	defer l.deadline.Stop()
	l.deadline.Stop()
	if err := l.request(ctx); err != nil {
		return err
	}
	for {
		var frames <-chan videosource.Frame
		if l.viewer != nil {
			frames = l.viewer.Frames()
		}
		var over <-chan struct{}
		if l.conn != nil {
			over = l.conn.Done()
		}
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.tasks.Wake():
			for _, do := range l.tasks.Drain() {
				if err = do(ctx, l); err != nil {
					break
				}
			}
			if err == nil {
				err = l.startConnect(ctx)
			}
		case e, ok := <-l.presence.Events():
			err = l.handlePresence(e, ok)
		case r := <-l.pending:
			l.pending = nil
			err = l.handleConnected(r)
		case <-over:
			err = l.handleConnEnd(ctx)
		case f, ok := <-frames:
			if !ok {
				return errSourceEnded
			}
			l.sendFrame(f)
		case <-l.deadline.C:
			return l.deadlineErr
		}
		if err != nil {
			return err
		}
	}
}

// request joins the voice channel and asks Discord for the stream.
func (l *streamLoop) request(ctx context.Context) error {
	seat, err := l.publisher.JoinVoice(ctx, l.req.Guild, l.req.Channel)
	if err != nil {
		return fmt.Errorf("the account for Go Live cannot enter the call: %w", err)
	}
	l.presence = seat
	l.tasks.Drain() // earlier answers do not belong to this request
	if err := l.publisher.Send(ctx, opCreate, map[string]any{
		"type": "guild", "guild_id": l.req.Guild, "channel_id": l.req.Channel, "preferred_region": nil,
	}); err != nil {
		return fmt.Errorf("ask Discord for the stream: %w", err)
	}
	l.created = true
	err = l.publisher.Send(ctx, opPause, map[string]any{"stream_key": l.key, "paused": false})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: tell Discord that the stream is not paused: %w", errGatewayClosed, err)
	}
	l.setStatus(Requested, "")
	l.setDeadline(l.publisher.answerTimeout(), noAnswerError(l.publisher.answerTimeout(), false))
	return nil
}

// setDeadline sets the deadline for the next news, and what it means if none comes.
func (l *streamLoop) setDeadline(wait time.Duration, late error) {
	l.deadline.Reset(wait)
	l.deadlineErr = late
}

func (l *streamLoop) handlePresence(e voice.Event, ok bool) error {
	switch {
	case !ok:
		if err := l.presence.Err(); err != nil {
			return fmt.Errorf("%w: %w", errPresenceLost, err)
		}
		return errPresenceLost
	case e.Kind == voice.Moved:
		return errMoved
	}
	return nil
}

// waitForMove returns the error of a stream that ended because the account was moved: Discord ends it first and then
// reports the new channel. It returns nil if that was not the reason, or is not known soon.
func (l *streamLoop) waitForMove(ctx context.Context, err error) error {
	gone, refused := errors.AsType[*RefusedError](err)
	if !refused || !l.wasUp() || l.presence == nil || gone.Reason != "user_requested" && gone.Reason != "stream_ended" &&
		gone.Reason != "" {
		return nil
	}
	late := time.After(l.publisher.answerTimeout() / moveShare)
	for {
		select {
		case e, ok := <-l.presence.Events():
			switch {
			case !ok:
				return nil
			case e.Kind == voice.Moved:
				return errMoved
			}
		case <-late:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (l *streamLoop) startConnect(ctx context.Context) error {
	if l.conn != nil || l.pending != nil || l.server == "" || l.endpoint == "" {
		return nil
	}
	number, err := strconv.ParseUint(l.server, 10, 64)
	if err != nil || number == 0 {
		return errBadGroup
	}
	l.connNumber++
	this := l.connNumber
	l.earlyEvents = nil
	l.wantedQuality = 100 // until the new server sends another
	t := conn.Target{
		Endpoint: l.endpoint, ServerID: l.server, UserID: l.selfID, SessionID: l.presence.SessionID(), Token: l.token,
		GroupID: number - 1,
	}
	l.setStatus(Connecting, "")
	l.setDeadline(l.publisher.answerTimeout(), fmt.Errorf("the stream's voice connection was not ready within %s",
		l.publisher.answerTimeout()))
	ctx, l.cancelConnect = context.WithCancel(ctx)
	result, from := make(chan connectResult, 1), l.transport
	l.pending = result
	go func() {
		result <- l.publisher.connect(ctx, t, from, func(way int, e conn.Event) {
			if e.Kind != conn.PacketReceived {
				l.post(func(_ context.Context, l *streamLoop) error { return l.handleConnEvent(this, connEvent{way, e}) })
			}
		})
	}()
	return nil
}

func (l *streamLoop) handleConnected(r connectResult) error {
	l.cancelConnect()
	if r.err != nil {
		l.endpoint = "" // these credentials are spent
		if l.wasUp() && conn.ReactionTo(r.err) != conn.GiveUp {
			l.awaitServer(r.err)
			return nil
		}
		l.setStatus(NoTransport, r.err.Error())
		return fmt.Errorf("the stream's voice connection could not be opened: %w", r.err)
	}
	l.conn, l.transport = r.conn, r.transport
	l.updateState(func(st *State) {
		st.Transport = l.publisher.transportOptions()[r.transport].Name
		if r.fallbackErr != nil {
			st.FallbackReason = r.fallbackErr.Error()
		}
	})
	l.width, l.height = 0, 0
	early := l.earlyEvents
	l.earlyEvents = nil
	for _, w := range early {
		if err := l.handleConnEvent(l.connNumber, w); err != nil {
			return err
		}
	}
	return nil
}

func (l *streamLoop) wasUp() bool {
	select {
	case <-l.up:
		return true
	default:
		return false
	}
}

// awaitServer waits for another server, as the one there was is lost.
func (l *streamLoop) awaitServer(why error) {
	l.setStatus(AwaitingCredentials, why.Error())
	l.setDeadline(l.publisher.answerTimeout(),
		fmt.Errorf("the stream's voice connection is lost, and Discord names no other: %w", why))
}

func (l *streamLoop) handleConnEnd(ctx context.Context) error {
	err := l.conn.Err()
	if err == nil {
		err = errConnClosed
	}
	final := conn.ReactionTo(err) == conn.GiveUp
	l.closeConn(ctx)
	l.endpoint = ""
	if final {
		return fmt.Errorf("the stream's voice connection has ended: %w", err)
	}
	l.awaitServer(err)
	return nil
}

// closeConn closes the connection, or cancels opening it.
func (l *streamLoop) closeConn(ctx context.Context) {
	l.unsubscribe()
	l.ready = false
	l.connNumber++
	if l.pending != nil {
		l.cancelConnect()
		r := <-l.pending
		l.pending, l.conn = nil, r.conn
	}
	if l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	if err := l.conn.Close(ctx); err != nil {
		l.publisher.logger().Warn("the stream's voice connection did not end as it should", "error", err)
	}
	l.conn = nil
}

func (l *streamLoop) cleanUp(ctx context.Context) {
	l.closeConn(ctx)
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	if l.created {
		if err := l.publisher.Send(ctx, opDelete, map[string]any{"stream_key": l.key}); err != nil {
			l.publisher.logger().Info("the end of the stream was not told to Discord", "error", err)
		}
	}
	if l.presence == nil {
		return
	}
	if err := l.presence.Close(ctx); err != nil {
		l.publisher.logger().Warn("the account for Go Live did not leave the call as it should", "error", err)
	}
}
