package trace

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"
	"clank/browsermgr/page"
	"clank/browsermgr/record"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// script captures a document. It is called with the size it may have, the ids of its frame and of those in other
// processes, and the elements that embed the latter.
//
//go:embed snapshot.js
var script string

const (
	worldName = "clank-trace"
	// maxDocument is the size from which the documents of one process are left out, in characters.
	maxDocument = 2 << 20
	// maxFrames bounds the processes that are asked.
	maxFrames = 20
)

// captured is what the script returns.
type captured struct {
	Skipped string  `json:"skipped"`
	Took    float64 `json:"took"`
	Frames  []struct {
		ID      string  `json:"id"`
		HTML    string  `json:"html"`
		Last    int     `json:"last"` // the number of its outermost node, in the order in which the viewer counts
		URL     string  `json:"url"`
		Doctype string  `json:"doctype"`
		Width   float64 `json:"width"`
		Height  float64 `json:"height"`
	} `json:"frames"`
}

// shown is what was last written of a frame: if nothing has changed, later snapshots refer to it.
type shown struct {
	html string
	last int
	age  int // snapshots since
}

func frameID(id proto.PageFrameID) string {
	if id == "" {
		return ""
	}
	return "frame@" + string(id)
}

// document writes down what the tab shows. That it cannot be captured is said in the action's log.
func (r *run) document(ctx context.Context, tab *page.Tab, call, phase string) {
	if !r.opts.Snapshots {
		return
	}
	skip := func(why string) {
		r.write(traceLines, logLine{Type: "log", CallID: call, Time: r.now(), Message: "no document " + phase + " the action: " + why})
	}
	if len(tab.Dialogs().Pending) > 0 {
		skip("a dialog is open")
		return
	}
	err := tab.Within(ctx, r.opts.DocumentLimit, func(ctx context.Context) error {
		frames := tab.Frames()
		for i, f := range frames {
			if i == maxFrames {
				skip(fmt.Sprintf("%d frames are left out", len(frames)-i))
				break
			}
			got, err := capture(ctx, f, frames)
			if errors.Is(err, cdp.ErrDocumentGone) && i > 0 {
				continue // a frame that went away
			}
			if err != nil {
				return err
			}
			if got.Skipped != "" {
				skip(got.Skipped)
			}
			r.show(tab, call, phase, got)
		}
		return nil
	})
	if err != nil {
		skip(err.Error())
	}
}

// capture runs the script in the frame, in a world of its own.
func capture(ctx context.Context, f *frame.Frame, all []*frame.Frame) (captured, error) {
	world, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, f.Session, proto.PageCreateIsolatedWorld{
		FrameID: f.ID(), WorldName: worldName, GrantUniveralAccess: true,
	})
	if err != nil {
		return captured{}, gone(err)
	}
	ids := []string{frameID(f.ID())}
	args := []*proto.RuntimeCallArgument{{Value: gson.New(maxDocument)}, nil}
	for _, child := range all {
		if child.Parent() != f {
			continue
		}
		if owner := embedder(ctx, f, child, world.ExecutionContextID); owner != "" {
			ids = append(ids, frameID(child.ID()))
			args = append(args, &proto.RuntimeCallArgument{ObjectID: owner})
		}
	}
	args[1] = &proto.RuntimeCallArgument{Value: gson.New(ids)}
	var res frame.Remote[captured]
	err = f.Begin(proto.RuntimeCallFunctionOn{
		FunctionDeclaration: script, ExecutionContextID: world.ExecutionContextID, Arguments: args, ReturnByValue: true,
	}).Wait(ctx, &res)
	if len(args) > 2 {
		f.Post(proto.RuntimeReleaseObjectGroup{ObjectGroup: worldName})
	}
	if err != nil {
		return captured{}, gone(err)
	}
	if res.Exception != nil {
		return captured{}, frame.ExceptionError(res.Exception)
	}
	return res.Result.Value, nil
}

func gone(err error) error {
	if cdp.DocumentGone(err) {
		return cdp.ErrDocumentGone
	}
	return err
}

// embedder is the element that shows a frame of another process; "" if it cannot be told.
func embedder(ctx context.Context, f, child *frame.Frame, world proto.RuntimeExecutionContextID) proto.RuntimeRemoteObjectID {
	node, err := cdp.Ask[proto.DOMGetFrameOwnerResult](ctx, f.Session, proto.DOMGetFrameOwner{FrameID: child.ID()})
	if err != nil {
		return ""
	}
	object, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session, proto.DOMResolveNode{
		BackendNodeID: node.BackendNodeID, ExecutionContextID: world, ObjectGroup: worldName,
	})
	if err != nil || object.Object == nil {
		return ""
	}
	return object.Object.ObjectID
}

// show writes down captured documents.
func (r *run) show(tab *page.Tab, call, phase string, got captured) {
	for _, d := range got.Frames {
		s := snapshot{
			CallID: call, Phase: phase, PageID: pageID(tab), FrameID: d.ID, FrameURL: record.RedactURL(d.URL), Doctype: d.Doctype,
			Viewport: size{Width: d.Width, Height: d.Height}, Timestamp: r.now(), WallTime: millis(time.Now()), CollectionTime: got.Took,
			ResourceOverrides: []string{}, IsMainFrame: d.ID == frameID(tab.Main().ID()),
		}
		r.mu.Lock()
		before, known := r.shown[d.ID]
		if known && before.html == d.HTML {
			before.age++
			s.HTML = json.RawMessage(fmt.Sprintf("[[%d,%d]]", before.age, before.last))
		} else {
			before = shown{html: d.HTML, last: d.Last}
			s.HTML = json.RawMessage(d.HTML)
		}
		r.mu.Unlock()
		if r.write(traceLines, snapshotLine{Type: "frame-snapshot", Snapshot: s}) {
			r.remember(d.ID, before)
		}
	}
}

// maxShown bounds the frames whose last document is kept in memory.
const maxShown = 32

// remember keeps what was last written of a frame.
func (r *run) remember(id string, s shown) {
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
