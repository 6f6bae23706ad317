package page

import (
	"context"
	"strings"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// TreeElement is what Chromium's accessibility tree says of an element.
type TreeElement struct {
	Role, Name string
	Properties map[string]string
}

// TreeElements returns what Chromium's tree of the main document says, by the elements' own refs.
func TreeElements(ctx context.Context, t *Tab) (map[string]TreeElement, error) {
	f := t.tree.Frames()[0]
	tree, err := cdp.Ask[proto.AccessibilityGetFullAXTreeResult](ctx, f.Session, proto.AccessibilityGetFullAXTree{})
	if err != nil {
		return nil, err
	}
	var ids []proto.DOMBackendNodeID
	var nodes []*proto.AccessibilityAXNode
	for _, n := range tree.Nodes {
		if n.Ignored || n.Role == nil || strings.HasSuffix(n.Role.Value.Str(), "TextBox") || n.Role.Value.Str() == "StaticText" {
			continue
		}
		ids, nodes = append(ids, n.BackendDOMNodeID), append(nodes, n)
	}
	bound, err := f.Bind(ctx, f.ID(), ids)
	if err != nil {
		return nil, err
	}
	out := map[string]TreeElement{}
	for i, n := range nodes {
		e := TreeElement{Role: n.Role.Value.Str(), Properties: map[string]string{}}
		if n.Name != nil {
			e.Name = n.Name.Value.Str()
		}
		for _, p := range n.Properties {
			e.Properties[string(p.Name)] = p.Value.Value.String()
		}
		if _, inner := out[bound[i].LocalRef]; !inner { // a field comes before what makes it up
			out[bound[i].LocalRef] = e
		}
	}
	return out, nil
}
