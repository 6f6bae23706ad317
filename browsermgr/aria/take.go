package aria

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

const (
	defaultLimit = 500
	maxLimit     = 2000
	// frameLimit bounds what an embedded frame may take: one that does not answer must not take the page with it.
	frameLimit = 5 * time.Second
)

// errFrameChanged is matched on, see capture.ErrFrameChanged.
var errFrameChanged = errors.New("Frame changed during the capture; retry in a moment") //nolint:staticcheck // matched on

// place is a document, and the frame that it belongs to.
type place struct {
	frame *frame.Frame
	id    proto.PageFrameID
	owner proto.PageFrameID // the document that embeds it; "" for the main one
}

// Take returns at most limit nodes in pre-order, frames below their elements, and makes the refs known. limit 0 means 500;
// it is held between 1 and 2,000.
func Take(ctx context.Context, frames []*frame.Frame, refs *frame.Registry, limit int) ([]Node, error) {
	if limit == 0 {
		limit = defaultLimit
	}
	number := refs.Begin()
	root, err := gather(ctx, frames)
	if err != nil {
		return nil, changed(err)
	}
	entries := flatten(root, min(max(limit, 1), maxLimit))
	bounds, err := bind(ctx, entries)
	if err != nil {
		return nil, changed(err)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	refs.Publish(number, frame.Publication{Mode: frame.Tree, Bounds: bounds})
	nodes := make([]Node, len(entries))
	for i, e := range entries {
		nodes[i] = e.Node
		if bounds[i].Secret {
			nodes[i].mask()
		}
	}
	return nodes, nil
}

func changed(err error) error {
	if cdp.DocumentGone(err) {
		return errFrameChanged
	}
	return err
}

// gather asks for the trees of all documents at once and joins them.
func gather(ctx context.Context, frames []*frame.Frame) (*document, error) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	byID := map[proto.PageFrameID]*document{}
	var failed error
	known := map[proto.PageFrameID]*frame.Frame{}
	for _, f := range frames {
		known[f.ID()] = f
	}
	for i, f := range frames {
		if i > 0 && f.Session == f.Parent().Session {
			continue // the process tells of it
		}
		wg.Go(func() {
			ctx, cancel := context.WithCancel(ctx)
			if i > 0 {
				ctx, cancel = context.WithTimeout(ctx, frameLimit)
			}
			defer cancel()
			docs, err := documents(ctx, f, known)
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
		parent := byID[d.owner]
		if parent == nil {
			continue
		}
		node, err := cdp.Ask[proto.DOMGetFrameOwnerResult](ctx, parent.frame.Session, proto.DOMGetFrameOwner{FrameID: d.id})
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			continue // the frame left meanwhile
		}
		parent.children[node.BackendNodeID] = d
	}
	root := byID[frames[0].ID()]
	if root == nil {
		return nil, cdp.ErrDocumentGone
	}
	return root, nil
}

// documents are those of one process. A document that is gone when it is asked is left out, unless it is the root. known are the
// frames of the tab by their ids.
func documents(ctx context.Context, f *frame.Frame, known map[proto.PageFrameID]*frame.Frame) ([]*document, error) {
	tree, err := cdp.Ask[proto.PageGetFrameTreeResult](ctx, f.Session, proto.PageGetFrameTree{})
	if err != nil {
		return nil, err
	}
	var docs []*document
	var add func(t *proto.PageFrameTree, at *frame.Frame)
	add = func(t *proto.PageFrameTree, at *frame.Frame) {
		if f := known[t.Frame.ID]; f != nil {
			at = f
		}
		docs = append(docs, &document{
			place: place{frame: at, id: t.Frame.ID, owner: t.Frame.ParentID}, children: map[proto.DOMBackendNodeID]*document{},
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

// bind finds the elements of the nodes, document by document.
func bind(ctx context.Context, entries []entry) ([]frame.Bound, error) {
	bounds := make([]frame.Bound, len(entries))
	at := map[*document][]int{}
	var order []*document
	for i, e := range entries {
		if len(at[e.of]) == 0 {
			order = append(order, e.of)
		}
		at[e.of] = append(at[e.of], i)
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
			continue // a frame that left meanwhile: its nodes name no element
		}
		for k, n := range at[d] {
			bounds[n] = bound[k]
		}
	}
	return bounds, nil
}
