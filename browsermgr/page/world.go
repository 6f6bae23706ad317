package page

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

//go:embed js/*.js
var scripts embed.FS

// worldName names the isolated world our scripts live in: same document, own globals, out of the page's reach.
const worldName = "clank"

// source is what is installed in each isolated world.
var source = loadSource()

func loadSource() string {
	var b strings.Builder
	for _, name := range []string{"world", "names", "roles", "snapshot", "target", "input", "wait", "read"} {
		text, err := scripts.ReadFile("js/" + name + ".js")
		if err != nil {
			return "throw new Error('missing script " + name + "')"
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// world is our isolated world in the document that a session's root frame shows now. Frames of the same process are
// reached from it.
type world struct {
	context proto.RuntimeExecutionContextID
	token   string // the script answers only to it: a context id may come to mean another document
	ready   bool   // scripts are installed
}

// enter returns the session's world, making one if the document is new.
func (s *session) enter(ctx context.Context) (w *world, installed bool, err error) {
	s.mu.Lock()
	w = s.world
	if w != nil {
		installed = w.ready
	}
	s.mu.Unlock()
	if w != nil {
		return w, installed, nil
	}
	res, err := ask[proto.PageCreateIsolatedWorldResult](ctx, s, proto.PageCreateIsolatedWorld{
		FrameID: s.frameID(), WorldName: worldName, GrantUniveralAccess: true,
	})
	if err != nil {
		return nil, false, err
	}
	fresh := &world{context: res.ExecutionContextID, token: rand.Text()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.world == nil || s.world.context != fresh.context {
		s.world = fresh
	}
	return s.world, s.world.ready, nil
}

// leave forgets the world after its document went away. With nil it forgets whatever there is.
func (s *session) leave(w *world) {
	s.mu.Lock()
	if w == nil || s.world == w {
		s.world = nil
	}
	s.mu.Unlock()
}

func (s *session) markReady(w *world) {
	s.mu.Lock()
	w.ready = true
	s.mu.Unlock()
}

// remote is the part of Runtime.evaluate's answer that is used here.
type remote[R any] struct {
	Result struct {
		Type     string `json:"type"`
		ObjectID string `json:"objectId"`
		Value    R      `json:"value"`
	} `json:"result"`
	Exception *proto.RuntimeExceptionDetails `json:"exceptionDetails"`
}

// script is a call of one of our functions in the isolated world.
type script struct {
	fn      string
	arg     any
	within  time.Duration // 0: the usual deadline
	object  bool          // the result stays in the page, its handle is returned
	gesture bool          // runs as if the user had done something
}

// expression is the source text of the call. A world that has no scripts yet gets them in the same message.
func (sc script) expression(w *world, installed bool) (string, error) {
	arg, err := json.Marshal(sc.arg)
	if err != nil {
		return "", fmt.Errorf("encode argument of %s: %w", sc.fn, err)
	}
	var b strings.Builder
	if !installed {
		fmt.Fprintf(&b, "if (globalThis.__clank?.token !== %[2]q) globalThis.__clank = ((TOKEN) => {\n%[1]s\n})(%[2]q);\n", source, w.token)
	}
	fmt.Fprintf(&b, "globalThis.__clank ? __clank(%q, %q, %s) : {lost: true}", w.token, sc.fn, arg)
	return b.String(), nil
}

// run calls one of our functions in the session's document and decodes what it returns into R. If the document goes away
// meanwhile the error is errContextLost.
func run[R any](ctx context.Context, s *session, sc script) (R, error) {
	res, err := evaluate[R](ctx, s, sc)
	return res.Result.Value, err
}

// answer is how our functions reply: with a value, or with a failure that the caller puts into words.
type answer[R any] struct {
	Lost  bool     `json:"lost"`
	Fail  *failure `json:"fail"`
	Value R        `json:"value"`
}

func evaluate[R any](ctx context.Context, s *session, sc script) (remote[R], error) {
	var none remote[R]
	w, installed, err := s.enter(ctx)
	if err != nil {
		return none, lostOr(err)
	}
	text, err := sc.expression(w, installed)
	if err != nil {
		return none, err
	}
	within := sc.within
	if within == 0 {
		within = s.conn.timeout
	}
	c := s.beginWithin(within, proto.RuntimeEvaluate{
		Expression: text, ContextID: w.context, ReturnByValue: !sc.object, AwaitPromise: true, UserGesture: sc.gesture,
	})
	var res remote[json.RawMessage]
	if sc.object {
		err = c.wait(ctx, &res)
		if err == nil && res.Exception == nil && res.Result.ObjectID == "" {
			err = errContextLost
		}
		none.Result.ObjectID = res.Result.ObjectID
	} else {
		var full remote[answer[R]]
		err = c.wait(ctx, &full)
		res.Exception = full.Exception
		none.Result.Value = full.Result.Value.Value
		switch {
		case err != nil:
		case full.Result.Value.Lost:
			err = errContextLost
		case full.Result.Value.Fail != nil:
			err = full.Result.Value.Fail
		}
	}
	if err == nil && res.Exception != nil {
		err = exceptionError(res.Exception)
	}
	if documentGone(err) {
		s.leave(w)
		return none, errContextLost
	}
	if err == nil && !installed {
		s.markReady(w)
	}
	return none, err
}

func lostOr(err error) error {
	if documentGone(err) {
		return errContextLost
	}
	return err
}

// exceptionError is a script's exception as an error.
func exceptionError(d *proto.RuntimeExceptionDetails) error {
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
