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

// source defines what installs our scripts in an isolated world. It is the same for all documents, so that Chromium compiles
// it once a process.
var source = sync.OnceValue(func() string {
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

// world is our isolated world in the document that a session's root frame shows now. Frames of the same process are
// reached from it.
type world struct {
	context proto.RuntimeExecutionContextID
	token   string // the script answers only to it: a context id may come to mean another document
	ready   bool   // scripts are installed, or will be before the next call
	heard   listeners
}

// making has the world of one document made by one caller; the others wait for it, but not longer than the document is there.
type making struct {
	turn chan struct{} // holds a token while a world is made
	over chan struct{} // closed when the document went away
}

func newMaking() making { return making{turn: make(chan struct{}, 1), over: make(chan struct{})} }

// enter returns the session's world, making one if the document is new.
func (f *Frame) enter(ctx context.Context) (*world, error) {
	for {
		w, m := f.present()
		if w != nil {
			return w, nil
		}
		select {
		case m.turn <- struct{}{}:
			w, err := f.makeWorld(ctx)
			<-m.turn
			return w, err
		case <-m.over:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// present is the world of the document that is shown, nil if nobody has made it yet.
func (f *Frame) present() (*world, making) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.world, f.making
}

func (f *Frame) makeWorld(ctx context.Context) (*world, error) {
	for try := 0; ; try++ {
		f.mu.Lock()
		w, document := f.world, f.document
		f.mu.Unlock()
		if w != nil {
			return w, nil
		}
		call := f.Begin(proto.PageCreateIsolatedWorld{FrameID: f.ID(), WorldName: worldName, GrantUniveralAccess: true})
		var heard listeners
		if !f.lodges() {
			heard.found = f.findDocument(nil) // the answer comes with that to the call
		}
		var res proto.PageCreateIsolatedWorldResult
		if err := call.Wait(ctx, &res); err != nil {
			if heard.found != nil {
				heard.found.Forget()
			}
			return nil, err
		}
		if w, ok := f.keep(world{context: res.ExecutionContextID, heard: heard}, document, try == worldTries); ok {
			return w, nil
		}
	}
}

// worldTries is how often a world is made again because the document may have changed meanwhile.
const worldTries = 2

// keep takes over a world that was made while the numbered document was shown. It is not ok if that may be gone.
func (f *Frame) keep(made world, document int, anyhow bool) (w *world, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.document != document && !anyhow {
		return nil, false
	}
	if f.world == nil || f.world.context != made.context {
		made.token = rand.Text()
		f.world = &made
	}
	return f.world, true
}

// Loaded installs our scripts in the present document before they are needed, waits until it is loaded and returns its title.
func (f *Frame) Loaded(ctx context.Context) (title string, err error) {
	return Run[string](ctx, f, Script{Fn: "loaded"})
}

// Leave forgets the present document: another took its place, or its process died.
func (f *Frame) Leave() { f.leave(nil) }

// leave forgets the world after its document went away. With nil it forgets whatever there is.
func (f *Frame) leave(w *world) {
	f.mu.Lock()
	if w == nil || f.world == w {
		f.world = nil
		f.document++
		close(f.making.over)
		f.making = newMaking()
	}
	f.mu.Unlock()
}

// Remote is what is used of the answer of Runtime.evaluate.
type Remote[R any] struct {
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

// expression is the source text of the call. In a world that has no scripts yet, installs has it begin with setting them up from
// their source.
func (sc Script) expression(w *world, installs bool) (string, error) {
	arg, err := json.Marshal(sc.Arg)
	if err != nil {
		return "", fmt.Errorf("encode argument of %s: %w", sc.Fn, err)
	}
	var b strings.Builder
	if installs {
		fmt.Fprintf(&b, "if (globalThis.__clankScripts && globalThis.__clank?.token !== %[1]q) globalThis.__clank = __clankScripts(%[1]q);\n", w.token)
	}
	if sc.source != "" {
		return b.String() + sc.application(w, arg), nil
	}
	fmt.Fprintf(&b, "globalThis.__clank ? __clank(%q, %q, %s) : {lost: true}", w.token, sc.Fn, arg)
	return b.String(), nil
}

// answer is how our functions reply: with a value, or with a failure that the caller puts into words.
type answer[R any] struct {
	Lost  bool         `json:"lost"`
	Fail  *ScriptError `json:"fail"`
	Value R            `json:"value"`
}

// Run calls one of our functions in the frame's document and decodes what it returns into R. An expected "no" is a
// *[ScriptError]. If the document goes away meanwhile the error is [cdp.ErrDocumentGone].
func Run[R any](ctx context.Context, f *Frame, sc Script) (R, error) {
	var none R
	w, err := f.enter(ctx)
	if err != nil {
		return none, lostOr(err)
	}
	call, err := f.call(w, sc, true)
	if err != nil {
		return none, err
	}
	return await[R](ctx, f, w, call)
}

// await returns what one of our functions answers to a call.
func await[R any](ctx context.Context, f *Frame, w *world, call *cdp.Call) (R, error) {
	var res Remote[answer[R]]
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
	return res.Result.Value.Value, f.note(w, err)
}

// Object calls one of our functions and leaves the object it returns in the page; the caller releases it. If there is no such
// object the error is [cdp.ErrDocumentGone].
func Object(ctx context.Context, f *Frame, sc Script) (proto.RuntimeRemoteObjectID, error) {
	w, err := f.enter(ctx)
	if err != nil {
		return "", lostOr(err)
	}
	call, err := f.call(w, sc, false)
	if err != nil {
		return "", err
	}
	var res Remote[json.RawMessage]
	err = call.Wait(ctx, &res)
	if err == nil && res.Exception != nil {
		err = ExceptionError(res.Exception)
	}
	if err := f.note(w, err); err != nil {
		return "", err
	}
	if res.Result.ObjectID == "" {
		return "", cdp.ErrDocumentGone // of this object alone: the other refs stay
	}
	return proto.RuntimeRemoteObjectID(res.Result.ObjectID), nil
}

// note forgets the world if an error says that its document went away.
func (f *Frame) note(w *world, err error) error {
	if !cdp.DocumentGone(err) {
		return err
	}
	f.leave(w)
	return cdp.ErrDocumentGone
}

// call sends a script to a world, and before it what it needs there.
func (f *Frame) call(w *world, sc Script, byValue bool) (*cdp.Call, error) {
	within := sc.Within
	if within == 0 {
		within = f.Timeout()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := sc.expression(w, !w.ready)
	if err != nil {
		return nil, err
	}
	if !w.ready {
		f.Post(proto.RuntimeEvaluate{Expression: source(), ContextID: w.context})
		w.ready = true
	}
	return f.BeginWithin(within, proto.RuntimeEvaluate{
		Expression: text, ContextID: w.context, ReturnByValue: byValue, AwaitPromise: true, UserGesture: sc.Gesture,
	}), nil
}

func lostOr(err error) error {
	if cdp.DocumentGone(err) {
		return cdp.ErrDocumentGone
	}
	return err
}

// ExceptionError is a script's exception as an error.
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
