package webrtc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"clank/voice"

	"github.com/pion/webrtc/v4"
)

// Why a connection has ended by itself.
var (
	ErrPageLeft       = errors.New("the page has left")
	errConnectionLost = errors.New("the connection to the page was lost")
	ErrNoRoute        = errors.New("the page could not be connected: its network blocks all the ports")
)

// Handlers handle the events of a connection. Each function may be nil, and must not block.
type Handlers struct {
	Connected   func(c *Conn)      // it can carry something, for the first time or again
	Interrupted func()             // it cannot for now
	Packet      func(voice.Packet) // from the page's microphone; From is empty. One after the other
	Message     func(data []byte)  // from the page's script; never called concurrently with another handler
}

// Conn is one connection to a page. Its methods are safe for concurrent use.
type Conn struct {
	handlers     Handlers
	pc           *webrtc.PeerConnection
	sound        *sound
	video        *video
	messages     *messageChannel
	up           atomic.Bool
	ended        <-chan struct{} // it is to end
	why          func() error    // for what reason
	end          context.CancelCauseFunc
	done         chan struct{}
	work         sync.WaitGroup // of the goroutines that run starts
	stateChanged chan struct{}  // the state has changed
	tracks       chan *webrtc.TrackRemote
	feeds        chan videoFeed

	feedMu      sync.Mutex // held while something is put into shows
	feedsClosed bool       // no further feeds are accepted
}

// Answer creates a connection to a page from its offer and returns the answer (JSEP, RFC 8829; all candidates are in
// the answer, none follow). ctx limits only this call; the connection lives until it is ended, is lost, or the engine
// is closed. Errors are [ErrBadOffer], [ErrTooManyConns] and [ErrClosed], or a failure on our side.
func (e *Engine) Answer(ctx context.Context, offer string, peer Handlers) (*Conn, string, error) {
	offer, err := readOffer(offer, len(e.ICEServers) > 0)
	if err != nil {
		return nil, "", err
	}
	if err := e.reserve(); err != nil {
		return nil, "", err
	}
	c, answer, err := e.answer(ctx, offer, peer)
	if err != nil {
		e.release(c)
		return nil, "", err
	}
	e.addConn(c)
	go func() {
		defer e.release(c)
		c.runUntilEnd(cmp.Or(e.ConnectTimeout, DefaultConnectTimeout))
	}()
	return c, answer, nil
}

func (e *Engine) answer(ctx context.Context, offer string, peer Handlers) (*Conn, string, error) {
	pc, err := e.api.NewPeerConnection(e.configuration(time.Now()))
	if err != nil {
		return nil, "", fmt.Errorf("make a connection: %w", err)
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &Conn{
		handlers: peer, pc: pc, ended: life.Done(), why: func() error { return context.Cause(life) }, end: end,
		done: make(chan struct{}), messages: newMessageChannel(),
		stateChanged: make(chan struct{}, 1), tracks: make(chan *webrtc.TrackRemote, 1), feeds: make(chan videoFeed, 1),
	}
	answer, err := c.negotiate(ctx, offer)
	if err != nil {
		end(err)
		return nil, "", errors.Join(err, pc.GracefulClose())
	}
	return c, answer, nil
}

// negotiate sets up what the offer asks for and returns the answer with all candidates that are known in time.
func (c *Conn) negotiate(ctx context.Context, offer string) (string, error) {
	var err error
	if c.sound, err = newSound(c.pc); err != nil {
		return "", err
	}
	if c.video, err = newVideo(c.pc); err != nil {
		return "", err
	}
	c.pc.OnConnectionStateChange(func(webrtc.PeerConnectionState) { signal(c.stateChanged) })
	c.pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		select {
		case c.tracks <- track:
		default: // a page has one microphone
		}
	})
	c.pc.OnDataChannel(c.messages.attach)
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadOffer, err)
	}
	answer, err := c.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBadOffer, err)
	}
	gathered := webrtc.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("answer the page: %w", err)
	}
	c.video.readExtensions()
	select {
	case <-gathered:
	case <-time.After(gatherTimeout): // a server that is slow; our own addresses are there
	case <-ctx.Done():
		return "", fmt.Errorf("answer the page: %w", context.Cause(ctx))
	}
	return c.pc.LocalDescription().SDP, nil
}

// End ends the connection for the given reason. It does not wait; see [Conn.Done].
func (c *Conn) End(why error) { c.end(why) }

// Done returns a channel that is closed when the connection has ended completely.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why the connection has ended or is about to; nil while it lives.
func (c *Conn) Err() error { return c.why() }

// runUntilEnd owns the connection until it has ended. It must stand within a time.
func (c *Conn) runUntilEnd(within time.Duration) {
	defer close(c.done)
	late := time.NewTimer(within)
	defer late.Stop()
	c.work.Go(c.sound.drain)
	c.work.Go(c.video.reports)
	var shown videoFeed
	for going := true; going; {
		select {
		case <-c.ended:
			going = false
		case <-late.C:
			if !c.handleState() {
				c.end(ErrNoRoute)
			}
		case <-c.stateChanged:
			if c.handleState() {
				late.Stop()
			}
		case track := <-c.tracks:
			c.work.Go(func() { c.readSound(track) })
		case data := <-c.messages.incoming:
			if c.handlers.Message != nil {
				c.handlers.Message(data)
			}
		case next := <-c.feeds:
			shown.close()
			shown = next
			shown.setBitrate(int(c.video.bitrate.Load()))
			shown.scheduleRefresh()
		case <-shown.due:
			shown.refresh()
			shown.scheduleRefresh()
		case f, ok := <-shown.frames():
			if !ok {
				shown.close()
				shown = videoFeed{}
				continue
			}
			c.video.send(f)
		case <-c.video.asked:
			shown.refresh()
		case <-c.video.rated:
			shown.setBitrate(int(c.video.bitrate.Load()))
		}
	}
	shown.close()
	c.closeFeeds()
	if c.up.Swap(false) {
		c.messages.flush()
	}
	_ = c.pc.GracefulClose() // nobody can be told
	c.work.Wait()
}

// handleState looks how the connection is doing, and reports whether it is up.
func (c *Conn) handleState() bool {
	switch c.pc.ConnectionState() {
	case webrtc.PeerConnectionStateConnected:
		if !c.up.Swap(true) {
			if c.handlers.Connected != nil {
				c.handlers.Connected(c)
			}
		}
	case webrtc.PeerConnectionStateDisconnected:
		if c.up.Swap(false) && c.handlers.Interrupted != nil {
			c.handlers.Interrupted()
		}
	case webrtc.PeerConnectionStateFailed:
		c.end(errConnectionLost)
	case webrtc.PeerConnectionStateClosed:
		c.end(ErrPageLeft)
	default:
	}
	return c.up.Load()
}

// signal puts a token into a channel of one.
func signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
