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
	// maxListeningElements bounds the elements examined because scripts listen for clicks on them.
	maxListeningElements = 1000
	// A document with manyListeners is queried only every listenersInterval, since Chromium takes about 20 µs for each.
	manyListeners     = 2000
	listenersInterval = 10 * time.Second
)

// setListenersScript passes elements to our scripts.
const setListenersScript = `function (token, all, fresh, ...elements) { return __clank(token, 'listen', [all, fresh, ...elements]); }`

// clickListeners are the elements of a document with click listeners, as last passed to our scripts.
type clickListeners struct {
	documentCall *cdp.Call                   // finds the document; nil once taken, or for an in-process cross-origin frame
	document     proto.RuntimeRemoteObjectID // as an object of the page's world; "" until known
	elements     []listeningElement
	askAgainAt   time.Time // time of the next query
}

// listeningElement identifies an element with listeners for our scripts: its node id and, in the last three bits, the
// kinds of listeners.
type listeningElement int64

// Kinds of listeners, as in listen.js.
const (
	hearsClicks listeningElement = 1
	hearsDrops  listeningElement = 2
	hearsTouch  listeningElement = 4
)

func (e listeningElement) node() proto.DOMBackendNodeID { return proto.DOMBackendNodeID(e >> 3) }

// ListenerQuery is a query in progress for the elements with click listeners, which only CDP can list
// (DOMDebugger.getEventListeners). It is sent before a script that examines the page, so that both answers arrive
// together.
type ListenerQuery struct {
	frame    *Frame
	world    *isolatedWorld
	document *cdp.Call // nil if the document is known
	answer   *cdp.Call // nil if the document is not known or nothing was sent
}

// QueryListeners sends the query. [ListenerQuery.Apply] uses the answer.
func (f *Frame) QueryListeners(ctx context.Context) (*ListenerQuery, error) {
	w, err := f.enterWorld(ctx)
	if err != nil {
		return nil, explainLost(err)
	}
	l := &ListenerQuery{frame: f, world: w}
	f.mu.Lock()
	heard := w.listeners
	w.listeners.documentCall = nil
	f.mu.Unlock()
	switch {
	case time.Now().Before(heard.askAgainAt):
		return l, nil
	case heard.document != "":
		l.send(heard.document)
		return l, nil
	case heard.documentCall == nil:
		heard.documentCall = f.findDocument(w)
	}
	if l.document = heard.documentCall; l.document.Answered() {
		err = l.sendForDocument(ctx)
	}
	return l, explainLost(err)
}

// findDocument requests the document as an object of the page's own world. With an object of our scripts' world,
// Chromium (156) mixes up the wrappers of nodes in both worlds: the next scavenge crashes the renderer, or data that
// our scripts keep for an element is lost. The world of an in-process cross-origin frame cannot be named; there
// [ListenerQuery.pageDocument] starts from ours.
func (f *Frame) findDocument(w *isolatedWorld) *cdp.Call {
	find := proto.RuntimeEvaluate{Expression: "document"}
	if f.sharesParentSession() {
		find.ContextID = w.context
	}
	return f.Begin(find)
}

// sharesParentSession reports whether the frame uses its parent's session.
func (f *Frame) sharesParentSession() bool {
	parent := f.Parent()
	return parent != nil && parent.Session == f.Session
}

func (l *ListenerQuery) send(document proto.RuntimeRemoteObjectID) {
	all := -1
	l.answer = l.frame.Begin(proto.DOMDebuggerGetEventListeners{ObjectID: document, Depth: &all, Pierce: true})
}

// sendForDocument sends the query once the document was found.
func (l *ListenerQuery) sendForDocument(ctx context.Context) error {
	document, err := l.pageDocument(ctx)
	if err != nil {
		return err
	}
	l.frame.mu.Lock()
	l.world.listeners.document = document
	l.frame.mu.Unlock()
	l.send(document)
	return nil
}

// Apply passes changes to our scripts, and reports whether a snapshot would show them.
func (l *ListenerQuery) Apply(ctx context.Context) (bool, error) {
	if l.document == nil && l.answer == nil {
		return false, nil
	}
	elements, err := l.wait(ctx)
	if err != nil {
		return false, explainLost(err)
	}
	f, w := l.frame, l.world
	f.mu.Lock()
	known := w.listeners.elements
	w.listeners.elements = elements
	f.mu.Unlock()
	if slices.Equal(elements, known) {
		return false, nil
	}
	shown, err := l.sendToScripts(ctx, elements, known)
	if err != nil {
		f.mu.Lock()
		w.listeners.elements = nil // unknown to our scripts now, so that all are passed next time
		f.mu.Unlock()
	}
	return shown, explainLost(err)
}

// wait returns the elements in document order.
func (l *ListenerQuery) wait(ctx context.Context) ([]listeningElement, error) {
	if l.answer == nil {
		if err := l.sendForDocument(ctx); err != nil {
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
		l.world.listeners.document = "" // the document may be gone
		l.frame.mu.Unlock()
		return nil, err
	}
	if len(res.Listeners) > manyListeners {
		l.frame.mu.Lock()
		l.world.listeners.askAgainAt = time.Now().Add(listenersInterval)
		l.frame.mu.Unlock()
	}
	var elements []listeningElement
	for _, listener := range res.Listeners {
		var hears listeningElement
		switch listener.Type {
		case "click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "contextmenu":
			hears = hearsClicks
		case "touchstart", "touchend":
			hears = hearsTouch
		case "drop":
			hears = hearsDrops
		default:
			continue
		}
		last := len(elements) - 1
		switch {
		case listener.Node == 0:
		case last >= 0 && elements[last].node() == listener.Node:
			elements[last] |= hears
		case len(elements) == maxListeningElements:
			return elements, nil
		default:
			elements = append(elements, listeningElement(listener.Node)<<3|hears)
		}
	}
	return elements, nil
}

// pageDocument returns the document as an object of the page's world.
func (l *ListenerQuery) pageDocument(ctx context.Context) (proto.RuntimeRemoteObjectID, error) {
	f := l.frame
	var found EvaluateResult[json.RawMessage]
	if err := l.document.Wait(ctx, &found); err != nil {
		return "", err
	}
	id := proto.RuntimeRemoteObjectID(found.Result.ObjectID)
	if id == "" {
		return "", cdp.ErrDocumentGone
	}
	if !f.sharesParentSession() {
		return id, nil
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: id})
	node, err := cdp.Ask[proto.DOMDescribeNodeResult](ctx, f.Session, proto.DOMDescribeNode{ObjectID: id})
	if err != nil {
		return "", err
	}
	theirs, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session,
		proto.DOMResolveNode{BackendNodeID: node.Node.BackendNodeID})
	if err != nil {
		return "", err
	}
	return theirs.Object.ObjectID, nil
}

// sendToScripts passes elements that our scripts do not know yet.
func (l *ListenerQuery) sendToScripts(ctx context.Context, elements, known []listeningElement) (bool, error) {
	f := l.frame
	had := make(map[listeningElement]bool, len(known))
	for _, n := range known {
		had[n] = true
	}
	fresh := []listeningElement{}
	var found []*cdp.Call
	for _, e := range elements {
		if !had[e] {
			fresh = append(fresh, e)
			found = append(found, f.Begin(proto.DOMResolveNode{BackendNodeID: e.node(), ExecutionContextID: l.world.context}))
		}
	}
	args := []*proto.RuntimeCallArgument{
		{Value: gson.New(l.world.token)},
		{Value: gson.New(elements)},
		{Value: gson.New(fresh)},
	}
	for _, call := range found {
		var node proto.DOMResolveNodeResult
		if err := call.Wait(ctx, &node); err != nil || node.Object == nil {
			if ctx.Err() != nil || cdp.IsDocumentGone(err) {
				return false, err
			}
			args = append(args, &proto.RuntimeCallArgument{Value: gson.New(nil)}) // gone, or of another world
			continue
		}
		defer f.Post(proto.RuntimeReleaseObject{ObjectID: node.Object.ObjectID})
		args = append(args, &proto.RuntimeCallArgument{ObjectID: node.Object.ObjectID})
	}
	var res EvaluateResult[struct {
		Value bool `json:"value"`
	}]
	err := f.Begin(proto.RuntimeCallFunctionOn{
		ExecutionContextID: l.world.context, FunctionDeclaration: setListenersScript, ReturnByValue: true, Arguments: args,
	}).Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = ExceptionError(res.Exception)
	}
	return res.Result.Value.Value, err
}

// HasHoverListener reports whether scripts of the page listen for hover events on an element or its parent.
func (f *Frame) HasHoverListener(ctx context.Context, of Locator) (bool, error) {
	id, err := scriptObject(ctx, f, Script{Fn: "element", Arg: of})
	if err != nil {
		return false, err
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: id})
	for range 2 {
		heard, err := f.hasHoverListener(ctx, id)
		if heard || err != nil {
			return heard, explainLost(err)
		}
		var around EvaluateResult[json.RawMessage]
		const parent = "function () { return this.parentElement }"
		ask := proto.RuntimeCallFunctionOn{ObjectID: id, FunctionDeclaration: parent}
		if err := f.Begin(ask).Wait(ctx, &around); err != nil || around.Result.ObjectID == "" {
			return false, explainLost(err)
		}
		id = proto.RuntimeRemoteObjectID(around.Result.ObjectID)
		defer f.Post(proto.RuntimeReleaseObject{ObjectID: id})
	}
	return false, nil
}

// hasHoverListener checks one element, given as an object of the page's own world; see [Frame.findDocument].
func (f *Frame) hasHoverListener(ctx context.Context, id proto.RuntimeRemoteObjectID) (bool, error) {
	node, err := cdp.Ask[proto.DOMDescribeNodeResult](ctx, f.Session, proto.DOMDescribeNode{ObjectID: id})
	if err != nil {
		return false, err
	}
	resolve := proto.DOMResolveNode{BackendNodeID: node.Node.BackendNodeID}
	theirs, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, f.Session, resolve)
	if err != nil {
		return false, err
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: theirs.Object.ObjectID})
	ask := proto.DOMDebuggerGetEventListeners{ObjectID: theirs.Object.ObjectID}
	res, err := cdp.Ask[proto.DOMDebuggerGetEventListenersResult](ctx, f.Session, ask)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(res.Listeners, func(l *proto.DOMDebuggerEventListener) bool {
		return slices.Contains([]string{"mouseenter", "mouseover", "pointerenter", "pointerover"}, l.Type)
	}), nil
}
