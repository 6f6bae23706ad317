package frame

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

const (
	// maxListening bounds the elements that are looked at because scripts listen to clicks on them.
	maxListening = 200
	// A document with manyListeners is asked again after listenersRest only: the answer takes Chromium some 20 µs for each.
	manyListeners = 2000
	listenersRest = 10 * time.Second
)

// tellListeners hands elements to our scripts.
const tellListeners = `function (token, all, fresh, ...elements) { return __clank(token, 'listen', [all, fresh, ...elements]); }`

// listeners are the elements of a document that scripts listen to clicks on, as our scripts know them.
type listeners struct {
	found    *cdp.Call                   // finds the document; nil if it was taken by somebody, or for a lodger
	document proto.RuntimeRemoteObjectID // as an object of the page, to ask about; "" before the first time
	nodes    []proto.DOMBackendNodeID
	rest     time.Time // not asked again before
}

// Listening is a question on its way: which elements do scripts of the page listen to clicks on? CDP alone knows
// (DOMDebugger.getEventListeners). It goes out before a script that looks at the page, so that the answer is there with that one's.
type Listening struct {
	frame    *Frame
	world    *world
	document *cdp.Call // nil if it is known
	answer   *cdp.Call // nil if that is not, or nothing was asked
}

// AskListeners asks which elements are listened to. The answer is taken by [Listening.Heed].
func (f *Frame) AskListeners(ctx context.Context) (*Listening, error) {
	w, err := f.enter(ctx)
	if err != nil {
		return nil, lostOr(err)
	}
	l := &Listening{frame: f, world: w}
	f.mu.Lock()
	heard := w.heard
	w.heard.found = nil
	f.mu.Unlock()
	switch {
	case time.Now().Before(heard.rest):
		return l, nil
	case heard.document != "":
		l.ask(heard.document)
		return l, nil
	case heard.found == nil:
		heard.found = f.findDocument(w)
	}
	if l.document = heard.found; l.document.Answered() {
		err = l.meet(ctx)
	}
	return l, lostOr(err)
}

// findDocument asks for the document as an object of the page's own world. Our scripts' object of it would not do: asked about that, Chromium
// (156) mixes up the objects that nodes have in either world, and the next scavenge crashes the renderer, or what our scripts keep by an
// element is lost. A lodger's page has no world that could be named; [Listening.pageDocument] goes on from ours there.
func (f *Frame) findDocument(w *world) *cdp.Call {
	find := proto.RuntimeEvaluate{Expression: "document"}
	if f.lodges() {
		find.ContextID = w.context
	}
	return f.Begin(find)
}

// lodges says that the frame shares the session of the one around it.
func (f *Frame) lodges() bool {
	parent := f.Parent()
	return parent != nil && parent.Session == f.Session
}

func (l *Listening) ask(document proto.RuntimeRemoteObjectID) {
	all := -1
	l.answer = l.frame.Begin(proto.DOMDebuggerGetEventListeners{ObjectID: document, Depth: &all, Pierce: true})
}

// meet asks about the document that was found.
func (l *Listening) meet(ctx context.Context) error {
	document, err := l.pageDocument(ctx)
	if err != nil {
		return err
	}
	l.frame.mu.Lock()
	l.world.heard.document = document
	l.frame.mu.Unlock()
	l.ask(document)
	return nil
}

// Heed tells our scripts what has changed, and reports whether a snapshot would show that.
func (l *Listening) Heed(ctx context.Context) (bool, error) {
	if l.document == nil && l.answer == nil {
		return false, nil
	}
	nodes, err := l.wait(ctx)
	if err != nil {
		return false, lostOr(err)
	}
	f, w := l.frame, l.world
	f.mu.Lock()
	known := w.heard.nodes
	w.heard.nodes = nodes
	f.mu.Unlock()
	if slices.Equal(nodes, known) {
		return false, nil
	}
	shown, err := l.tell(ctx, nodes, known)
	if err != nil {
		f.mu.Lock()
		w.heard.nodes = nil // what our scripts know is unknown: all are told the next time
		f.mu.Unlock()
	}
	return shown, lostOr(err)
}

// wait returns the elements, in document order.
func (l *Listening) wait(ctx context.Context) ([]proto.DOMBackendNodeID, error) {
	if l.answer == nil {
		if err := l.meet(ctx); err != nil {
			return nil, err
		}
	}
	var res struct {
		Listeners []struct {
			Type string                 `json:"type"`
			Node proto.DOMBackendNodeID `json:"backendNodeId"`
		} `json:"listeners"`
	}
	if err := l.answer.Wait(ctx, &res); err != nil {
		l.frame.mu.Lock()
		l.world.heard.document = "" // it may be one that went away
		l.frame.mu.Unlock()
		return nil, err
	}
	if len(res.Listeners) > manyListeners {
		l.frame.mu.Lock()
		l.world.heard.rest = time.Now().Add(listenersRest)
		l.frame.mu.Unlock()
	}
	var nodes []proto.DOMBackendNodeID
	for _, listener := range res.Listeners {
		switch listener.Type {
		case "click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup":
			if n := len(nodes); listener.Node != 0 && (n == 0 || nodes[n-1] != listener.Node) {
				nodes = append(nodes, listener.Node)
			}
		}
		if len(nodes) == maxListening {
			break
		}
	}
	return nodes, nil
}

// pageDocument is the document as an object of the page's world.
func (l *Listening) pageDocument(ctx context.Context) (proto.RuntimeRemoteObjectID, error) {
	f := l.frame
	var found Remote[json.RawMessage]
	if err := l.document.Wait(ctx, &found); err != nil {
		return "", err
	}
	id := proto.RuntimeRemoteObjectID(found.Result.ObjectID)
	if id == "" {
		return "", cdp.ErrDocumentGone
	}
	if !f.lodges() {
		return id, nil
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: id})
	node, err := cdp.Ask[proto.DOMDescribeNodeResult](ctx, f.Session, proto.DOMDescribeNode{ObjectID: id})
	if err != nil {
		return "", err
	}
	theirs, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session, proto.DOMResolveNode{BackendNodeID: node.Node.BackendNodeID})
	if err != nil {
		return "", err
	}
	return theirs.Object.ObjectID, nil
}

// tell hands the elements of nodes that are not known yet to our scripts.
func (l *Listening) tell(ctx context.Context, nodes, known []proto.DOMBackendNodeID) (bool, error) {
	f := l.frame
	had := make(map[proto.DOMBackendNodeID]bool, len(known))
	for _, n := range known {
		had[n] = true
	}
	fresh := []proto.DOMBackendNodeID{}
	var found []*cdp.Call
	for _, n := range nodes {
		if !had[n] {
			fresh = append(fresh, n)
			found = append(found, f.Begin(proto.DOMResolveNode{BackendNodeID: n, ExecutionContextID: l.world.context}))
		}
	}
	args := []*proto.RuntimeCallArgument{{Value: gson.New(l.world.token)}, {Value: gson.New(nodes)}, {Value: gson.New(fresh)}}
	for _, call := range found {
		var node proto.DOMResolveNodeResult
		if err := call.Wait(ctx, &node); err != nil || node.Object == nil {
			if ctx.Err() != nil || cdp.DocumentGone(err) {
				return false, err
			}
			args = append(args, &proto.RuntimeCallArgument{Value: gson.New(nil)}) // it went away, or is not for this world
			continue
		}
		defer f.Post(proto.RuntimeReleaseObject{ObjectID: node.Object.ObjectID})
		args = append(args, &proto.RuntimeCallArgument{ObjectID: node.Object.ObjectID})
	}
	var res Remote[struct {
		Value bool `json:"value"`
	}]
	err := f.Begin(proto.RuntimeCallFunctionOn{
		ExecutionContextID: l.world.context, FunctionDeclaration: tellListeners, ReturnByValue: true, Arguments: args,
	}).Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = ExceptionError(res.Exception)
	}
	return res.Result.Value.Value, err
}
