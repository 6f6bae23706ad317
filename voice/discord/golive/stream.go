package golive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"clank/voice"
)

// Status is the progress of a stream.
type Status string

// The statuses.
const (
	AwaitingPresence Status = "waiting_for_voice_session" // the account joins the channel
	Requested        Status = "stream_requested"          // Discord was asked
	// it has agreed, or moves the stream; its server is not known yet
	AwaitingCredentials Status = "waiting_for_credentials"
	ConnectRequested    Status = "connect_requested" // the server is known
	// the second voice connection is being opened, or has no keys yet
	Connecting        Status = "connecting"
	Ready             Status = "ready"                 // pictures can go
	Playing           Status = "playing"               // they do
	AwaitingTransport Status = "waiting_for_transport" // the connection has broken and is being restored
	BadGroup          Status = "invalid_dave_channel"  // the stream's number is none, so its encryption has no group
	NoTransport       Status = "transport_unavailable" // the second voice connection could not be opened
	Unsupported       Status = "unsupported_source"    // the others demand a codec that is not ours
	CreateFailed      Status = "stream_create_failed"  // Discord has refused
	Failed            Status = "failed"                // it has ended by itself, see Reason
	Disconnected      Status = "disconnected"          // it was ended
)

// State describes a stream.
type State struct {
	Status         Status
	Reason         string // why it is not well; for people
	Key            string // of the stream, as Discord writes it
	Server         string // Discord's number of the stream
	Endpoint       string // where the pictures go
	Transport      string // in which they go: "UDP", "WebRTC"
	FallbackReason string // why that is not the first way; empty if it is. For people
	Viewers        []string
	WantedQuality  int    // quality that viewers want; 0 means that nobody watches, 100 is the best
	Sent           uint64 // frames
	Dropped        uint64 // frames that could not go
}

// loopTask is something that a stream's loop is to do. An error ends the stream.
type loopTask func(ctx context.Context, l *streamLoop) error

// Stream is one stream of a [Publisher]. Its methods are safe for concurrent use.
type Stream struct {
	publisher *Publisher
	req       Request
	selfID    string
	key       string
	cancel    context.CancelCauseFunc
	up        chan struct{} // closed when pictures can go for the first time
	done      chan struct{}
	err       error         // why it ended; read after done is closed
	presence  VoicePresence // owned by the loop; readable once done is closed

	tasks voice.Queue[loopTask]

	mu    sync.Mutex
	state State
}

func newStream(p *Publisher, r Request, self string) *Stream {
	s := &Stream{
		publisher: p, req: r, selfID: self, key: fmt.Sprintf("guild:%s:%s:%s", r.Guild, r.Channel, self),
		up: make(chan struct{}), done: make(chan struct{}),
	}
	s.state = State{Status: AwaitingPresence, Key: s.key, WantedQuality: 100}
	return s
}

// State returns the state of the stream.
func (s *Stream) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.state
	st.Viewers = slices.Clone(st.Viewers)
	return st
}

func (s *Stream) updateState(change func(*State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
}

func (s *Stream) setStatus(status Status, reason string) {
	s.updateState(func(st *State) { st.Status, st.Reason = status, reason })
}

// Stop ends the stream and leaves the channel. It waits for that, at most until ctx ends, and may be called twice.
func (s *Stream) Stop(ctx context.Context) error { return s.end(ctx, errStopped) }

func (s *Stream) end(ctx context.Context, cause error) error {
	s.cancel(cause)
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("end the stream: %w", context.Cause(ctx))
	}
}

func (s *Stream) post(do loopTask) { s.tasks.Put(do, 0) }

func (s *Stream) run(ctx context.Context) {
	defer close(s.done)
	var beside sync.WaitGroup
	defer beside.Wait()
	if s.publisher.Preview != nil {
		beside.Go(func() { s.preview(ctx) })
	}
	l := &streamLoop{Stream: s, wantedQuality: 100}
	err := l.loop(ctx)
	if moved := l.waitForMove(ctx, err); moved != nil {
		err = moved
	}
	s.cancel(err)
	l.cleanUp(context.WithoutCancel(ctx))
	s.err = err
	wasUp := l.wasUp()
	stopped := errors.Is(err, errStopped) || errors.Is(err, ErrClosed)
	s.updateState(func(st *State) {
		_, refused := errors.AsType[*RefusedError](err)
		switch {
		case stopped:
			st.Status = Disconnected
		case errors.Is(err, errBadGroup):
			st.Status = BadGroup
		case st.Status == Unsupported || st.Status == NoTransport:
		case refused && !wasUp:
			st.Status = CreateFailed
		default:
			st.Status = Failed
		}
		st.Reason = err.Error()
	})
	s.publisher.logger().Info("go live has ended", "stream", s.key, "reason", err)
	s.publisher.release(s)
	if wasUp && !stopped && s.req.Lost != nil {
		s.req.Lost(err)
	}
}
