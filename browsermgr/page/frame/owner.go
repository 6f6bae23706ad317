package frame

import (
	"context"
	"errors"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// ownerRef is the ref of a frame's element in its parent.
type ownerRef struct {
	parentFrame string
	world       *isolatedWorld // the parent's world when ref was found
	ref         string
}

// FindOwner finds the element that embeds the frame in its parent's document, and returns its ref there.
func (f *Frame) FindOwner(ctx context.Context) (string, error) {
	parent := f.Parent()
	if _, err := RunScript[bool](ctx, parent, Script{Fn: "ping"}); err != nil {
		return "", err
	}
	w, _ := parent.currentWorld()
	if w == nil {
		return "", cdp.ErrDocumentGone
	}
	f.mu.Lock()
	owner := f.cachedOwner
	f.mu.Unlock()
	if owner.ref != "" && owner.world == w {
		return owner.ref, nil
	}
	if owner.parentFrame == "" {
		tree, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
		if err != nil {
			return "", err
		}
		owner.parentFrame = string(tree.FrameTree.Frame.ParentID)
	}
	ref, err := f.requestOwner(ctx, parent, proto.PageFrameID(owner.parentFrame), w)
	if err != nil {
		return "", err
	}
	owner.world, owner.ref = w, ref
	f.mu.Lock()
	f.cachedOwner = owner
	f.mu.Unlock()
	return ref, nil
}

// ownerRefScript is called on the frame element: it assigns a ref in the registry of its local root.
const ownerRefScript = `function (token) {
	for (let w = this.ownerDocument.defaultView; w; w = w.parent === w ? null : w.parent) {
		if (w.__clank) return w.__clank(token, 'refOf', this);
	}
	return {lost: true};
}`

func (f *Frame) requestOwner(ctx context.Context, parent *Frame, parentFrame proto.PageFrameID,
	w *isolatedWorld,
) (string, error) {
	node, err := cdp.Ask[proto.DOMGetFrameOwnerResult](ctx, parent.Session, proto.DOMGetFrameOwner{FrameID: f.ID()})
	if err != nil {
		return "", err
	}
	scope, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, parent.Session, proto.PageCreateIsolatedWorld{
		FrameID: parentFrame, WorldName: worldName, GrantUniveralAccess: true,
	})
	if err != nil {
		return "", err
	}
	object, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, parent.Session, proto.DOMResolveNode{
		BackendNodeID: node.BackendNodeID, ExecutionContextID: scope.ExecutionContextID,
	})
	if err != nil {
		return "", err
	}
	res, err := cdp.Ask[EvaluateResult[scriptAnswer[string]]](ctx, parent.Session, proto.RuntimeCallFunctionOn{
		ObjectID: object.Object.ObjectID, FunctionDeclaration: ownerRefScript, ReturnByValue: true,
		Arguments: []*proto.RuntimeCallArgument{{Value: gson.New(w.token)}},
	})
	parent.Post(proto.RuntimeReleaseObject{ObjectID: object.Object.ObjectID})
	if err == nil && res.Exception != nil {
		err = ExceptionError(res.Exception)
	}
	if err == nil && res.Result.Value.Value == "" {
		err = cdp.ErrDocumentGone
	}
	return res.Result.Value.Value, err
}

// dragsAround reports whether something can be dragged in the documents around the frame.
func (f *Frame) dragsAround(ctx context.Context) (bool, error) {
	for ; f.Parent() != nil; f = f.Parent() {
		ref, err := f.FindOwner(ctx)
		if err != nil {
			return false, err
		}
		found, err := RunScript[bool](ctx, f.Parent(), Script{Fn: "dragsAround", Arg: map[string]string{"ref": ref}})
		if found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// MapToParent maps a point of a frame to the root document of its parent. The frame must be visible there at that
// point, and has until deadline to become so. From then on the parent notes presses for [Frame.PressStrayed].
func (f *Frame) MapToParent(ctx context.Context, at Point, deadline time.Time) (Point, error) {
	parent := f.Parent()
	ref, err := f.FindOwner(ctx)
	if err != nil {
		return at, err
	}
	type embedArg struct {
		Ref string `json:"ref"`
		Point
	}
	for try := 0; ; try++ {
		up, err := RunScript[Point](ctx, parent, Script{Fn: "embed", Arg: embedArg{Ref: ref, Point: at}})
		var no *ScriptError
		if err == nil || !errors.As(err, &no) || time.Now().After(deadline) {
			return up, err
		}
		if try == 0 {
			_, err = RunScript[bool](ctx, parent, Script{Fn: "show", Arg: map[string]string{"ref": ref}})
		} else {
			_, err = parent.AwaitQuiet(ctx, true)
		}
		if err != nil {
			return at, err
		}
	}
}

// PressStrayed reports whether a press meant for the frame arrived in a document around it since [Frame.MapToParent].
// Chromium routes input to other processes by what was last drawn.
func (f *Frame) PressStrayed(ctx context.Context) (bool, error) {
	for parent := f.Parent(); parent != nil; parent = parent.Parent() {
		if strayed, err := RunScript[bool](ctx, parent, Script{Fn: "strayed"}); strayed || err != nil {
			return strayed, err
		}
	}
	return false, nil
}
