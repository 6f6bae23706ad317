package frame

import (
	"context"
	"encoding/json"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// installShadowScript runs on the host: it hands the closed root to the scripts of the host's local root.
const installShadowScript = `function (root, token) {
	for (let w = this.ownerDocument.defaultView; w; w = w.parent === w ? null : w.parent) {
		if (w.__clank) return w.__clank(token, 'adopt', [this, root]);
	}
	return {lost: true};
}`

// domNode is what is used of CDP's Node.
type domNode struct {
	NodeName    string `json:"nodeName"`
	ShadowRoots []struct {
		BackendNodeID  proto.DOMBackendNodeID `json:"backendNodeId"`
		ShadowRootType string                 `json:"shadowRootType"`
	} `json:"shadowRoots"`
}

// MaxShadowDepth bounds how deep closed shadow roots are followed.
const MaxShadowDepth = 8

// ShadowSuspect is what a script found in a document in which more may be behind closed shadow roots.
type ShadowSuspect interface {
	SuspectedShadowHosts() int // elements that may have one
}

// RunInShadows runs a script that takes something from the document, and runs it again as long as closed shadow roots could be opened to it.
func RunInShadows[T ShadowSuspect](ctx context.Context, f *Frame, s Script) (T, error) {
	for level := 1; ; level++ {
		found, err := RunScript[T](ctx, f, s)
		if err != nil || found.SuspectedShadowHosts() == 0 || level == MaxShadowDepth {
			return found, err
		}
		if more, _ := f.OpenClosedShadows(ctx); more == 0 { // after an error what was found is less whole, but true
			return found, nil
		}
	}
}

// OpenClosedShadows lets our scripts into the closed shadow roots of the elements that the last script suspected to have one,
// and returns how many it found. The page notices nothing.
func (f *Frame) OpenClosedShadows(ctx context.Context) (int, error) {
	list, err := ScriptObject(ctx, f, Script{Fn: "hosts"})
	if err != nil {
		return 0, err
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: list})
	f.mu.Lock()
	w := f.world
	f.mu.Unlock()
	if w == nil {
		return 0, cdp.ErrDocumentGone
	}
	hosts, err := f.arrayItems(ctx, list)
	if err != nil {
		return 0, explainLost(err)
	}
	defer func() {
		for _, host := range hosts {
			f.Post(proto.RuntimeReleaseObject{ObjectID: host})
		}
	}()
	asked := make([]*cdp.Call, len(hosts))
	for i, host := range hosts {
		asked[i] = f.Begin(proto.DOMDescribeNode{ObjectID: host})
	}
	found := 0
	for i, call := range asked {
		var res struct {
			Node domNode `json:"node"`
		}
		if err := call.Wait(ctx, &res); err != nil {
			if ctx.Err() != nil || cdp.IsDocumentGone(err) {
				return found, explainLost(err)
			}
			continue // it left the page meanwhile
		}
		for _, root := range res.Node.ShadowRoots {
			if root.ShadowRootType == "closed" && f.installShadowRoot(ctx, w, hosts[i], root.BackendNodeID) == nil {
				found++
			}
		}
	}
	return found, nil
}

// arrayItems returns the elements of an array in the page.
func (f *Frame) arrayItems(ctx context.Context, list proto.RuntimeRemoteObjectID) ([]proto.RuntimeRemoteObjectID, error) {
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

func (f *Frame) installShadowRoot(ctx context.Context, w *isolatedWorld, host proto.RuntimeRemoteObjectID, root proto.DOMBackendNodeID) error {
	object, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session, proto.DOMResolveNode{BackendNodeID: root, ExecutionContextID: w.context})
	if err != nil {
		return err
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: object.Object.ObjectID})
	var res EvaluateResult[json.RawMessage]
	err = f.Begin(proto.RuntimeCallFunctionOn{
		ObjectID: host, FunctionDeclaration: installShadowScript, ReturnByValue: true,
		Arguments: []*proto.RuntimeCallArgument{{ObjectID: object.Object.ObjectID}, {Value: gson.New(w.token)}},
	}).Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = ExceptionError(res.Exception)
	}
	return err
}
