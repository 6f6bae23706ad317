package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

func evaluateIn(w *world, text string) proto.Request {
	return proto.RuntimeEvaluate{Expression: text, ContextID: w.context}
}

// evaluate runs the caller's JavaScript in the page's own world and returns its value as JSON.
func (t *Tab) evaluate(ctx context.Context, a Action) (json.RawMessage, error) {
	limit := pageLimit(ctx, a.limit())
	over := &limitError{limit: limit}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, over)
	defer cancel()
	e := element{session: t.session}
	if a.Ref != "" || a.Selector != "" {
		var err error
		if e, err = t.locate(a.Ref, a.Selector); err != nil {
			return nil, err
		}
	}
	value, err := t.runFn(ctx, e, a)
	if ctx.Err() != nil {
		// Nobody waits for the script any more: an endless one must not keep the page.
		e.session.post(proto.RuntimeTerminateExecution{}, proto.RuntimeEvaluate{Expression: "0"})
	}
	if err != nil {
		return nil, err
	}
	_, err = t.settled(ctx, e.session)
	return value, err
}

// fnBody wraps what the caller gave, which may be a function, an expression or statements, into one async function of el.
// Which of them it is, the parser tells.
func (t *Tab) fnBody(ctx context.Context, s *session, fn string) (string, error) {
	fn = strings.TrimSpace(fn)
	expression := "async (el) => { const value = await (" + fn + "\n); return typeof value === 'function' ? await value(el) : value; }"
	statements := "async (el) => {\n" + fn + "\n}"
	var problem error
	for _, text := range []string{expression, statements} {
		// A function that is only defined does nothing, but its text is parsed.
		res, err := ask[remote[json.RawMessage]](ctx, s, proto.RuntimeEvaluate{Expression: "void (" + text + ")"})
		if err != nil {
			return "", err
		}
		if res.Exception == nil {
			return text, nil
		}
		problem = exceptionError(res.Exception)
	}
	return "", fmt.Errorf("fn is not JavaScript: %w", problem)
}

func (t *Tab) runFn(ctx context.Context, e element, a Action) (json.RawMessage, error) {
	body, err := t.fnBody(ctx, e.session, a.Fn)
	if err != nil {
		return nil, err
	}
	var res remote[json.RawMessage]
	if e.given == "" {
		call := e.session.beginWithin(time.Hour, proto.RuntimeEvaluate{
			Expression: "(" + body + ")()", ReturnByValue: true, AwaitPromise: true, UserGesture: true,
		})
		err = call.wait(ctx, &res)
	} else {
		err = t.runFnOn(ctx, e, a.Selector, body, &res)
	}
	switch {
	case err != nil && documentGone(err):
		return nil, errors.New("the page navigated before fn had finished")
	case err != nil && strings.Contains(err.Error(), "by value"), err != nil && strings.Contains(err.Error(), "reference chain"):
		return nil, errors.New("fn returned something that is not JSON: return plain data")
	case err != nil:
		return nil, err
	case res.Exception != nil:
		return nil, exceptionError(res.Exception)
	case res.Result.Type == "undefined":
		return nil, nil
	case len(res.Result.Value) == 0:
		return json.RawMessage("null"), nil
	}
	return res.Result.Value, nil
}

// runFnOn calls the function with an element, which has to be handed over from our world to the page's.
func (t *Tab) runFnOn(ctx context.Context, e element, selector, body string, res *remote[json.RawMessage]) error {
	arg := map[string]string{"ref": e.local, "selector": selector}
	ours, err := evaluate[json.RawMessage](ctx, e.session, script{fn: "element", arg: arg, object: true})
	if errors.Is(err, errContextLost) {
		if e.local == "" {
			return (&failure{Code: "missing"}).explain(e.given)
		}
		return fmt.Errorf("%w %s: the element is gone from the page; take a new snapshot", ErrUnknownRef, e.given)
	}
	if err != nil {
		return err
	}
	id := proto.RuntimeRemoteObjectID(ours.Result.ObjectID)
	defer e.session.post(proto.RuntimeReleaseObject{ObjectID: id})
	node, err := ask[proto.DOMDescribeNodeResult](ctx, e.session, proto.DOMDescribeNode{ObjectID: id})
	if err != nil {
		return err
	}
	theirs, err := ask[proto.DOMResolveNodeResult](ctx, e.session, proto.DOMResolveNode{BackendNodeID: node.Node.BackendNodeID})
	if err != nil {
		return err
	}
	defer e.session.post(proto.RuntimeReleaseObject{ObjectID: theirs.Object.ObjectID})
	call := e.session.beginWithin(time.Hour, proto.RuntimeCallFunctionOn{
		ObjectID: theirs.Object.ObjectID, FunctionDeclaration: body, ReturnByValue: true, AwaitPromise: true, UserGesture: true,
		Arguments: []*proto.RuntimeCallArgument{{ObjectID: theirs.Object.ObjectID}},
	})
	return call.wait(ctx, res)
}

// fnPoll asks fn once a frame inside the page until it is true.
const fnPoll = `(async () => {
	const fn = %s;
	for (const end = performance.now() + %d; performance.now() < end;) {
		if (await fn()) return true;
		await new Promise((resolve) => {
			const timer = setTimeout(resolve, 50);
			requestAnimationFrame(() => { clearTimeout(timer); resolve(); });
		});
	}
	return false;
})()`

// waitFn waits until the caller's JavaScript is true in the page, over navigations.
func (t *Tab) waitFn(ctx context.Context, fn string) error {
	body, err := t.fnBody(ctx, t.session, fn)
	if err != nil {
		return err
	}
	for {
		var res remote[json.RawMessage]
		text := fmt.Sprintf(fnPoll, body, waitRound.Milliseconds())
		call := t.session.beginWithin(time.Hour, proto.RuntimeEvaluate{Expression: text, ReturnByValue: true, AwaitPromise: true})
		err := call.wait(ctx, &res)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case documentGone(err):
		case err != nil:
			return err
		case res.Exception != nil:
			return exceptionError(res.Exception)
		case string(res.Result.Value) == "true":
			return nil
		}
	}
}
