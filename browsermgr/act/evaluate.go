package act

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// evaluate runs the caller's JavaScript in the page's own world and returns its value as JSON.
func (d *doer) evaluate(ctx context.Context, a Action) (json.RawMessage, error) {
	limit := frame.ScriptLimit(ctx, a.Limit())
	over := &fault.LimitError{Limit: limit}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, over)
	defer cancel()
	e := frame.Element{Frame: d.tab.Main()}
	if a.Ref != "" || a.Selector != "" {
		var err error
		if e, err = d.tab.Locate(a.Ref, a.Selector); err != nil {
			return nil, err
		}
	}
	value, err := runFn(ctx, e, a)
	if ctx.Err() != nil {
		// Nobody waits for the script any more: an endless one must not keep the page.
		e.Frame.Post(proto.RuntimeTerminateExecution{}, proto.RuntimeEvaluate{Expression: "0"})
	}
	if err != nil {
		return nil, err
	}
	_, err = d.tab.Settle(ctx, e.Frame)
	return value, err
}

// fnBody wraps what the caller gave, which may be a function, an expression or statements, into one async function of el.
// Which of them it is, the parser tells.
func fnBody(ctx context.Context, f *frame.Frame, fn string) (string, error) {
	fn = strings.TrimSpace(fn)
	expression := "async (el) => { const value = await (" + fn + "\n); return typeof value === 'function' ? await value(el) : value; }"
	statements := "async (el) => {\n" + fn + "\n}"
	var problem error
	for _, text := range []string{expression, statements} {
		// A function that is only defined does nothing, but its text is parsed.
		res, err := cdp.Ask[frame.Remote[json.RawMessage]](ctx, f.Session, proto.RuntimeEvaluate{Expression: "void (" + text + ")"})
		if err != nil {
			return "", err
		}
		if res.Exception == nil {
			return text, nil
		}
		problem = frame.ExceptionError(res.Exception)
	}
	return "", fmt.Errorf("fn is not JavaScript: %w", problem)
}

func runFn(ctx context.Context, e frame.Element, a Action) (json.RawMessage, error) {
	body, err := fnBody(ctx, e.Frame, a.Fn)
	if err != nil {
		return nil, err
	}
	var res frame.Remote[json.RawMessage]
	if e.Given == "" {
		call := e.Frame.BeginWithin(time.Hour, proto.RuntimeEvaluate{
			Expression: "(" + body + ")()", ReturnByValue: true, AwaitPromise: true, UserGesture: true,
		})
		err = call.Wait(ctx, &res)
	} else {
		err = runFnOn(ctx, e, a.Selector, body, &res)
	}
	switch {
	case err != nil && cdp.DocumentGone(err):
		return nil, errors.New("the page navigated before fn had finished")
	case err != nil && strings.Contains(err.Error(), "by value"), err != nil && strings.Contains(err.Error(), "reference chain"):
		return nil, errors.New("fn returned something that is not JSON: return plain data")
	case err != nil:
		return nil, err
	case res.Exception != nil:
		return nil, frame.ExceptionError(res.Exception)
	case res.Result.Type == "undefined":
		return nil, nil
	case len(res.Result.Value) == 0:
		return json.RawMessage("null"), nil
	}
	return res.Result.Value, nil
}

// runFnOn calls the function with an element, which has to be handed over from our world to the page's.
func runFnOn(ctx context.Context, e frame.Element, selector, body string, res *frame.Remote[json.RawMessage]) error {
	arg := map[string]string{"ref": e.Local, "selector": selector}
	id, err := frame.Object(ctx, e.Frame, frame.Script{Fn: "element", Arg: arg})
	if errors.Is(err, cdp.ErrDocumentGone) {
		if e.Local == "" {
			return (&frame.ScriptError{Code: "missing"}).Explain(e.Given)
		}
		return fault.Vanished(e.Given)
	}
	if err != nil {
		return err
	}
	defer e.Frame.Post(proto.RuntimeReleaseObject{ObjectID: id})
	node, err := cdp.Ask[proto.DOMDescribeNodeResult](ctx, e.Frame.Session, proto.DOMDescribeNode{ObjectID: id})
	if err != nil {
		return err
	}
	theirs, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, e.Frame.Session, proto.DOMResolveNode{BackendNodeID: node.Node.BackendNodeID})
	if err != nil {
		return err
	}
	defer e.Frame.Post(proto.RuntimeReleaseObject{ObjectID: theirs.Object.ObjectID})
	call := e.Frame.BeginWithin(time.Hour, proto.RuntimeCallFunctionOn{
		ObjectID: theirs.Object.ObjectID, FunctionDeclaration: body, ReturnByValue: true, AwaitPromise: true, UserGesture: true,
		Arguments: []*proto.RuntimeCallArgument{{ObjectID: theirs.Object.ObjectID}},
	})
	return call.Wait(ctx, res)
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

// pollRound is how long the page is left alone with fn before it is asked again.
const pollRound = 5 * time.Second

// WaitFn waits until the caller's JavaScript is true in the frame, over navigations.
func WaitFn(ctx context.Context, f *frame.Frame, fn string) error {
	body, err := fnBody(ctx, f, fn)
	if err != nil {
		return err
	}
	for {
		var res frame.Remote[json.RawMessage]
		text := fmt.Sprintf(fnPoll, body, pollRound.Milliseconds())
		call := f.BeginWithin(time.Hour, proto.RuntimeEvaluate{Expression: text, ReturnByValue: true, AwaitPromise: true})
		err := call.Wait(ctx, &res)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case cdp.DocumentGone(err):
		case err != nil:
			return err
		case res.Exception != nil:
			return frame.ExceptionError(res.Exception)
		case string(res.Result.Value) == "true":
			return nil
		}
	}
}
