package frame

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

//go:embed js/*.js
var scripts embed.FS

// worldName names the isolated world our scripts live in: same document, own globals, out of the page's reach.
const worldName = "clank"

// scriptSource defines what installs our scripts in an isolated world. It is the same for all documents, so that Chromium compiles
// it once a process.
var scriptSource = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("globalThis.__clankScripts ??= (TOKEN) => {\n")
	for _, name := range []string{"world", "names", "roles", "listen", "walk", "snapshot", "target", "input", "wait", "meet", "read"} {
		text, err := scripts.ReadFile("js/" + name + ".js")
		if err != nil {
			return "throw new Error('missing script " + name + "')"
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	b.WriteString("}; 0")
	return b.String()
})

// isolatedWorld is our isolated world in the document that a session's root frame shows now. Frames of the same process are
// reached from it.
type isolatedWorld struct {
	context    proto.RuntimeExecutionContextID
	token      string // the script answers only to it: a context id may come to mean another document
	hasScripts bool   // scripts are installed, or will be before the next call
	listeners  clickListeners
}

// worldCreation has the world of one document made by one caller; the others wait for it, but not longer than the document is there.
type worldCreation struct {
	turn         chan struct{} // holds a token while a world is made
	documentGone chan struct{} // closed when the document went away
}

func newWorldCreation() worldCreation {
	return worldCreation{turn: make(chan struct{}, 1), documentGone: make(chan struct{})}
}

// enterWorld returns the session's world, making one if the document is new.
func (f *Frame) enterWorld(ctx context.Context) (*isolatedWorld, error) {
	for {
		w, m := f.currentWorld()
		if w != nil {
			return w, nil
		}
		select {
		case m.turn <- struct{}{}:
			w, err := f.makeWorld(ctx)
			<-m.turn
			return w, err
		case <-m.documentGone:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// currentWorld returns the world of the document that is shown, nil if nobody has made it yet.
func (f *Frame) currentWorld() (*isolatedWorld, worldCreation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.world, f.worldLock
}

func (f *Frame) makeWorld(ctx context.Context) (*isolatedWorld, error) {
	for try := 0; ; try++ {
		f.mu.Lock()
		w, document := f.world, f.documentCount
		f.mu.Unlock()
		if w != nil {
			return w, nil
		}
		call := f.Begin(proto.PageCreateIsolatedWorld{FrameID: f.ID(), WorldName: worldName, GrantUniveralAccess: true})
		var heard clickListeners
		if !f.sharesParentSession() {
			heard.documentCall = f.findDocument(nil) // the answer comes with that to the call
		}
		var res proto.PageCreateIsolatedWorldResult
		if err := call.Wait(ctx, &res); err != nil {
			if heard.documentCall != nil {
				heard.documentCall.Abandon()
			}
			return nil, err
		}
		if w, ok := f.storeWorld(isolatedWorld{context: res.ExecutionContextID, listeners: heard}, document, try == maxWorldTries); ok {
			return w, nil
		}
	}
}

// maxWorldTries is how often a world is made again because the document may have changed meanwhile.
const maxWorldTries = 2

// storeWorld takes over a world that was made while the numbered document was shown. It is not ok if that may be gone.
func (f *Frame) storeWorld(made isolatedWorld, document int, anyhow bool) (w *isolatedWorld, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.documentCount != document && !anyhow {
		return nil, false
	}
	if f.world == nil || f.world.context != made.context {
		made.token = rand.Text()
		f.world = &made
	}
	return f.world, true
}

// reportBinding is what our scripts in a new document call to tell of it.
const reportBinding = "clankReport"

// ReportDocuments has the documents to come of a session's root frame tell that they begin and, once the listeners of
// their load event have run, their titles; see [Frame.TakeReport]. What we would ask them at that time had to wait
// until the browser has drawn its window.
func ReportDocuments() []proto.Request {
	const report = "if (parent === self) { " + reportBinding + "(''); " +
		"addEventListener('pageshow', () => " + reportBinding + "('=' + document.title)); }"
	return []proto.Request{
		proto.RuntimeEnable{}, // otherwise new documents do not get the binding
		proto.RuntimeAddBinding{Name: reportBinding, ExecutionContextName: worldName},
		proto.PageAddScriptToEvaluateOnNewDocument{Source: report, WorldName: worldName},
	}
}

// TakeReport takes what the present document tells with an event, and our world in it as made. ok is false if the event
// tells nothing of that.
func (f *Frame) TakeReport(ev cdp.Event) (title string, loaded, ok bool) {
	var p proto.RuntimeBindingCalled
	if !ev.Decode(&p) || p.Name != reportBinding {
		return "", false, false
	}
	f.mu.Lock()
	known, document := f.world != nil, f.documentCount
	f.mu.Unlock()
	if !known {
		heard := clickListeners{documentCall: f.findDocument(nil)}
		f.storeWorld(isolatedWorld{context: p.ExecutionContextID, listeners: heard}, document, false)
	}
	title, loaded = strings.CutPrefix(p.Payload, "=")
	return title, loaded, true
}

// ForgetDocument forgets the present document: another took its place, or its process died.
func (f *Frame) ForgetDocument() { f.forgetWorld(nil) }

// forgetWorld forgets the world after its document went away. With nil it forgets whatever there is.
func (f *Frame) forgetWorld(w *isolatedWorld) {
	f.mu.Lock()
	if w == nil || f.world == w {
		f.world = nil
		f.documentCount++
		close(f.worldLock.documentGone)
		f.worldLock = newWorldCreation()
	}
	f.mu.Unlock()
}

// EvaluateResult is what is used of the answer of Runtime.evaluate.
type EvaluateResult[R any] struct {
	Result struct {
		Type     string `json:"type"`
		ObjectID string `json:"objectId"`
		Value    R      `json:"value"`
	} `json:"result"`
	Exception *proto.RuntimeExceptionDetails `json:"exceptionDetails"`
}

// Script is a call of one of our functions in the isolated world.
type Script struct {
	Fn      string
	Arg     any
	Within  time.Duration // 0: the bound of any call
	Gesture bool          // runs as if the user had done something

	source   string // a function of the caller's that is called instead, see Apply
	elements []Locator
}

// expression returns the source text of the call. In a world that has no scripts yet, installs has it begin with setting them up from
// their source.
func (sc Script) expression(w *isolatedWorld, installs bool) (string, error) {
	arg, err := json.Marshal(sc.Arg)
	if err != nil {
		return "", fmt.Errorf("encode argument of %s: %w", sc.Fn, err)
	}
	var b strings.Builder
	if installs {
		fmt.Fprintf(&b, "if (globalThis.__clankScripts && globalThis.__clank?.token !== %[1]q) globalThis.__clank = __clankScripts(%[1]q);\n", w.token)
	}
	if sc.source != "" {
		return b.String() + sc.callSource(w, arg), nil
	}
	fmt.Fprintf(&b, "globalThis.__clank ? __clank(%q, %q, %s) : {lost: true}", w.token, sc.Fn, arg)
	return b.String(), nil
}

// scriptAnswer is how our functions reply: with a value, or with a failure that the caller puts into words.
type scriptAnswer[R any] struct {
	Lost  bool         `json:"lost"`
	Fail  *ScriptError `json:"fail"`
	Value R            `json:"value"`
}

// RunScript calls one of our functions in the frame's document and decodes what it returns into R. An expected "no" is a
// *[ScriptError]. If the document goes away meanwhile the error is [cdp.ErrDocumentGone].
func RunScript[R any](ctx context.Context, f *Frame, sc Script) (R, error) {
	var none R
	w, err := f.enterWorld(ctx)
	if err != nil {
		return none, explainLost(err)
	}
	call, err := f.callScript(w, sc, true)
	if err != nil {
		return none, err
	}
	return awaitAnswer[R](ctx, f, w, call)
}

// awaitAnswer returns what one of our functions answers to a call.
func awaitAnswer[R any](ctx context.Context, f *Frame, w *isolatedWorld, call *cdp.Call) (R, error) {
	var res EvaluateResult[scriptAnswer[R]]
	err := call.Wait(ctx, &res)
	switch {
	case err != nil:
	case res.Exception != nil:
		err = ExceptionError(res.Exception)
	case res.Result.Value.Lost:
		err = cdp.ErrDocumentGone
	case res.Result.Value.Fail != nil:
		err = res.Result.Value.Fail
	}
	return res.Result.Value.Value, f.checkDocument(w, err)
}

// ScriptObject calls one of our functions and leaves the object it returns in the page; the caller releases it. If there is no such
// object the error is [cdp.ErrDocumentGone].
func ScriptObject(ctx context.Context, f *Frame, sc Script) (proto.RuntimeRemoteObjectID, error) {
	w, err := f.enterWorld(ctx)
	if err != nil {
		return "", explainLost(err)
	}
	call, err := f.callScript(w, sc, false)
	if err != nil {
		return "", err
	}
	var res EvaluateResult[json.RawMessage]
	err = call.Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = ExceptionError(res.Exception)
	}
	if err := f.checkDocument(w, err); err != nil {
		return "", err
	}
	if res.Result.ObjectID == "" {
		return "", cdp.ErrDocumentGone // of this object alone: the other refs stay
	}
	return proto.RuntimeRemoteObjectID(res.Result.ObjectID), nil
}

// checkDocument forgets the world if an error says that its document went away.
func (f *Frame) checkDocument(w *isolatedWorld, err error) error {
	if !cdp.IsDocumentGone(err) {
		return err
	}
	f.forgetWorld(w)
	return cdp.ErrDocumentGone
}

// callScript sends a script to a world, and before it what it needs there.
func (f *Frame) callScript(w *isolatedWorld, sc Script, byValue bool) (*cdp.Call, error) {
	within := sc.Within
	if within == 0 {
		within = f.Timeout()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := sc.expression(w, !w.hasScripts)
	if err != nil {
		return nil, err
	}
	if !w.hasScripts {
		f.Post(proto.RuntimeEvaluate{Expression: scriptSource(), ContextID: w.context})
		w.hasScripts = true
	}
	return f.BeginWithin(within, proto.RuntimeEvaluate{
		Expression: text, ContextID: w.context, ReturnByValue: byValue, AwaitPromise: true, UserGesture: sc.Gesture,
	}), nil
}

func explainLost(err error) error {
	if cdp.IsDocumentGone(err) {
		return cdp.ErrDocumentGone
	}
	return err
}

// ExceptionError returns a script's exception as an error.
func ExceptionError(d *proto.RuntimeExceptionDetails) error {
	text := d.Text
	if d.Exception != nil && d.Exception.Description != "" {
		text = d.Exception.Description
	}
	if i := strings.Index(text, "\n    at "); i >= 0 {
		text = text[:i]
	}
	if strings.Contains(text, "Execution was terminated") || text == "" {
		text = "the script was stopped"
	}
	return errors.New(text)
}
