package record

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// traceScript captures a document. Its arguments are the maximum size, the ids of its frame and of those in other
// processes, and the elements that embed the latter.
//
//go:embed snapshot.js
var traceScript string

const (
	traceWorldName = "clank-trace"
	// maxDocument is the maximum size of the documents of one process, in characters; larger ones are omitted.
	maxDocument = 2 << 20
	// maxTraceFrames bounds the number of processes to capture.
	maxTraceFrames = 20
)

// capturedDocuments is the script's result.
type capturedDocuments struct {
	Skipped string  `json:"skipped"`
	Took    float64 `json:"took"`
	Frames  []struct {
		ID      string  `json:"id"`
		HTML    string  `json:"html"`
		Last    int     `json:"last"` // number of the outermost node, as the viewer numbers nodes
		URL     string  `json:"url"`
		Doctype string  `json:"doctype"`
		Width   float64 `json:"width"`
		Height  float64 `json:"height"`
	} `json:"frames"`
}

// shownDocument is the last snapshot written of a frame. Later snapshots refer to it if nothing has changed.
type shownDocument struct {
	html string
	last int
	age  int // snapshots since
}

func viewerFrameID(id proto.PageFrameID) string {
	if id == "" {
		return ""
	}
	return "frame@" + string(id)
}

// captureDocument records the tab's documents. A failure is noted in the action's log.
func (r *traceRun) captureDocument(ctx context.Context, tab *page.Tab, call, phase string) {
	if !r.opts.Snapshots {
		return
	}
	skip := func(why string) {
		r.writeLine(traceLines, logLine{Type: "log", CallID: call, Time: r.now(), Message: "no document " + phase +
			" the action: " + why})
	}
	if len(tab.Dialogs().Pending) > 0 {
		skip("a dialog is open")
		return
	}
	err := tab.RunConcurrently(ctx, r.opts.DocumentLimit, func(ctx context.Context) error {
		frames := tab.Frames()
		for i, f := range frames {
			if i == maxTraceFrames {
				skip(fmt.Sprintf("%d frames are left out", len(frames)-i))
				break
			}
			got, err := captureDocuments(ctx, f, frames)
			if errors.Is(err, cdp.ErrDocumentGone) && i > 0 {
				continue // the frame is gone
			}
			if err != nil {
				return err
			}
			if got.Skipped != "" {
				skip(got.Skipped)
			}
			r.writeDocuments(tab, call, phase, got)
		}
		return nil
	})
	if err != nil {
		skip(err.Error())
	}
}

// captureDocuments runs the script in an isolated world of the frame.
func captureDocuments(ctx context.Context, f *frame.Frame, all []*frame.Frame) (capturedDocuments, error) {
	world, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, f.Session, proto.PageCreateIsolatedWorld{
		FrameID: f.ID(), WorldName: traceWorldName, GrantUniveralAccess: true,
	})
	if err != nil {
		return capturedDocuments{}, explainGone(err)
	}
	ids := []string{viewerFrameID(f.ID())}
	args := []*proto.RuntimeCallArgument{{Value: gson.New(maxDocument)}, nil}
	for _, child := range all {
		if child.Parent() != f {
			continue
		}
		if owner := frameElement(ctx, f, child, world.ExecutionContextID); owner != "" {
			ids = append(ids, viewerFrameID(child.ID()))
			args = append(args, &proto.RuntimeCallArgument{ObjectID: owner})
		}
	}
	args[1] = &proto.RuntimeCallArgument{Value: gson.New(ids)}
	var res frame.EvaluateResult[capturedDocuments]
	err = f.Begin(proto.RuntimeCallFunctionOn{
		FunctionDeclaration: traceScript, ExecutionContextID: world.ExecutionContextID, Arguments: args, ReturnByValue: true,
	}).Wait(ctx, &res)
	if len(args) > 2 {
		f.Post(proto.RuntimeReleaseObjectGroup{ObjectGroup: traceWorldName})
	}
	if err != nil {
		return capturedDocuments{}, explainGone(err)
	}
	if res.Exception != nil {
		return capturedDocuments{}, frame.ExceptionError(res.Exception)
	}
	return res.Result.Value, nil
}

func explainGone(err error) error {
	if cdp.IsDocumentGone(err) {
		return cdp.ErrDocumentGone
	}
	return err
}

// frameElement returns the element that embeds an out-of-process frame; "" if unknown.
func frameElement(ctx context.Context, f, child *frame.Frame,
	world proto.RuntimeExecutionContextID,
) proto.RuntimeRemoteObjectID {
	node, err := cdp.Ask[proto.DOMGetFrameOwnerResult](ctx, f.Session, proto.DOMGetFrameOwner{FrameID: child.ID()})
	if err != nil {
		return ""
	}
	object, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session, proto.DOMResolveNode{
		BackendNodeID: node.BackendNodeID, ExecutionContextID: world, ObjectGroup: traceWorldName,
	})
	if err != nil || object.Object == nil {
		return ""
	}
	return object.Object.ObjectID
}

// writeDocuments writes captured documents.
func (r *traceRun) writeDocuments(tab *page.Tab, call, phase string, got capturedDocuments) {
	for _, d := range got.Frames {
		d.HTML = string(tab.Recordable([]byte(d.HTML)))
		s := snapshotData{
			CallID: call, Phase: phase, PageID: viewerPageID(tab), FrameID: d.ID, FrameURL: RedactURL(d.URL), Doctype: d.Doctype,
			Viewport: sizeData{Width: d.Width, Height: d.Height}, Timestamp: r.now(), WallTime: toMillis(time.Now()),
			CollectionTime:    got.Took,
			ResourceOverrides: []string{}, IsMainFrame: d.ID == viewerFrameID(tab.MainFrame().ID()),
		}
		r.mu.Lock()
		before, known := r.shown[d.ID]
		if known && before.html == d.HTML {
			before.age++
			s.HTML = json.RawMessage(fmt.Sprintf("[[%d,%d]]", before.age, before.last))
		} else {
			before = shownDocument{html: d.HTML, last: d.Last}
			s.HTML = json.RawMessage(d.HTML)
		}
		r.mu.Unlock()
		if r.writeLine(traceLines, snapshotLine{Type: "frame-snapshot", Snapshot: s}) {
			r.setShown(d.ID, before)
		}
	}
}

// maxShown bounds how many frames' last snapshots are kept in memory.
const maxShown = 32

// setShown keeps the last snapshot written of a frame.
func (r *traceRun) setShown(id string, s shownDocument) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.shown[id]; !known && len(r.shown) == maxShown {
		for other := range r.shown {
			delete(r.shown, other)
			break
		}
	}
	r.shown[id] = s
}

// formatVersion is the version of Playwright's trace format.
const formatVersion = 10

// The lines of trace.trace, as Playwright's viewer names them. Times are milliseconds on a clock that starts shortly
// before the trace, wall times milliseconds since 1970.
type (
	contextOptions struct {
		Version       int            `json:"version"`
		Type          string         `json:"type"` // context-options
		Origin        string         `json:"origin"`
		BrowserName   string         `json:"browserName"`
		Platform      string         `json:"platform"`
		WallTime      float64        `json:"wallTime"`
		MonotonicTime float64        `json:"monotonicTime"`
		SDKLanguage   string         `json:"sdkLanguage"`
		Title         string         `json:"title"`
		Options       map[string]any `json:"options"`
	}
	beforeLine struct {
		Type      string          `json:"type"` // before
		CallID    string          `json:"callId"`
		StartTime float64         `json:"startTime"`
		Title     string          `json:"title"`
		Class     string          `json:"class"`
		Method    string          `json:"method"`
		Params    json.RawMessage `json:"params"`
		PageID    string          `json:"pageId"`
	}
	afterLine struct {
		Type    string     `json:"type"` // after
		CallID  string     `json:"callId"`
		EndTime float64    `json:"endTime"`
		Error   *errorText `json:"error,omitempty"`
	}
	errorText struct {
		Name    string `json:"name,omitempty"`
		Message string `json:"message"`
		Stack   string `json:"stack,omitempty"`
	}
	logLine struct {
		Type    string  `json:"type"` // log
		CallID  string  `json:"callId"`
		Time    float64 `json:"time"`
		Message string  `json:"message"`
	}
	noteLine struct {
		Type      string  `json:"type"` // stderr
		Timestamp float64 `json:"timestamp"`
		Text      string  `json:"text"`
	}
	eventLine struct {
		Type   string         `json:"type"` // event
		Time   float64        `json:"time"`
		Class  string         `json:"class"`
		Method string         `json:"method"`
		Params map[string]any `json:"params"`
		PageID string         `json:"pageId"`
	}
	consoleLine struct {
		Type        string   `json:"type"` // console
		MessageType string   `json:"messageType"`
		Text        string   `json:"text"`
		Args        []string `json:"args"`
		Location    any      `json:"location"`
		Time        float64  `json:"time"`
		PageID      string   `json:"pageId"`
	}
	frameLine struct {
		Type              string  `json:"type"` // screencast-frame
		PageID            string  `json:"pageId"`
		File              string  `json:"file"`
		Width             float64 `json:"width"`
		Height            float64 `json:"height"`
		Timestamp         float64 `json:"timestamp"`
		FrameSwapWallTime float64 `json:"frameSwapWallTime"`
	}
	snapshotLine struct {
		Type     string       `json:"type"` // frame-snapshot
		Snapshot snapshotData `json:"snapshot"`
	}
	snapshotData struct {
		CallID            string          `json:"callId"`
		Phase             string          `json:"phase"` // before or after
		PageID            string          `json:"pageId"`
		FrameID           string          `json:"frameId"`
		FrameURL          string          `json:"frameUrl"`
		Doctype           string          `json:"doctype,omitempty"`
		HTML              json.RawMessage `json:"html"`
		Viewport          sizeData        `json:"viewport"`
		Timestamp         float64         `json:"timestamp"`
		WallTime          float64         `json:"wallTime"`
		CollectionTime    float64         `json:"collectionTime"`
		ResourceOverrides []string        `json:"resourceOverrides"`
		IsMainFrame       bool            `json:"isMainFrame"`
	}
	sizeData struct {
		Width  float64 `json:"width"`
		Height float64 `json:"height"`
	}
)

// The lines of trace.network.
type (
	resourceLine struct {
		Type     string       `json:"type"` // resource-snapshot
		Snapshot resourceData `json:"snapshot"`
	}
	resourceData struct {
		HAREntry
		FrameRef      string  `json:"_frameref,omitempty"`
		MonotonicTime float64 `json:"_monotonicTime"`
	}
)
