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

// source is what is installed in each isolated world.
var source = sync.OnceValue(func() string {
	var b strings.Builder
	for _, name := range []string{"world", "names", "roles", "walk", "snapshot", "target", "input", "wait", "read"} {
		text, err := scripts.ReadFile("js/" + name + ".js")
		if err != nil {
			return "throw new Error('missing script " + name + "')"
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
})

// world is our isolated world in the document that a session's root frame shows now. Frames of the same process are
// reached from it.
type world struct {
	context proto.RuntimeExecutionContextID
	token   string // the script answers only to it: a context id may come to mean another document
	ready   bool   // scripts are installed
}

// enter returns the session's world, making one if the document is new.
func (f *Frame) enter(ctx context.Context) (w *world, installed bool, err error) {
	f.mu.Lock()
	w = f.world
	if w != nil {
		installed = w.ready
	}
	f.mu.Unlock()
	if w != nil {
		return w, installed, nil
	}
	for try := 0; ; try++ {
		f.mu.Lock()
		document := f.document
		f.mu.Unlock()
		res, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, f.Session, proto.PageCreateIsolatedWorld{
			FrameID: f.ID(), WorldName: worldName, GrantUniveralAccess: true,
		})
		if err != nil {
			return nil, false, err
		}
		if w, installed, ok := f.keep(res.ExecutionContextID, document, try == worldTries); ok {
			return w, installed, nil
		}
	}
}

// worldTries is how often a world is made again because the document may have changed meanwhile.
const worldTries = 2

// keep takes over a world that was made while the numbered document was shown. It is not ok if that may be gone.
func (f *Frame) keep(id proto.RuntimeExecutionContextID, document int, anyhow bool) (w *world, installed, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.document != document && !anyhow {
		return nil, false, false
	}
	if f.world == nil || f.world.context != id {
		f.world = &world{context: id, token: rand.Text()}
	}
	return f.world, f.world.ready, true
}

// Prepare installs our scripts in a new document before they are needed. What goes wrong shows when they are called.
func (f *Frame) Prepare(ctx context.Context) {
	_, _ = Run[bool](ctx, f, Script{Fn: "ping"})
}

// Leave forgets the present document: another took its place, or its process died.
func (f *Frame) Leave() { f.leave(nil) }

// leave forgets the world after its document went away. With nil it forgets whatever there is.
func (f *Frame) leave(w *world) {
	f.mu.Lock()
	if w == nil || f.world == w {
		f.world = nil
		f.document++
	}
	f.mu.Unlock()
}

func (f *Frame) markReady(w *world) {
	f.mu.Lock()
	w.ready = true
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

// expression is the source text of the call. A world that has no scripts yet gets them in the same message.
func (sc Script) expression(w *world, installed bool) (string, error) {
	arg, err := json.Marshal(sc.Arg)
	if err != nil {
		return "", fmt.Errorf("encode argument of %s: %w", sc.Fn, err)
	}
	var b strings.Builder
	if !installed {
		fmt.Fprintf(&b, "if (globalThis.__clank?.token !== %[2]q) globalThis.__clank = ((TOKEN) => {\n%[1]s\n})(%[2]q);\n", source(), w.token)
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
	var res Remote[answer[R]]
	err := f.evaluate(ctx, sc, true, &res, func() error {
		switch {
		case res.Exception != nil:
			return ExceptionError(res.Exception)
		case res.Result.Value.Lost:
			return cdp.ErrDocumentGone
		case res.Result.Value.Fail != nil:
			return res.Result.Value.Fail
		}
		return nil
	})
	return res.Result.Value.Value, err
}

// Object calls one of our functions and leaves the object it returns in the page; the caller releases it. If there is no such
// object the error is [cdp.ErrDocumentGone].
func Object(ctx context.Context, f *Frame, sc Script) (proto.RuntimeRemoteObjectID, error) {
	var res Remote[json.RawMessage]
	err := f.evaluate(ctx, sc, false, &res, func() error {
		if res.Exception != nil {
			return ExceptionError(res.Exception)
		}
		return nil
	})
	if err == nil && res.Result.ObjectID == "" {
		err = cdp.ErrDocumentGone // of this object alone: the other refs stay
	}
	return proto.RuntimeRemoteObjectID(res.Result.ObjectID), err
}

// evaluate runs a script and has the caller judge the result, decoded into res.
func (f *Frame) evaluate(ctx context.Context, sc Script, byValue bool, res any, judge func() error) error {
	w, installed, err := f.enter(ctx)
	if err != nil {
		return lostOr(err)
	}
	text, err := sc.expression(w, installed)
	if err != nil {
		return err
	}
	within := sc.Within
	if within == 0 {
		within = f.Timeout()
	}
	err = f.BeginWithin(within, proto.RuntimeEvaluate{
		Expression: text, ContextID: w.context, ReturnByValue: byValue, AwaitPromise: true, UserGesture: sc.Gesture,
	}).Wait(ctx, res)
	if err == nil {
		err = judge()
	}
	if cdp.DocumentGone(err) {
		f.leave(w)
		return cdp.ErrDocumentGone
	}
	if err == nil && !installed {
		f.markReady(w)
	}
	return err
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
