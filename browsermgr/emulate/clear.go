package emulate

import (
	"context"
	"errors"

	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// Clear ends what was set for this tab alone: colour scheme, time zone, locale, device and viewport.
func (s *State) Clear(ctx context.Context, t *page.Tab) error {
	var was own
	return s.changeTab(ctx, t, "clear emulation", func(o *own) { was, *o = *o, own{} }, func(main bool) []proto.Request {
		return was.undo(main)
	})
}

// ClearAll ends everything that was set, in all tabs and contexts of the connection, so that a browser which is not ours
// stays behind as it was found. Cookies and storage are what the pages made of them and stay. Tabs that are closed or
// crashed are passed over.
func (s *State) ClearAll(ctx context.Context) error {
	s.mu.Lock()
	s.forgetClosed()
	one := map[string]*page.Tab{} // by context
	var tabs []*page.Tab
	for t := range s.tabs {
		if t.Err() == nil {
			one[t.ContextID()] = t
			tabs = append(tabs, t)
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, t := range tabs {
		errs = append(errs, s.Clear(ctx, t))
	}
	for id, t := range one {
		s.mu.Lock()
		granted := len(s.context(id).grants) > 0
		s.mu.Unlock()
		if granted {
			errs = append(errs, s.resetPermissions(ctx, t))
		}
		var was wide
		errs = append(errs, s.change(ctx, t, "clear emulation", func(w *wide) {
			was, *w = *w, wide{grants: map[string][]string{}}
		}, func(main bool) []proto.Request { return was.undo(main) }))
	}
	return errors.Join(errs...)
}

// undo takes back what requests asks.
func (o *own) undo(main bool) []proto.Request {
	var reqs []proto.Request
	if o.scheme != "" {
		reqs = append(reqs, colorScheme(""))
	}
	if o.timezone != "" {
		reqs = append(reqs, proto.EmulationSetTimezoneOverride{})
	}
	if o.locale != "" {
		reqs = append(reqs, proto.EmulationSetLocaleOverride{})
	}
	nothing := &own{}
	if o.locale != "" || o.agent != nil {
		reqs = append(reqs, nothing.identity())
	}
	if o.device != nil {
		reqs = append(reqs, nothing.touch())
	}
	if main && (o.device != nil || o.size != nil) {
		reqs = append(reqs, nothing.metrics())
	}
	return reqs
}

// undo takes back what requests asks.
func (w *wide) undo(main bool) []proto.Request {
	var reqs []proto.Request
	if w.offline {
		reqs = append(reqs, conditions(false))
	}
	if len(w.headers) > 0 {
		reqs = append(reqs, extraHeaders(nil))
	}
	if w.credentials != nil {
		reqs = append(reqs, proto.FetchDisable{})
	}
	if main && w.place != nil {
		reqs = append(reqs, proto.EmulationClearGeolocationOverride{})
	}
	return reqs
}
