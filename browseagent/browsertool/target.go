package browsertool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Target is a machine or a sandbox that has browsers.
type Target struct {
	// ID is unique among nodes; Name is for people. The host and the sandbox need neither.
	ID, Name string

	API ControlAPI

	// Media are the directories on this machine from which the target's files may be read: the control API's own, or
	// those to which a node's files are copied.
	Media []string

	// Slack is how much longer to wait than the control API needs, for transport: NodeSlack for nodes.
	Slack time.Duration
}

// Targets are the targets available to calls.
type Targets struct {
	Host             *Target // nil if this machine has no browsers
	Sandbox          *Target // nil without a sandbox
	AllowHostControl bool    // false refuses the host

	// Nodes lists the connected nodes with browsers; may be nil. NodeMode is "auto" (also ""), "manual" or "off". In
	// mode auto, the only node, or the one that Node names, is the default; in mode manual a call must ask for a
	// node.
	Nodes    func(ctx context.Context) ([]Target, error)
	NodeMode string
	Node     string
}

// The modes of [Targets.NodeMode].
const (
	NodeAuto   = "auto"
	NodeManual = "manual"
	NodeOff    = "off"
)

// Pick chooses the target of a call. place is "host", "sandbox", "node" or "", and node the id or name of a node or
// "". The error is for the model.
func (t *Targets) Pick(ctx context.Context, place, node string) (*Target, error) {
	if node != "" && place != "" && place != "node" {
		return nil, fmt.Errorf("node=%q goes with target=\"node\" only, not with target=%q", node, place)
	}
	switch place {
	case "host":
		return t.host()
	case "sandbox":
		if t.Sandbox == nil {
			return nil, errors.New(`there is no sandbox browser here; leave target out, or use target="host"`)
		}
		return t.Sandbox, nil
	case "node", "":
	default:
		return nil, errors.New(`target must be "host", "sandbox" or "node"`)
	}
	asked := place == "node" || node != ""
	if !asked && t.Sandbox != nil {
		return t.Sandbox, nil
	}
	found, err := t.node(ctx, asked, node)
	if found != nil || err != nil {
		return found, err
	}
	return t.host()
}

func (t *Targets) host() (*Target, error) {
	switch {
	case !t.AllowHostControl:
		return nil, errors.New("the browser of this machine may not be used from here; an administrator can allow it " +
			"(allowHostControl)")
	case t.Host == nil:
		return nil, errors.New("this machine has no browser service")
	}
	return t.Host, nil
}

// node chooses a node; nil if none was requested and none is the default.
func (t *Targets) node(ctx context.Context, asked bool, name string) (*Target, error) {
	mode := cmp.Or(t.NodeMode, NodeAuto)
	switch {
	case mode == NodeOff && asked:
		return nil, errors.New("browsers of nodes are switched off here")
	case mode == NodeOff, mode == NodeManual && !asked:
		return nil, nil
	}
	var nodes []Target
	if t.Nodes != nil {
		var err error
		if nodes, err = t.Nodes(ctx); err != nil && (asked || t.Node != "") {
			return nil, fmt.Errorf("list the nodes: %w", err)
		}
	}
	name = cmp.Or(name, t.Node)
	switch {
	case len(nodes) == 0 && (asked || t.Node != ""):
		return nil, errors.New("no node with a browser is connected")
	case len(nodes) == 0:
		return nil, nil
	case name != "":
		return findNode(nodes, name)
	case len(nodes) == 1:
		return &nodes[0], nil
	case asked:
		return nil, fmt.Errorf("several nodes have browsers; name one with node: %s", nodeList(nodes))
	}
	return nil, nil
}

// findNode finds a node by id, or else by name.
func findNode(nodes []Target, name string) (*Target, error) {
	if i := slices.IndexFunc(nodes, func(n Target) bool { return n.ID == name }); i >= 0 {
		return &nodes[i], nil
	}
	var called []*Target
	for i := range nodes {
		if strings.EqualFold(nodes[i].Name, name) {
			called = append(called, &nodes[i])
		}
	}
	switch len(called) {
	case 0:
		return nil, fmt.Errorf("there is no node %q with a browser; there is: %s", name, nodeList(nodes))
	case 1:
		return called[0], nil
	}
	return nil, fmt.Errorf("several nodes are called %q; name one by its id: %s", name, nodeList(nodes))
}

// nodeList lists nodes for the model.
func nodeList(nodes []Target) string {
	var names []string
	for _, n := range nodes {
		s := n.ID
		if n.Name != "" && n.Name != n.ID {
			s += " (" + n.Name + ")"
		}
		names = append(names, s)
	}
	return strings.Join(names, ", ")
}
