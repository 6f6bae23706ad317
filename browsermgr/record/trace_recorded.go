package record

import (
	"context"
	"encoding/base64"
	"mime"
	"strings"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// handleRecorded takes up what the recorder tells. It runs on the goroutine that reads the connection.
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

// keptTypes are the kinds of requests whose answers are worth their room: what the documents in the trace show, and data.
var keptTypes = map[string]bool{"stylesheet": true, "image": true, "font": true, "xhr": true, "fetch": true}

// maxTraceBody is the size from which a body is left out.
const maxTraceBody = 4 << 20

// writeExchange writes down a request that has come to its end, with its body if that is of use.
func (r *traceRun) writeExchange(n Recorded) {
	line := resourceLine{Type: "resource-snapshot", Snapshot: resourceData{HAREntry: *n.Exchange, MonotonicTime: r.timeOf(n.Started)}}
	line.Snapshot.PageRef = viewerPageID(n.Tab)
	line.Snapshot.FrameRef = viewerFrameID(n.DocumentID)
	if !n.HasBody || !keptTypes[n.Exchange.ResourceType] || n.Exchange.Response.Content.Size > maxTraceBody {
		r.enqueue(r.jobs, func(context.Context) { r.writeLine(networkLines, line) })
		return
	}
	// Asked for here and now: the page may go away, and the body with it.
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

// readBody waits for a body. Data is kept without secrets, and only if it is text.
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

// fileExtension returns how files of a type are named in the trace.
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
