package browsermgr

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/login"
	"clank/internal/vault"
)

// typedSecrets are what people have typed into the pages of a window. It is kept from models, records and pictures for
// as long as the window is there, and nowhere else.
type typedSecrets struct {
	words  vault.Scrubber
	fields login.Filler
}

// typedName is what stands in place of what a person typed.
const typedName = "typed by a person"

// Hands are a person's at the tabs of a window. While they hold it, others neither read nor change its pages, and
// nothing that happens there is recorded. What is typed is masked for everybody afterwards. Its methods are safe for
// concurrent use; input goes to the page in the order in which Input is called.
type Hands struct {
	window *Window
	name   string // of the person, as others read it
	hold   *page.Hold
	lease  *browser
	state  windowState // before it began
	ended  chan struct{}
	ending sync.Once
	turn   chan struct{} // holds a token while a command runs

	mu     sync.Mutex // of input
	over   bool
	stop   context.CancelCauseFunc // of the command that runs
	tab    *page.Tab               // that person works
	person *page.Person
	typing []rune // since the last pause
	typed  []typedWord
	sizes  map[*page.Tab][2]int // of the viewports that the person has changed, before that
}

// typedWord is a text that was typed, and in which tab.
type typedWord struct{ text, url string }

// windowState is what [Window.State] tells.
type windowState struct {
	url, title string
	tabs       []string
}

// BeginControl gives a person the window's pages, opening one if there is none. Nobody may be at work there. Others who
// watch see a sign with the person's name meanwhile. The caller calls End.
func (w *Window) BeginControl(ctx context.Context, name string) (*Hands, error) {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return nil, err
	}
	h := &Hands{
		window: w, name: name, hold: &page.Hold{}, lease: u.browser, ended: make(chan struct{}), turn: make(chan struct{}, 1),
		sizes: map[*page.Tab][2]int{},
	}
	h.state.url, h.state.title, h.state.tabs, _ = w.State(ctx)
	w.mu.Lock()
	taken := w.hands != nil
	if !taken {
		w.hands = h
		w.tabs.announce()
	}
	tabs := w.tabs.All()
	w.mu.Unlock()
	if taken {
		u.release()
		return nil, page.ErrHeld
	}
	for _, tab := range tabs {
		if err := h.adopt(ctx, tab); err != nil {
			h.End()
			return nil, w.explain(ctx, u.browser, err)
		}
	}
	return h, nil
}

// Context lets what is done with it see and work the pages meanwhile.
func (h *Hands) Context(ctx context.Context) context.Context { return h.hold.Context(ctx) }

// adopt takes a tab that was there before, or that was opened since.
func (h *Hands) adopt(ctx context.Context, tab *page.Tab) error {
	tab.BeginHold(h.hold)
	if transfers := h.lease.transfers(); transfers != nil {
		transfers.AskPerson(tab, true)
	}
	return h.hideTyped(ctx, tab, false)
}

// hideTimeout bounds looking at what the fields of a page hold.
const hideTimeout = 5 * time.Second

// hideTyped notes what fields hold before a person types (done is false), and masks those that hold something else
// afterwards. A page with an open dialog, which stands still, is left as it is before.
func (h *Hands) hideTyped(ctx context.Context, tab *page.Tab, done bool) error {
	fields := &h.window.typed.fields
	err := tab.RunUntilDialog(h.hold.Context(ctx), hideTimeout, func(ctx context.Context) error {
		if !done {
			return errors.Join(tab.HideTyped(ctx, false), fields.BeginHold(ctx, tab))
		}
		typed, err := fields.EndHold(ctx, tab)
		for _, text := range typed {
			h.typed = append(h.typed, typedWord{text: text})
		}
		return errors.Join(err, tab.HideTyped(ctx, true))
	})
	if _, open := errors.AsType[*page.DialogError](err); open && !done {
		return nil
	}
	return err
}

// Input sends what the person does to the current tab, and does not wait for its outcome.
func (h *Hands) Input(ev page.PersonInput) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return page.ErrHeld
	}
	tab := h.window.currentTab()
	if tab == nil {
		return errNoPage
	}
	if tab != h.tab {
		h.leave()
		h.tab, h.person = tab, tab.NewPerson()
	}
	h.noteTyped(ev)
	return h.person.Post(ev)
}

// leave lets go of the tab that the person works. The lock is held.
func (h *Hands) leave() {
	h.endWord()
	if h.person != nil {
		h.person.Leave()
	}
	h.tab, h.person = nil, nil
}

// maxTyped bounds a text that is typed without a pause, in characters.
const maxTyped = 4096

// silentKeys type nothing, and do not end what is typed.
var silentKeys = []string{"Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Dead", "Process"}

// noteTyped remembers what is typed, so that it is known where the page has not kept it in a field. The lock is held.
func (h *Hands) noteTyped(ev page.PersonInput) {
	text := ev.Typed()
	modifier := slices.Contains(silentKeys, ev.Key)
	switch {
	case text != "":
		if h.typing = append(h.typing, []rune(text)...); len(h.typing) > maxTyped {
			h.endWord()
		}
	case ev.Kind == "keydown" && ev.Key == "Backspace" && len(h.typing) > 0:
		h.typing = h.typing[:len(h.typing)-1]
	case ev.Kind == "keydown" && !modifier, ev.Kind == "down", ev.Kind == "touch":
		h.endWord()
	}
}

// endWord notes that something else follows what was typed so far. The lock is held.
func (h *Hands) endWord() {
	if len(h.typing) > 0 && h.tab != nil {
		h.typed = append(h.typed, typedWord{string(h.typing), h.tab.URL()})
	}
	h.typing = h.typing[:0]
}

// Command asks for something beside mouse and keys. What is navigate, back, forward, reload, tabNew, tabSelect,
// tabClose, dialog, resize, files or copy.
type Command struct {
	What   string             `json:"what"`
	URL    string             `json:"url"`
	Tab    string             `json:"tab"`
	Accept bool               `json:"accept"`
	Text   string             `json:"text"` // of a prompt
	W      int                `json:"w"`    // of the viewport, in CSS pixels
	H      int                `json:"h"`
	Files  []files.PersonFile `json:"files"` // for the open file chooser; none closes it
}

// Do does a command. Copied is the text that was selected, of copy.
func (h *Hands) Do(ctx context.Context, c Command) (copied string, err error) {
	w := h.window
	if err := acquireTurn(ctx, h.turn); err != nil {
		return "", err
	}
	defer releaseTurn(h.turn)
	ctx, stop := context.WithCancelCause(h.hold.Context(ctx))
	defer stop(nil)
	h.mu.Lock()
	over := h.over
	h.stop = stop
	h.endWord()
	h.typing = append(h.typing, []rune(c.Text)...)
	h.endWord()
	h.mu.Unlock()
	if over {
		return "", page.ErrHeld
	}
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return "", err
	}
	defer u.release()
	args := actiontable.Values{"url": c.URL, "tab": c.Tab, "accept": c.Accept, "promptText": c.Text}
	switch c.What {
	case "navigate":
		_, err = runNavigate(ctx, w, u, args)
	case "back", "forward", "reload":
		_, err = w.actOnPage(ctx, u, page.Action{Kind: actiontable.Kind(c.What)})
	case "resize":
		err = h.resize(ctx, u.tab, c.W, c.H)
	case "tabNew":
		_, err = runTabNew(ctx, w, u, args)
	case "tabSelect":
		_, err = runTabSelect(ctx, w, u, args)
	case "tabClose":
		_, err = runTabClose(ctx, w, u, args)
	case "dialog":
		_, err = runDialog(ctx, w, u, args)
	case "files":
		transfers := u.browser.transfers()
		if transfers == nil {
			return "", errors.New("the browser's files cannot be moved here")
		}
		err = transfers.GiveFiles(ctx, u.tab, c.Files)
	case "copy":
		copied, err = u.tab.CopySelection(ctx)
	default:
		err = fmt.Errorf("there is nothing called %q to be done", c.What)
	}
	return copied, w.explain(ctx, u.browser, err)
}

// resize changes the viewport of a tab until the person gives it back.
func (h *Hands) resize(ctx context.Context, tab *page.Tab, width, height int) error {
	const ask = "() => [innerWidth, innerHeight]"
	err := tab.RunUntilDialog(ctx, hideTimeout, func(ctx context.Context) error {
		size, err := frame.CallFunction[[2]int](ctx, tab.MainFrame(), ask, nil, nil)
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, known := h.sizes[tab]; err == nil && !known {
			h.sizes[tab] = size
		}
		return err
	})
	if err != nil {
		return err
	}
	_, err = tab.Act(ctx, page.Action{Kind: actiontable.KindResize, Width: width, Height: height})
	h.lease.casts.Refresh(tab) // a capture may tell nothing of it if the page does not change
	return err
}

// End gives the window back, masks what was typed and returns when that is done. Others who want the window meanwhile
// wait. It may be called again.
func (h *Hands) End() {
	h.ending.Do(func() {
		h.letGo()
		h.turn <- struct{}{} // of the last command, which has been stopped
		h.mu.Lock()
		h.leave()
		h.mu.Unlock()
		h.finish()
		close(h.ended)
	})
	<-h.ended
}

// Release begins to End, and returns at once.
func (h *Hands) Release() {
	h.letGo()
	h.window.manager.wg.Go(h.End)
}

// letGo has nothing more done, and ends what is being done.
func (h *Hands) letGo() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	if h.stop != nil {
		h.stop(errGivenBack)
	}
}

var errGivenBack = errors.New("the page was given back")

// finish masks what was typed in each tab and gives it back.
func (h *Hands) finish() {
	w := h.window
	ctx := h.hold.Context(context.Background())
	w.mu.Lock()
	tabs := w.tabs.All()
	w.mu.Unlock()
	for _, tab := range tabs {
		if transfers := h.lease.transfers(); transfers != nil {
			transfers.AskPerson(tab, false)
		}
		h.coverTab(ctx, tab)
		if size, changed := h.sizes[tab]; changed {
			_, _ = tab.Act(ctx, page.Action{Kind: actiontable.KindResize, Width: size[0], Height: size[1]}) // or it is gone
		}
	}
	for _, word := range h.typed {
		w.typed.words.Add(typedName, word.text)
		long := utf8.RuneCountInString(word.text) >= vault.MinSecretLength
		if at, err := url.Parse(word.url); err == nil && at.Host != "" && long {
			w.typed.fields.Remember([]string{at.Scheme + "://" + at.Host}, word.text)
		}
	}
	h.typed, h.typing = nil, nil
	w.mu.Lock()
	w.hands = nil
	w.tabs.announce()
	tabs = w.tabs.All()
	for _, tab := range tabs {
		tab.EndHold()
	}
	w.mu.Unlock()
	for _, tab := range tabs {
		h.lease.casts.Refresh(tab)
	}
	h.lease.release()
}

// coverTab masks what was typed in a tab. A dialog that is open is dismissed for that. A page that does not answer is
// left: what it holds cannot be masked.
func (h *Hands) coverTab(ctx context.Context, tab *page.Tab) {
	for _, d := range tab.Dialogs().Pending {
		_, _ = tab.HandleDialog(ctx, page.DialogAnswer{ID: d.ID}, 0)
	}
	err := h.hideTyped(ctx, tab, true)
	if err == nil || tab.Err() != nil {
		return
	}
	if err = errors.Join(tab.Stop(ctx), h.hideTyped(ctx, tab, true)); err == nil {
		return
	}
	h.window.manager.Logger.Warn("a page is left: what a person typed there cannot be masked", "tab", tab.ID())
	if _, err := tab.Navigate(ctx, "about:blank"); err != nil {
		_ = tab.Close(ctx) // it is gone, or bounded by the tab's own limit
	}
}

// guardTab has a new tab belong to the person who holds the window, and its records be without what is typed here. The
// lock is held.
func (w *Window) guardTab(b *browser, tab *page.Tab) {
	tab.CleanRecords(w.typed.words.JSON)
	if w.hands == nil {
		tab.EndHold()
		return
	}
	tab.BeginHold(w.hands.hold)
	if transfers := b.transfers(); transfers != nil {
		transfers.AskPerson(tab, true)
	}
}

// awaitHands waits until hands that are about to let go of the window have done so. It fails if a person keeps it.
func (w *Window) awaitHands(ctx context.Context) error {
	w.mu.Lock()
	h := w.hands
	w.mu.Unlock()
	if h == nil || h.hold.Admits(ctx) {
		return nil
	}
	h.mu.Lock()
	over := h.over
	h.mu.Unlock()
	if !over {
		return page.ErrHeld
	}
	select {
	case <-h.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// clean returns a text without what people have typed in this window.
func (w *Window) clean(text string) string { return w.typed.words.Text(text) }

// cleanAll cleans texts, in place.
func (w *Window) cleanAll(texts []string) []string {
	for i, text := range texts {
		texts[i] = w.clean(text)
	}
	return texts
}

// cleanURL returns an address without what people have typed. Its host stays.
func (w *Window) cleanURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return w.clean(address)
	}
	origin := u.Scheme + "://" + u.Host
	if rest, ok := strings.CutPrefix(address, origin); ok {
		return origin + w.clean(rest)
	}
	return w.clean(address)
}

// cleanError returns an error whose text does not tell what people have typed.
func (w *Window) cleanError(err error) error {
	if err == nil || w.clean(err.Error()) == err.Error() {
		return err
	}
	return &cleanedError{w.clean(err.Error()), err}
}

type cleanedError struct {
	text string
	err  error
}

func (e *cleanedError) Error() string { return e.text }
func (e *cleanedError) Unwrap() error { return e.err }
