package frame

import (
	"cmp"
	"context"
	"encoding/json"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// installShadowScript is called on a host: it passes the closed root to the scripts of the host's local root.
const installShadowScript = `function (root, token) {
	for (let w = this.ownerDocument.defaultView; w; w = w.parent === w ? null : w.parent) {
		if (w.__clank) return w.__clank(token, 'adopt', [this, root]);
	}
	return {lost: true};
}`

// domNode holds the fields used of CDP's DOM.Node.
type domNode struct {
	NodeName    string `json:"nodeName"`
	FrameID     string `json:"frameId"` // of the frame that the element shows
	ShadowRoots []struct {
		BackendNodeID  proto.DOMBackendNodeID `json:"backendNodeId"`
		ShadowRootType string                 `json:"shadowRootType"`
	} `json:"shadowRoots"`
}

// MaxShadowDepth bounds the nesting of closed shadow roots to open.
const MaxShadowDepth = 8

// ShadowSuspect is the result of a script for a document that may have content in closed shadow roots.
type ShadowSuspect interface {
	SuspectedShadowHosts() int // number of elements that may have one
}

// RunInShadows runs a script that reads a document, and repeats it while more closed shadow roots could be opened to
// it.
func RunInShadows[T ShadowSuspect](ctx context.Context, f *Frame, s Script) (T, error) {
	for level := 1; ; level++ {
		found, err := RunScript[T](ctx, f, s)
		if err != nil || found.SuspectedShadowHosts() == 0 || level == MaxShadowDepth {
			return found, err
		}
		if more, _ := f.OpenClosedShadows(ctx); more == 0 { // after an error the result is less complete
			return found, nil
		}
	}
}

// OpenClosedShadows gives our scripts access to the closed shadow roots of the elements that the last script suspected
// to have one, and returns how many there are. The page cannot notice.
func (f *Frame) OpenClosedShadows(ctx context.Context) (int, error) {
	list, err := scriptObject(ctx, f, Script{Fn: "hosts"})
	if err != nil {
		return 0, err
	}
	f.mu.Lock()
	w := f.world
	f.mu.Unlock()
	if w == nil {
		f.Post(proto.RuntimeReleaseObject{ObjectID: list})
		return 0, cdp.ErrDocumentGone
	}
	roots, release, err := f.ClosedRoots(ctx, list, w.context)
	defer release()
	found := 0
	for _, r := range roots {
		if f.installShadowRoot(ctx, w, r) == nil {
			found++
		}
	}
	if err != nil || ctx.Err() != nil {
		return found, cmp.Or(err, context.Cause(ctx))
	}
	if answered, err := f.callScript(w, Script{Fn: "answered"}, true); err == nil {
		answered.Abandon() // the next script runs after it
	}
	return found, nil
}

// ClosedRoot is a closed shadow root and its host, as remote objects of one world. Root is "" if the host has none but
// is an <embed> that shows a document.
type ClosedRoot struct{ Host, Root proto.RuntimeRemoteObjectID }

// ClosedRoots returns the closed shadow roots of elements, given as an array in the page, as objects of a world. The
// caller must call release, which also releases the array.
func (f *Frame) ClosedRoots(
	ctx context.Context, elements proto.RuntimeRemoteObjectID, world proto.RuntimeExecutionContextID,
) (roots []ClosedRoot, release func(), err error) {
	objects := []proto.RuntimeRemoteObjectID{elements}
	release = func() {
		for _, object := range objects {
			f.Post(proto.RuntimeReleaseObject{ObjectID: object})
		}
	}
	hosts, err := f.arrayItems(ctx, elements)
	if err != nil {
		return nil, release, explainLost(err)
	}
	objects = append(objects, hosts...)
	asked := make([]*cdp.Call, len(hosts))
	for i, host := range hosts {
		asked[i] = f.Begin(proto.DOMDescribeNode{ObjectID: host})
	}
	for i, call := range asked {
		var res struct {
			Node domNode `json:"node"`
		}
		if err := call.Wait(ctx, &res); err != nil {
			if ctx.Err() != nil || cdp.IsDocumentGone(err) {
				return roots, release, explainLost(err)
			}
			continue // it was removed from the page
		}
		if res.Node.NodeName == "EMBED" && res.Node.FrameID != "" {
			roots = append(roots, ClosedRoot{Host: hosts[i]})
		}
		for _, root := range res.Node.ShadowRoots {
			if root.ShadowRootType != "closed" {
				continue
			}
			ask := proto.DOMResolveNode{BackendNodeID: root.BackendNodeID, ExecutionContextID: world}
			object, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session, ask)
			if ctx.Err() != nil {
				return roots, release, context.Cause(ctx)
			}
			if err == nil {
				objects = append(objects, object.Object.ObjectID)
				roots = append(roots, ClosedRoot{hosts[i], object.Object.ObjectID})
			}
		}
	}
	return roots, release, nil
}

// arrayItems returns the elements of an array in the page.
func (f *Frame) arrayItems(ctx context.Context,
	list proto.RuntimeRemoteObjectID,
) ([]proto.RuntimeRemoteObjectID, error) {
	var res struct {
		Result []struct {
			Enumerable bool `json:"enumerable"`
			Value      struct {
				ObjectID proto.RuntimeRemoteObjectID `json:"objectId"`
			} `json:"value"`
		} `json:"result"`
	}
	if err := f.Begin(proto.RuntimeGetProperties{ObjectID: list, OwnProperties: true}).Wait(ctx, &res); err != nil {
		return nil, err
	}
	var ids []proto.RuntimeRemoteObjectID
	for _, p := range res.Result {
		if p.Enumerable && p.Value.ObjectID != "" {
			ids = append(ids, p.Value.ObjectID)
		}
	}
	return ids, nil
}

func (f *Frame) installShadowRoot(ctx context.Context, w *isolatedWorld, r ClosedRoot) error {
	var res EvaluateResult[json.RawMessage]
	err := f.Begin(proto.RuntimeCallFunctionOn{
		ObjectID: r.Host, FunctionDeclaration: installShadowScript, ReturnByValue: true,
		Arguments: []*proto.RuntimeCallArgument{{ObjectID: r.Root}, {Value: gson.New(w.token)}},
	}).Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = ExceptionError(res.Exception)
	}
	return err
}
