package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/address"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/intent"
	"clank/internal/untrusted"
	"clank/sessions"
)

// windowCommand is an action on the window rather than on its current page, or one that the page package has a method
// of its own for.
type windowCommand struct {
	readOnly bool // what else happened is told with the next action
	run      func(ctx context.Context, w *Window, u tabLease, args actiontable.Values) ([]string, error)
}

var windowCommands = map[actiontable.Kind]windowCommand{
	actiontable.KindNavigate:  {run: runNavigate},
	actiontable.KindTabNew:    {run: runTabNew},
	actiontable.KindTabSelect: {run: runTabSelect},
	actiontable.KindTabClose:  {run: runTabClose},
	actiontable.KindDialog:    {run: runDialog},
	actiontable.KindUpload:    {run: runUpload},
	actiontable.KindLinks:     {readOnly: true, run: runLinks},
}

// Act does one action in the current tab. kind and args are those that [actiontable.Specs] has for a window: actions on
// the page as of the control API's POST /act, mouse and keyboard of somebody who sees the screen alone (see
// [Window.Shot]), and those of the window and its tabs. What the latter hold down stays down for the actions of those
// kinds that follow in the tab, until it is let go, the tab shows another document or is closed (see
// [action.InputState]). Numbers and booleans may be given as strings and the other way round. The notes say what else
// happened: a dialog or a tab that opened, an HTTP error, what evaluate returned. Those of links are the visible links
// and nothing else.
//
// If the page had to be opened again because its browser had ended, an action on an element is not done: its ref is of
// the page that is gone.
func (w *Window) Act(ctx context.Context, kind string, args map[string]any) (notes []string, err error) {
	spec, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
	if err != nil {
		return nil, err
	}
	a := spec.Action(values)
	if spec.OnPage() {
		if err := action.Validate(a); err != nil {
			return nil, err
		}
	}
	u, restored, err := w.acquireTab(ctx)
	if err != nil {
		return nil, err
	}
	defer u.release()
	cmd := windowCommands[spec.Kind]
	switch {
	case !spec.OnPage():
		notes, err = cmd.run(ctx, w, u, values)
	case restored && (spec.AtPoint || values.Text("ref") != "" || a.StartRef != "" || len(a.Fields) > 0):
		err = errors.New("the page was opened again, and its elements are new ones: take a snapshot and use its refs")
	default:
		notes, err = w.actOnPage(ctx, u, a)
	}
	if !cmd.readOnly {
		notes = append(w.takeNotes(), notes...)
	}
	return w.cleanAll(notes), w.explain(ctx, u.browser, err)
}

func (w *Window) actOnPage(ctx context.Context, u tabLease, a page.Action) ([]string, error) {
	var why error
	notes, err := w.withRefusals(ctx, u.tab, func() (page.Result, []files.Download, error) {
		since := time.Now()
		res, got, err := u.browser.act(ctx, u.tab, a)
		for _, tab := range res.Opened {
			w.adoptTab(u.browser, tab) // a popup of a closed window is closed whatever becomes of the action
		}
		if res.Navigated {
			if why = u.browser.explainUnreached(u.tab, "", since, res, err); why != nil {
				res.Status = 0 // of the proxy's answer
			}
		}
		return res, got, err
	})
	if why != nil && err == nil {
		notes = append(notes, "the page that this led to did not load: "+why.Error())
	}
	return notes, err
}

func runNavigate(ctx context.Context, w *Window, u tabLease, args actiontable.Values) ([]string, error) {
	return w.navigate(ctx, u.browser, u.tab, args.Text("url"))
}

// navigate takes a tab to an address.
func (w *Window) navigate(ctx context.Context, b *browser, tab *page.Tab, url string) ([]string, error) {
	return w.withRefusals(ctx, tab, func() (res page.Result, got []files.Download, err error) {
		res, err = b.navigate(tab, url, func() (page.Result, error) {
			transfers := b.transfers()
			if transfers == nil {
				return tab.Navigate(ctx, url)
			}
			var err error
			res, got, err = transfers.Navigate(ctx, tab, url, 0)
			return res, err
		})
		return res, got, err
	})
}

// transfers moves the files of the browser's tabs; nil if nobody does.
func (b *browser) transfers() *files.Transfers {
	for _, o := range b.observers {
		if found, ok := o.(*files.Transfers); ok {
			return found
		}
	}
	return nil
}

// act does an action, and collects the downloads that it started.
func (b *browser) act(ctx context.Context, tab *page.Tab, a page.Action) (page.Result, []files.Download, error) {
	if transfers := b.transfers(); transfers != nil {
		return transfers.PerformAction(ctx, tab, a)
	}
	res, err := tab.Act(ctx, a)
	return res, nil, err
}

// runUpload puts files that came with the session's tasks, or of the uploads folder, into a field, or into what a click asks for.
func runUpload(ctx context.Context, w *Window, u tabLease, args actiontable.Values) ([]string, error) {
	transfers := u.browser.transfers()
	if transfers == nil {
		return nil, errors.New("upload: the browser's files cannot be moved here")
	}
	paths := args.Texts("paths")
	err := transfers.Upload(ctx, u.tab, files.UploadRequest{
		Paths: paths, Session: w.key, Ref: args.Text("ref"), Limit: uploadLimit,
	})
	if err != nil {
		return nil, err
	}
	return []string{"the page was given " + strings.Join(transfers.Names(w.key, paths), ", ")}, nil
}

// uploadLimit bounds an upload: a click that asks for no file is told soon.
const uploadLimit = 20 * time.Second

func runTabNew(ctx context.Context, w *Window, u tabLease, args actiontable.Values) ([]string, error) {
	url := args.Text("url")
	if url != "" {
		if _, err := address.Parse(url); err != nil {
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

func runTabSelect(ctx context.Context, w *Window, _ tabLease, args actiontable.Values) ([]string, error) {
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
	return []string{"the current tab is " + TabLine(tab)}, nil
}

// runTabClose closes a tab. A window always has one: the last is followed by an empty one.
func runTabClose(ctx context.Context, w *Window, u tabLease, args actiontable.Values) ([]string, error) {
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

func runDialog(ctx context.Context, _ *Window, u tabLease, args actiontable.Values) ([]string, error) {
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

// takeNotes returns what happened since the last action.
func (w *Window) takeNotes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	notes := w.tabs.TakeNotes()
	select {
	case <-w.networkRestarted:
		w.networkRestarted = w.browser.networkRestarted()
		notes = append(notes, errNetworkLost.Error()+": look at the page before you try again")
	default:
	}
	return notes
}

// explain makes the failure of an operation one that a person can act upon.
func (w *Window) explain(ctx context.Context, b *browser, err error) error {
	switch {
	case errors.Is(err, page.ErrBrowserGone):
		return b.explainLoss(ctx, err)
	case errors.Is(err, page.ErrTabCrashed):
		return fmt.Errorf("%w; the page is reopened on the next step", errPageCrashed)
	case errors.Is(err, page.ErrTabGone) && w.manager.checkOpen() != nil:
		return ErrClosed
	default:
		return w.cleanError(err)
	}
}

var errPageCrashed = errors.New("the page crashed")

// ResultNotes says in sentences what an action led to, in the same words to all who are told.
func ResultNotes(res page.Result, downloads []files.Download) []string {
	var notes []string
	for _, d := range downloads {
		name := strconv.Quote(untrusted.Shorten(d.SuggestedFilename, 100))
		switch {
		case d.Error != "":
			notes = append(notes, fmt.Sprintf("the download of %s failed: %s", name, d.Error))
		case d.InProgress:
			notes = append(notes, fmt.Sprintf("the download of %s goes on", name))
		default:
			note := fmt.Sprintf("downloaded %s (%d bytes) to %s", name, d.Size, d.Path)
			if d.Warning != "" {
				note += "; " + d.Warning
			}
			notes = append(notes, note)
		}
	}
	if res.Value != nil {
		notes = append(notes, "result: "+string(res.Value))
	}
	if res.Status >= 400 {
		notes = append(notes, fmt.Sprintf("the server answered HTTP %d", res.Status))
	}
	if res.Loading {
		notes = append(notes, "the page is still loading")
	}
	if d := res.Dialog; res.BlockedByDialog && d != nil {
		note := fmt.Sprintf("the page shows a dialog (%s): %q", d.Type, d.Message)
		if d.Type == "prompt" && d.DefaultValue != "" {
			note += fmt.Sprintf(", with %q filled in", d.DefaultValue)
		}
		notes = append(notes, note+"; answer it with the action dialog")
	}
	return notes
}

// runLinks lists where the visible links of the page lead, as "text -> address".
func runLinks(ctx context.Context, _ *Window, u tabLease, _ actiontable.Values) ([]string, error) {
	found, err := u.tab.Links(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(found))
	for i, l := range found {
		lines[i] = l.Text + " -> " + l.URL
	}
	return lines, nil
}

// Assess says what an action (see [Window.Act]) would set off that people may want to decide. An action that cannot be
// understood sets nothing off: Act says what is wrong with it. The mark of an action on the page is "" only if it sets
// nothing off.
func (w *Window) Assess(ctx context.Context, kind string, args map[string]any) (sessions.Assessment, error) {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return sessions.Assessment{}, err
	}
	defer u.release()
	found, err := intent.JudgeRequest(ctx, u.tab, kind, w.withFileNames(u.browser, kind, args))
	if err != nil {
		return sessions.Assessment{}, w.explain(ctx, u.browser, err)
	}
	found.Text, found.Detail = w.clean(found.Text), w.clean(found.Detail)
	return found, nil
}

// withFileNames returns the arguments of an upload with the names of its files, which people are asked about.
func (w *Window) withFileNames(b *browser, kind string, args map[string]any) map[string]any {
	transfers := b.transfers()
	_, values, err := actiontable.Read(actiontable.Window, actiontable.Kind(kind), args)
	if kind != string(actiontable.KindUpload) || err != nil || transfers == nil {
		return args
	}
	named := maps.Clone(args)
	named["paths"] = transfers.Names(w.key, values.Texts("paths"))
	return named
}

// ActIfUnchanged is like Act, but does nothing and returns same as false if the action now means something else than
// what mark stands for. The page is held in that state until the input has arrived.
func (w *Window) ActIfUnchanged(ctx context.Context, kind string, args map[string]any, mark string) (notes []string, same bool, err error) {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return nil, false, err
	}
	defer u.release()
	if kind == "dialog" {
		if intent.JudgeDialogAnswer(u.tab, args).Mark != mark {
			return nil, false, nil
		}
		notes, err = w.Act(ctx, kind, args)
		return notes, true, err
	}
	if kind == string(actiontable.KindUpload) {
		same, err = intent.PerformUpload(ctx, u.tab, args, mark, func() (err error) {
			notes, err = w.Act(ctx, kind, args)
			return err
		})
		return notes, same, err
	}
	action, ok := intent.ParsePageAction(kind, args)
	if !ok || len(u.tab.Dialogs().Pending) > 0 {
		notes, err = w.Act(ctx, kind, args)
		return notes, true, err
	}
	same, err = intent.PerformJudged(ctx, u.tab, action, mark, func() (err error) {
		notes, err = w.Act(ctx, kind, args)
		return err
	})
	if !same {
		return nil, false, w.explain(ctx, u.browser, err)
	}
	return notes, true, err
}

// ElementAt returns the role and the name of what a click at a point would be for, in CSS pixels of the viewport and in
// whatever frame; both are "" where nothing is. The page has chosen the name.
func (w *Window) ElementAt(ctx context.Context, x, y float64) (role, name string, err error) {
	m, err := w.inputTarget(ctx, "", &frame.Point{X: x, Y: y})
	return m.Role, m.Name, err
}

// InputField returns the role and the name of the element with that ref or, without one, of what takes the keys now, in
// whatever frame; secret says that what it holds must not be told: a password, a one-time code. The page has chosen the
// name.
func (w *Window) InputField(ctx context.Context, ref string) (role, name string, secret bool, err error) {
	m, err := w.inputTarget(ctx, ref, nil)
	return m.Role, m.Name, m.Secret, err
}

// inputTarget asks the page; see [intent.DescribeTarget].
func (w *Window) inputTarget(ctx context.Context, ref string, at *frame.Point) (m intent.InputTarget, err error) {
	err = w.readTab(ctx, func(tab *page.Tab) (err error) {
		m, err = intent.DescribeTarget(ctx, tab, ref, at)
		return err
	})
	if err != nil {
		return intent.InputTarget{}, fmt.Errorf("see what input would reach: %w", err)
	}
	m.Name = w.clean(m.Name)
	return m, nil
}
