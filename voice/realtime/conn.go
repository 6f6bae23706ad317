package realtime

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"clank/voice"

	"github.com/coder/websocket"
)

const (
	maxEventSize = 32 << 20         // bytes of one event
	writeTimeout = 10 * time.Second // for sending one event
	pingEvery    = 20 * time.Second
	maxBadEvents = 20 // events in a row that cannot be read, and the server is none
)

// dial opens a socket.
func (s *Session) dial(ctx context.Context) (*websocket.Conn, error) {
	base := cmp.Or(s.BaseURL, DefaultBaseURL)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return nil, &serverError{
			failure{Type: "invalid_request_error", Message: fmt.Sprintf("%q is no address of a server", base)},
		}
	}
	u = u.JoinPath("realtime")
	q := u.Query()
	q.Set("model", s.model())
	u.RawQuery = q.Encode()
	header := http.Header{}
	if s.Key != "" {
		header.Set("Authorization", "Bearer "+s.Key)
	}
	//nolint:bodyclose // the library closes the body, or it is the connection
	conn, resp, err := websocket.Dial(ctx, u.String(),
		&websocket.DialOptions{HTTPClient: s.HTTPClient, HTTPHeader: header})
	if err != nil {
		if resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
			seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
			return nil, &refusedError{resp.StatusCode, time.Duration(min(max(seconds, 0), 60)) * time.Second, err}
		}
		return nil, err
	}
	conn.SetReadLimit(maxEventSize)
	return conn, nil
}

// runConnection runs one connection until it breaks or ctx ends. It reports whether the conversation could
// continue over it.
func (t *conversation) runConnection(ctx context.Context) (up bool, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	var started sync.WaitGroup
	defer started.Wait()
	defer stop(context.Canceled)
	deadline := cmp.Or(max(0, t.session.Dial), 10*time.Second)
	dialing, dialed := context.WithTimeout(ctx, deadline)
	conn, err := t.session.dial(dialing)
	dialed()
	if err != nil {
		return false, err
	}
	defer conn.CloseNow() //nolint:errcheck // whatever it was, it has ended
	events := make(chan event)
	started.Go(func() { stop(t.session.read(ctx, conn, events)) })
	started.Go(func() { keepAlive(ctx, conn, stop) })
	if err := t.configure(ctx, conn, events, deadline); err != nil {
		return false, err
	}
	t.conn, t.failed, t.last, t.spoken = conn, nil, time.Now(), nil
	t.session.mix.reset()
	for _, i := range t.history.replayItems(t.newID) {
		t.sendItem(ctx, i)
	}
	for _, p := range t.unseen {
		t.sendPictures(ctx, p)
	}
	t.unseen = nil
	t.requestPendingResponse(ctx)
	return true, t.loop(ctx, events)
}

// configure waits for the session and sets it up.
func (t *conversation) configure(ctx context.Context, conn *websocket.Conn, events <-chan event,
	deadline time.Duration,
) error {
	late := time.After(deadline)
	for {
		select {
		case e := <-events:
			switch e.Type {
			case "session.created":
				if err := writeEvent(ctx, conn, t.session.config()); err != nil {
					return err
				}
			case "session.updated":
				return nil
			case "error":
				return &serverError{*cmp.Or(e.Error, &failure{})}
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-late:
			return context.DeadlineExceeded
		}
	}
}

// loop serves a connection that is set up.
func (t *conversation) loop(ctx context.Context, events <-chan event) error {
	ticker := time.Tick(sendEvery)
	for t.failed == nil {
		for _, f := range t.session.commands.Drain() {
			f(ctx, t)
		}
		select {
		case e := <-events:
			if err := t.handleEvent(ctx, e); err != nil {
				return err
			}
		case <-t.session.commands.Wake():
		case <-ticker:
			t.sendAudio(ctx)
			if (t.active != "" || t.requested) && time.Since(t.last) >= cmp.Or(max(0, t.session.Idle), 30*time.Second) {
				return errResponseStalled
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return t.failed
}

// sendAudio passes on what people say.
func (t *conversation) sendAudio(ctx context.Context) {
	for range catchUpSends {
		samples := t.session.mix.next()
		if samples == nil {
			return
		}
		t.send(ctx, appendEvent{"input_audio_buffer.append", voice.AppendPCM(nil, samples)})
		if !t.session.mix.behind() {
			return
		}
	}
}

// send sends one event if there is a connection.
func (t *conversation) send(ctx context.Context, e any) {
	if t.conn == nil || t.failed != nil {
		return
	}
	t.failed = writeEvent(ctx, t.conn, e)
}

func writeEvent(ctx context.Context, conn *websocket.Conn, e any) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := conn.Write(ctx, websocket.MessageText, data); err != nil {
		return fmt.Errorf("send an event: %w", err)
	}
	return nil
}

// waitRetry waits before a new try and meanwhile executes the commands for Run. It returns false when ctx has ended.
func (t *conversation) waitRetry(ctx context.Context, d time.Duration) bool {
	over := time.After(d)
	for {
		for _, f := range t.session.commands.Drain() {
			f(ctx, t)
		}
		select {
		case <-t.session.commands.Wake():
		case <-over:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

// read passes on events until the connection ends, and returns why it did.
func (s *Session) read(ctx context.Context, conn *websocket.Conn, events chan<- event) error {
	bad := 0
	for {
		_, data, err := conn.Read(ctx)
		if err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		e, err := parseEvent(data)
		if err != nil {
			if bad++; bad >= maxBadEvents {
				return fmt.Errorf("the server does not speak this protocol: %w", err)
			}
			s.logger().Debug("an event cannot be read", "error", err)
			continue
		}
		bad = 0
		select {
		case events <- e:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var errServerSilent = errors.New("the server does not answer any more")

// keepAlive ends a connection whose other side has gone without a word.
func keepAlive(ctx context.Context, conn *websocket.Conn, stop context.CancelCauseFunc) {
	ticker := time.Tick(pingEvery)
	for {
		select {
		case <-ticker:
		case <-ctx.Done():
			return
		}
		ping, cancel := context.WithTimeout(ctx, writeTimeout)
		err := conn.Ping(ping)
		cancel()
		if err != nil {
			stop(errServerSilent)
			return
		}
	}
}
