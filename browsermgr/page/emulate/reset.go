package emulate

import (
	"context"
	"errors"

	"clank/browsermgr/page"

	"github.com/go-rod/rod/lib/proto"
)

// ResetTab ends what was set for this tab alone: colour scheme, time zone, locale, device and viewport.
func (s *Emulator) ResetTab(ctx context.Context, t *page.Tab) error {
	var was tabSettings
	return s.changeTab(ctx, t, "clear emulation", func(o *tabSettings) { was, *o = *o, tabSettings{} }, func(main bool) []proto.Request {
		return was.resetRequests(main)
	})
}

// ResetAll ends everything that was set, in all tabs and contexts of the connection, so that a browser which is not ours
// stays behind as it was found. Cookies and storage are what the pages made of them and stay. Tabs that are closed or
// crashed are passed over.
func (s *Emulator) ResetAll(ctx context.Context) error {
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
		errs = append(errs, s.ResetTab(ctx, t))
	}
	for id, t := range one {
		s.mu.Lock()
		granted := len(s.contextSettingsOf(id).grants) > 0
		s.mu.Unlock()
		if granted {
			errs = append(errs, s.resetPermissions(ctx, t))
		}
		var was contextSettings
		errs = append(errs, s.changeContext(ctx, t, "clear emulation", func(w *contextSettings) {
			was, *w = *w, contextSettings{grants: map[string][]string{}}
		}, func(main bool) []proto.Request { return was.resetRequests(main) }))
	}
	return errors.Join(errs...)
}

// resetRequests takes back what requests asks.
func (o *tabSettings) resetRequests(main bool) []proto.Request {
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
	nothing := &tabSettings{}
	if o.locale != "" || o.agent != nil {
		reqs = append(reqs, nothing.userAgentRequest())
	}
	if o.device != nil {
		reqs = append(reqs, nothing.touchRequest())
	}
	if main && (o.device != nil || o.size != nil) {
		reqs = append(reqs, nothing.metricsRequest())
	}
	return reqs
}

// resetRequests takes back what requests asks.
func (w *contextSettings) resetRequests(main bool) []proto.Request {
	var reqs []proto.Request
	if w.offline {
		reqs = append(reqs, networkConditions(false))
	}
	if len(w.headers) > 0 {
		reqs = append(reqs, extraHeaders(nil))
	}
	if w.credentials != nil {
		reqs = append(reqs, proto.FetchDisable{})
	}
	if main && w.geolocation != nil {
		reqs = append(reqs, proto.EmulationClearGeolocationOverride{})
	}
	return reqs
}
