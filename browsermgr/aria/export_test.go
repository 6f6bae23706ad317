package aria

import (
	"encoding/json"

	"github.com/go-rod/rod/lib/proto"
)

// Flatten lists the nodes of a document given as the protocol's answer, with another one below the frame element 7.
func Flatten(outer, inner string, limit int) ([]Node, error) {
	read := func(text string) (*document, error) {
		d := &document{}
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
	root.children = map[proto.DOMBackendNodeID]*document{7: child}
	var nodes []Node
	for _, e := range flatten(root, limit) {
		nodes = append(nodes, e.Node)
	}
	return nodes, nil
}
