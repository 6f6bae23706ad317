package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

const (
	defaultTreeLimit = 500
	maxTreeLimit     = 2000
	// frameTreeLimit bounds reading a subframe: one that does not answer must not block the page.
	frameTreeLimit = 5 * time.Second
)

// Clients match on this text; see ErrFrameChanged.
var errTreeChanged = errors.New("Frame changed during the capture; retry in a moment")

// documentFrame is a document and the frame it belongs to.
type documentFrame struct {
	frame          *Frame
	id             proto.PageFrameID
	parentDocument proto.PageFrameID // the parent document; "" for the main one
}

// AccessibilityTree returns at most limit nodes in pre-order, frames below their elements, and publishes their refs.
// limit 0 means 500; it is clamped to 1 to 2,000.
func AccessibilityTree(ctx context.Context, frames []*Frame, refs *RefRegistry,
	limit int,
) ([]AccessibilityNode, error) {
	limit = cmp.Or(limit, defaultTreeLimit)
	number := refs.BeginCapture()
	root, err := requestTrees(ctx, frames)
	if err != nil {
		return nil, explainTreeError(err)
	}
	entries := flattenTree(root, min(max(limit, 1), maxTreeLimit))
	bounds, err := bindNodes(ctx, entries)
	if err != nil {
		return nil, explainTreeError(err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	refs.Publish(number, RefSet{Mode: RefModeTree, Bounds: bounds})
	nodes := make([]AccessibilityNode, len(entries))
	for i, e := range entries {
		nodes[i] = e.AccessibilityNode
		if bounds[i].Secret {
			nodes[i].hideSecret()
		}
	}
	return nodes, nil
}

func explainTreeError(err error) error {
	if cdp.IsDocumentGone(err) {
		return errTreeChanged
	}
	return err
}

// requestTrees requests the trees of all documents concurrently and joins them.
func requestTrees(ctx context.Context, frames []*Frame) (*axDocument, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	byID := map[proto.PageFrameID]*axDocument{}
	var failed error
	turns := NewTurns()
	all, cancel := HalfOf(ctx)
	defer cancel()
	known := map[proto.PageFrameID]*Frame{}
	for _, f := range frames {
		known[f.ID()] = f
	}
	for i, f := range frames {
		if i > 0 && f.Session == f.Parent().Session {
			continue // its own process reports it
		}
		wg.Go(func() {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			if i > 0 {
				end, err := turns.Begin(all)
				if err != nil {
					return
				}
				defer end()
				ctx, cancel = context.WithTimeout(all, frameTreeLimit)
				defer cancel()
			}
			docs, err := requestDocuments(ctx, f, known)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && i == 0 {
				failed = err
			}
			for _, d := range docs {
				byID[d.id] = d
			}
		})
	}
	wg.Wait()
	if failed != nil {
		return nil, failed
	}
	for _, d := range byID {
		parent := byID[d.parentDocument]
		if parent == nil {
			continue
		}
		node, err := cdp.Ask[proto.DOMGetFrameOwnerResult](ctx, parent.frame.Session, proto.DOMGetFrameOwner{FrameID: d.id})
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			continue // the frame is gone
		}
		parent.children[node.BackendNodeID] = d
	}
	root := byID[frames[0].ID()]
	if root == nil {
		return nil, cdp.ErrDocumentGone
	}
	return root, nil
}

// requestDocuments reads the documents of one process. It omits documents that are gone, except the root. known holds
// the tab's frames by id.
func requestDocuments(ctx context.Context, f *Frame, known map[proto.PageFrameID]*Frame) ([]*axDocument, error) {
	tree, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
	if err != nil {
		return nil, err
	}
	var docs []*axDocument
	var add func(t *proto.PageFrameTree, at *Frame)
	add = func(t *proto.PageFrameTree, at *Frame) {
		if f := known[t.Frame.ID]; f != nil {
			at = f
		}
		docs = append(docs, &axDocument{
			documentFrame: documentFrame{frame: at, id: t.Frame.ID, parentDocument: t.Frame.ParentID},
			children:      map[proto.DOMBackendNodeID]*axDocument{},
		})
		for _, child := range t.ChildFrames {
			add(child, at)
		}
	}
	add(tree.FrameTree, f)
	calls := make([]*cdp.Call, len(docs))
	for i, d := range docs {
		calls[i] = f.BeginWithin(time.Minute, proto.AccessibilityGetFullAXTree{FrameID: d.id})
	}
	for i, call := range calls {
		var res struct {
			Nodes []axNode `json:"nodes"`
		}
		if err := call.Wait(ctx, &res); err != nil && (i == 0 || ctx.Err() != nil) {
			return docs[:i], fmt.Errorf("read accessibility tree: %w", err)
		}
		docs[i].nodes = res.Nodes
	}
	return docs, nil
}

// bindNodes finds the elements of the nodes, one document at a time.
func bindNodes(ctx context.Context, entries []axEntry) ([]BoundElement, error) {
	bounds := make([]BoundElement, len(entries))
	at := map[*axDocument][]int{}
	var order []*axDocument
	for i, e := range entries {
		if len(at[e.document]) == 0 {
			order = append(order, e.document)
		}
		at[e.document] = append(at[e.document], i)
	}
	for i, d := range order {
		ids := make([]proto.DOMBackendNodeID, len(at[d]))
		for k, n := range at[d] {
			ids[k] = proto.DOMBackendNodeID(entries[n].BackendDOMNodeID)
		}
		bound, err := d.frame.Bind(ctx, d.id, ids)
		if err != nil && (i == 0 || ctx.Err() != nil) {
			return nil, err
		}
		if err != nil {
			continue // the frame is gone, so that its nodes have no elements
		}
		for k, n := range at[d] {
			bounds[n] = bound[k]
		}
	}
	return bounds, nil
}
