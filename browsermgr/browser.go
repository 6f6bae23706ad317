package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/chrome"
	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/screenshot"
	"clank/browsermgr/profile"
)

// browser is a running browser and the connection to it.
type browser struct {
	manager        *Manager
	resolved       profile.Resolved
	process        *chrome.Process // nil if we did not start it
	executable     chrome.Executable
	conn           *page.Browser
	observers      []page.Observer
	casts          *screenshot.Screencasts // among observers
	guards         []page.Observer         // see Manager.Gate
	proxy          string                  // it was started with
	tabNumbers     *tabNumbers
	tabOwners      TabOwners               // the tabs opened on request
	port           int                     // of its DevTools; 0 if unknown or there is none
	devTools       *profile.DevToolsServer // nil if not wanted
	headless       bool
	headlessSource string
	graphics       atomic.Pointer[profile.Graphics] // nil until known

	saveOnce sync.Once // saves the pages once, before the browser ends

	uses *UseCounter   // ending once the browser is ended on purpose
	gone chan struct{} // closed when the browser and its connection have ended
	err  error         // why it is gone; set before gone is closed

	mu                sync.Mutex
	windowByTarget    map[string]*Window // by target id; also of the last closed tabs, for late popups
	closedTabs        []string           // their target ids, the newest last
	windows           map[*Window]struct{}
	unreportedRestart <-chan struct{} // of the network process, for the holders of leases
}

// newBrowser returns a browser that still has to be launched, attached or joined.
func newBrowser(p *profileState, pl profile.Resolved) *browser {
	b := &browser{
		manager: p.manager, resolved: pl, tabNumbers: &p.tabNumbers,
		uses: NewUseCounter(), gone: make(chan struct{}),
		windowByTarget: map[string]*Window{}, windows: map[*Window]struct{}{},
	}
	if p.manager.NewObservers != nil {
		b.observers = p.manager.NewObservers(p.name, b.isLocal())
	}
	b.casts = screenshot.NewScreencasts(p.manager.Logger)
	b.observers = append(b.observers, b.casts)
	switch gate := p.manager.Gate; {
	case gate == nil:
	case b.isLocal(): // its proxy checks requests
		b.guards = []page.Observer{newRefusalObserver(gate, p.name)}
	default:
		b.guards = []page.Observer{newRequestFilter(gate, p.name, p.manager.Logger)}
	}
	return b
}

// isLocal reports whether we start the browser, on this machine.
func (b *browser) isLocal() bool { return b.resolved.Mode == profile.ModeLaunched }

// connectOptions returns the options of its connection.
func (b *browser) connectOptions() page.Options {
	opts := page.Options{
		Options: cdp.Options{OnSent: b.manager.OnSent, Redact: b.manager.Redact},
		Logger:  b.manager.Logger, FirstTabNumber: b.tabNumbers.Next(), HiddenAreas: b.hiddenAreas,
		Observers: slices.Concat([]page.Observer{b.tabNumbers}, b.guards, b.observers),
		Started:   b.isLocal(), OnScreen: b.isLocal() && !b.headless, Joined: b.resolved.Mode == profile.ModeJoined,
	}
	if b.manager.Secrets != nil {
		opts.Holds = b.manager.Secrets.Holds
	}
	return opts
}

// hiddenAreas returns the areas to cover in pictures of a tab: vault secrets, and what people typed in its window.
func (b *browser) hiddenAreas(ctx context.Context, t *page.Tab) (areas []page.Area, err error) {
	if b.manager.Secrets != nil {
		if areas, err = b.manager.Secrets.HiddenAreas(ctx, t); err != nil {
			return nil, err
		}
	}
	w := b.windowOf(t)
	if w == nil || t.Held() { // the person typing sees it
		return areas, nil
	}
	typed, err := w.typed.fields.HiddenAreas(ctx, t)
	if areas == nil {
		return typed, err
	}
	return append(areas, typed...), err
}

// exited returns a channel that is closed when the browser's process has ended; nil if we did not start it.
func (b *browser) exited() <-chan struct{} {
	if b.process == nil {
		return nil
	}
	return b.process.Done()
}

func (b *browser) pid() int {
	if b.process == nil {
		return 0
	}
	return b.process.PID
}

// acquire begins an operation; it returns false if the browser is ending or has ended.
func (b *browser) acquire() bool {
	select {
	case <-b.conn.Done():
		return false
	case <-b.exited():
		return false
	default:
		return b.uses.Acquire()
	}
}

// release ends an operation.
func (b *browser) release() { b.uses.Release() }

func (b *browser) isGone() bool {
	select {
	case <-b.gone:
		return true
	default:
		return false
	}
}

// assignTab records the window of a tab.
func (b *browser) assignTab(w *Window, tab *page.Tab) {
	b.tabOwners.Add(tab.TargetID(), w.key)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.windowByTarget[tab.TargetID()] = w
	b.windows[w] = struct{}{}
}

// forgetWindow forgets the tabs of a closed window. Popups that its pages have just opened still find it.
func (b *browser) forgetWindow(w *Window) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.windows, w)
}

// maxClosedTabs is how many closed tabs of a browser are remembered with their windows and models.
const maxClosedTabs = 256

// tabClosed forgets whose tab it was, and all about the tab that closed longest ago if too many are remembered.
func (b *browser) tabClosed(target string) {
	b.tabOwners.Forget(target)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closedTabs = append(b.closedTabs, target); len(b.closedTabs) > maxClosedTabs {
		delete(b.windowByTarget, b.closedTabs[0])
		b.tabOwners.SetModel(b.closedTabs[0], "")
		b.closedTabs = b.closedTabs[1:]
	}
}

func (b *browser) windowOf(tab *page.Tab) *Window {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.windowByTarget[tab.TargetID()]
}

func (b *browser) windowCount() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.windows)
}

// windowList returns the windows that have tabs in this browser.
func (b *browser) windowList() []*Window {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.windows))
}

// hasWorkingWindows reports whether a window that is not resting has tabs in this browser.
func (b *browser) hasWorkingWindows() bool {
	return slices.ContainsFunc(b.windowList(), func(w *Window) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return !w.resting || w.takeover != nil
	})
}

// run follows the browser's tabs until the browser ends, and then cleans up. The Manager waits for it.
func (b *browser) run() {
	events, unsubscribe := b.conn.Events()
	idle, stopIdle := b.idleTicks()
	cleanup := b.resolved.Config.Cleanup.WithDefaults()
	sweep := time.Tick(cleanup.Interval)
	b.manager.wg.Go(b.readGraphics)
	if cleanup.FreezeAfter > 0 && b.isLocal() && b.headless {
		b.manager.wg.Go(func() { b.freezeUnused(cleanup.FreezeAfter) })
	}
	ended := false
	for !ended {
		select {
		case ev, ok := <-events:
			if !ok {
				ended = true
				break
			}
			b.handleEvent(ev)
		case <-idle:
			if !b.hasUnownedPages() && b.uses.IsIdle(b.manager.IdleAfter) && !b.losesPages() &&
				b.uses.TryEnd(b.manager.IdleAfter) {
				b.manager.Logger.Info("stopping idle browser", "pid", b.pid())
			}
		case <-sweep:
			b.closeStaleTabs(cleanup)
		case <-b.uses.Ending():
			ended = true
		case <-b.exited():
			ended = true
		}
	}
	stopIdle()
	unsubscribe()
	b.shutDown()
}

// readGraphics asks the browser once. If that fails, nothing is recorded.
func (b *browser) readGraphics() {
	info, err := profile.ReadGraphics(context.Background(), b.conn.RootSession())
	if err != nil {
		b.manager.Logger.Debug("read browser's graphics", "error", err)
		return
	}
	b.graphics.Store(info)
}

// hasUnownedPages reports whether pages are open that belong to no window and that no cleanup rule closes.
func (b *browser) hasUnownedPages() bool {
	for _, tab := range b.conn.Tabs() {
		owner, noted := b.tabOwners.Owner(tab.TargetID())
		if noted && owner == "" && tab.URL() != "about:blank" {
			return true
		}
	}
	return false
}

// idleTicks ticks often enough to notice an idle browser soon after IdleAfter.
func (b *browser) idleTicks() (ticks <-chan time.Time, stop func()) {
	if b.manager.IdleAfter <= 0 || b.resolved.Mode != profile.ModeLaunched {
		return nil, func() {}
	}
	ticker := time.NewTicker(max(b.manager.IdleAfter/4, time.Millisecond))
	return ticker.C, ticker.Stop
}

// shutDown closes the connection, waits for the process to end and records why it ended.
func (b *browser) shutDown() {
	crashed := b.uses.TryEnd(0)
	if !crashed {
		b.saveOnce.Do(b.saveWindows)
	}
	if !crashed && b.resolved.Mode != profile.ModeLaunched {
		b.undoOverrides()
	}
	if !crashed && b.resolved.Mode == profile.ModeJoined {
		b.closeOwnTabs()
	}
	if b.devTools != nil {
		b.devTools.Close()
	}
	_ = b.conn.Close()
	if b.process != nil {
		b.endProcess(crashed)
	}
	b.closeObservers()
	b.stopProxy()
	if b.isLocal() {
		b.manager.packState(b.resolved.Name)
	}
	b.err = b.exitReason(crashed)
	if crashed {
		b.manager.Logger.Warn("browser is gone", "error", b.err, "pid", b.pid())
	}
	close(b.gone)
}

// undoOverridesTimeout bounds removing emulation and other overrides from a browser.
const undoOverridesTimeout = 5 * time.Second

func (b *browser) undoOverrides() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), undoOverridesTimeout,
		&fault.TimeLimitError{Limit: undoOverridesTimeout})
	defer cancel()
	if err := profile.UndoOverrides(ctx, b.observers); err != nil {
		b.manager.Logger.Warn("undo overrides in browser", "error", err)
	}
}

// stopProxy closes the proxy that the browser was to be started with, if any.
func (b *browser) stopProxy() {
	if b.proxy != "" {
		b.manager.Gate.StopListening(b.resolved.Name)
	}
}

func (b *browser) closeObservers() {
	if err := profile.CloseObservers(slices.Concat(b.observers, b.guards)); err != nil {
		b.manager.Logger.Warn("close browser's observers", "error", err)
	}
}

// exitGrace is how long a process whose connection was lost has to exit on its own.
const exitGrace = 5 * time.Second

func (b *browser) endProcess(crashed bool) {
	ctx, hurry := context.WithCancel(context.Background())
	defer hurry()
	switch {
	case errors.Is(b.conn.Err(), cdp.ErrSilent):
		hurry() // it would not react to a request to close
	case crashed:
		// The connection is lost, so the process has probably exited or is about to. Wait for its exit status.
		select {
		case <-b.process.Done():
		case <-time.After(exitGrace):
		}
	}
	// Without a connection a running process is useless. Manager.Close can stop it sooner with its own context.
	if err := b.process.Stop(ctx); err != nil {
		b.manager.Logger.Warn("stop browser", "error", err)
	}
}

func (b *browser) exitReason(crashed bool) error {
	if !crashed {
		return errStopped
	}
	switch silent := errors.Is(b.conn.Err(), cdp.ErrSilent); {
	case silent && b.process == nil:
		return fmt.Errorf("%w, and the connection to it was ended", cdp.ErrSilent)
	case silent:
		return fmt.Errorf("%w, and was ended", cdp.ErrSilent)
	case b.process == nil:
		return errors.New("the connection to the browser was lost")
	}
	if err := b.process.Err(); err != nil {
		return err
	}
	return errors.New("the connection to the browser was lost, and it was ended")
}

var errStopped = errors.New("the browser was stopped")

// stop ends the browser and returns when it and its connection have ended.
func (b *browser) stop(ctx context.Context) error {
	b.saveOnce.Do(b.saveWindows)
	b.uses.TryEnd(0)
	if b.process != nil {
		if err := b.process.Stop(ctx); err != nil {
			return err
		}
	}
	<-b.gone
	return nil
}

// handleEvent updates the windows after an event of a tab.
func (b *browser) handleEvent(ev page.Event) {
	switch ev.Kind {
	case page.TabOpened:
		opener := ev.Tab.Opener()
		if opener == nil {
			return
		}
		b.tabOwners.Inherit(ev.Tab.TargetID(), opener.TargetID())
		if w := b.windowOf(opener); w != nil {
			w.adoptTab(b, ev.Tab)
		}
	case page.TabClosed:
		w := b.windowOf(ev.Tab)
		b.tabClosed(ev.Tab.TargetID())
		if w != nil {
			w.removeTab(ev.Tab)
		}
	case page.TabChanged, page.TabCrashed: // the tab itself keeps its address and whether it crashed
	}
}

// explainLoss adds to the error of an operation whose browser has ended why it ended and what happens next.
func (b *browser) explainLoss(ctx context.Context, err error) error {
	select {
	case <-b.gone:
	case <-ctx.Done():
		return err
	case <-time.After(3 * time.Second):
		return err
	}
	select {
	case <-b.manager.closed:
		return ErrClosed
	default:
		return fmt.Errorf("%w; the page is reopened on the next step", b.err)
	}
}
