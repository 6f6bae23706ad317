package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page/screenshot"

	"github.com/coder/websocket"
)

func screencastRoutes() []Route {
	return []Route{NewRoute("GET", "/screencast", "Shows a tab live, over a WebSocket: for each frame a text message with what it is, then a binary one "+
		"with the picture. A message from the client asks for a frame although nothing has changed.", serveScreencast).WithQuery(
		tabParam(), OptionalParam("maxWidth", "integer", "in pixels"), OptionalParam("maxHeight", "integer", "in pixels"), OptionalParam("quality", "integer", "1 to 100"),
		OptionalParam("fps", "integer", "frames a second, at most 60"), OptionalParam("webp", "boolean", "WebP where the browser can"),
	)}
}

// frameHeader says what the picture that follows is.
type frameHeader struct {
	Number     int       `json:"number"`
	Type       string    `json:"type"` // jpeg, webp or png
	Width      int       `json:"width"`
	Height     int       `json:"height"`
	ViewWidth  float64   `json:"viewWidth"` // of the viewport, in CSS pixels
	ViewHeight float64   `json:"viewHeight"`
	Scale      float64   `json:"scale"`
	At         time.Time `json:"at"`
}

func serveScreencast(ctx context.Context, c *Call) (any, error) {
	o := screenshot.WatchOptions{
		MaxWidth: c.Query.Clamp("maxWidth", 0, 16, 4096), MaxHeight: c.Query.Clamp("maxHeight", 0, 16, 4096),
		Quality: c.Query.Clamp("quality", 0, 1, 100), FPS: c.Query.Clamp("fps", 0, 1, 60), WebP: c.Query.Flag("webp", false),
	}
	h, err := c.PermittedTab(ctx)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	casts, err := requireObserver[*screenshot.Screencasts](h, "the live view")
	if err != nil {
		return nil, err
	}
	if c.Request.Header.Get("Upgrade") == "" {
		return nil, fault.Invalidf("the live view is a WebSocket: send a request to upgrade")
	}
	view, err := casts.Watch(ctx, h.Tab, o)
	if err != nil {
		return nil, err
	}
	defer view.Close()
	conn, err := websocket.Accept(c.Writer, c.Request, nil)
	if err != nil {
		return nil, nil // it has been answered
	}
	defer conn.CloseNow() //nolint:errcheck // nothing is left to be said
	watching, stop := context.WithCancelCause(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		stop(readViewerMessages(watching, conn, view))
	}()
	err = sendFrames(watching, h, conn, view)
	stop(err)
	_ = conn.Close(websocket.StatusGoingAway, closeReason(err))
	<-listening
	return nil, nil
}

// readViewerMessages takes the client's messages until it goes.
func readViewerMessages(ctx context.Context, conn *websocket.Conn, view *screenshot.Viewer) error {
	conn.SetReadLimit(4096)
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return err
		}
		view.Refresh()
	}
}

// sendFrames sends frames until the client or the tab goes, or the tab is where the policy does not let it be seen.
func sendFrames(ctx context.Context, h *heldTab, conn *websocket.Conn, view *screenshot.Viewer) error {
	for {
		frame, err := view.Next(ctx)
		if err == nil {
			err = h.CheckPolicy(ctx)
		}
		if err == nil {
			err = sendFrame(ctx, conn, frame)
		}
		if err != nil {
			return err
		}
	}
}

func sendFrame(ctx context.Context, conn *websocket.Conn, f screenshot.Frame) error {
	note, err := json.Marshal(frameHeader{f.Number, f.Type, f.Width, f.Height, f.ViewWidth, f.ViewHeight, f.Scale, f.At})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, ioTimeout)
	defer cancel()
	return errors.Join(conn.Write(ctx, websocket.MessageText, note), conn.Write(ctx, websocket.MessageBinary, f.Data))
}

// closeReason returns an error as a close frame may carry it.
func closeReason(err error) string {
	text := RedactCredentials(fmt.Sprint(err))
	return text[:min(len(text), 100)]
}
