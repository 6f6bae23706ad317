package viewer

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"clank/videosource"
)

const (
	helloWithin = 10 * time.Second
	writeWithin = 10 * time.Second
	// unreadFor is how long a page may leave frames unread: the source sends one every few seconds, whatever happens.
	unreadFor = time.Minute
	// inFlight is how many frames may be on their way to a page. More would wait in buffers on the way, and be old when they come.
	inFlight    = 2
	maxHello    = 4 << 10
	headerBytes = 16
	maxReason   = 123
)

// closeGone is the code with which the WebSocket is closed (RFC 6455 §7.4.2, private use) when the link is not good, or not any more.
const closeGone websocket.StatusCode = 4404

// message is a frame with a header before it: "VP8" and the version 1, width and height as u16, the time of the capture in microseconds since 1970
// as u64, all big endian.
func message(f videosource.Frame) []byte {
	h := make([]byte, headerBytes, headerBytes+len(f.Data))
	copy(h, "VP8\x01")
	binary.BigEndian.PutUint16(h[4:], uint16(f.Width))  //nolint:gosec // VP8 has 14 bits
	binary.BigEndian.PutUint16(h[6:], uint16(f.Height)) //nolint:gosec // VP8 has 14 bits
	binary.BigEndian.PutUint64(h[8:], uint64(f.Taken.UnixMicro()))
	return append(h, f.Data...)
}

// wish is what the page says: first the token of its link, then that it has shown a frame, or wants one.
type wish struct {
	Token   string `json:"token"`
	Got     bool   `json:"got"`
	Refresh bool   `json:"refresh"`
}

// socket shows a share over a WebSocket. The page may be shown in another site's frame, so its origin is not ours: the token says who
// may watch.
func (v *Viewer) socket(w http.ResponseWriter, r *http.Request) {
	waiting, known, err := v.greet(r.Context())
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, err)
		return
	}
	defer known()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxHello)
	var hello wish
	if err := read(waiting, conn, helloWithin, &hello); err != nil {
		return
	}
	s, err := v.good(hello.Token)
	if err != nil {
		_ = conn.Close(closeGone, reason(err)) // it is over either way
		return
	}
	left, err := v.admit()
	if err != nil {
		_ = conn.Close(websocket.StatusTryAgainLater, reason(err)) // it is over either way
		return
	}
	defer left()
	known()
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	var work sync.WaitGroup
	work.Go(func() { cancel(v.over(s, ctx.Done())) })
	// The reader's context is another one: where that of a read ends, the connection is cut, and could not be closed with a word.
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	wishes, broken := make(chan wish), make(chan error, 1)
	work.Go(func() { broken <- listen(reading, conn, wishes) })
	err = v.stream(ctx, conn, s, wishes, broken)
	if ctx.Err() != nil {
		_ = conn.Close(closeGone, reason(err)) // it is over either way
	}
	cancel(err)
	stop()
	_ = conn.CloseNow()
	work.Wait()
	v.Logger.Info("somebody has stopped watching", "share", s.ID, "over", "websocket", "because", err)
}

// stream sends frames, the latest each time, as fast as the page shows them, and returns why it has ended.
func (v *Viewer) stream(ctx context.Context, conn *websocket.Conn, s Share, wishes <-chan wish, broken <-chan error) error {
	look := s.Watch()
	defer look.Close()
	unread := time.NewTimer(unreadFor)
	defer unread.Stop()
	for sent := 0; ; {
		frames := look.Frames()
		if sent >= inFlight {
			frames = nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case err := <-broken:
			return err
		case <-unread.C:
			return errors.New("the page does not show what it is sent")
		case w := <-wishes:
			if w.Got && sent > 0 {
				sent--
				unread.Reset(unreadFor)
			}
			if w.Refresh {
				look.Refresh()
			}
		case f, ok := <-frames:
			if !ok {
				return errEnded
			}
			if err := write(ctx, conn, message(f)); err != nil {
				return err
			}
			sent++
		}
	}
}

// reason is an error as it fits into a close frame (RFC 6455 §5.5: 125 bytes with the code).
func reason(err error) string {
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), maxReason)], "")
}

// listen reads what the page says until the connection or ctx ends.
func listen(ctx context.Context, conn *websocket.Conn, to chan<- wish) error {
	for {
		var w wish
		if err := read(ctx, conn, 0, &w); err != nil {
			return err
		}
		select {
		case to <- w:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// read reads one message of the page; within 0 is for ever.
func read(ctx context.Context, conn *websocket.Conn, within time.Duration, into *wish) error {
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	_, data, err := conn.Read(ctx)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func write(ctx context.Context, conn *websocket.Conn, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return conn.Write(ctx, websocket.MessageBinary, data)
}
