package control

import (
	"context"

	"clank/browsermgr/page"
	"clank/browsermgr/trace"
	"clank/browsermgr/transfer"
)

// act does an action in the tab, noted in a trace if one runs, with the downloads that it started.
func (h *held) act(ctx context.Context, a page.Action) (res page.Result, got []transfer.Download, err error) {
	end := h.noted(ctx, string(a.Kind), a)
	defer func() { end(err) }()
	if files, ok := lookup[*transfer.Desk](h); ok {
		return files.Act(ctx, h.tab, a)
	}
	res, err = h.tab.Act(ctx, a)
	return res, nil, err
}

// navigate takes the tab to an address, likewise.
func (h *held) navigate(ctx context.Context, url string) (res page.Result, got []transfer.Download, err error) {
	end := h.noted(ctx, "navigate", map[string]string{"url": url})
	defer func() { end(err) }()
	if files, ok := lookup[*transfer.Desk](h); ok {
		return files.Navigate(ctx, h.tab, url)
	}
	res, err = h.tab.Navigate(ctx, url)
	return res, nil, err
}

func (h *held) noted(ctx context.Context, action string, params any) func(error) {
	tracer, ok := lookup[*trace.Tracer](h)
	if !ok {
		return func(error) {}
	}
	return tracer.Begin(ctx, h.tab, action, params)
}
