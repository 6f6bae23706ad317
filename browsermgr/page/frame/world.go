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

// worldName is the name of the isolated world of our scripts: it shares the document's DOM but has its own globals,
// which the page cannot reach.
const worldName = "clank"

// scriptSource returns a script that installs our scripts in an isolated world. It is the same for all documents, so
// that Chromium compiles it once per process.
var scriptSource = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("globalThis.__clankScripts ??= (TOKEN) => {\n")
	for _, name := range []string{
		"world", "names", "roles", "listen", "hover", "walk", "snapshot", "target", "input",
		"wait", "meet", "read",
	} {
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

// isolatedWorld is our isolated world in the present document of a session's root frame. Frames in the same process are
// reached from it.
type isolatedWorld struct {
	context    proto.RuntimeExecutionContextID
	token      string // required by the script, since a context id may be reused for another document
	hasScripts bool   // scripts are installed, or will be before the next call
	listeners  clickListeners
}

// worldCreation lets one caller create the world of a document while others wait, at most until the document is gone.
type worldCreation struct {
	turn         chan struct{} // holds a token while a world is created
	documentGone chan struct{} // closed when the document is gone
}

func newWorldCreation() worldCreation {
	return worldCreation{turn: make(chan struct{}, 1), documentGone: make(chan struct{})}
}

// enterWorld returns the session's world, creating one for a new document.
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

// currentWorld returns the world of the present document; nil if none was created yet.
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
			heard.documentCall = f.findDocument(nil) // its answer arrives with that of the call
		}
		var res proto.PageCreateIsolatedWorldResult
		if err := call.Wait(ctx, &res); err != nil {
			if heard.documentCall != nil {
				heard.documentCall.Abandon()
			}
			return nil, err
		}
		if w, ok := f.storeWorld(isolatedWorld{context: res.ExecutionContextID, listeners: heard}, document,
			try == maxWorldTries); ok {
			return w, nil
		}
	}
}

// maxWorldTries is how often creating a world is attempted while the document may be changing.
const maxWorldTries = 2

// storeWorld stores a world created while the numbered document was shown. ok is false if that document may be gone.
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

// reportBinding is the CDP binding that our scripts call in a new document to report it.
const reportBinding = "clankReport"

// ReportDocuments makes future documents of a session's root frame report that they begin and, after their load event,
// their titles; see [Frame.TakeReport]. Asking a document at that time would have to wait until the browser has drawn
// its window.
func ReportDocuments() []proto.Request {
	const report = "if (parent === self) { " + reportBinding + "(''); " +
		"addEventListener('pageshow', () => " + reportBinding + "('=' + document.title)); }"
	return []proto.Request{
		proto.RuntimeEnable{}, // otherwise new documents do not get the binding
		proto.RuntimeAddBinding{Name: reportBinding, ExecutionContextName: worldName},
		proto.PageAddScriptToEvaluateOnNewDocument{Source: report, WorldName: worldName},
	}
}

// TakeReport handles an event with a report of the present document, and stores our world in it. ok is false if the
// event is not a report.
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

// ForgetDocument records that the present document is gone: another replaced it, or its process died.
func (f *Frame) ForgetDocument() { f.forgetWorld(nil) }

// forgetWorld drops the world w because its document is gone; nil drops the present one.
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

// EvaluateResult holds the fields used of the result of Runtime.evaluate.
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
	Within  time.Duration // 0: the default limit of a call
	Gesture bool          // simulates a user gesture

	source   string // a caller's function to call instead; see CallFunction
	elements []Locator
}

// expression returns the source text of the call. With installs it first installs the scripts from source.
func (sc Script) expression(w *isolatedWorld, installs bool) (string, error) {
	arg, err := json.Marshal(sc.Arg)
	if err != nil {
		return "", fmt.Errorf("encode argument of %s: %w", sc.Fn, err)
	}
	var b strings.Builder
	if installs {
		fmt.Fprintf(&b, "if (globalThis.__clankScripts && globalThis.__clank?.token !== %[1]q) globalThis.__clank = "+
			"__clankScripts(%[1]q);\n", w.token)
	}
	if sc.source != "" {
		return b.String() + sc.callSource(w, arg), nil
	}
	fmt.Fprintf(&b, "globalThis.__clank ? __clank(%q, %q, %s) : {lost: true}", w.token, sc.Fn, arg)
	return b.String(), nil
}

// scriptAnswer is the result of our functions: a value, or a failure that the caller explains.
type scriptAnswer[R any] struct {
	Lost  bool         `json:"lost"`
	Fail  *ScriptError `json:"fail"`
	Value R            `json:"value"`
}

// RunScript calls one of our functions in the frame's document and decodes its result into R. An expected failure is a
// *[ScriptError]. If the document is gone the error is [cdp.ErrDocumentGone].
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

// awaitAnswer returns the result of one of our functions.
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

// scriptObject calls one of our functions and returns its result as a remote object, which the caller releases. If
// there is none the error is [cdp.ErrDocumentGone].
func scriptObject(ctx context.Context, f *Frame, sc Script) (proto.RuntimeRemoteObjectID, error) {
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
		return "", cdp.ErrDocumentGone // only of this object: other refs stay valid
	}
	return proto.RuntimeRemoteObjectID(res.Result.ObjectID), nil
}

// checkDocument drops the world if an error says that its document is gone.
func (f *Frame) checkDocument(w *isolatedWorld, err error) error {
	if !cdp.IsDocumentGone(err) {
		return err
	}
	f.forgetWorld(w)
	return cdp.ErrDocumentGone
}

// callScript sends a script to a world, preceded by what it needs there.
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
