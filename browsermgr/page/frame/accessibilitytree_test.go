package frame_test

import (
	"testing"

	"clank/browsermgr/page/frame"
	"clank/internal/test/browsertest"

	"github.com/google/go-cmp/cmp"
)

const outer = `[
	{"nodeId":"1","role":{"value":"RootWebArea"},"name":{"value":"Top"},"childIds":["2","4"],"backendDOMNodeId":1},
	{"nodeId":"2","ignored":true,"role":{"value":"none"},"childIds":["3"]},
	{"nodeId":"3","role":{"value":"slider"},"name":{"value":""},"value":{"value":4.5},"description":{"value":"how much"},"childIds":["9","1"],"backendDOMNodeId":3},
	{"nodeId":"4","role":{"value":"Iframe"},"name":{"value":"In"},"childIds":[],"backendDOMNodeId":7}
]`

const inner = `[
	{"nodeId":"1","role":{"value":"RootWebArea"},"name":{},"childIds":["2"],"backendDOMNodeId":11},
	{"nodeId":"2","role":{},"name":{"value":"odd"},"childIds":["3"],"backendDOMNodeId":12},
	{"nodeId":"3","role":{"value":"InlineTextBox"},"name":{"value":"odd"}}
]`

func TestFlattenPutsFramesInTheirPlacesAndLeavesOutWhatIsIgnored(t *testing.T) {
	want := []frame.AccessibilityNode{
		{Ref: "ax1", Role: "RootWebArea", Name: "Top", BackendDOMNodeID: 1},
		{Ref: "ax2", Role: "slider", Value: "4.5", Description: "how much", BackendDOMNodeID: 3, Depth: 1},
		{Ref: "ax3", Role: "Iframe", Name: "In", BackendDOMNodeID: 7, Depth: 1},
		{Ref: "ax4", Role: "RootWebArea", BackendDOMNodeID: 11, Depth: 2},
		{Ref: "ax5", Role: "unknown", Name: "odd", BackendDOMNodeID: 12, Depth: 3},
	}
	for _, limit := range []int{2, 4, 100} {
		got, err := frame.FlattenTree(outer, inner, limit)
		browsertest.Must(t, err)
		if d := cmp.Diff(want[:min(limit, len(want))], got); d != "" {
			t.Errorf("limit %d (-want +got)\n%s", limit, d)
		}
	}
}

func FuzzFlatten(f *testing.F) {
	f.Add(outer, inner, 100)
	f.Add(`[{"nodeId":"1","childIds":["1","2"]},{"nodeId":"2","childIds":["1"]}]`, `[]`, 3)
	f.Fuzz(func(t *testing.T, outer, inner string, limit int) {
		if limit < 1 || limit > 2000 {
			return
		}
		nodes, err := frame.FlattenTree(outer, inner, limit)
		if err != nil {
			return
		}
		if len(nodes) > limit {
			t.Errorf("got %d nodes for a limit of %d", len(nodes), limit)
		}
		for i, n := range nodes {
			if n.Role == "" || i > 0 && n.Depth > nodes[i-1].Depth+1 {
				t.Errorf("node %d: got %+v after %+v", i, n, nodes[max(i-1, 0)])
			}
		}
	})
}
