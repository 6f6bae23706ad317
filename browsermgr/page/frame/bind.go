package frame

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// bindScript is called on a node of a document: it assigns refs to the elements of these nodes in the registry of their
// local root.
const bindScript = `function (token, ...nodes) {
	for (let w = (this.ownerDocument ?? this).defaultView; w; w = w.parent === w ? null : w.parent) {
		if (w.__clank) return w.__clank(token, 'refsOf', nodes);
	}
	return {lost: true};
}`

// Bind returns the elements of nodes of the document in the frame with this id, which belongs to f's process, named as
// by our scripts. If a node is gone or belongs to no element, its LocalRef is empty.
func (f *Frame) Bind(ctx context.Context, id proto.PageFrameID,
	nodes []proto.DOMBackendNodeID,
) ([]BoundElement, error) {
	if _, err := RunScript[bool](ctx, f, Script{Fn: "ping"}); err != nil {
		return nil, err
	}
	token := f.DocumentToken()
	scope, err := cdp.Ask[proto.PageCreateIsolatedWorldResult](ctx, f.Session, proto.PageCreateIsolatedWorld{
		FrameID: id, WorldName: worldName, GrantUniveralAccess: true,
	})
	if err != nil {
		return nil, explainLost(err)
	}
	bounds := make([]BoundElement, len(nodes))
	calls := make([]*cdp.Call, len(nodes))
	group := "bind " + token
	defer f.Post(proto.RuntimeReleaseObjectGroup{ObjectGroup: group})
	for i, node := range nodes {
		if node != 0 {
			calls[i] = f.Begin(proto.DOMResolveNode{
				BackendNodeID: node, ExecutionContextID: scope.ExecutionContextID,
				ObjectGroup: group,
			})
		}
	}
	args := []*proto.RuntimeCallArgument{{Value: gson.New(token)}}
	var at []int
	for i, call := range calls {
		if call == nil {
			continue
		}
		var res proto.DOMResolveNodeResult
		if err := call.Wait(ctx, &res); err != nil || res.Object == nil {
			if ctx.Err() != nil || cdp.IsDocumentGone(err) {
				return nil, explainLost(err)
			}
			continue
		}
		args = append(args, &proto.RuntimeCallArgument{ObjectID: res.Object.ObjectID})
		at = append(at, i)
	}
	if len(at) == 0 {
		return bounds, nil
	}
	var res EvaluateResult[scriptAnswer[string]]
	err = f.Begin(proto.RuntimeCallFunctionOn{
		ObjectID: args[1].ObjectID, FunctionDeclaration: bindScript, ReturnByValue: true, Arguments: args,
	}).Wait(ctx, &res)
	switch {
	case err != nil:
		return nil, explainLost(err)
	case res.Exception != nil:
		return nil, ExceptionError(res.Exception)
	case res.Result.Value.Lost:
		return nil, cdp.ErrDocumentGone
	}
	for i, local := range strings.Split(res.Result.Value.Value, " ") {
		if i < len(at) && local != "" {
			ref, secret := strings.CutPrefix(local, "!")
			bounds[at[i]] = BoundElement{Frame: f, DocumentToken: token, LocalRef: ref, Secret: secret}
		}
	}
	return bounds, nil
}

// Locator identifies an element of a frame by the local name of its ref, or by a selector.
type Locator struct {
	Ref      string `json:"ref,omitempty"`
	Selector string `json:"selector,omitempty"`
}

// CallFunction calls a JavaScript function in the frame's world and decodes its result, awaited if it is a promise,
// into R. The arguments are the located elements, in order, null for each that does not exist, and arg. If the document
// is gone the error is cdp.ErrDocumentGone.
func CallFunction[R any](ctx context.Context, f *Frame, fn string, elements []Locator, arg any) (R, error) {
	return RunScript[R](ctx, f, Script{Fn: "apply", Arg: arg, source: fn, elements: elements})
}

// callSource returns the source text of a CallFunction, to run where our scripts are installed.
func (sc Script) callSource(w *isolatedWorld, arg []byte) string {
	elements := []byte("[]")
	if len(sc.elements) > 0 {
		if text, err := json.Marshal(sc.elements); err == nil {
			elements = text
		}
	}
	return fmt.Sprintf("globalThis.__clank?.token === %[1]q ? (async () => "+
		"({value: await (%[2]s)(%[3]s.map((e) => __clank(%[1]q, 'element', e)), %[4]s)}))() : {lost: true}", w.token,
		sc.source, elements, arg)
}
