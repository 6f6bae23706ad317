package record

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"
	"clank/internal/untrusted"

	"github.com/go-rod/rod/lib/proto"
)

// handleRecorded adds a recorded item to the trace. It runs on the connection's reading goroutine.
func (r *traceRun) handleRecorded(n Recorded) {
	id := viewerPageID(n.Tab)
	switch {
	case n.Console != nil:
		r.writeLater(consoleLine{
			Type: "console", MessageType: n.Console.Type, Text: n.Console.Text, Args: []string{}, Location: n.Console.Location,
			Time: r.now(), PageID: id,
		})
	case n.Error != nil:
		r.writeLater(eventLine{
			Type: "event", Time: r.now(), Class: "BrowserContext", Method: "pageError", PageID: id,
			Params: map[string]any{
				"error":    map[string]any{"error": errorText{Name: n.Error.Name, Message: n.Error.Message, Stack: n.Error.Stack}},
				"location": map[string]any{"url": n.Tab.URL(), "line": 0, "column": 0},
			},
		})
	case n.Exchange != nil:
		r.writeExchange(n)
	}
}

// keptTypes are the types of requests whose response bodies are kept: what the trace's documents show, and data.
var keptTypes = map[string]bool{"stylesheet": true, "image": true, "font": true, "xhr": true, "fetch": true}

// maxTraceBody is the maximum size of a body, in bytes; larger ones are omitted.
const maxTraceBody = 4 << 20

// writeExchange records a finished request, with its body if useful.
func (r *traceRun) writeExchange(n Recorded) {
	line := resourceLine{
		Type:     "resource-snapshot",
		Snapshot: resourceData{HAREntry: *n.Exchange, MonotonicTime: r.timeOf(n.Started)},
	}
	line.Snapshot.PageRef = viewerPageID(n.Tab)
	line.Snapshot.FrameRef = viewerFrameID(n.DocumentID)
	if !n.HasBody || !keptTypes[n.Exchange.ResourceType] || n.Exchange.Response.Content.Size > maxTraceBody {
		r.enqueue(r.jobs, func(context.Context) { r.writeLine(networkLines, line) })
		return
	}
	// Request the body now, before the page navigates and Chromium drops it.
	call := n.Frame.BeginWithin(drainLimit, proto.NetworkGetResponseBody{RequestID: n.RequestID})
	r.enqueue(r.bodies, func(ctx context.Context) {
		if data, ok := readBody(ctx, call, n.Exchange.ResourceType, n.Exchange.Response.Content.MimeType); ok {
			name, err := r.spool.addResource("bodies", data, fileExtension(n.Exchange.Response.Content.MimeType))
			if err != nil {
				r.reportOmitted("bodies", err)
			}
			line.Snapshot.Response.Content.File = name
		}
		r.writeLine(networkLines, line)
	})
}

// readBody waits for a body. Data is kept only if it is text, with secrets removed.
func readBody(ctx context.Context, call *cdp.Call, kind, mimeType string) ([]byte, bool) {
	var got proto.NetworkGetResponseBodyResult
	if call.Wait(ctx, &got) != nil {
		return nil, false
	}
	data := []byte(got.Body)
	if got.Base64Encoded {
		raw, err := base64.StdEncoding.DecodeString(got.Body)
		if err != nil {
			return nil, false
		}
		data = raw
	}
	if kind != "xhr" && kind != "fetch" {
		return data, len(data) <= maxTraceBody
	}
	text, ok := RedactBody(mimeType, string(data))
	return []byte(text), ok && len(text) <= maxTraceBody
}

// fileExtension returns the file name extension for a media type.
func fileExtension(mimeType string) string {
	mediaType, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		mediaType = mimeType
	}
	_, sub, _ := strings.Cut(mediaType, "/")
	switch sub, _, _ = strings.Cut(sub, "+"); sub {
	case "css", "html", "json", "xml", "png", "jpeg", "gif", "webp", "svg", "woff", "woff2", "ttf", "otf":
		return "." + sub
	case "plain":
		return ".txt"
	}
	return ".dat"
}

const (
	// frameInterval delays the acknowledgement of a frame. Chromium sends a frame when the page changes, with at most
	// two unacknowledged.
	frameInterval = 250 * time.Millisecond
	frameQuality  = 60
	maxFrameSide  = 1280
	maxFrameSize  = 2 << 20
)

// startScreencast starts the tab's screencast.
func (r *traceRun) startScreencast(tab *page.Tab) {
	quality, side := frameQuality, maxFrameSide
	tab.MainFrame().Post(proto.PageStartScreencast{
		Format: proto.PageStartScreencastFormatJpeg, Quality: &quality, MaxWidth: &side, MaxHeight: &side,
	})
}

// frameAck is the pending acknowledgement of a frame.
type frameAck struct {
	frame   *frame.Frame
	session int
	due     time.Time
}

// addFrame records a frame of a tab.
func (r *traceRun) addFrame(tab *page.Tab, f *frame.Frame, ev cdp.Event) {
	var p proto.PageScreencastFrame
	if !ev.Decode(&p) || p.Metadata == nil {
		return
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return
	}
	select {
	case r.acks <- frameAck{frame: f, session: p.SessionID, due: time.Now().Add(frameInterval)}:
	default:
		f.Post(proto.PageScreencastFrameAck{SessionID: p.SessionID})
	}
	r.mu.Unlock()
	line := frameLine{
		Type: "screencast-frame", PageID: viewerPageID(tab), Width: p.Metadata.DeviceWidth, Height: p.Metadata.DeviceHeight,
		Timestamp: r.now(), FrameSwapWallTime: float64(p.Metadata.Timestamp) * 1000,
	}
	if len(p.Data) > maxFrameSize || tab.Held() {
		return
	}
	r.enqueue(r.jobs, func(ctx context.Context) {
		data, err := tab.MaskImage(ctx, p.Data, p.Metadata.DeviceWidth, p.Metadata.PageScaleFactor)
		if err != nil {
			return // what cannot be masked is omitted
		}
		name, err := r.spool.addResource("frames", data, ".jpeg")
		if err != nil {
			r.reportOmitted("pictures", err)
			return
		}
		line.File = name
		r.writeLine(traceLines, line)
	})
}

// acknowledgeFrames acknowledges frames when they are due, and all of them when the run ends.
func (r *traceRun) acknowledgeFrames(ctx context.Context) {
	for a := range r.acks {
		select {
		case <-time.After(time.Until(a.due)):
		case <-r.ended:
		case <-ctx.Done():
		}
		a.frame.Post(proto.PageScreencastFrameAck{SessionID: a.session})
	}
}

// beginAction records the beginning of an action and returns a function that records its end.
func (r *traceRun) beginAction(ctx context.Context, tab *page.Tab, action string, params any) func(error) {
	r.addTab(tab)
	r.mu.Lock()
	r.calls++
	call := fmt.Sprintf("call@%d", r.calls)
	r.mu.Unlock()
	clean := redactParameters(action, params)
	data, err := json.Marshal(clean)
	if err != nil {
		data = []byte("{}")
	}
	r.writeLine(traceLines, beforeLine{
		Type: "before", CallID: call, StartTime: r.now(), Title: actionTitle(action, clean), Class: "Page", Method: action,
		Params: data, PageID: viewerPageID(tab),
	})
	r.captureDocument(ctx, tab, call, "before")
	var once sync.Once
	return func(err error) {
		once.Do(func() {
			after := afterLine{Type: "after", CallID: call, EndTime: r.now()}
			if err != nil {
				after.Error = &errorText{Name: "Error", Message: err.Error()}
			}
			r.captureDocument(context.WithoutCancel(ctx), tab, call, "after")
			r.writeLine(traceLines, after)
		})
	}
}

// typedParams are parameters that contain typed text.
var typedParams = map[string]bool{"text": true, "value": true, "values": true, "promptText": true, "key": true}

// redactParameters returns the parameters without typed text and secrets.
func redactParameters(action string, params any) map[string]any {
	data, err := json.Marshal(params)
	if err != nil {
		return map[string]any{}
	}
	if text, ok := RedactBody("application/json", string(data)); ok {
		data = []byte(text)
	}
	var clean map[string]any
	if json.Unmarshal(data, &clean) != nil || clean == nil {
		return map[string]any{}
	}
	redactObject(action, clean)
	return clean
}

func redactObject(action string, o map[string]any) {
	if kind, ok := o["kind"].(string); ok {
		action = kind
	}
	types := action == "type" || action == "fill" || action == "press" || action == "dialog"
	for name, value := range o {
		switch value := value.(type) {
		case string:
			switch {
			case types && typedParams[name] && (action != "press" || len(value) == 1):
				o[name] = fmt.Sprintf("[%d characters]", len([]rune(value)))
			case strings.EqualFold(name, "url"):
				o[name] = RedactURL(value)
			}
		case map[string]any:
			redactObject(action, value)
		case []any:
			for _, item := range value {
				if inner, ok := item.(map[string]any); ok {
					redactObject(action, inner)
				}
			}
		}
	}
}

// actionTitle returns the title of the action in the viewer.
func actionTitle(action string, params map[string]any) string {
	if kind, ok := params["kind"].(string); ok && kind != "" {
		action = kind
	}
	for _, name := range []string{"url", "ref", "selector", "key", "text"} {
		if value, ok := params[name].(string); ok && value != "" {
			return action + " " + untrusted.Shorten(value, 80)
		}
	}
	return action
}
