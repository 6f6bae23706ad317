package control

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/outline"
	"clank/browsermgr/page/screenshot"
	"clank/cancel"

	"github.com/coder/websocket"
)

func (s *Server) pictureRoutes() []Route {
	return []Route{
		NewRoute("POST", "/screenshot", "Takes a picture of a tab.", s.screenshot).WithBody(
			tabParam(), OptionalParam("fullPage", "boolean", "the whole document"),
			OptionalParam("ref", "string", "only this element"),
			OptionalParam("element", "string", "only the first element that matches"),
			EnumParam("type", "png is the default", "png", "jpeg"),
			OptionalParam("labels", "boolean", "with the refs of a snapshot drawn in"), timeoutParam(),
		),
		NewRoute("POST", "/pdf", "Prints a page on A4.", s.pdf).WithBody(tabParam()),
		NewRoute("POST", "/highlight", "Outlines an element for two seconds.", highlightElement).WithBody(
			RequiredParam("ref", "string", "which"), tabParam()),
	}
}

// labelInfo counts the labels of a picture.
type labelInfo struct {
	Labels        bool                    `json:"labels,omitempty"`
	LabelsCount   *int                    `json:"labelsCount,omitempty"`
	LabelsSkipped *int                    `json:"labelsSkipped,omitempty"`
	Annotations   []screenshot.Annotation `json:"annotations,omitempty"`
}

func labelsOf(img screenshot.Image) labelInfo {
	return labelInfo{true, &img.Drawn, &img.Skipped, NonNilList(img.Annotations)}
}

type screenshotAnswer struct {
	LocatedAnswer
	labelInfo

	Path      string `json:"path"`
	Truncated bool   `json:"truncated,omitempty"` // some labels were left out
}

func (s *Server) screenshot(ctx context.Context, c *Call) (screenshotAnswer, error) {
	o := screenshot.Options{
		FullPage: c.Body.Flag("fullPage", false), Ref: c.Body.String("ref"), Element: c.Body.String("element"),
		Type:    c.Body.String("type"),
		Timeout: c.Timeout(screenshot.DefaultTimeout, time.Millisecond),
	}
	labels := c.Body.Flag("labels", false)
	if o.FullPage && (o.Ref != "" || o.Element != "") {
		c.Body.Fail(fault.Invalidf("fullPage is not supported for element screenshots"))
	}
	h, err := c.PermittedTab(ctx)
	if err != nil {
		return screenshotAnswer{}, err
	}
	defer h.Release()
	if o.Element != "" && h.Lease.Joined() {
		return screenshotAnswer{}, fault.Invalidf("element screenshots by selector are not supported for existing-session " +
			"profiles: take a snapshot and use a ref of it")
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Timeout, &fault.TimeLimitError{Limit: o.Timeout})
	defer cancel()
	switch {
	case labels && o.Ref != "":
		role, name, err := h.Tab.Describe(ctx, o.Ref)
		if err != nil {
			return screenshotAnswer{}, dialogFirstError(err)
		}
		o.Labels = []screenshot.Label{{Ref: o.Ref, Role: role, Name: name}}
	case labels:
		snap, err := h.Tab.Snapshot(ctx, page.SnapshotOptions{Refs: page.RefsRole, Timeout: o.Timeout})
		if err != nil {
			return screenshotAnswer{}, dialogFirstError(err)
		}
		o.Labels = refLabels(snap.Refs())
	}
	img, err := screenshot.TakeScreenshot(ctx, h.Tab, o)
	if err != nil {
		return screenshotAnswer{}, dialogFirstError(err)
	}
	answer := screenshotAnswer{LocatedAnswer: h.LocatedAnswer(), Truncated: img.Truncated}
	if labels {
		answer.labelInfo = labelsOf(img)
	}
	answer.Path, err = s.Features.SavePicture(h.Profile.Name, "."+img.Type, img.Data)
	return answer, err
}

// refLabels returns the refs of a snapshot as labels; never nil.
func refLabels(refs []outline.Ref) []screenshot.Label {
	labels := make([]screenshot.Label, len(refs))
	for i, r := range refs {
		labels[i] = screenshot.Label{Ref: r.Ref, Role: r.Role, Name: r.Name}
	}
	return labels
}

// dialogFirstError adds to a dialog error that the dialog must be answered first.
func dialogFirstError(err error) error {
	if !isPendingDialog(err) {
		return err
	}
	return &StatusError{Status: http.StatusConflict, Reason: "blocked_by_dialog", Err: err}
}

type fileAnswer struct {
	LocatedAnswer

	Path string `json:"path"`
}

func (s *Server) pdf(ctx context.Context, c *Call) (fileAnswer, error) {
	h, err := c.PermittedTab(ctx)
	if err != nil {
		return fileAnswer{}, err
	}
	defer h.Release()
	data, err := screenshot.PrintPDF(ctx, h.Tab)
	if err != nil {
		return fileAnswer{}, dialogFirstError(err)
	}
	path, err := s.Features.SavePicture(h.Profile.Name, ".pdf", data)
	return fileAnswer{h.LocatedAnswer(), path}, err
}

func highlightElement(ctx context.Context, c *Call) (LocatedAnswer, error) {
	ref := c.Body.Required("ref")
	h, err := c.PermittedTab(ctx)
	if err != nil {
		return LocatedAnswer{}, err
	}
	defer h.Release()
	return h.LocatedAnswer(), screenshot.Highlight(ctx, h.Tab, ref)
}

func screencastRoutes() []Route {
	return []Route{NewRoute("GET", "/screencast", "Shows a tab live, over a WebSocket: for each frame a text message "+
		"with what it is, then a binary one with the picture. A message from the client asks for a frame although nothing "+
		"has changed.", serveScreencast).WithQuery(
		tabParam(), OptionalParam("maxWidth", "integer", "in pixels"), OptionalParam("maxHeight", "integer", "in pixels"),
		OptionalParam("quality", "integer", "1 to 100"),
		OptionalParam("fps", "integer", "frames a second, at most 60"),
		OptionalParam("webp", "boolean", "WebP where the browser can"),
	)}
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
		return nil, nil // the upgrade has written the response
	}
	defer conn.CloseNow() //nolint:errcheck // there is nothing left to send
	watching, stop := context.WithCancelCause(ctx)
	// The reader's context is another one: where that of a read ends, the connection is cut, and could not be closed with
	// a reason.
	reading, stopReading := context.WithCancel(context.WithoutCancel(ctx))
	listening := make(chan struct{})
	go func() {
		defer close(listening)
		stop(readViewerMessages(reading, conn, view))
	}()
	err = sendFrames(watching, h, conn, view)
	stop(err)
	_ = conn.Close(websocket.StatusGoingAway, closeReason(err))
	stopReading()
	<-listening
	return nil, nil
}

// readViewerMessages handles the client's messages until it disconnects.
func readViewerMessages(ctx context.Context, conn *websocket.Conn, view *screenshot.Viewer) error {
	conn.SetReadLimit(4096)
	for {
		if _, _, err := conn.Read(ctx); err != nil {
			return err
		}
		view.Refresh()
	}
}

// sendFrames sends frames until the client disconnects, the tab closes or the policy refuses the tab's address.
func sendFrames(ctx context.Context, h *heldTab, conn *websocket.Conn, view *screenshot.Viewer) error {
	for {
		frame, err := view.Next(ctx)
		if err == nil {
			err = h.CheckPolicy(ctx)
		}
		if err == nil && !h.Tab.Held() {
			err = sendFrame(ctx, conn, frame)
		}
		if err != nil {
			return err
		}
	}
}

// lastFrameTimeout is how long a frame may take after the view has ended.
const lastFrameTimeout = 3 * time.Second

// sendFrame sends a frame. One under way outlives ctx a little: canceling a write closes the connection, and the client
// would not read why the view has ended.
func sendFrame(ctx context.Context, conn *websocket.Conn, f screenshot.Frame) error {
	note, err := json.Marshal(f)
	if err != nil {
		return err
	}
	ctx, end := cancel.Linger(ctx, ioTimeout, lastFrameTimeout)
	defer end()
	if err := conn.Write(ctx, websocket.MessageText, note); err != nil {
		return err
	}
	return conn.Write(ctx, websocket.MessageBinary, f.Data)
}

// closeReason shortens an error to fit a WebSocket close frame.
func closeReason(err error) string {
	text := RedactCredentials(fmt.Sprint(err))
	return strings.ToValidUTF8(text[:min(len(text), 100)], "")
}
