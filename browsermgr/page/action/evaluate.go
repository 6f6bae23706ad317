package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// evaluate runs the caller's JavaScript in the page's own world and returns its result as JSON. A script that has not
// finished within its limit, or when ctx ends, is terminated; the page keeps running.
func (d *performer) evaluate(ctx context.Context, a Action) (json.RawMessage, error) {
	e := frame.Element{Frame: d.mainFrame()}
	if a.Ref != "" || a.Selector != "" {
		var err error
		if e, err = d.tab.Locate(a.Ref, a.Selector); err != nil {
			return nil, err
		}
	}
	limit := evaluateLimit(a)
	over := &fault.TimeLimitError{Limit: limit, Unmet: "it did not end"}
	bounded, cancel := context.WithTimeoutCause(ctx, limit, over)
	defer cancel()
	value, err := runFunction(bounded, e, a)
	if bounded.Err() != nil {
		if isLooping(bounded, e.Frame) {
			d.tab.TerminateScripts(bounded, e.Frame)
		}
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("the JavaScript was stopped: %w", err)
		}
	}
	if err != nil {
		return nil, err
	}
	_, err = d.tab.SendAndWait(ctx, e.Frame)
	return value, err
}

// functionForms wraps the caller's code, which may be a function, an expression or statements, in an async function of
// el. The parser decides which form it is: the first that it accepts. An expression must also do as an element of an
// array, which is never made: else "1) + (2" would be one, with our parentheses.
func functionForms(fn string) []string {
	fn = strings.TrimSpace(fn)
	expression := strings.TrimRight(fn, "; \t\r\n")
	return []string{
		"async (el) => { const value = await (" + expression + "\n); return typeof value === " +
			"'function' ? await value(el) : value; async () => [" + expression + "\n]; }",
		"async (el) => {\n" + fn + "\n}",
	}
}

// maxParseRetries is how often a function is parsed again because the page navigated.
const maxParseRetries = 3

// parseFunction returns the first form that is valid JavaScript.
func parseFunction(ctx context.Context, f *frame.Frame, fn string) (string, error) {
	var problem *proto.RuntimeExceptionDetails
	for _, text := range functionForms(fn) {
		// A function expression is parsed without being run, and any document will do for it.
		parse := proto.RuntimeEvaluate{Expression: "void (" + text + ")"}
		res, err := cdp.Ask[frame.EvaluateResult[json.RawMessage]](ctx, f.Session, parse)
		for range maxParseRetries {
			if !cdp.IsDocumentGone(err) {
				break
			}
			res, err = cdp.Ask[frame.EvaluateResult[json.RawMessage]](ctx, f.Session, parse)
		}
		if err != nil {
			return "", err
		}
		if res.Exception == nil {
			return text, nil
		}
		problem = res.Exception
	}
	return "", syntaxError(problem, fn)
}

// syntaxError says why the last form of fn is not JavaScript, without naming what only our own text has.
func syntaxError(problem *proto.RuntimeExceptionDetails, fn string) error {
	if ours := strings.Count(strings.TrimSpace(fn), "\n") + 2; problem.LineNumber >= ours {
		return errors.New("this is not JavaScript: SyntaxError: a bracket or a value is missing at the end, or there is a " +
			"bracket too many")
	}
	return fmt.Errorf("this is not JavaScript: %w", frame.ExceptionError(problem))
}

func runFunction(ctx context.Context, e frame.Element, a Action) (json.RawMessage, error) {
	var res evaluateResult
	var err error
	if e.GivenRef == "" {
		err = runInDocument(ctx, e.Frame, a.Fn, &res)
	} else {
		err = runOnElement(ctx, e, a, &res)
	}
	switch {
	case err != nil && cdp.IsDocumentGone(err):
		return nil, errors.New("the page navigated before the JavaScript had ended")
	case err != nil && strings.Contains(err.Error(), "by value"), err != nil &&
		strings.Contains(err.Error(), "reference chain"):
		return nil, errNotJSON
	case err != nil:
		return nil, err
	}
	return res.json()
}

// runInDocument runs the function without an element. After a syntax error nothing has run, so the next form can be
// tried.
func runInDocument(ctx context.Context, f *frame.Frame, fn string, res *evaluateResult) error {
	for _, body := range functionForms(fn) {
		*res = evaluateResult{}
		err := f.BeginWithin(time.Hour, proto.RuntimeEvaluate{
			Expression: "(" + body + ")()", ReturnByValue: true, AwaitPromise: true, UserGesture: true,
		}).Wait(ctx, res)
		if err != nil || !res.isSyntaxError() {
			return err
		}
	}
	return syntaxError(res.Exception, fn)
}

// errNotJSON is returned if a script's result has no JSON form.
var errNotJSON = errors.New("the JavaScript returned something that is not JSON-serialisable: return plain data")

// evaluateResult is the result of a caller's script.
type evaluateResult struct {
	Result struct {
		Type           string          `json:"type"`
		Value          json.RawMessage `json:"value"`
		Unserializable string          `json:"unserializableValue"`
	} `json:"result"`
	Exception *proto.RuntimeExceptionDetails `json:"exceptionDetails"`
}

// isSyntaxError reports whether the parser rejected the text. An exception in the async function, even a SyntaxError,
// rejects its promise instead, which the text of the error shows.
func (r evaluateResult) isSyntaxError() bool {
	return r.Exception != nil && r.Exception.Text == "Uncaught" && r.Exception.Exception != nil &&
		r.Exception.Exception.ClassName == "SyntaxError"
}

// json returns the value as JSON; nil for undefined. NaN and infinities become null, as with JSON.stringify.
func (r evaluateResult) json() (json.RawMessage, error) {
	switch {
	case r.Exception != nil:
		return nil, frame.ExceptionError(r.Exception)
	case r.Result.Type == "undefined":
		return nil, nil
	case r.Result.Unserializable == "-0":
		return json.RawMessage("0"), nil
	case r.Result.Type == "bigint", r.Result.Type == "symbol", r.Result.Type == "function":
		return nil, fmt.Errorf("%w, not a %s", errNotJSON, r.Result.Type)
	case len(r.Result.Value) == 0:
		return json.RawMessage("null"), nil
	}
	return r.Result.Value, nil
}

// runOnElement calls the function with an element, which must be transferred from our world to the page's.
func runOnElement(ctx context.Context, e frame.Element, a Action, res *evaluateResult) error {
	body, err := parseFunction(ctx, e.Frame, a.Fn)
	if err != nil {
		return err
	}
	id, err := e.Object(ctx, a.Selector)
	if err != nil {
		return err
	}
	defer e.Frame.Post(proto.RuntimeReleaseObject{ObjectID: id})
	node, err := cdp.Ask[proto.DOMDescribeNodeResult](ctx, e.Frame.Session, proto.DOMDescribeNode{ObjectID: id})
	if err != nil {
		return err
	}
	theirs, err := cdp.Ask[proto.DOMResolveNodeResult](ctx, e.Frame.Session,
		proto.DOMResolveNode{BackendNodeID: node.Node.BackendNodeID})
	if err != nil {
		return err
	}
	defer e.Frame.Post(proto.RuntimeReleaseObject{ObjectID: theirs.Object.ObjectID})
	call := e.Frame.BeginWithin(time.Hour, proto.RuntimeCallFunctionOn{
		ObjectID: theirs.Object.ObjectID, FunctionDeclaration: body, ReturnByValue: true, AwaitPromise: true,
		UserGesture: true,
		Arguments:   []*proto.RuntimeCallArgument{{ObjectID: theirs.Object.ObjectID}},
	})
	return call.Wait(ctx, res)
}

// awaitFunctionScript calls fn once per frame in the page until it returns true.
const awaitFunctionScript = `(async () => {
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

// functionPollLimit is how long the script waits for fn before it is sent again, and so how long fn may still be called
// after the wait was abandoned.
const functionPollLimit = time.Second

// awaitFunction waits until the caller's JavaScript is true in the main frame, across navigations.
func (w pageWait) awaitFunction(ctx context.Context, fn string) error {
	f := w.tab.MainFrame()
	body, err := parseFunction(ctx, f, fn)
	if err != nil {
		return err
	}
	for {
		var res evaluateResult
		text := fmt.Sprintf(awaitFunctionScript, body, functionPollLimit.Milliseconds())
		call := f.BeginWithin(time.Hour, proto.RuntimeEvaluate{Expression: text, ReturnByValue: true, AwaitPromise: true})
		err := call.Wait(ctx, &res)
		switch {
		case ctx.Err() != nil:
			if isLooping(ctx, f) {
				w.tab.TerminateScripts(ctx, f)
			}
			return context.Cause(ctx)
		case cdp.IsDocumentGone(err):
		case err != nil:
			return err
		case res.Exception != nil:
			return frame.ExceptionError(res.Exception)
		case string(res.Result.Value) == "true":
			return nil
		}
	}
}

// loopingProbeLimit is how soon a page answers unless a script blocks it.
const loopingProbeLimit = 30 * time.Millisecond

// isLooping reports, after ctx has ended, whether a script blocks the frame.
func isLooping(ctx context.Context, f *frame.Frame) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loopingProbeLimit)
	defer cancel()
	return errors.Is(f.Do(ctx, proto.RuntimeEvaluate{Expression: "0"}), context.DeadlineExceeded)
}
