package frame

import (
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"
)

// Len returns the number of known documents.
func (n *DocumentNumbers) Len() int { return max(len(n.byKey), len(n.byNumber)) }

// FlattenTree lists the nodes of a document given as a CDP result, with another one below the frame element 7.
func FlattenTree(outer, inner string, limit int) ([]AccessibilityNode, error) {
	read := func(text string) (*axDocument, error) {
		d := &axDocument{}
		return d, json.Unmarshal([]byte(text), &d.nodes)
	}
	root, err := read(outer)
	if err != nil {
		return nil, err
	}
	child, err := read(inner)
	if err != nil {
		return nil, err
	}
	root.children = map[proto.DOMBackendNodeID]*axDocument{7: child}
	var nodes []AccessibilityNode
	for _, e := range flattenTree(root, limit) {
		nodes = append(nodes, e.AccessibilityNode)
	}
	return nodes, nil
}
