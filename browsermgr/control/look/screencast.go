package look

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/picture"

	"github.com/coder/websocket"
)

func screencastRoutes() []route.Route {
	return []route.Route{route.On("GET", "/screencast", "Shows a tab live, over a WebSocket: for each frame a text message with what it is, then a binary one "+
		"with the picture. A message from the client asks for a frame although nothing has changed.", screencast).Params(
		route.Tab(), route.May("maxWidth", "integer", "in pixels"), route.May("maxHeight", "integer", "in pixels"), route.May("quality", "integer", "1 to 100"),
		route.May("fps", "integer", "frames a second, at most 60"), route.May("webp", "boolean", "WebP where the browser can"),
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

func screencast(ctx context.Context, c *route.Call) (any, error) {
	o := picture.WatchOptions{
		MaxWidth: c.Query.Clamp("maxWidth", 0, 16, 4096), MaxHeight: c.Query.Clamp("maxHeight", 0, 16, 4096),
		Quality: c.Query.Clamp("quality", 0, 1, 100), FPS: c.Query.Clamp("fps", 0, 1, 60), WebP: c.Query.Flag("webp", false),
	}
	h, err := c.Guarded(ctx)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	casts, err := desk.Feature[*picture.Casts](h, "the live view")
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
		stop(listen(watching, conn, view))
	}()
	err = show(watching, h, conn, view)
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
func show(ctx context.Context, h *desk.Held, conn *websocket.Conn, view *picture.View) error {
	for {
		frame, err := view.Next(ctx)
		if err == nil {
			err = h.Permitted(ctx)
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
	ctx, cancel := context.WithTimeout(ctx, reply.IOLimit)
	defer cancel()
	return errors.Join(conn.Write(ctx, websocket.MessageText, note), conn.Write(ctx, websocket.MessageBinary, f.Data))
}

// reason is an error as a close frame may carry it.
func reason(err error) string {
	text := reply.Redact(fmt.Sprint(err))
	return text[:min(len(text), 100)]
}
