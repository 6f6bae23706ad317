package control

import (
	"context"
	"time"

	"clank/browsermgr/emulate"
	"clank/browsermgr/page"
	"clank/browsermgr/trace"
	"clank/browsermgr/transfer"
)

// act does an action in the tab, noted in a trace if one runs, with the downloads that it started.
func (h *held) act(ctx context.Context, a page.Action) (res page.Result, got []transfer.Download, err error) {
	end := h.noted(ctx, string(a.Kind), a)
	defer func() { end(err) }()
	if state, ok := lookup[*emulate.State](h); ok && a.Kind == page.KindResize {
		return h.resize(ctx, state, a)
	}
	if files, ok := lookup[*transfer.Desk](h); ok {
		return files.Act(ctx, h.tab, a)
	}
	res, err = h.tab.Act(ctx, a)
	return res, nil, err
}

// resize changes the viewport alone: a device that the tab is made to look like keeps its other properties.
func (h *held) resize(ctx context.Context, s *emulate.State, a page.Action) (page.Result, []transfer.Download, error) {
	err := h.tab.Exclusive(ctx, a.Limit(), func(ctx context.Context) error {
		if err := s.Viewport(ctx, h.tab, a.Width, a.Height); err != nil {
			return err
		}
		_, err := h.tab.Main().Quiet(ctx, true)
		return err
	})
	return page.Result{URL: h.tab.URL()}, nil, err
}

// navigate takes the tab to an address, likewise.
func (h *held) navigate(ctx context.Context, url string, limit time.Duration) (res page.Result, got []transfer.Download, err error) {
	end := h.noted(ctx, "navigate", map[string]string{"url": url})
	defer func() { end(err) }()
	if files, ok := lookup[*transfer.Desk](h); ok {
		return files.Navigate(ctx, h.tab, url, limit)
	}
	res, err = h.tab.NavigateWithin(ctx, url, limit)
	return res, nil, err
}

func (h *held) noted(ctx context.Context, action string, params any) func(error) {
	tracer, ok := lookup[*trace.Tracer](h)
	if !ok {
		return func(error) {}
	}
	return tracer.Begin(ctx, h.tab, action, params)
}
