package rtc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/webrtc/v4"

	"clank/voice"
)

// Why a connection has ended by itself.
var (
	ErrLeft    = errors.New("the page has left")
	ErrLost    = errors.New("the connection to the page was lost")
	ErrNoRoute = errors.New("no connection to the page came about: its network lets none of the ports through")
)

// Peer is what is done with what a connection brings. Each function may be nil, and must not wait.
type Peer struct {
	Up      func(c *Conn)      // it can carry something, for the first time or again
	Down    func()             // it cannot for now
	Hear    func(voice.Packet) // from the page's microphone; From is empty. One after the other
	Message func(data []byte)  // from the page's script. One after the other, and never at once with Up and Down
}

// Conn is one connection to a page. Its methods are safe for concurrent use.
type Conn struct {
	peer   Peer
	pc     *webrtc.PeerConnection
	sound  *sound
	video  *video
	said   *said
	up     atomic.Bool
	ended  <-chan struct{} // it is to end
	why    func() error    // for what reason
	end    context.CancelCauseFunc
	done   chan struct{}
	work   sync.WaitGroup // of the goroutines that run starts
	news   chan struct{}  // the state has changed
	tracks chan *webrtc.TrackRemote
	shows  chan show

	showing  sync.Mutex // held while something is put into shows
	showOver bool       // nothing is taken out any more
}

// Answer makes a connection to the page that offers it (JSEP, RFC 8829: all candidates are in the answer, there are no later ones), and
// returns the answer for the page. ctx bounds the making of the answer only; the connection lives until it is ended, is lost, or the
// engine is closed. Errors are [ErrOffer], [ErrFull] and [ErrClosed], or our own failure.
func (e *Engine) Answer(ctx context.Context, offer string, peer Peer) (*Conn, string, error) {
	offer, err := readOffer(offer, len(e.Servers) > 0)
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
	e.keep(c)
	go func() {
		defer e.release(c)
		c.run(cmp.Or(e.Within, DefaultWithin))
	}()
	return c, answer, nil
}

func (e *Engine) answer(ctx context.Context, offer string, peer Peer) (*Conn, string, error) {
	config := webrtc.Configuration{}
	for _, s := range e.Offered(time.Now()) {
		config.ICEServers = append(config.ICEServers, webrtc.ICEServer{URLs: s.URLs, Username: s.Username, Credential: s.Credential})
	}
	pc, err := e.api.NewPeerConnection(config)
	if err != nil {
		return nil, "", fmt.Errorf("make a connection: %w", err)
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	c := &Conn{
		peer: peer, pc: pc, ended: life.Done(), why: func() error { return context.Cause(life) }, end: end, done: make(chan struct{}), said: newSaid(),
		news: make(chan struct{}, 1), tracks: make(chan *webrtc.TrackRemote, 1), shows: make(chan show, 1),
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
	c.pc.OnConnectionStateChange(func(webrtc.PeerConnectionState) { kick(c.news) })
	c.pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) {
		select {
		case c.tracks <- track:
		default: // a page has one microphone
		}
	})
	c.pc.OnDataChannel(c.said.take)
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: offer}); err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	answer, err := c.pc.CreateAnswer(nil)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrOffer, err)
	}
	gathered := webrtc.GatheringCompletePromise(c.pc)
	if err := c.pc.SetLocalDescription(answer); err != nil {
		return "", fmt.Errorf("answer the page: %w", err)
	}
	wait := time.NewTimer(gatherWithin)
	defer wait.Stop()
	select {
	case <-gathered:
	case <-wait.C: // a server that is slow; our own addresses are there
	case <-ctx.Done():
		return "", fmt.Errorf("answer the page: %w", context.Cause(ctx))
	}
	return c.pc.LocalDescription().SDP, nil
}

// End ends the connection for the given reason. It does not wait; see [Conn.Done].
func (c *Conn) End(why error) { c.end(why) }

// Done is closed when the connection has ended and nothing of it is left.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err says why the connection has ended or is about to; nil while it lives.
func (c *Conn) Err() error { return c.why() }

// run owns the connection until it has ended. It must stand within a time.
func (c *Conn) run(within time.Duration) {
	defer close(c.done)
	late := time.NewTimer(within)
	defer late.Stop()
	c.work.Go(c.sound.drain)
	c.work.Go(c.video.reports)
	var shown show
	for going := true; going; {
		select {
		case <-c.ended:
			going = false
		case <-late.C:
			if !c.changed() {
				c.end(ErrNoRoute)
			}
		case <-c.news:
			if c.changed() {
				late.Stop()
			}
		case track := <-c.tracks:
			c.work.Go(func() { c.hear(track) })
		case data := <-c.said.heard:
			if c.peer.Message != nil {
				c.peer.Message(data)
			}
		case next := <-c.shows:
			shown.close()
			shown = next
			shown.remind()
		case <-shown.due:
			shown.refresh()
			shown.remind()
		case f, ok := <-shown.frames():
			if !ok {
				shown.close()
				shown = show{}
				continue
			}
			c.video.send(f)
		case <-c.video.asked:
			shown.refresh()
		}
	}
	shown.close()
	c.closeShows()
	if c.up.Swap(false) {
		c.said.flush()
	}
	_ = c.pc.GracefulClose() // there is nobody left to tell
	c.work.Wait()
}

// changed looks how the connection is doing, and reports whether it is up.
func (c *Conn) changed() bool {
	switch c.pc.ConnectionState() {
	case webrtc.PeerConnectionStateConnected:
		if !c.up.Swap(true) {
			if c.peer.Up != nil {
				c.peer.Up(c)
			}
		}
	case webrtc.PeerConnectionStateDisconnected:
		if c.up.Swap(false) && c.peer.Down != nil {
			c.peer.Down()
		}
	case webrtc.PeerConnectionStateFailed:
		c.end(ErrLost)
	case webrtc.PeerConnectionStateClosed:
		c.end(ErrLeft)
	default:
	}
	return c.up.Load()
}

// kick puts a token into a channel of one.
func kick(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}
