package frame

import (
	"context"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// TellInternals tells our scripts which roles, names and states the custom elements that the last snapshot named have
// by their ElementInternals, which scripts cannot read. It reports whether a snapshot would show something new.
func (f *Frame) TellInternals(ctx context.Context) (bool, error) {
	list, err := scriptObject(ctx, f, Script{Fn: "custom"})
	if err != nil {
		return false, err
	}
	defer f.Post(proto.RuntimeReleaseObject{ObjectID: list})
	elements, err := f.arrayItems(ctx, list)
	if err != nil {
		return false, explainLost(err)
	}
	// While it is enabled, Chromium builds its tree once for all of them.
	f.Post(proto.AccessibilityEnable{})
	defer f.Post(proto.AccessibilityDisable{})
	asked := make([]*cdp.Call, len(elements))
	for i, element := range elements {
		defer f.Post(proto.RuntimeReleaseObject{ObjectID: element})
		asked[i] = f.Begin(accessibilityOf{ObjectID: element})
	}
	found := make([]map[string]string, len(elements))
	for i, call := range asked {
		var res struct {
			Nodes []axNode `json:"nodes"`
		}
		if err := call.Wait(ctx, &res); ctx.Err() != nil || cdp.IsDocumentGone(err) {
			return false, explainLost(err)
		}
		if len(res.Nodes) > 0 {
			found[i] = res.Nodes[0].internals()
		}
	}
	return RunScript[bool](ctx, f, Script{Fn: "tell", Arg: found})
}

// accessibilityOf is Accessibility.getPartialAXTree without relatives, which proto cannot ask for.
type accessibilityOf struct {
	ObjectID       proto.RuntimeRemoteObjectID `json:"objectId"`
	FetchRelatives bool                        `json:"fetchRelatives"`
}

func (accessibilityOf) ProtoReq() string { return "Accessibility.getPartialAXTree" }

// internals returns what a node of a custom element tells: role, name, value, and the states by their names in ARIA.
func (n *axNode) internals() map[string]string {
	said := map[string]string{"role": n.Role.String(), "name": n.Name.String(), "value": n.Value.String()}
	for _, p := range n.Properties {
		said[p.Name] = p.Value.String()
	}
	return said
}
