package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/browsermgr/arguments"
	"clank/browsermgr/page"
	"clank/browsermgr/tabset"
)

// command is an action on the window rather than on its current page, or one that the page package has a method of its
// own for.
type command struct {
	fields []string
	reads  bool // what else happened is told with the next action
	run    func(ctx context.Context, w *Window, u use, args arguments.Values) ([]string, error)
}

func commands() map[string]command {
	return map[string]command{
		"navigate":  {fields: []string{"url"}, run: navigate},
		"tabNew":    {fields: []string{"url"}, run: tabNew},
		"tabSelect": {fields: []string{"tab"}, run: tabSelect},
		"tabClose":  {fields: []string{"tab"}, run: tabClose},
		"dialog":    {fields: []string{"accept", "promptText"}, run: dialog},
		"links":     {reads: true, run: links},
	}
}

// Act does one action in the current tab. kind and the names in args are those of the control API's POST /act, and
// besides navigate{url}, tabNew{url}, tabSelect{tab}, tabClose{tab} (without tab: the current one),
// dialog{accept, promptText}, and links{}, whose notes are the visible links and nothing else; and the mouse and keyboard of
// somebody who sees the screen alone, in CSS pixels of the viewport (see [Window.Shot]):
//
//	clickCoords{x, y, button, clickCount, modifiers}, wheel{x, y, deltaX, deltaY, modifiers},
//	pointerMove{x, y, modifiers}, pointerDown{x, y, button, modifiers}, pointerUp{x, y, button, modifiers},
//	dragCoords{path, button, modifiers}, press{key, count, holdMs}, keyDown{key}, keyUp{key}, insertText{text, clear}
//
// What they hold down stays down for the actions of those kinds that follow in the tab, until it is let go, the tab shows
// another document or is closed (see [clank/browsermgr/act.Hands]). Numbers and booleans may
// be given as strings and the other way round. The notes say what else happened: a dialog or a tab that opened, an HTTP
// error, what evaluate returned.
//
// If the page had to be opened again because its browser had ended, an action on an element is not done: its ref is of
// the page that is gone.
func (w *Window) Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error) {
	cmd, isCommand := commands()[kind]
	fields := cmd.fields
	if !isCommand {
		if fields, err = arguments.Fields(kind, names()); err != nil {
			return nil, err
		}
	}
	vals, err := arguments.Read(kind, fields, args)
	if err != nil {
		return nil, err
	}
	var action page.Action
	if !isCommand {
		if action, err = vals.Action(kind); err != nil {
			return nil, err
		}
	}
	u, restored, err := w.ready(ctx)
	if err != nil {
		return nil, err
	}
	defer u.done()
	switch {
	case isCommand:
		notes, err = cmd.run(ctx, w, u, vals)
	case restored && onElement(action):
		err = errors.New("the page was opened again, and its elements are new ones: take a snapshot and use its refs")
	default:
		notes, err = w.act(ctx, u, action)
	}
	if !cmd.reads {
		notes = append(w.news(), notes...)
	}
	return notes, w.explain(ctx, u.browser, err)
}

func (w *Window) act(ctx context.Context, u use, action page.Action) ([]string, error) {
	var why error
	notes, err := w.watched(ctx, u.tab, func() (page.Result, error) {
		since := time.Now()
		res, err := u.tab.Act(ctx, action)
		for _, tab := range res.Opened {
			w.adopt(u.browser, tab) // a popup of a closed window is closed whatever becomes of the action
		}
		if res.Navigated {
			if why = u.browser.unreached(u.tab, "", since, res, err); why != nil {
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

// byHand are the kinds that mean whatever is at a point or has the focus.
var byHand = []page.Kind{
	page.KindClickCoords, page.KindDragCoords, page.KindPress, page.KindPointerMove, page.KindPointerDown, page.KindPointerUp,
	page.KindWheel, page.KindKeyDown, page.KindKeyUp, page.KindInsertText,
}

// onElement reports whether an action is aimed at something that a former look at the page has shown.
func onElement(a page.Action) bool {
	return a.Ref != "" || a.StartRef != "" || len(a.Fields) > 0 ||
		slices.Contains(byHand, a.Kind)
}

func navigate(ctx context.Context, w *Window, u use, args arguments.Values) ([]string, error) {
	return w.visit(ctx, u.browser, u.tab, args.Text("url"))
}

// visit takes a tab to an address.
func (w *Window) visit(ctx context.Context, b *browser, tab *page.Tab, url string) ([]string, error) {
	return w.watched(ctx, tab, func() (page.Result, error) {
		return b.navigate(tab, url, func() (page.Result, error) { return tab.Navigate(ctx, url) })
	})
}

func tabNew(ctx context.Context, w *Window, u use, args arguments.Values) ([]string, error) {
	url := args.Text("url")
	if url != "" {
		if _, err := page.Address(url); err != nil {
			return nil, err
		}
	}
	tab, err := w.open(ctx, u.browser)
	if err != nil {
		return nil, err
	}
	notes := []string{"opened tab " + tab.ID() + ", which is the current one"}
	if url == "" {
		return notes, nil
	}
	more, err := w.visit(ctx, u.browser, tab, url)
	return append(notes, more...), err
}

func tabSelect(ctx context.Context, w *Window, _ use, args arguments.Values) ([]string, error) {
	tab, err := w.find(args.Text("tab"))
	if err != nil {
		return nil, err
	}
	if err := tab.Activate(ctx); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.tabs.Visit(tab)
	w.mu.Unlock()
	return []string{"the current tab is " + tabset.Line(tab)}, nil
}

// tabClose closes a tab. A window always has one: the last is followed by an empty one.
func tabClose(ctx context.Context, w *Window, u use, args arguments.Values) ([]string, error) {
	tab := u.tab
	if id := args.Text("tab"); id != "" {
		var err error
		if tab, err = w.find(id); err != nil {
			return nil, err
		}
	}
	var notes []string
	if w.only(tab) {
		if _, err := w.open(ctx, u.browser); err != nil {
			return nil, err
		}
		notes = []string{"it was the last tab: an empty one took its place"}
	}
	if err := tab.Close(ctx); err != nil {
		return notes, err
	}
	w.drop(tab)
	return notes, nil
}

func dialog(ctx context.Context, _ *Window, u use, args arguments.Values) ([]string, error) {
	accept := args.Truth("accept")
	if err := u.tab.AnswerDialog(ctx, accept, args.Text("promptText")); err != nil {
		return nil, err
	}
	if accept {
		return []string{"the dialog was accepted"}, nil
	}
	return []string{"the dialog was dismissed"}, nil
}

// find returns a tab of this window by its id.
func (w *Window) find(id string) (*page.Tab, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.Find(id)
}

func (w *Window) only(tab *page.Tab) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.Only(tab)
}

// news is what happened since the last action.
func (w *Window) news() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tabs.News()
}

// explain makes the failure of an operation one that a person can act upon.
func (w *Window) explain(ctx context.Context, b *browser, err error) error {
	switch {
	case errors.Is(err, page.ErrBrowserGone):
		return b.lost(ctx, err)
	case errors.Is(err, page.ErrTabCrashed):
		return fmt.Errorf("%w; the page is reopened on the next step", errPageCrashed)
	default:
		return err
	}
}

var errPageCrashed = errors.New("the page crashed")
