package browsermgr

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page"
	"clank/browsermgr/page/files"
	"clank/browsermgr/page/frame"
	"clank/cancel"

	"github.com/go-rod/rod/lib/proto"
)

//go:embed parked.js
var parkedScript string

// Time limits for saving a page, for restoring one, for the fields of one of its frames while the page loads, and for
// frames and fields to appear once it has loaded.
const (
	pageSaveLimit    = 5 * time.Second
	pageRestoreLimit = 15 * time.Second
	frameLimit       = 8 * time.Second
	fieldLimit       = 2 * time.Second
)

// maxParkedPage bounds what is kept of a page, in bytes.
const maxParkedPage = 1 << 20

// parkedPage is the saved state of a closed page, from which it is restored. It is kept in memory only.
type parkedPage struct {
	url     string
	history []historyEntry
	at      int           // index in history of the entry shown
	frames  []parkedFrame // the main frame first
}

// parkedFrame is what parked.js reads from a document and the same-process documents in it.
type parkedFrame struct {
	URL      string            `json:"url"`
	Fields   []json.RawMessage `json:"fields"`
	Scrolled []json.RawMessage `json:"scrolled"`
	Focus    json.RawMessage   `json:"focus,omitempty"` // where the main frame or one in it has the focus
	Storage  map[string]string `json:"storage"`
	State    *string           `json:"state"` // history.state, as JSON
	Unsaved  []string          `json:"unsaved"`
}

func (p *parkedPage) size() int {
	n := len(p.url)
	for _, e := range p.history {
		n += len(e.url) + len(e.title)
	}
	for _, f := range p.frames {
		n += len(f.URL) + len(f.Focus)
		if f.State != nil {
			n += len(*f.State)
		}
		for _, part := range slices.Concat(f.Fields, f.Scrolled) {
			n += len(part)
		}
		for key, value := range f.Storage {
			n += len(key) + len(value)
		}
	}
	return n
}

// savePage reads the state of a page, without resuming it if it is frozen. unsaved names what would be lost if the page
// were closed; "" for nothing.
func (w *Window) savePage(ctx context.Context, b *browser, tab *page.Tab) (p parkedPage, unsaved string) {
	ctx, cancel := context.WithTimeout(ctx, pageSaveLimit)
	defer cancel()
	p = parkedPage{url: tab.URL()}
	if tab.Err() != nil || p.url == "" || p.url == "about:blank" {
		return p, ""
	}
	var posted bool
	var err error
	if p.history, p.at, posted, err = readHistory(ctx, tab); err != nil {
		return parkedPage{url: p.url}, "it does not answer"
	}
	if posted {
		unsaved = "a form led to it"
	}
	if transfers := b.transfers(); transfers != nil && transfers.Downloading(tab) {
		unsaved = cmp.Or(unsaved, "it downloads")
	}
	if len(tab.Dialogs().Pending) > 0 { // its scripts are blocked
		return p, "it shows a dialog"
	}
	for _, f := range tab.Frames() {
		got, err := frame.CallFunction[parkedFrame](ctx, f, parkedScript, nil, map[string]any{})
		if err != nil && f != tab.MainFrame() {
			continue // the frame is gone
		}
		if err != nil {
			return p, "it does not answer"
		}
		unsaved = cmp.Or(unsaved, strings.Join(got.Unsaved, ", "))
		p.frames = append(p.frames, got)
	}
	if secret, err := w.holdsSecret(ctx, b, tab); secret || err != nil {
		for i := range p.frames {
			p.frames[i].Fields = nil
		}
		unsaved = cmp.Or(unsaved, "it holds a secret")
	}
	if hasPeerConnection(ctx, tab) {
		unsaved = cmp.Or(unsaved, "it is in a call")
	}
	if p.size() > maxParkedPage {
		p.frames = nil
		unsaved = cmp.Or(unsaved, "it holds too much")
	}
	return p, unsaved
}

// holdsSecret reports whether the page holds something that the vault filled in or that a person typed during a
// takeover.
func (w *Window) holdsSecret(ctx context.Context, b *browser, tab *page.Tab) (bool, error) {
	if b.manager.Secrets != nil {
		if held, err := b.manager.Secrets.Holds(ctx, tab); held || err != nil {
			return held, err
		}
	}
	return w.typed.fields.Holds(ctx, tab)
}

// hasPeerConnection reports whether a script of the page has an open WebRTC connection.
func hasPeerConnection(ctx context.Context, tab *page.Tab) bool {
	const connected = `function () { return this.some((c) => ["connecting", "connected"].includes(c.connectionState)); }`
	for _, f := range tab.ProcessRoots() {
		const group = "clank-parked"
		defer f.Post(proto.RuntimeReleaseObjectGroup{ObjectGroup: group})
		kind, err := cdp.Ask[proto.RuntimeEvaluateResult](ctx, f.Session, proto.RuntimeEvaluate{
			Expression: "globalThis.RTCPeerConnection?.prototype", ObjectGroup: group, Silent: true,
		})
		if err != nil || kind.Result == nil || kind.Result.ObjectID == "" {
			continue
		}
		all, err := cdp.Ask[proto.RuntimeQueryObjectsResult](ctx, f.Session, proto.RuntimeQueryObjects{
			PrototypeObjectID: kind.Result.ObjectID, ObjectGroup: group,
		})
		if err != nil || all.Objects == nil {
			continue
		}
		var res frame.EvaluateResult[bool]
		err = f.Begin(proto.RuntimeCallFunctionOn{
			ObjectID: all.Objects.ObjectID, FunctionDeclaration: connected, ReturnByValue: true, Silent: true,
		}).Wait(ctx, &res)
		if err == nil && res.Result.Value {
			return true
		}
	}
	return false
}

// restorePage opens a parked page in a new tab, restores its state and reports what was restored; "" for an empty page.
func (w *Window) restorePage(ctx context.Context, b *browser, tab *page.Tab, p parkedPage) (reopened string) {
	if p.url == "" || p.url == "about:blank" {
		return ""
	}
	notes, missing, err := w.loadParked(ctx, b, tab, p)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tabs.AddNotes(notes...)
	if err != nil {
		return fmt.Sprintf("%s and could not be opened again: %v", pageClosed, err)
	}
	reopened = fmt.Sprintf("%s and was opened again at %s", pageClosed, p.url)
	switch {
	case p.frames == nil:
		return reopened + "; what was typed there is lost"
	case len(missing) > 0:
		return reopened + "; what was typed there is back, except in " + strings.Join(missing, ", ")
	}
	return reopened + " as it was"
}

// loadParked loads a parked page in a new tab and restores its history, storage and fields. missing names the fields
// that are gone or did not accept their former value.
func (w *Window) loadParked(ctx context.Context, b *browser, tab *page.Tab,
	p parkedPage,
) (notes, missing []string, err error) {
	if len(p.history) == 0 {
		notes, err = w.navigate(ctx, b, tab, p.url)
		return notes, nil, err
	}
	s, err := openSession(ctx, tab)
	opened := err == nil
	if opened {
		defer s.branch.Close()
		err = s.prepare(ctx, p)
	}
	if err != nil { // an empty page made by prepare may be shown at the page's address
		b.manager.Logger.Debug("reopening a page without its history", "tab", tab.ID(), "error", err)
		if opened {
			_ = s.intercept(ctx, nil) // or the session has ended
		}
		if _, err := tab.Navigate(ctx, "about:blank"); err != nil {
			return nil, nil, err
		}
		notes, err = w.navigate(ctx, b, tab, p.url)
	} else {
		notes, err = w.withRefusals(ctx, tab, func() (res page.Result, got []files.Download, err error) {
			res, err = b.navigate(tab, p.url, func() (page.Result, error) { return tab.Reload(ctx) })
			return res, nil, err
		})
	}
	if err != nil || !opened {
		return notes, nil, err
	}
	err = tab.RunExclusive(ctx, pageRestoreLimit, func(ctx context.Context) error {
		// A field's change handler must not submit its form now.
		err := s.intercept(ctx, func(requestID, frameID string) (string, any) {
			if frameID == tab.TargetID() {
				return "Fetch.failRequest", map[string]string{"requestId": requestID, "errorReason": "Aborted"}
			}
			return "Fetch.continueRequest", map[string]string{"requestId": requestID}
		})
		missing = restoreFrames(ctx, tab, p.frames)
		// Requests are intercepted until those of the change handlers have failed.
		return cmp.Or(err, tab.AwaitRequested(ctx, fieldLimit))
	})
	if err != nil {
		b.manager.Logger.Debug("page not fully restored", "tab", tab.ID(), "error", err)
	}
	return notes, missing, nil
}

// prepare makes the tab's history and what the page reads while it loads: session storage and history.state.
func (s *pageSession) prepare(ctx context.Context, p parkedPage) error {
	ctx, cancel := context.WithTimeout(ctx, pageRestoreLimit)
	defer cancel()
	if err := s.makeHistory(ctx, p.history, p.at); err != nil {
		return err
	}
	if len(p.frames) > 0 {
		set := "(({ storage, state }) => { Object.assign(sessionStorage, storage); if (state) " +
			"history.replaceState(JSON.parse(state), ''); })"
		main, err := json.Marshal(p.frames[0])
		if err != nil {
			return err
		}
		if err := s.do(ctx, proto.RuntimeEvaluate{Expression: set + "(" + string(main) + ")"}, nil); err != nil {
			return err
		}
	}
	return s.intercept(ctx, nil)
}

// restoreFrames restores fields and scroll positions of a page's frames. It waits for frames and fields to appear, for
// fieldLimit after the page has loaded.
func restoreFrames(ctx context.Context, tab *page.Tab, saved []parkedFrame) (missing []string) {
	until := time.Now().Add(fieldLimit)
	used := map[*frame.Frame]bool{}
	for i, want := range saved {
		if len(want.Fields)+len(want.Scrolled)+len(want.Focus) == 0 {
			continue
		}
		found := false
		for !found {
			for _, f := range tab.Frames() {
				if used[f] || (i == 0) != (f == tab.MainFrame()) {
					continue
				}
				got, err := frame.CallFunction[struct {
					Elsewhere bool
					Missing   []string
				}](ctx, f, parkedScript, nil, map[string]any{
					"saved": want, "limit": fieldLimit.Milliseconds(), "longest": frameLimit.Milliseconds(),
				})
				if found = err == nil && !got.Elsewhere; found {
					used[f] = true
					for _, name := range got.Missing {
						missing = append(missing, strconv.Quote(name))
					}
					break
				}
			}
			if !tab.Loaded() {
				until = time.Now().Add(fieldLimit)
			}
			if found || time.Now().After(until) || !pause(ctx) {
				break
			}
		}
		if !found && len(want.Fields) > 0 {
			missing = append(missing, namesOf(want.Fields)...)
		}
	}
	return missing
}

// pause waits briefly where Chromium has no event to wait for. It returns false if ctx has ended.
func pause(ctx context.Context) bool { return cancel.Sleep(ctx, 20*time.Millisecond) == nil }

func namesOf(fields []json.RawMessage) (names []string) {
	for _, data := range fields {
		var f struct{ Name string }
		if json.Unmarshal(data, &f) == nil {
			names = append(names, strconv.Quote(f.Name))
		}
	}
	return names
}
