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

// windowCommand is an action on the window rather than on its current page, or one for which package page has its
// own method.
type windowCommand struct {
	readOnly bool // pending notes are kept for the next action
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

// Act performs one action in the current tab. The kinds and their arguments are listed in [actiontable.Specs]: the
// page actions of the control API's POST /act, mouse and keyboard input at coordinates for callers that only see a
// picture (see [Window.Screenshot]), and commands for the window and its tabs. Keys and buttons pressed by the
// input kinds stay down for later actions of those kinds in the tab until they are released, the tab shows another
// document or it is closed (see [action.InputState]). Numbers and booleans may be given as strings and vice versa.
// The notes describe side effects: a dialog or tab that opened, an HTTP error, the result of evaluate. For links,
// the notes are the visible links only.
//
// If the page had to be reopened because its browser had ended, an action on an element fails: its ref belonged to
// the old page.
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
	if err != nil { // whoever acts knows the kind
		err = &cleanedError{strings.TrimPrefix(err.Error(), kind+": "), err}
	}
	return w.cleanAll(notes), w.explain(ctx, u.browser, err)
}

func (w *Window) actOnPage(ctx context.Context, u tabLease, a page.Action) ([]string, error) {
	var why error
	notes, err := w.withRefusals(ctx, u.tab, func() (page.Result, []files.Download, error) {
		since := time.Now()
		res, got, err := u.browser.act(ctx, u.tab, a)
		for _, tab := range res.Opened {
			w.adoptTab(u.browser, tab) // the popup of a closed window is closed whether or not the action succeeded
		}
		if res.Navigated {
			if why = u.browser.explainUnreached(u.tab, "", since, res, err); why != nil {
				res.Status = 0 // the proxy sent that status, not the server
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

// navigate loads an address in a tab.
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

// transfers returns the observer that handles the browser's uploads and downloads, or nil if there is none.
func (b *browser) transfers() *files.Transfers {
	for _, o := range b.observers {
		if found, ok := o.(*files.Transfers); ok {
			return found
		}
	}
	return nil
}

// act performs an action and collects the downloads it started.
func (b *browser) act(ctx context.Context, tab *page.Tab, a page.Action) (page.Result, []files.Download, error) {
	if transfers := b.transfers(); transfers != nil {
		return transfers.PerformAction(ctx, tab, a)
	}
	res, err := tab.Act(ctx, a)
	return res, nil, err
}

// runUpload sets files on a file input, or on the file chooser that a click opens. The files are attachments of
// the session's tasks or lie in the uploads folder.
func runUpload(ctx context.Context, w *Window, u tabLease, args actiontable.Values) ([]string, error) {
	transfers := u.browser.transfers()
	if transfers == nil {
		return nil, errors.New("upload: this browser cannot upload files")
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

// uploadLimit bounds an upload, so that a click that opens no file chooser fails soon.
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
	there := w.tabs.Has(tab)
	w.tabs.Select(tab)
	w.mu.Unlock()
	if !there { // its page has closed it meanwhile
		return nil, page.ErrTabGone
	}
	return []string{"the current tab is " + TabLine(tab)}, nil
}

// runTabClose closes a tab. A window always has a tab: closing the last one opens an empty one.
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

// findTab returns the window's tab with that id.
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

// takeNotes returns and clears the notes collected since the last action.
func (w *Window) takeNotes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	notes := w.tabs.TakeNotes()
	if w.browser != nil {
		notes = append(notes, w.browser.takeNetworkLoss(&w.networkRestarted)...)
	}
	return notes
}

// explain adds to the error of an operation what the user can do about it.
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

// ResultNotes describes the outcome of an action in sentences.
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
			note := fmt.Sprintf("downloaded %s (%s) to %s", name, sessions.SizeText(d.Size), d.Path)
			if d.Warning != "" {
				note += "; " + d.Warning
			}
			notes = append(notes, note)
		}
	}
	if res.Value != nil {
		notes = append(notes, "result: "+string(res.Value))
	}
	if f := res.Rejected; f != nil {
		note := fmt.Sprintf("the form was not sent: %s %q was not accepted", f.Role, f.Name)
		if f.Text != "" {
			note += fmt.Sprintf(": %q", untrusted.Shorten(f.Text, 200))
		}
		notes = append(notes, note)
	}
	if res.Status >= 400 {
		notes = append(notes, fmt.Sprintf("the server answered HTTP %d", res.Status))
	}
	switch {
	case res.Navigated && page.IsErrorPage(res.URL):
		notes = append(notes, "no page is open: the browser shows its own error page")
	case res.Loading:
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

// Assess describes the effects of an action (see [Window.Act]) that may need a person's approval. An invalid
// action has none: Act reports what is wrong with it. The mark of a page action is empty only if the action has no
// such effects.
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

// withFileNames adds the names of the files to the arguments of an upload, for the question to the user.
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

// ActIfUnchanged is like Act, but does nothing and returns same as false if the action no longer has the effects
// that mark stands for. The page is kept from changing until the input has arrived.
func (w *Window) ActIfUnchanged(ctx context.Context, kind string, args map[string]any,
	mark string,
) (notes []string, same bool, err error) {
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

// ElementAt returns the ARIA role and accessible name of the element that a click at a point would hit, in CSS
// pixels of the viewport, in any frame. Both are "" if there is none. The name is chosen by the page and
// untrusted.
func (w *Window) ElementAt(ctx context.Context, x, y float64) (role, name string, err error) {
	m, err := w.inputTarget(ctx, "", &frame.Point{X: x, Y: y})
	return m.Role, m.Name, err
}

// InputField returns the ARIA role and accessible name of the element with that ref or, if ref is empty, of the
// focused element, in any frame. secret reports that its value must not be disclosed: a password or one-time code.
// The name is chosen by the page and untrusted.
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
