package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"clank/cancel"

	"github.com/bwmarrin/discordgo"
	"github.com/coder/websocket"
)

// opResume asks the gateway to go on with a session.
const opResume = 6

// SavedSession is a session with the gateway that a process has left open, so that the next one hears what happened
// between the two. It is worth nothing without the bot's token.
type SavedSession struct {
	ID  string `json:"id"`
	URL string `json:"url"` // where the gateway wants it resumed
	Seq int64  `json:"seq"` // of the last dispatch that was handed on
}

// missedEvents receives the events since a session was left. The process has new sessions for current events; Discord
// allows both side by side, so some events are received twice.
type missedEvents struct {
	Token      string
	Session    SavedSession // its Seq continues
	HTTPClient *http.Client
	Logger     *slog.Logger
	MinWait    time.Duration // between two tries; see [Gateway]

	// OnDispatch is called with messages and interactions, in order. It returns false to end that.
	OnDispatch func(kind string, data json.RawMessage) bool

	over bool // the session need not be saved again
}

// run resumes the session and passes on what it missed. When everything was received and enough is closed, which means
// that the process's own sessions receive the rest, it ends the session. If ctx ends first, Discord keeps the session.
func (m *missedEvents) run(ctx context.Context, enough <-chan struct{}) {
	for wait := cmp.Or(m.MinWait, time.Second); ; wait = min(2*wait, time.Minute) {
		err := m.resume(ctx, enough)
		switch {
		case err == nil:
			m.over = true
			return
		case errors.Is(err, errSessionLost):
			m.over = true
			m.Logger.Warn("what was said on discord while clank was off is not known: discord does not keep it any more")
			return
		case cancel.Sleep(ctx, wait) != nil:
			return
		}
		m.Logger.Info("asking discord again for what was said while clank was off", "error", err)
	}
}

// resume lives through one socket. Without an error, everything was heard.
func (m *missedEvents) resume(ctx context.Context, enough <-chan struct{}) error {
	at, err := url.Parse(m.Session.URL)
	if err != nil {
		return fmt.Errorf("%w: it gave no usable address for it", errSessionLost)
	}
	at.RawQuery = "v=" + discordgo.APIVersion + "&encoding=json"
	dialing, dialed := context.WithTimeout(ctx, helloTimeout)
	defer dialed()
	ws, resp, err := websocket.Dial(dialing, at.String(), &websocket.DialOptions{HTTPClient: m.HTTPClient})
	if err != nil {
		return fmt.Errorf("dial the gateway: %w", err)
	}
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	ws.SetReadLimit(maxFrame)
	resumed := make(chan struct{})
	c := &resumedSocket{missedEvents: m, ws: ws, onResumed: sync.OnceFunc(func() { close(resumed) })}
	var wg sync.WaitGroup
	reading, ended := context.WithCancel(context.WithoutCancel(ctx))
	defer ended()
	finished := false // read after wg.Wait
	wg.Go(func() {
		select {
		case <-resumed:
			select {
			case <-enough:
				finished = true
				_ = ws.Close(websocket.StatusNormalClosure, "")
				return
			case <-ctx.Done():
			case <-reading.Done():
			}
		case <-ctx.Done():
		case <-reading.Done():
		case <-time.After(readyTimeout):
		}
		_ = ws.Close(codeResume, "")
	})
	err = c.read(reading, &wg)
	ended()
	wg.Wait()
	if finished {
		return nil
	}
	return cmp.Or(context.Cause(ctx), err)
}

// resumedSocket is one socket on which a session is resumed.
type resumedSocket struct {
	*missedEvents
	ws        *websocket.Conn
	onResumed func() // everything that was missed has been heard
}

// read handles what the gateway sends until the socket ends, and returns why it did.
func (c *resumedSocket) read(ctx context.Context, wg *sync.WaitGroup) error {
	for {
		_, b, err := c.ws.Read(ctx)
		if err != nil {
			return socketError(err)
		}
		var f gatewayMessage
		if json.Unmarshal(b, &f) != nil || f.Op == nil {
			continue
		}
		switch *f.Op {
		case opHello:
			var hello struct {
				Interval int64 `json:"heartbeat_interval"` // milliseconds
			}
			_ = json.Unmarshal(f.Data, &hello) // without it the socket ends before long
			wg.Go(func() { c.beat(ctx, time.Duration(max(hello.Interval, 1000))*time.Millisecond) })
			err = c.send(ctx, opResume, map[string]any{"token": c.Token, "session_id": c.Session.ID, "seq": c.Session.Seq})
			if err != nil {
				return err
			}
		case opHeartbeat:
			if err := c.send(ctx, opHeartbeat, nil); err != nil {
				return err
			}
		case opInvalid:
			if resumable := false; json.Unmarshal(f.Data, &resumable) == nil && resumable {
				return errors.New("the gateway asked to resume the session later")
			}
			return errSessionLost
		case opReconnect:
			return errors.New("the gateway asked for a new connection")
		case opDispatch:
			c.handOn(f)
		}
	}
}

// handOn passes on a message or an interaction.
func (c *resumedSocket) handOn(f gatewayMessage) {
	if f.Type == "RESUMED" {
		c.onResumed()
	}
	if strings.HasPrefix(f.Type, "MESSAGE_") || f.Type == "INTERACTION_CREATE" {
		if isDecodable(f.Type, f.Data) && !c.OnDispatch(f.Type, f.Data) {
			return
		}
	}
	if f.Seq != nil {
		c.Session.Seq = *f.Seq
	}
}

// beat sends heartbeats until the socket ends.
func (c *resumedSocket) beat(ctx context.Context, every time.Duration) {
	for cancel.Sleep(ctx, every) == nil {
		if c.send(ctx, opHeartbeat, nil) != nil {
			return
		}
	}
}

func (c *resumedSocket) send(ctx context.Context, op int, d any) error {
	b, err := json.Marshal(map[string]any{"op": op, "d": d})
	if err != nil {
		return fmt.Errorf("encode operation %d: %w", op, err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := c.ws.Write(ctx, websocket.MessageText, b); err != nil {
		return fmt.Errorf("send operation %d to the gateway: %w", op, err)
	}
	return nil
}

// openMissed begins to hear what the sessions of a former process have missed, until Close.
func (s *Shards) openMissed(ctx context.Context) {
	ctx, s.endMissed = context.WithCancel(context.WithoutCancel(ctx))
	s.listening = ctx.Done()
	for _, session := range s.Former {
		m := &missedEvents{
			Token: s.Token, Session: session, HTTPClient: s.HTTPClient, Logger: cmp.Or(s.Logger, slog.New(slog.DiscardHandler)),
			MinWait: s.MinWait,
			OnDispatch: func(kind string, data json.RawMessage) bool {
				s.dispatching.Lock()
				defer s.dispatching.Unlock()
				if ctx.Err() != nil {
					return false
				}
				s.OnMissed(kind, data)
				return true
			},
		}
		s.missed = append(s.missed, m)
		s.missing.Go(func() { m.run(ctx, s.allReady) })
	}
}

// awaitReady waits until every new session has begun and receives current events.
func (s *Shards) awaitReady() {
	for _, g := range s.list {
		select {
		case <-g.ready: // never for one that was not begun, as the first was refused
		case <-s.listening:
			return
		}
	}
	close(s.allReady)
}

// Leave stops passing dispatches on, and lets [Shards.Close] leave the sessions open for another process.
func (s *Shards) Leave() {
	s.dispatching.Lock()
	s.endMissed()
	s.dispatching.Unlock()
	for _, g := range s.list {
		g.leave()
	}
}

// Left returns, after Leave and Close, the sessions that Discord keeps for some minutes.
func (s *Shards) Left() []SavedSession {
	var all []SavedSession
	for _, g := range s.list {
		if session := g.left(); session.ID != "" {
			all = append(all, session)
		}
	}
	for _, m := range s.missed {
		if !m.over {
			all = append(all, m.Session)
		}
	}
	return all
}
