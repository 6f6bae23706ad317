package golive

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"clank/videosource"
	"clank/voice"
	"clank/voice/discord/media"
)

// loop is what only the goroutine of a stream touches.
type loop struct {
	*Stream
	asked    bool // Discord knows of the stream, and must be told of its end
	server   string
	endpoint string
	token    string
	leg      Leg
	pending  chan opened // of the leg that is being opened; nil if none is
	early    []word      // what legs told before it was known which of them is open
	giveUp   context.CancelFunc
	number   int // of the leg; what older ones tell is passed over
	way      int // of the publisher's ways; what did not get through once is not tried again
	viewer   *videosource.Viewer
	wanted   int
	paused   bool
	ready    bool // pictures can go
	width    int  // announced
	height   int
	deadline *time.Timer
	late     error // what the end of the deadline means
}

// word is something that a leg tells.
type word struct {
	way   int
	event media.Event
}

// opened is what became of opening a leg.
type opened struct {
	leg    Leg
	way    int
	detour error // why it is not the way that was tried first
	err    error
}

// run returns why the stream has ended.
func (l *loop) run(ctx context.Context) error {
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
		if l.leg != nil {
			over = l.leg.Done()
		}
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.bell:
			for _, do := range l.letters() {
				if err = do(ctx, l); err != nil {
					break
				}
			}
			if err == nil {
				err = l.settle(ctx)
			}
		case e, ok := <-l.seated.Events():
			err = l.sitting(e, ok)
		case r := <-l.pending:
			l.pending = nil
			err = l.connected(r)
		case <-over:
			err = l.parted(ctx)
		case f, ok := <-frames:
			if !ok {
				return errSource
			}
			l.show(f)
		case <-l.deadline.C:
			return l.late
		}
		if err != nil {
			return err
		}
	}
}

// request takes a seat and asks Discord for the stream.
func (l *loop) request(ctx context.Context) error {
	seat, err := l.pub.Sit(ctx, l.req.Guild, l.req.Channel)
	if err != nil {
		return fmt.Errorf("the account for Go Live cannot enter the call: %w", err)
	}
	l.seated = seat
	l.letters() // nothing that came before is about what is asked now
	if err := l.pub.Send(ctx, opCreate, map[string]any{
		"type": "guild", "guild_id": l.req.Guild, "channel_id": l.req.Channel, "preferred_region": nil,
	}); err != nil {
		return fmt.Errorf("ask Discord for the stream: %w", err)
	}
	l.asked = true
	if err := l.tellPaused(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w", errBroken, err)
	}
	l.set(Requested, "")
	l.expect(l.pub.patience(), silent(l.pub.patience(), false))
	return nil
}

func (l *loop) tellPaused(ctx context.Context) error {
	if err := l.pub.Send(ctx, opPause, map[string]any{"stream_key": l.key, "paused": l.paused}); err != nil {
		return fmt.Errorf("tell Discord whether the stream is paused: %w", err)
	}
	return nil
}

// expect sets the deadline for the next news, and what it means if none comes.
func (l *loop) expect(wait time.Duration, late error) {
	l.deadline.Reset(wait)
	l.late = late
}

// sitting takes what happens in the call itself.
func (l *loop) sitting(e voice.Event, ok bool) error {
	switch {
	case !ok:
		if err := l.seated.Err(); err != nil {
			return fmt.Errorf("%w: %w", errUnseated, err)
		}
		return errUnseated
	case e.Kind == voice.Moved:
		return errMoved
	}
	return nil
}

// moved is the error of a stream that has ended because the account was moved: Discord ends it first and says then where the account is. It
// is nil if that is not so, or not known soon.
func (l *loop) moved(ctx context.Context, err error) error {
	gone, refused := errors.AsType[*RefusedError](err)
	if !refused || !l.played() || l.seated == nil || gone.Reason != "user_requested" && gone.Reason != "stream_ended" && gone.Reason != "" {
		return nil
	}
	late := time.NewTimer(l.pub.patience() / moveShare)
	defer late.Stop()
	for {
		select {
		case e, ok := <-l.seated.Events():
			switch {
			case !ok:
				return nil
			case e.Kind == voice.Moved:
				return errMoved
			}
		case <-late.C:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// settle connects as soon as it is known where to.
func (l *loop) settle(ctx context.Context) error {
	if l.leg != nil || l.pending != nil || l.server == "" || l.endpoint == "" {
		return nil
	}
	number, err := strconv.ParseUint(l.server, 10, 64)
	if err != nil || number == 0 {
		return errGroup
	}
	l.number++
	this := l.number
	l.early = nil
	l.wanted = 100 // until the new server says otherwise
	t := media.Target{
		Endpoint: l.endpoint, ServerID: l.server, UserID: l.self, SessionID: l.seated.SessionID(), Token: l.token, GroupID: number - 1,
	}
	l.set(Connecting, "")
	l.expect(l.pub.patience(), fmt.Errorf("the stream's voice connection was not ready within %s", l.pub.patience()))
	ctx, l.giveUp = context.WithCancel(ctx)
	result, from := make(chan opened, 1), l.way
	l.pending = result
	go func() {
		result <- l.pub.connect(ctx, t, from, func(way int, e media.Event) {
			if e.Kind != media.Sound {
				l.post(func(_ context.Context, l *loop) error { return l.told(this, word{way, e}) })
			}
		})
	}()
	return nil
}

// connected takes what became of opening a leg.
func (l *loop) connected(r opened) error {
	l.giveUp()
	if r.err != nil {
		l.endpoint = "" // these credentials are spent
		if l.played() && media.React(r.err) != media.Final {
			l.await(r.err)
			return nil
		}
		l.set(NoTransport, r.err.Error())
		return fmt.Errorf("the stream's voice connection could not be opened: %w", r.err)
	}
	l.leg, l.way = r.leg, r.way
	l.note(func(st *State) {
		st.Way = l.pub.ways()[r.way].Name
		if r.detour != nil {
			st.Detour = r.detour.Error()
		}
	})
	l.width, l.height = 0, 0
	early := l.early
	l.early = nil
	for _, w := range early {
		if err := l.told(l.number, w); err != nil {
			return err
		}
	}
	return nil
}

// played reports whether the stream has been up before.
func (l *loop) played() bool {
	select {
	case <-l.up:
		return true
	default:
		return false
	}
}

// await waits for another server, as the one there was is lost.
func (l *loop) await(why error) {
	l.set(AwaitingCredential, why.Error())
	l.expect(l.pub.patience(), fmt.Errorf("the stream's voice connection is lost, and Discord names no other: %w", why))
}

// parted takes the end of the leg.
func (l *loop) parted(ctx context.Context) error {
	err := l.leg.Err()
	if err == nil {
		err = errParted
	}
	final := media.React(err) == media.Final
	l.part(ctx)
	l.endpoint = ""
	if final {
		return fmt.Errorf("the stream's voice connection has ended: %w", err)
	}
	l.await(err)
	return nil
}

// part lets go of the leg, or of opening one.
func (l *loop) part(ctx context.Context) {
	l.unwatch()
	l.ready = false
	l.number++
	if l.pending != nil {
		l.giveUp()
		r := <-l.pending
		l.pending, l.leg = nil, r.leg
	}
	if l.leg == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	if err := l.leg.Close(ctx); err != nil {
		l.pub.logger().Warn("the stream's voice connection did not end as it should", "error", err)
	}
	l.leg = nil
}

// clear ends everything that the stream has begun.
func (l *loop) clear(ctx context.Context) {
	l.part(ctx)
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	if l.asked {
		if err := l.pub.Send(ctx, opDelete, map[string]any{"stream_key": l.key}); err != nil {
			l.pub.logger().Info("the end of the stream was not told to Discord", "error", err)
		}
	}
	if l.seated == nil {
		return
	}
	if err := l.seated.Close(ctx); err != nil {
		l.pub.logger().Warn("the account for Go Live did not leave the call as it should", "error", err)
	}
}
