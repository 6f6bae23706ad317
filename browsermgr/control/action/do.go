package action

import (
	"context"
	"time"

	"clank/browsermgr/control/desk"
	"clank/browsermgr/emulate"
	"clank/browsermgr/page"
	"clank/browsermgr/trace"
	"clank/browsermgr/transfer"
)

// do does an action in the tab, noted in a trace if one runs, with the downloads that it started.
func do(ctx context.Context, h *desk.Held, a page.Action) (res page.Result, got []transfer.Download, err error) {
	end := noted(ctx, h, string(a.Kind), a)
	defer func() { end(err) }()
	if state, ok := desk.Lookup[*emulate.State](h); ok && a.Kind == page.KindResize {
		return resize(ctx, h, state, a)
	}
	if files, ok := desk.Lookup[*transfer.Desk](h); ok {
		return files.Act(ctx, h.Tab, a)
	}
	res, err = h.Tab.Act(ctx, a)
	return res, nil, err
}

// resize changes the viewport alone: a device that the tab is made to look like keeps its other properties.
func resize(ctx context.Context, h *desk.Held, s *emulate.State, a page.Action) (page.Result, []transfer.Download, error) {
	err := h.Tab.Exclusive(ctx, a.Limit(), func(ctx context.Context) error {
		if err := s.Viewport(ctx, h.Tab, a.Width, a.Height); err != nil {
			return err
		}
		_, err := h.Tab.Main().Quiet(ctx, true)
		return err
	})
	return page.Result{URL: h.Tab.URL()}, nil, err
}

// Navigate takes the tab to an address within the limit, noted in a trace if one runs, with the downloads that it started.
func Navigate(ctx context.Context, h *desk.Held, url string, limit time.Duration) (res page.Result, got []transfer.Download, err error) {
	end := noted(ctx, h, "navigate", map[string]string{"url": url})
	defer func() { end(err) }()
	res, err = h.Use.Navigate(h.Tab, url, func() (page.Result, error) {
		files, ok := desk.Lookup[*transfer.Desk](h)
		if !ok {
			return h.Tab.NavigateWithin(ctx, url, limit)
		}
		var err error
		res, got, err = files.Navigate(ctx, h.Tab, url, limit)
		return res, err
	})
	return res, got, err
}

func noted(ctx context.Context, h *desk.Held, action string, params any) func(error) {
	tracer, ok := desk.Lookup[*trace.Tracer](h)
	if !ok {
		return func(error) {}
	}
	return tracer.Begin(ctx, h.Tab, action, params)
}
