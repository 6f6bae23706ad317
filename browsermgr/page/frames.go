package page

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// ownerRef is where a frame of another process sits in its parent: the ref of its frame element there.
type ownerRef struct {
	parentFrame string
	world       *world // the parent's, when ref was found
	ref         string
}

func (t *Tab) addFrame(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames = append(t.frames, s)
	t.signal()
}

func (t *Tab) removeFrame(s *session) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames = slices.DeleteFunc(t.frames, func(f *session) bool { return f == s })
	t.signal()
}

// place finds the element that embeds the frame in its parent's document, and returns its ref there.
func (s *session) place(ctx context.Context) (string, error) {
	if _, err := run[bool](ctx, s.parent, script{fn: "ping"}); err != nil {
		return "", err
	}
	s.parent.mu.Lock()
	w := s.parent.world
	s.parent.mu.Unlock()
	s.mu.Lock()
	owner := s.owner
	s.mu.Unlock()
	if owner.ref != "" && owner.world == w {
		return owner.ref, nil
	}
	if owner.parentFrame == "" {
		tree, err := ask[proto.PageGetFrameTreeResult](ctx, s, proto.PageGetFrameTree{})
		if err != nil {
			return "", err
		}
		owner.parentFrame = string(tree.FrameTree.Frame.ParentID)
	}
	ref, err := s.ownerElement(ctx, proto.PageFrameID(owner.parentFrame), w)
	if err != nil {
		return "", err
	}
	owner.world, owner.ref = w, ref
	s.mu.Lock()
	s.owner = owner
	s.mu.Unlock()
	return ref, nil
}

// refOfOwner runs on the frame element: it gives it a ref in the registry of its local root.
const refOfOwner = `function (token) {
	for (let w = this.ownerDocument.defaultView; w; w = w.parent === w ? null : w.parent) {
		if (w.__clank) return w.__clank(token, 'refOf', this);
	}
	return {lost: true};
}`

func (s *session) ownerElement(ctx context.Context, parentFrame proto.PageFrameID, w *world) (string, error) {
	node, err := ask[proto.DOMGetFrameOwnerResult](ctx, s.parent, proto.DOMGetFrameOwner{FrameID: s.frameID()})
	if err != nil {
		return "", err
	}
	scope, err := ask[proto.PageCreateIsolatedWorldResult](ctx, s.parent, proto.PageCreateIsolatedWorld{
		FrameID: parentFrame, WorldName: worldName, GrantUniveralAccess: true,
	})
	if err != nil {
		return "", err
	}
	object, err := ask[proto.DOMResolveNodeResult](ctx, s.parent, proto.DOMResolveNode{
		BackendNodeID: node.BackendNodeID, ExecutionContextID: scope.ExecutionContextID,
	})
	if err != nil {
		return "", err
	}
	res, err := ask[remote[answer[string]]](ctx, s.parent, proto.RuntimeCallFunctionOn{
		ObjectID: object.Object.ObjectID, FunctionDeclaration: refOfOwner, ReturnByValue: true,
		Arguments: []*proto.RuntimeCallArgument{{Value: gson.New(w.token)}},
	})
	s.parent.post(proto.RuntimeReleaseObject{ObjectID: object.Object.ObjectID})
	if err == nil && res.Exception != nil {
		err = exceptionError(res.Exception)
	}
	if err == nil && res.Result.Value.Value == "" {
		err = errContextLost
	}
	return res.Result.Value.Value, err
}

// frameKey is a document: of a world, and in it the local number that the script gave it.
type frameKey struct {
	session *session
	world   string // its token
	local   int
}

// frameNumbers gives the documents of a page the numbers that refs show: 1, 2, … in the order they were first met.
type frameNumbers struct {
	byKey map[frameKey]int
	keys  []frameKey
}

func (n *frameNumbers) number(key frameKey) int {
	if k, ok := n.byKey[key]; ok {
		return k
	}
	if n.byKey == nil {
		n.byKey = map[frameKey]int{}
	}
	n.keys = append(n.keys, key)
	n.byKey[key] = len(n.keys)
	return len(n.keys)
}

// element is a ref resolved to the session it lives in and the name it has there.
type element struct {
	session *session
	local   string
	given   string // as shown to people
}

// resolve finds out which session a ref belongs to. Whether the element still exists only the page can tell.
func (t *Tab) resolve(ref string) (element, error) {
	key, err := parseRef(ref)
	if err != nil {
		return element{}, err
	}
	if key.frame == 0 {
		return element{session: t.session, local: key.String(), given: key.String()}, nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if key.frame > len(t.numbers.keys) {
		return element{}, unknownRef(key.String())
	}
	fk := t.numbers.keys[key.frame-1]
	fk.session.mu.Lock()
	w := fk.session.world
	fk.session.mu.Unlock()
	if w == nil || w.token != fk.world {
		return element{}, fmt.Errorf("%w %s: its frame shows another document now; take a new snapshot", ErrUnknownRef, key)
	}
	local := refKey{frame: fk.local, number: key.number}
	return element{session: fk.session, local: local.String(), given: key.String()}, nil
}

// locate resolves the ref or selector of an action to a session and the argument for its script.
func (t *Tab) locate(ref, selector string) (element, error) {
	if ref != "" {
		return t.resolve(ref)
	}
	return element{session: t.session, given: fmt.Sprintf("selector %q", selector)}, nil
}

func unknownRef(ref string) error {
	return fmt.Errorf("%w %s: no snapshot of this page has it; take a new snapshot", ErrUnknownRef, ref)
}

// explain turns what a script reported into words for the person who named the element.
func (t *Tab) explain(e element, err error) error {
	if errors.Is(err, errContextLost) {
		return fmt.Errorf("%w %s: the page has navigated since; take a new snapshot", ErrUnknownRef, e.given)
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f.explain(e.given)
	}
	return err
}
