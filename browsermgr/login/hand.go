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
	"clank/browsermgr/frame"
	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

var (
	//go:embed js/login.js
	loginScript string
	//go:embed js/chain.js
	chainScript string
)

// The isolated worlds that our scripts live in. Only the second one may look into frames of other origins; it gets no secrets.
const (
	worldName = "clank-login"
	chainName = "clank-chain"
)

// spot is one frame of a tab: a document in some process.
type spot struct {
	frame  *frame.Frame // that it belongs to, whose session reaches it
	up     int          // how many frame elements are between the two
	id     proto.PageFrameID
	origin string // as Chromium tells it
	url    string
}

// spots are the frames of a tab, the main one first.
func spots(ctx context.Context, t *page.Tab) ([]spot, error) {
	var all []spot
	known := roots(t.Frames())
	for _, f := range t.Processes() {
		res, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
		if cdp.DocumentGone(err) && f.Parent() != nil {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = appendTree(all, known, spot{frame: f}, res.FrameTree)
	}
	return all, nil
}

// roots are frames by the ids of their root documents.
func roots(frames []*frame.Frame) map[proto.PageFrameID]*frame.Frame {
	known := map[proto.PageFrameID]*frame.Frame{}
	for _, f := range frames {
		known[f.ID()] = f
	}
	return known
}

// appendTree appends the spots of a tree. at is the spot of its root, if that is no root of a frame.
func appendTree(all []spot, known map[proto.PageFrameID]*frame.Frame, at spot, tree *proto.PageFrameTree) []spot {
	if tree == nil || tree.Frame == nil {
		return all
	}
	if f := known[tree.Frame.ID]; f != nil {
		at = spot{frame: f}
	}
	at.id, at.origin, at.url = tree.Frame.ID, tree.Frame.SecurityOrigin, tree.Frame.URL
	all = append(all, at)
	for _, c := range tree.ChildFrames {
		all = appendTree(all, known, spot{frame: at.frame, up: at.up + 1}, c)
	}
	return all
}

// inherits reports whether the document may have its origin from the one that made it, so that its address does not tell.
func (s spot) inherits() bool { return strings.HasPrefix(s.url, "about:") || s.url == "" }

// hand is our script's object in one document. It does not outlive that document, and is released after use.
type hand struct {
	spot   spot
	object proto.RuntimeRemoteObjectID
}

// evaluate runs an expression in an isolated world of the frame.
func (s spot) evaluate(ctx context.Context, world, expression string, everywhere, byValue bool, result any) error {
	made, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, s.frame.Session, proto.PageCreateIsolatedWorld{
		FrameID: s.id, WorldName: world, GrantUniveralAccess: everywhere,
	})
	if err != nil {
		return err
	}
	return s.frame.Begin(proto.RuntimeEvaluate{Expression: expression, ContextID: made.ExecutionContextID, ReturnByValue: byValue}).Wait(ctx, result)
}

// reach makes a hand in the frame's document; nil if the document is of none of the origins.
func (s spot) reach(ctx context.Context, origins []string) (*hand, error) {
	allowed, err := json.Marshal(origins)
	if err != nil {
		return nil, err
	}
	var res frame.Remote[json.RawMessage]
	if err := s.evaluate(ctx, worldName, fmt.Sprintf("(%s)(%s)", loginScript, allowed), false, false, &res); err != nil {
		return nil, err
	}
	if res.Exception != nil {
		return nil, frame.ExceptionError(res.Exception)
	}
	if res.Result.ObjectID == "" {
		return nil, nil //nolint:nilnil // another origin's document has none
	}
	return &hand{spot: s, object: proto.RuntimeRemoteObjectID(res.Result.ObjectID)}, nil
}

func (h *hand) release() { h.spot.frame.Post(proto.RuntimeReleaseObject{ObjectID: h.object}) }

// ask calls a method of the hand. It fails if the document is not there any more: the object belongs to that very one. An
// error never holds the arguments.
func ask[R any](ctx context.Context, h *hand, method string, args ...any) (R, error) {
	var res frame.Remote[R]
	call := proto.RuntimeCallFunctionOn{
		ObjectID: h.object, FunctionDeclaration: "function (...args) { return this." + method + "(...args) }", ReturnByValue: true, UserGesture: true,
	}
	for _, a := range args {
		call.Arguments = append(call.Arguments, &proto.RuntimeCallArgument{Value: gson.New(a)})
	}
	err := h.spot.frame.Begin(call).Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = errors.New("our script failed in the page")
	}
	if cdp.DocumentGone(err) {
		err = cdp.ErrDocumentGone
	}
	return res.Result.Value, err
}

// chain maps boxes of the document to the viewport of the tab's main frame. With onTop it is an error if the frames around it
// do not show them.
func (s spot) chain(ctx context.Context, t *page.Tab, boxes []page.Area, onTop bool) ([]page.Area, error) {
	if len(boxes) == 0 {
		return nil, nil
	}
	at := s
	for {
		arg, err := json.Marshal(boxes)
		if err != nil {
			return nil, err
		}
		var res frame.Remote[[]page.Area]
		if err := at.evaluate(ctx, chainName, fmt.Sprintf("(%s)(%s, %t, %d)", chainScript, arg, onTop, at.up), true, true, &res); err != nil {
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
		if boxes, at, err = above(ctx, t, f, boxes, onTop); err != nil {
			return nil, err
		}
	}
}

// contentOf tells how a frame element shows its document, and with onTop whether it shows these points of it.
const contentOf = `([owner], a) => {
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

// above maps boxes of a frame's root document into the document that embeds it, which is of another process or origin.
func above(ctx context.Context, t *page.Tab, f *frame.Frame, boxes []page.Area, onTop bool) ([]page.Area, spot, error) {
	ref, err := f.Place(ctx)
	if err != nil {
		return nil, spot{}, err
	}
	up, err := frame.Apply[[]page.Area](ctx, f.Parent(), contentOf, []frame.Locator{{Ref: ref}}, map[string]any{"boxes": boxes, "onTop": onTop})
	if err != nil {
		return nil, spot{}, err
	}
	if up == nil {
		return nil, spot{}, errors.New("the frame that the login is in cannot be seen")
	}
	owner, err := embedder(ctx, t, f)
	return up, owner, err
}

// embedder is the frame whose document embeds the root document of another.
func embedder(ctx context.Context, t *page.Tab, f *frame.Frame) (spot, error) {
	id := f.EmbeddedIn()
	if id == "" {
		tree, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
		if err != nil {
			return spot{}, err
		}
		id = tree.FrameTree.Frame.ParentID
	}
	all, err := spots(ctx, t)
	if err != nil {
		return spot{}, err
	}
	i := slices.IndexFunc(all, func(s spot) bool { return s.id == id })
	if i < 0 {
		return spot{}, cdp.ErrDocumentGone
	}
	return all[i], nil
}
