package emulate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
	"github.com/ysmood/gson"
)

// Emulator emulates devices, locations and networks in the tabs of one browser connection. Offline, headers,
// credentials and geolocation apply to the whole browser context of the tab they are set for, the other settings to
// that tab only. It is safe for concurrent use. Make one with [New] and pass it to page.Connect as an observer.
type Emulator struct {
	// RequestsIntercepted reports that another observer intercepts every request (CDP domain Fetch) and continues it:
	// the Emulator then only answers challenges. Set it before the first connection.
	RequestsIntercepted bool

	log *slog.Logger

	mu       sync.Mutex
	contexts map[string]*contextSettings // by browser context
	tabs     map[*page.Tab]*tabSettings
	answered map[string]struct{} // requests whose challenge was answered with credentials
}

// contextSettings are the settings of a browser context.
type contextSettings struct {
	offline     bool
	headers     Headers
	credentials *Credentials
	geolocation *Geolocation
	grants      map[string][]string // permissions by origin; "" means any
	intercepted bool                // see [Emulator.RequestsIntercepted]
}

// tabSettings are the settings of a tab.
type tabSettings struct {
	scheme   string
	timezone string
	locale   string
	device   *Device
	agent    *userAgent // of the device
	size     *viewportSize
}

type viewportSize struct{ width, height int }

// New returns an Emulator without settings. logger receives events that no caller sees; nil discards them.
func New(logger *slog.Logger) *Emulator {
	logger = cmp.Or(logger, slog.New(slog.DiscardHandler))
	return &Emulator{
		log: logger, contexts: map[string]*contextSettings{}, tabs: map[*page.Tab]*tabSettings{},
		answered: map[string]struct{}{},
	}
}

// Attach implements page.Observer.
func (s *Emulator) Attach(t *page.Tab, f *frame.Frame) []proto.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetClosed()
	w, o := s.contextSettingsOf(t.ContextID()), s.tabSettingsOf(t)
	reqs := append(w.requests(w, f.Parent() == nil), o.requests(o, f.Parent() == nil)...)
	if len(reqs) == 0 {
		return nil
	}
	// Send the requests while holding the lock, so that a later change cannot overtake them. The caller waits for the
	// returned request, and so for those before it.
	f.Post(reqs...)
	return []proto.Request{proto.PageEnable{}}
}

// AttachWorker implements page.WorkerObserver. A worker inherits the other settings from its page.
func (s *Emulator) AttachWorker(t *page.Tab, worker *frame.Frame) []proto.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.contextSettingsOf(t.ContextID())
	reqs := w.requests(w, false)
	worker.Post(reqs...)
	if len(reqs) == 0 {
		return nil
	}
	return []proto.Request{proto.NetworkEnable{}} // answered after those sent under the lock
}

// Event implements page.Observer.
func (s *Emulator) Event(t *page.Tab, f *frame.Frame, ev cdp.Event) {
	switch ev.Method {
	case "Fetch.authRequired":
		s.handleChallenge(t, f, ev)
	case "Fetch.requestPaused":
		s.continueRequest(t, f, ev)
	}
}

// contextSettingsOf returns the settings of a browser context, creating them if needed. The caller holds s.mu.
func (s *Emulator) contextSettingsOf(id string) *contextSettings {
	w := s.contexts[id]
	if w == nil {
		w = &contextSettings{intercepted: s.RequestsIntercepted, grants: map[string][]string{}}
		s.contexts[id] = w
	}
	return w
}

// tabSettingsOf returns the settings of a tab, creating them if needed. The caller holds s.mu.
func (s *Emulator) tabSettingsOf(t *page.Tab) *tabSettings {
	o := s.tabs[t]
	if o == nil {
		o = &tabSettings{}
		s.tabs[t] = o
	}
	return o
}

// forgetClosed drops closed tabs. The caller holds s.mu.
func (s *Emulator) forgetClosed() {
	for t := range s.tabs {
		select {
		case <-t.Done():
			delete(s.tabs, t)
		default:
		}
	}
}

const (
	// tabChangeLimit bounds a change in the requested tab.
	tabChangeLimit = 10 * time.Second
	// otherTabsLimit bounds waiting for other tabs of the context, so that a frozen one does not block the change. It
	// has received the change and applies it as soon as it can.
	otherTabsLimit = time.Second
)

// changeContext changes settings of the tab's context and sends those set in touched to all its tabs.
func (s *Emulator) changeContext(ctx context.Context, t *page.Tab, what string, set func(*contextSettings),
	touched *contextSettings,
) error {
	return s.sendChange(ctx, t, what, func(calls map[*page.Tab][]frameCall) {
		w := s.contextSettingsOf(t.ContextID())
		set(w)
		for other := range s.tabs {
			if other.ContextID() == t.ContextID() {
				calls[other] = beginRequests(other, func(main bool) []proto.Request { return w.requests(touched, main) })
			}
		}
	})
}

// changeTab changes settings of one tab and sends it those set in touched.
func (s *Emulator) changeTab(ctx context.Context, t *page.Tab, what string, set func(*tabSettings),
	touched *tabSettings,
) error {
	return s.sendChange(ctx, t, what, func(calls map[*page.Tab][]frameCall) {
		o := s.tabSettingsOf(t)
		set(o)
		calls[t] = beginRequests(t, func(main bool) []proto.Request { return o.requests(touched, main) })
	})
}

// frameCall is a pending request to a frame.
type frameCall struct {
	*cdp.Call
	main bool
}

// beginRequests sends requests to every frame of a tab.
func beginRequests(t *page.Tab, build func(main bool) []proto.Request) []frameCall {
	var calls []frameCall
	for _, f := range t.ProcessRoots() {
		main := f.Parent() == nil
		for _, req := range build(main) {
			calls = append(calls, frameCall{f.BeginWithin(tabChangeLimit, req), main})
		}
	}
	return calls
}

// sendChange sends a change under the lock, so that changes reach the frames in order, and waits until the tab has
// applied it.
func (s *Emulator) sendChange(ctx context.Context, t *page.Tab, what string,
	send func(map[*page.Tab][]frameCall),
) error {
	if err := t.Err(); err != nil {
		return fmt.Errorf("%s of tab %s: %w", what, t.ID(), err)
	}
	calls := map[*page.Tab][]frameCall{}
	s.mu.Lock()
	s.forgetClosed()
	s.tabSettingsOf(t)
	send(calls)
	s.mu.Unlock()

	err := t.RunConcurrently(ctx, tabChangeLimit, func(ctx context.Context) error {
		return s.awaitTab(ctx, t, what, calls[t])
	})
	delete(calls, t)
	s.awaitOthers(ctx, what, calls)
	if err != nil {
		return fmt.Errorf("%s of tab %s: %w", what, t.ID(), err)
	}
	return nil
}

// awaitTab waits for the answers of a tab. Only those of its main frame count: other frames may go away meanwhile, or
// share a process that has already applied the change. A page that shows a dialog answers once that is closed.
func (s *Emulator) awaitTab(ctx context.Context, t *page.Tab, what string, calls []frameCall) error {
	var first error
	for _, c := range calls {
		if len(t.Dialogs().Pending) > 0 {
			c.Abandon()
			continue
		}
		err := c.Wait(ctx, nil)
		switch {
		case err == nil:
		case c.main && first == nil:
			first = err
		case !cdp.IsDocumentGone(err):
			s.log.Debug("frame not set up", "tab", t.ID(), "what", what, "error", err)
		}
	}
	return first
}

// awaitOthers waits briefly for the other tabs of a context.
func (s *Emulator) awaitOthers(ctx context.Context, what string, calls map[*page.Tab][]frameCall) {
	ctx, cancel := context.WithTimeoutCause(ctx, otherTabsLimit, errors.New("it does not answer at present"))
	defer cancel()
	for t, list := range calls {
		if err := s.awaitTab(ctx, t, what, list); err != nil {
			s.log.Debug("tab did not confirm a setting", "tab", t.ID(), "what", what, "error", err)
		}
	}
}

// requests returns the requests that apply these settings to a frame, limited to those set in set.
func (w *contextSettings) requests(set *contextSettings, main bool) []proto.Request {
	var reqs []proto.Request
	if set.offline {
		reqs = append(reqs, networkConditions(w.offline))
	}
	if len(set.headers.Values) > 0 {
		everywhere := w.headers.Values
		if w.headers.Origin != "" {
			everywhere = nil
		}
		reqs = append(reqs, extraHeaders(everywhere))
	}
	switch {
	case set.credentials == nil && (set.headers.Origin == "" || w.intercepted):
	case w.credentials == nil && w.headers.Origin == "" && !w.intercepted:
		reqs = append(reqs, proto.FetchDisable{})
	default:
		reqs = append(reqs, interceptRequest(w.credentials != nil))
	}
	if main && set.geolocation != nil {
		reqs = append(reqs, w.geolocation.request())
	}
	return reqs
}

// requests returns the requests that apply these settings to a frame of the tab, limited to those set in set.
func (o *tabSettings) requests(set *tabSettings, main bool) []proto.Request {
	var reqs []proto.Request
	if set.scheme != "" {
		reqs = append(reqs, colorScheme(o.scheme))
	}
	if set.timezone != "" {
		reqs = append(reqs, proto.EmulationSetTimezoneOverride{TimezoneID: o.timezone})
	}
	if set.locale != "" {
		reqs = append(reqs, proto.EmulationSetLocaleOverride{Locale: o.locale})
	}
	if set.locale != "" || set.agent != nil {
		reqs = append(reqs, o.userAgentRequest())
	}
	if set.device != nil {
		reqs = append(reqs, o.touchRequest())
	}
	if main && (set.device != nil || set.size != nil) {
		reqs = append(reqs, o.metricsRequest())
	}
	return reqs
}

func networkConditions(offline bool) proto.Request {
	return proto.NetworkEmulateNetworkConditions{Offline: offline, DownloadThroughput: -1, UploadThroughput: -1}
}

func extraHeaders(headers map[string]string) proto.Request {
	values := proto.NetworkHeaders{}
	for name, value := range headers {
		values[name] = gson.New(value)
	}
	return proto.NetworkSetExtraHTTPHeaders{Headers: values}
}

// interceptRequest enables interception of every request, since Chromium reports challenges only for intercepted ones.
func interceptRequest(challenges bool) proto.Request {
	return proto.FetchEnable{Patterns: []*proto.FetchRequestPattern{{URLPattern: "*"}}, HandleAuthRequests: challenges}
}

func colorScheme(scheme string) proto.Request {
	if scheme == "" {
		return proto.EmulationSetEmulatedMedia{}
	}
	return proto.EmulationSetEmulatedMedia{
		Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}
}

// userAgentRequest sets the user agent of the device and the languages of the locale. If one is not set, the browser's
// own is kept.
func (o *tabSettings) userAgentRequest() proto.Request {
	req := proto.EmulationSetUserAgentOverride{AcceptLanguage: o.locale}
	if o.agent != nil {
		req.UserAgent, req.Platform, req.UserAgentMetadata = o.agent.text, o.agent.platform, o.agent.hints
	}
	return req
}

func (o *tabSettings) touchRequest() proto.Request {
	if o.device == nil || !o.device.Mobile() {
		return proto.EmulationSetTouchEmulationEnabled{}
	}
	points := 5
	return proto.EmulationSetTouchEmulationEnabled{Enabled: true, MaxTouchPoints: &points}
}

// metricsRequest sets the geometry of the device, with the tab's own viewport if one was set.
func (o *tabSettings) metricsRequest() proto.Request {
	if o.device == nil && o.size == nil {
		return proto.EmulationClearDeviceMetricsOverride{}
	}
	var req proto.EmulationSetDeviceMetricsOverride
	if d := o.device; d != nil {
		req = proto.EmulationSetDeviceMetricsOverride{
			Width: d.Width, Height: d.Height, DeviceScaleFactor: d.Scale, Mobile: d.Mobile(),
			ScreenWidth: &d.ScreenWidth, ScreenHeight: &d.ScreenHeight, ScreenOrientation: d.orientation(),
		}
	}
	if o.size != nil {
		req.Width, req.Height = o.size.width, o.size.height
	}
	return req
}

// ResetTab clears the settings of this tab: colour scheme, time zone, locale, device and viewport.
func (s *Emulator) ResetTab(ctx context.Context, t *page.Tab) error {
	var was tabSettings
	return s.changeTab(ctx, t, "clear emulation", func(o *tabSettings) { was, *o = *o, tabSettings{} }, &was)
}

// ResetAll clears all settings, in all tabs and contexts of the connection, so that a browser that we did not start is
// left as it was found. Cookies and storage are kept. Closed and crashed tabs are skipped.
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
			was, *w = *w, contextSettings{intercepted: s.RequestsIntercepted, grants: map[string][]string{}}
		}, &was))
	}
	return errors.Join(errs...)
}
