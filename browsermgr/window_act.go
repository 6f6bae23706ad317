package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/browsermgr/page"
	"clank/browsermgr/page/intent"
)

// windowCommand is an action on the window rather than on its current page, or one that the page package has a method of its
// own for.
type windowCommand struct {
	fields   []string
	readOnly bool // what else happened is told with the next action
	run      func(ctx context.Context, w *Window, u tabLease, args intent.Arguments) ([]string, error)
}

func windowCommands() map[string]windowCommand {
	return map[string]windowCommand{
		"navigate":  {fields: []string{"url"}, run: runNavigate},
		"tabNew":    {fields: []string{"url"}, run: runTabNew},
		"tabSelect": {fields: []string{"tab"}, run: runTabSelect},
		"tabClose":  {fields: []string{"tab"}, run: runTabClose},
		"dialog":    {fields: []string{"accept", "promptText"}, run: runDialog},
		"links":     {readOnly: true, run: runLinks},
	}
}

// Act does one action in the current tab. kind and the names in args are those of the control API's POST /act, and
// besides navigate{url}, runTabNew{url}, runTabSelect{tab}, runTabClose{tab} (without tab: the current one),
// dialog{accept, promptText}, and links{}, whose notes are the visible links and nothing else; and the mouse and keyboard of
// somebody who sees the screen alone, in CSS pixels of the viewport (see [Window.ScreenshotWithSize]):
//
//	clickCoords{x, y, button, clickCount, modifiers}, wheel{x, y, deltaX, deltaY, modifiers},
//	pointerMove{x, y, modifiers}, pointerDown{x, y, button, modifiers}, pointerUp{x, y, button, modifiers},
//	dragCoords{path, button, modifiers}, press{key, count, holdMs}, keyDown{key}, keyUp{key}, insertText{text, clear}
//
// What they hold down stays down for the actions of those kinds that follow in the tab, until it is let go, the tab shows
// another document or is closed (see [clank/browsermgr/action.InputState]). Numbers and booleans may
// be given as strings and the other way round. The notes say what else happened: a dialog or a tab that opened, an HTTP
// error, what evaluate returned.
//
// If the page had to be opened again because its browser had ended, an action on an element is not done: its ref is of
// the page that is gone.
func (w *Window) Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error) {
	cmd, isCommand := windowCommands()[kind]
	fields := cmd.fields
	if !isCommand {
		if fields, err = intent.KindFields(kind, windowCommandKinds()); err != nil {
			return nil, err
		}
	}
	vals, err := intent.ParseArguments(kind, fields, args)
	if err != nil {
		return nil, err
	}
	var action page.Action
	if !isCommand {
		if action, err = vals.Action(kind); err != nil {
			return nil, err
		}
	}
	u, restored, err := w.acquireTab(ctx)
	if err != nil {
		return nil, err
	}
	defer u.release()
	switch {
	case isCommand:
		notes, err = cmd.run(ctx, w, u, vals)
	case restored && needsSeenPage(action):
		err = errors.New("the page was opened again, and its elements are new ones: take a snapshot and use its refs")
	default:
		notes, err = w.actOnPage(ctx, u, action)
	}
	if !cmd.readOnly {
		notes = append(w.takeNotes(), notes...)
	}
	return notes, w.explain(ctx, u.browser, err)
}

func (w *Window) actOnPage(ctx context.Context, u tabLease, action page.Action) ([]string, error) {
	var why error
	notes, err := w.withRefusals(ctx, u.tab, func() (page.Result, error) {
		since := time.Now()
		res, err := u.tab.Act(ctx, action)
		for _, tab := range res.Opened {
			w.adoptTab(u.browser, tab) // a popup of a closed window is closed whatever becomes of the action
		}
		if res.Navigated {
			if why = u.browser.explainUnreached(u.tab, "", since, res, err); why != nil {
				res.Status = 0 // of the proxy's answer
			}
		}
		return res, err
	})
	if why != nil && err == nil {
		notes = append(notes, "the page that this led to did not load: "+why.Error())
	}
	return notes, err
}

// pointerAndKeyKinds are the kinds that mean whatever is at a point or has the focus.
var pointerAndKeyKinds = []page.Kind{
	page.KindClickCoords, page.KindDragCoords, page.KindPress, page.KindPointerMove, page.KindPointerDown, page.KindPointerUp,
	page.KindWheel, page.KindKeyDown, page.KindKeyUp, page.KindInsertText,
}

// needsSeenPage reports whether an action is aimed at something that a former look at the page has shown.
func needsSeenPage(a page.Action) bool {
	return a.Ref != "" || a.StartRef != "" || len(a.Fields) > 0 ||
		slices.Contains(pointerAndKeyKinds, a.Kind)
}

func runNavigate(ctx context.Context, w *Window, u tabLease, args intent.Arguments) ([]string, error) {
	return w.navigate(ctx, u.browser, u.tab, args.Text("url"))
}

// navigate takes a tab to an address.
func (w *Window) navigate(ctx context.Context, b *browser, tab *page.Tab, url string) ([]string, error) {
	return w.withRefusals(ctx, tab, func() (page.Result, error) {
		return b.navigate(tab, url, func() (page.Result, error) { return tab.Navigate(ctx, url) })
	})
}

func runTabNew(ctx context.Context, w *Window, u tabLease, args intent.Arguments) ([]string, error) {
	url := args.Text("url")
	if url != "" {
		if _, err := page.ParseAddress(url); err != nil {
			return nil, err
		}
	}
	tab, err := w.openTab(ctx, u.browser)
	if err != nil {
		return nil, err
	}
	notes := []string{"opened tab " + tab.ID() + ", which is the current one"}
	if url == "" {
		return notes, nil
	}
	more, err := w.navigate(ctx, u.browser, tab, url)
	return append(notes, more...), err
}

func runTabSelect(ctx context.Context, w *Window, _ tabLease, args intent.Arguments) ([]string, error) {
	tab, err := w.findTab(args.Text("tab"))
	if err != nil {
		return nil, err
	}
	if err := tab.Activate(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.tabs.Select(tab)
	w.mu.Unlock()
	return []string{"the current tab is " + tabLine(tab)}, nil
}

// runTabClose closes a tab. A window always has one: the last is followed by an empty one.
func runTabClose(ctx context.Context, w *Window, u tabLease, args intent.Arguments) ([]string, error) {
	tab := u.tab
	if id := args.Text("tab"); id != "" {
		var err error
		if tab, err = w.findTab(id); err != nil {
			return nil, err
		}
	}
	var notes []string
	if w.isOnlyTab(tab) {
		if _, err := w.openTab(ctx, u.browser); err != nil {
			return nil, err
		}
		notes = []string{"it was the last tab: an empty one took its place"}
	}
	if err := tab.Close(ctx); err != nil {
		return notes, err
	}
	w.removeTab(tab)
	return notes, nil
}

func runDialog(ctx context.Context, _ *Window, u tabLease, args intent.Arguments) ([]string, error) {
	accept := args.Bool("accept")
	if err := u.tab.AnswerDialog(ctx, accept, args.Text("promptText")); err != nil {
		return nil, err
	}
	if accept {
		return []string{"the dialog was accepted"}, nil
	}
	return []string{"the dialog was dismissed"}, nil
}

// findTab returns a tab of this window by its id.
func (w *Window) findTab(id string) (*page.Tab, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.Find(id)
}

func (w *Window) isOnlyTab(tab *page.Tab) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.IsOnly(tab)
}

// takeNotes is what happened since the last action.
func (w *Window) takeNotes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.TakeNotes()
}

// explain makes the failure of an operation one that a person can act upon.
func (w *Window) explain(ctx context.Context, b *browser, err error) error {
	switch {
	case errors.Is(err, page.ErrBrowserGone):
		return b.explainLoss(ctx, err)
	case errors.Is(err, page.ErrTabCrashed):
		return fmt.Errorf("%w; the page is reopened on the next step", errPageCrashed)
	default:
		return err
	}
}

var errPageCrashed = errors.New("the page crashed")
