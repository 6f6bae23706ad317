package login

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

var (
	//go:embed js/login.js
	loginScript string
	//go:embed js/chain.js
	chainScript string
)

// Names of the isolated worlds of our scripts. Only the second one may access frames of other origins; it receives no
// secrets.
const (
	worldName = "clank-login"
	chainName = "clank-chain"
)

// tabFrame is a frame of a tab with its document.
type tabFrame struct {
	frame  *frame.Frame // the Frame whose session reaches it
	depth  int          // number of frame elements between the two
	id     proto.PageFrameID
	origin string // as reported by Chromium
	url    string
}

// tabFrames returns the frames of a tab, the main frame first.
func tabFrames(ctx context.Context, t *page.Tab) ([]tabFrame, error) {
	var all []tabFrame
	known := framesByRoot(t.Frames())
	for _, f := range t.ProcessRoots() {
		res, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
		if cdp.IsDocumentGone(err) && f.Parent() != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = appendTree(all, known, tabFrame{frame: f}, res.FrameTree)
	}
	return all, nil
}

// framesByRoot returns frames by the ids of their root frames.
func framesByRoot(frames []*frame.Frame) map[proto.PageFrameID]*frame.Frame {
	known := map[proto.PageFrameID]*frame.Frame{}
	for _, f := range frames {
		known[f.ID()] = f
	}
	return known
}

// appendTree appends the frames of a tree. at describes its root, unless that is the root of a Frame.
func appendTree(all []tabFrame, known map[proto.PageFrameID]*frame.Frame, at tabFrame,
	tree *proto.PageFrameTree,
) []tabFrame {
	if tree == nil || tree.Frame == nil {
		return all
	}
	if f := known[tree.Frame.ID]; f != nil {
		at = tabFrame{frame: f}
	}
	at.id, at.origin, at.url = tree.Frame.ID, tree.Frame.SecurityOrigin, tree.Frame.URL
	all = append(all, at)
	for _, c := range tree.ChildFrames {
		all = appendTree(all, known, tabFrame{frame: at.frame, depth: at.depth + 1}, c)
	}
	return all
}

// of reports whether the document has one of the origins (scheme, host and port), as reported by its process.
func (s tabFrame) of(origins []string) bool { return slices.Contains(origins, s.origin) }

// inheritsOrigin reports whether the document may have inherited its origin, so that its URL does not show it.
func (s tabFrame) inheritsOrigin() bool { return strings.HasPrefix(s.url, "about:") || s.url == "" }

// documentHandle is our script's object in one document. It becomes invalid with the document, and is released after
// use.
type documentHandle struct {
	frame  tabFrame
	object proto.RuntimeRemoteObjectID
	world  proto.RuntimeExecutionContextID
}

// evaluate evaluates an expression in an isolated world of the frame.
func (s tabFrame) evaluate(
	ctx context.Context, world, expression string, everywhere, byValue bool, result any,
) (proto.RuntimeExecutionContextID, error) {
	made, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, s.frame.Session, proto.PageCreateIsolatedWorld{
		FrameID: s.id, WorldName: world, GrantUniveralAccess: everywhere,
	})
	if err != nil {
		return 0, err
	}
	in := made.ExecutionContextID
	call := proto.RuntimeEvaluate{Expression: expression, ContextID: in, ReturnByValue: byValue}
	return in, s.frame.Begin(call).Wait(ctx, result)
}

// openDocument returns a handle for the frame's document; nil if the document has none of the origins.
func (s tabFrame) openDocument(ctx context.Context, origins []string) (*documentHandle, error) {
	allowed, err := json.Marshal(origins)
	if err != nil {
		return nil, err
	}
	var res frame.EvaluateResult[json.RawMessage]
	world, err := s.evaluate(ctx, worldName, fmt.Sprintf("(%s)(%s)", loginScript, allowed), false, false, &res)
	if err != nil {
		return nil, err
	}
	if res.Exception != nil {
		return nil, frame.ExceptionError(res.Exception)
	}
	if res.Result.ObjectID == "" {
		return nil, nil //nolint:nilnil // the document has another origin
	}
	return &documentHandle{frame: s, object: proto.RuntimeRemoteObjectID(res.Result.ObjectID), world: world}, nil
}

func (h *documentHandle) release() {
	h.frame.frame.Post(proto.RuntimeReleaseObject{ObjectID: h.object})
}

// openShadows gives our script access to the closed shadow roots of the document, since people see their content.
func (h *documentHandle) openShadows(ctx context.Context) error {
	for range frame.MaxShadowDepth {
		var list frame.EvaluateResult[json.RawMessage]
		const hosts = "function () { return this.hosts() }"
		f, ask := h.frame.frame, proto.RuntimeCallFunctionOn{ObjectID: h.object, FunctionDeclaration: hosts}
		if err := f.Begin(ask).Wait(ctx, &list); err != nil {
			return err
		}
		roots, release, err := f.ClosedRoots(ctx, proto.RuntimeRemoteObjectID(list.Result.ObjectID), h.world)
		for _, r := range roots {
			call := proto.RuntimeCallFunctionOn{
				ObjectID: h.object, FunctionDeclaration: "function (host, root) { this.adopt(host, root) }",
				Arguments: []*proto.RuntimeCallArgument{{ObjectID: r.Host}, {ObjectID: r.Root}},
			}
			err = errors.Join(err, f.Begin(call).Wait(ctx, &list))
		}
		release()
		if err != nil {
			return err
		}
		f.Post(proto.RuntimeCallFunctionOn{ObjectID: h.object, FunctionDeclaration: "function () { this.answered() }"})
		if len(roots) == 0 {
			return nil
		}
	}
	return nil
}

// callHandle calls a method of the handle. It fails if the document is gone, to which the object belongs. Errors never
// contain the arguments.
func callHandle[R any](ctx context.Context, h *documentHandle, method string, args ...any) (R, error) {
	var res frame.EvaluateResult[R]
	call := proto.RuntimeCallFunctionOn{
		ObjectID: h.object, FunctionDeclaration: "function (...args) { return this." + method + "(...args) }",
		ReturnByValue: true, UserGesture: true,
	}
	for _, a := range args {
		call.Arguments = append(call.Arguments, &proto.RuntimeCallArgument{Value: gson.New(a)})
	}
	err := h.frame.frame.Begin(call).Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = errors.New("our script failed in the page")
	}
	if cdp.IsDocumentGone(err) {
		err = cdp.ErrDocumentGone
	}
	return res.Result.Value, err
}

// mapToMainFrame maps boxes of the document to the viewport of the tab's main frame. With onTop it fails if the
// surrounding frames hide them.
func (s tabFrame) mapToMainFrame(ctx context.Context, t *page.Tab, boxes []page.Area, onTop bool) ([]page.Area, error) {
	if len(boxes) == 0 {
		return nil, nil
	}
	at := s
	for {
		arg, err := json.Marshal(boxes)
		if err != nil {
			return nil, err
		}
		var res frame.EvaluateResult[[]page.Area]
		look := fmt.Sprintf("(%s)(%s, %t, %d)", chainScript, arg, onTop, at.depth)
		if _, err := at.evaluate(ctx, chainName, look, true, true, &res); err != nil {
			return nil, err
		}
		if res.Exception != nil {
			return nil, frame.ExceptionError(res.Exception)
		}
		if boxes = res.Result.Value; boxes == nil {
			return nil, errors.New("the frame that the login is in cannot be seen")
		}
		f := at.frame
		if f.Parent() == nil {
			return boxes, nil
		}
		if boxes, at, err = mapToEmbedder(ctx, t, f, boxes, onTop); err != nil {
			return nil, err
		}
	}
}

// contentAreaScript returns where a frame element shows its document and, with onTop, whether it shows these points of
// it.
const contentAreaScript = `([owner], a) => {
	if (!owner) return null;
	if (a.onTop) owner.scrollIntoView({block: 'nearest', inline: 'nearest', behavior: 'instant'});
	const b = owner.getBoundingClientRect();
	const style = owner.ownerDocument.defaultView.getComputedStyle(owner);
	const scale = owner.offsetWidth ? b.width / owner.offsetWidth : 1;
	const left = b.left + scale * (owner.clientLeft + parseFloat(style.paddingLeft));
	const top = b.top + scale * (owner.clientTop + parseFloat(style.paddingTop));
	const out = a.boxes.map((r) => ({left: left + scale * r.left, top: top + scale * r.top, right: left + scale * r.right, bottom: top + scale * r.bottom}));
	for (let n = owner; a.onTop && n; n = n.parentElement ?? n.getRootNode().host) {
		if (parseFloat(owner.ownerDocument.defaultView.getComputedStyle(n).opacity) < 0.2) return null;
	}
	if (a.onTop && !out.every((r) => owner.getRootNode().elementFromPoint((r.left + r.right) / 2, (r.top + r.bottom) / 2) === owner)) return null;
	return out;
}`

// mapToEmbedder maps boxes of a frame's root document into the document that embeds it, which is in another process or
// has another origin.
func mapToEmbedder(ctx context.Context, t *page.Tab, f *frame.Frame, boxes []page.Area,
	onTop bool,
) ([]page.Area, tabFrame, error) {
	ref, err := f.FindOwner(ctx)
	if err != nil {
		return nil, tabFrame{}, err
	}
	up, err := frame.CallFunction[[]page.Area](ctx, f.Parent(), contentAreaScript, []frame.Locator{{Ref: ref}},
		map[string]any{"boxes": boxes, "onTop": onTop})
	if err != nil {
		return nil, tabFrame{}, err
	}
	if up == nil {
		return nil, tabFrame{}, errors.New("the frame that the login is in cannot be seen")
	}
	owner, err := findEmbedder(ctx, t, f)
	return up, owner, err
}

// findEmbedder returns the frame whose document embeds the root document of another.
func findEmbedder(ctx context.Context, t *page.Tab, f *frame.Frame) (tabFrame, error) {
	id := f.EmbeddedIn()
	if id == "" {
		tree, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
		if err != nil {
			return tabFrame{}, err
		}
		id = tree.FrameTree.Frame.ParentID
	}
	all, err := tabFrames(ctx, t)
	if err != nil {
		return tabFrame{}, err
	}
	i := slices.IndexFunc(all, func(s tabFrame) bool { return s.id == id })
	if i < 0 {
		return tabFrame{}, cdp.ErrDocumentGone
	}
	return all[i], nil
}
