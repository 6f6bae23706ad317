package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/picture"

	"github.com/coder/websocket"
)

func screencastRoutes() []route {
	return []route{on("GET", "/screencast", "Shows a tab live, over a WebSocket: for each frame a text message with what it is, then a binary one "+
		"with the picture. A message from the client asks for a frame although nothing has changed.", screencast).params(
		targetField, may("maxWidth", "integer", "in pixels"), may("maxHeight", "integer", "in pixels"), may("quality", "integer", "1 to 100"),
		may("fps", "integer", "frames a second, at most 60"), may("webp", "boolean", "WebP where the browser can"),
	)}
}

// frameNote says what the picture that follows is.
type frameNote struct {
	Number     int       `json:"number"`
	Type       string    `json:"type"` // jpeg, webp or png
	Width      int       `json:"width"`
	Height     int       `json:"height"`
	ViewWidth  float64   `json:"viewWidth"` // of the viewport, in CSS pixels
	ViewHeight float64   `json:"viewHeight"`
	Scale      float64   `json:"scale"`
	At         time.Time `json:"at"`
}

func screencast(ctx context.Context, c *call) (any, error) {
	o := picture.WatchOptions{
		MaxWidth: c.query.Clamp("maxWidth", 0, 16, 4096), MaxHeight: c.query.Clamp("maxHeight", 0, 16, 4096),
		Quality: c.query.Clamp("quality", 0, 1, 100), FPS: c.query.Clamp("fps", 0, 1, 60), WebP: c.query.Flag("webp", false),
	}
	h, err := c.guarded(ctx)
	if err != nil {
		return nil, err
	}
	defer h.release()
	casts, err := feature[*picture.Casts](h, "the live view")
	if err != nil {
		return nil, err
	}
	if c.r.Header.Get("Upgrade") == "" {
		return nil, fault.Invalidf("the live view is a WebSocket: send a request to upgrade")
	}
	view, err := casts.Watch(ctx, h.tab, o)
	if err != nil {
		return nil, err
	}
	defer view.Close()
	conn, err := websocket.Accept(c.w, c.r, nil)
	if err != nil {
		return nil, nil // it has been answered
	}
	defer conn.CloseNow() //nolint:errcheck // nothing is left to be said
	watching, stop := context.WithCancelCause(ctx)
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		stop(listen(watching, conn, view))
	}()
	err = c.show(watching, h, conn, view)
	stop(err)
	_ = conn.Close(websocket.StatusGoingAway, reason(err))
	<-listening
	return nil, nil
}

// listen takes the client's messages until it goes.
func listen(ctx context.Context, conn *websocket.Conn, view *picture.View) error {
	conn.SetReadLimit(4096)
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return err
		}
		view.Refresh()
	}
}

// show sends frames until the client or the tab goes, or the tab is where the policy does not let it be seen.
func (c *call) show(ctx context.Context, h *held, conn *websocket.Conn, view *picture.View) error {
	for {
		frame, err := view.Next(ctx)
		if err == nil {
			err = c.server.permitted(ctx, h)
		}
		if err == nil {
			err = sendFrame(ctx, conn, frame)
		}
		if err != nil {
			return err
		}
	}
}

func sendFrame(ctx context.Context, conn *websocket.Conn, f picture.Frame) error {
	note, err := json.Marshal(frameNote{f.Number, f.Type, f.Width, f.Height, f.ViewWidth, f.ViewHeight, f.Scale, f.At})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, ioLimit)
	defer cancel()
	return errors.Join(conn.Write(ctx, websocket.MessageText, note), conn.Write(ctx, websocket.MessageBinary, f.Data))
}

// reason is an error as a close frame may carry it.
func reason(err error) string {
	text := redact(fmt.Sprint(err))
	return text[:min(len(text), 100)]
}
