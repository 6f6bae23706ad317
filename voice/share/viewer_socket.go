package share

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"clank/cancel"
	"clank/videosource"

	"github.com/coder/websocket"
)

const (
	helloTimeout = 10 * time.Second
	writeTimeout = 10 * time.Second
	// lastWriteTimeout is how long a write may take after the view has ended.
	lastWriteTimeout = 3 * time.Second
	// unreadTimeout is how long a page may leave frames unread: the source sends one every few seconds, whatever happens.
	unreadTimeout = time.Minute
	// maxInFlight limits the frames on their way to a page. More would wait in buffers and arrive late.
	maxInFlight     = 2
	maxHello        = 4 << 10
	frameHeaderSize = 16
	maxReason       = 123
)

// closeShareEnded is the close code of the WebSocket (RFC 6455 §7.4.2, private use) for a link that is not, or no
// longer, valid.
const closeShareEnded websocket.StatusCode = 4404

// frameMessage returns a frame with a header: "VP8" or "JPG", the version 1, width and height as u16, and the capture
// time in microseconds since 1970 as u64, all big endian.
func frameMessage(f videosource.Frame) []byte {
	h := make([]byte, frameHeaderSize, frameHeaderSize+len(f.Data))
	copy(h, "VP8\x01")
	if f.JPEG {
		copy(h, "JPG")
	}
	binary.BigEndian.PutUint16(h[4:], uint16(f.Width))  //nolint:gosec // VP8 has 14 bits
	binary.BigEndian.PutUint16(h[6:], uint16(f.Height)) //nolint:gosec // VP8 has 14 bits
	binary.BigEndian.PutUint64(h[8:], uint64(f.Taken.UnixMicro()))
	return append(h, f.Data...)
}

// socketMessage is a message of the page: first the token of its link and the browser's own secret, then
// acknowledgements of frames and requests for one. A page that cannot decode video sets Pictures, at the beginning or
// later.
type socketMessage struct {
	Token    string `json:"token"`
	Browser  string `json:"browser"`
	Got      bool   `json:"got"`
	Refresh  bool   `json:"refresh"`
	Pictures bool   `json:"pictures"`
}

// handleSocket shows a share over a WebSocket. The page may be framed by another site, so its origin is not ours: the
// token decides who may watch.
func (v *ViewerPage) handleSocket(w http.ResponseWriter, r *http.Request) {
	waiting, known, err := v.admitPending(r.Context(), personOf(r))
	if err != nil {
		writeError(w, http.StatusServiceUnavailable, err)
		return
	}
	defer known()
	conn, err := websocket.Accept(w, r,
		&websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(maxHello)
	var hello socketMessage
	if err := readMessage(waiting, conn, helloTimeout, &hello); err != nil {
		return
	}
	s, err := v.checkToken(hello.Token, hello.Browser, personOf(r))
	if err != nil {
		_ = conn.Close(closeShareEnded, closeReason(err)) // it is over either way
		return
	}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	left, err := v.reserveView(s, personOf(r), cancel)
	if err != nil {
		_ = conn.Close(websocket.StatusTryAgainLater, closeReason(err)) // it is over either way
		return
	}
	defer left()
	known()
	var work sync.WaitGroup
	work.Go(func() { cancel(v.waitForEnd(s, nil, ctx.Done())) })
	// The reader's context is another one: where that of a read ends, the connection is cut, and could not be closed with
	// a word.
	reading, stop := context.WithCancel(context.WithoutCancel(ctx))
	wishes, broken := make(chan socketMessage), make(chan error, 1)
	work.Go(func() { broken <- readMessages(reading, conn, wishes) })
	err = v.stream(ctx, conn, s, hello.Pictures, wishes, broken)
	if ctx.Err() != nil {
		_ = conn.Close(closeShareEnded, closeReason(err)) // it is over either way
	}
	cancel(err)
	stop()
	_ = conn.CloseNow()
	work.Wait()
	v.Logger.Info("somebody has stopped watching", "share", s.ID, "over", "websocket", "because", err)
}

// stream sends frames as fast as the page shows them, passing over what it is too slow for, and returns why it has
// ended.
func (v *ViewerPage) stream(
	ctx context.Context, conn *websocket.Conn, s ViewerShare, pictures bool, wishes <-chan socketMessage,
	broken <-chan error,
) error {
	format := videosource.Video
	if pictures {
		format = videosource.JPEG
	}
	look := s.Watch(format)
	defer func() { look.Close() }()
	unread := time.NewTimer(unreadTimeout)
	defer unread.Stop()
	for sent := 0; ; {
		frames := look.Frames()
		if sent >= maxInFlight {
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
				unread.Reset(unreadTimeout)
			}
			switch {
			case w.Pictures:
				look.Close()
				look = s.Watch(videosource.JPEG)
			case w.Refresh:
				look.Refresh()
			}
		case f, ok := <-frames:
			if !ok {
				return errShareEnded
			}
			if err := writeMessage(ctx, conn, frameMessage(f)); err != nil {
				return err
			}
			sent++
		}
	}
}

// closeReason returns an error that fits into a close frame (RFC 6455 §5.5: 125 bytes with the code).
func closeReason(err error) string {
	text := err.Error()
	return strings.ToValidUTF8(text[:min(len(text), maxReason)], "")
}

// readMessages reads the page's messages until the connection or ctx ends.
func readMessages(ctx context.Context, conn *websocket.Conn, to chan<- socketMessage) error {
	for {
		var w socketMessage
		if err := readMessage(ctx, conn, 0, &w); err != nil {
			return err
		}
		select {
		case to <- w:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// readMessage reads one message of the page; within 0 is for ever.
func readMessage(ctx context.Context, conn *websocket.Conn, within time.Duration, into *socketMessage) error {
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

// writeMessage writes one message. A write under way outlives ctx a little: canceling it closes the connection, and the
// page would not read why the view has ended.
func writeMessage(ctx context.Context, conn *websocket.Conn, data []byte) error {
	ctx, end := cancel.Linger(ctx, writeTimeout, lastWriteTimeout)
	defer end()
	return conn.Write(ctx, websocket.MessageBinary, data)
}
