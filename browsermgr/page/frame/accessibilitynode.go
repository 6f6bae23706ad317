package frame

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-rod/rod/lib/proto"
)

// AccessibilityNode is a node of the accessibility tree, in the form of the control API.
type AccessibilityNode struct {
	Ref              string `json:"ref"` // ax1, ax2, …
	Role             string `json:"role"`
	Name             string `json:"name"`
	Value            string `json:"value,omitempty"`
	Description      string `json:"description,omitempty"`
	BackendDOMNodeID int    `json:"backendDOMNodeId,omitempty"`
	Depth            int    `json:"depth"`
}

// hideSecret removes the value of a secret field, or the text in it.
func (n *AccessibilityNode) hideSecret() {
	const dots = "••••••••"
	if n.Value != "" {
		n.Value = dots
	}
	if n.Role == "StaticText" {
		n.Name = dots
	}
}

// axValue is CDP's Accessibility.AXValue.
type axValue struct {
	Value any `json:"value"`
}

func (v axValue) String() string {
	switch x := v.Value.(type) {
	case nil:
		return ""
	case string:
		return x
	case bool, float64:
		return fmt.Sprint(x)
	}
	text, err := json.Marshal(v.Value)
	if err != nil {
		return ""
	}
	return string(text)
}

// axNode holds the fields used of CDP's Accessibility.AXNode.
type axNode struct {
	NodeID      string                 `json:"nodeId"`
	Ignored     bool                   `json:"ignored"`
	Role        axValue                `json:"role"`
	Name        axValue                `json:"name"`
	Value       axValue                `json:"value"`
	Description axValue                `json:"description"`
	ChildIDs    []string               `json:"childIds"`
	Backend     proto.DOMBackendNodeID `json:"backendDOMNodeId"`
	Properties  []struct {
		Name  string  `json:"name"`
		Value axValue `json:"value"`
	} `json:"properties"`
}

// axDocument is the tree of one document, with what is needed to find its elements.
type axDocument struct {
	documentFrame
	nodes    []axNode
	children map[proto.DOMBackendNodeID]*axDocument // by frame element in this document
}

// axEntry is a node with its depth and document.
type axEntry struct {
	AccessibilityNode
	document *axDocument
}

// flattenTree lists nodes in pre-order, at most limit. Nodes that Chromium ignores are replaced by their children.
func flattenTree(root *axDocument, limit int) []axEntry {
	f := treeFlattener{limit: limit}
	f.document(root, 0)
	return f.out
}

type treeFlattener struct {
	out   []axEntry
	limit int
}

func (f *treeFlattener) document(d *axDocument, depth int) {
	byID := make(map[string]*axNode, len(d.nodes))
	for i := range d.nodes {
		byID[d.nodes[i].NodeID] = &d.nodes[i]
	}
	if len(d.nodes) > 0 {
		f.node(d, byID, &d.nodes[0], depth) // the root comes first
	}
}

func (f *treeFlattener) node(d *axDocument, byID map[string]*axNode, n *axNode, depth int) {
	if len(f.out) >= f.limit {
		return
	}
	delete(byID, n.NodeID) // ignore repeated nodes in malformed trees
	role := n.Role.String()
	if !n.Ignored && role != "InlineTextBox" {
		role = cmp.Or(role, "unknown")
		f.out = append(f.out, axEntry{document: d, AccessibilityNode: AccessibilityNode{
			Ref: fmt.Sprintf("ax%d", len(f.out)+1), Role: role, Name: n.Name.String(), Value: n.Value.String(),
			Description: n.Description.String(), BackendDOMNodeID: int(n.Backend), Depth: depth,
		}})
		depth++
	}
	for _, id := range n.ChildIDs {
		if child := byID[id]; child != nil {
			f.node(d, byID, child, depth)
		}
	}
	if inner := d.children[n.Backend]; inner != nil && strings.HasPrefix(role, "Iframe") {
		f.document(inner, depth)
	}
}
