package control

import (
	"context"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/emulate"
	"clank/browsermgr/page/files"
	"clank/browsermgr/record"
)

// performAction does an action in the tab, noted in a trace if one runs, with the downloads that it started.
func performAction(ctx context.Context, h *heldTab, a page.Action) (res page.Result, got []files.Download, err error) {
	end := traceAction(ctx, h, string(a.Kind), a)
	defer func() { end(err) }()
	if state, ok := findObserver[*emulate.Emulator](h); ok && a.Kind == actiontable.KindResize {
		return resizeViewport(ctx, h, state, a)
	}
	if files, ok := findObserver[*files.Transfers](h); ok {
		return files.PerformAction(ctx, h.Tab, a)
	}
	res, err = h.Tab.Act(ctx, a)
	return res, nil, err
}

// resizeViewport changes the viewport alone: a device that the tab is made to look like keeps its other properties.
func resizeViewport(ctx context.Context, h *heldTab, s *emulate.Emulator, a page.Action) (page.Result, []files.Download, error) {
	err := h.Tab.RunExclusive(ctx, a.Limit(), func(ctx context.Context) error {
		if err := s.SetViewport(ctx, h.Tab, a.Width, a.Height); err != nil {
			return err
		}
		_, err := h.Tab.MainFrame().AwaitQuiet(ctx, true)
		return err
	})
	return page.Result{URL: h.Tab.URL()}, nil, err
}

// navigateTab takes the tab to an address within the limit, noted in a trace if one runs, with the downloads that it started.
func navigateTab(ctx context.Context, h *heldTab, url string, limit time.Duration) (res page.Result, got []files.Download, err error) {
	end := traceAction(ctx, h, "navigate", map[string]string{"url": url})
	defer func() { end(err) }()
	res, err = h.Lease.Navigate(h.Tab, url, func() (page.Result, error) {
		files, ok := findObserver[*files.Transfers](h)
		if !ok {
			return h.Tab.NavigateWithin(ctx, url, limit)
		}
		var err error
		res, got, err = files.Navigate(ctx, h.Tab, url, limit)
		return res, err
	})
	return res, got, err
}

func traceAction(ctx context.Context, h *heldTab, action string, params any) func(error) {
	tracer, ok := findObserver[*record.Tracer](h)
	if !ok {
		return func(error) {}
	}
	return tracer.BeginAction(ctx, h.Tab, action, params)
}
