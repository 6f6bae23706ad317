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

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/files"
	"clank/browsermgr/page/frame"
	"clank/browsermgr/page/login"
	"clank/internal/vault"
)

// typedSecrets holds what people typed into the pages of a window. It is masked in everything that models,
// recordings and pictures show, for the lifetime of the window, and is kept in memory only.
type typedSecrets struct {
	words  vault.Scrubber
	fields login.Filler
}

// typedName replaces what a person typed.
const typedName = "typed by a person"

// Takeover is a person's exclusive control of a window. While it lasts, nobody else can read or change the
// window's pages, and nothing that happens there is recorded. What the person typed is masked for everyone else
// afterwards. Its methods are safe for concurrent use; input reaches the page in the order of the calls to Input.
type Takeover struct {
	window *Window
	name   string // of the person, as shown to others
	hold   *page.Hold
	lease  *browser
	state  windowState // before the takeover
	ended  chan struct{}
	ending sync.Once
	turn   chan struct{} // holds a token while a command runs

	mu     sync.Mutex // guards the fields below
	over   bool
	stop   context.CancelCauseFunc // cancels the running command
	tab    *page.Tab               // that receives the person's input
	person *page.Person
	typing []rune // since the last word boundary
	typed  []typedWord
	sizes  map[*page.Tab][2]int // original viewport sizes of the tabs the person resized
}

// typedWord is a text that was typed and the address of the page it was typed into.
type typedWord struct{ text, url string }

// windowState holds the results of [Window.State].
type windowState struct {
	url, title string
	tabs       []string
}

// TakeOver gives a person exclusive control of the window, opening a page if there is none. It fails with
// [page.ErrHeld] if somebody has control already. Other viewers see a sign with the person's name meanwhile. The
// caller calls End.
func (w *Window) TakeOver(ctx context.Context, name string) (*Takeover, error) {
	u, _, err := w.acquireTab(ctx)
	if err != nil {
		return nil, err
	}
	h := &Takeover{
		window: w, name: name, hold: &page.Hold{}, lease: u.browser, ended: make(chan struct{}), turn: make(chan struct{}, 1),
		sizes: map[*page.Tab][2]int{},
	}
	h.state.url, h.state.title, h.state.tabs, _ = w.State(ctx)
	w.mu.Lock()
	taken := w.takeover != nil
	if !taken {
		w.takeover = h
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

// Context returns a context whose operations may read and change the pages during the takeover.
func (h *Takeover) Context(ctx context.Context) context.Context { return h.hold.Context(ctx) }

// adopt extends the takeover to a tab.
func (h *Takeover) adopt(ctx context.Context, tab *page.Tab) error {
	tab.BeginHold(h.hold)
	if transfers := h.lease.transfers(); transfers != nil {
		transfers.AskPerson(tab, true)
	}
	return h.hideTyped(ctx, tab, false)
}

// hideTimeout bounds reading the values of a page's fields.
const hideTimeout = 5 * time.Second

// hideTyped records the values of a page's fields before a person types (done is false), and afterwards masks the
// fields that have changed. A page with an open dialog, which runs no scripts, is skipped in the first pass.
func (h *Takeover) hideTyped(ctx context.Context, tab *page.Tab, done bool) error {
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

// Input sends the person's input to the current tab without waiting for its outcome.
func (h *Takeover) Input(ev page.PersonInput) error {
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
	h.recordTyped(ev)
	return h.person.Post(ev)
}

// leave ends the input to the present tab. The caller holds h.mu.
func (h *Takeover) leave() {
	h.endWord()
	if h.person != nil {
		h.person.Leave()
	}
	h.tab, h.person = nil, nil
}

// maxTyped bounds a text typed without a word boundary, in characters.
const maxTyped = 4096

// silentKeys type nothing and do not end a word.
var silentKeys = []string{"Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock", "Dead", "Process"}

// recordTyped records typed text, in case the page does not keep it in a field. The caller holds h.mu.
func (h *Takeover) recordTyped(ev page.PersonInput) {
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

// endWord ends the text typed so far. The caller holds h.mu.
func (h *Takeover) endWord() {
	if len(h.typing) > 0 && h.tab != nil {
		h.typed = append(h.typed, typedWord{string(h.typing), h.tab.URL()})
	}
	h.typing = h.typing[:0]
}

// Command is a request other than mouse and keyboard input. What is one of navigate, back, forward, reload,
// tabNew, tabSelect, tabClose, dialog, resize, files and copy.
type Command struct {
	What   string             `json:"what"`
	URL    string             `json:"url"`
	Tab    string             `json:"tab"`
	Accept bool               `json:"accept"`
	Text   string             `json:"text"` // of a prompt
	W      int                `json:"w"`    // of the viewport, in CSS pixels
	H      int                `json:"h"`
	Files  []files.PersonFile `json:"files"` // for the open file chooser; none cancels it
}

// Do runs a command. copied is the selected text, for copy.
func (h *Takeover) Do(ctx context.Context, c Command) (copied string, err error) {
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
			return "", errors.New("this browser cannot upload files")
		}
		err = transfers.GiveFiles(ctx, u.tab, c.Files)
	case "copy":
		copied, err = u.tab.CopySelection(ctx)
	default:
		err = fmt.Errorf("unknown command %q", c.What)
	}
	return copied, w.explain(ctx, u.browser, err)
}

// resize changes the viewport of a tab until the takeover ends.
func (h *Takeover) resize(ctx context.Context, tab *page.Tab, width, height int) error {
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
	h.lease.casts.Refresh(tab) // a screencast may send no new frame if the page does not change
	return err
}

// End ends the takeover, masks what was typed and returns when that is done. Others who want the window wait until
// then. It may be called more than once.
func (h *Takeover) End() {
	h.ending.Do(func() {
		h.shut()
		h.turn <- struct{}{} // waits for the last command, which was cancelled
		h.mu.Lock()
		h.leave()
		h.mu.Unlock()
		h.finish()
		close(h.ended)
	})
	<-h.ended
}

// Release starts End in the background; Manager.Close waits for it.
func (h *Takeover) Release() {
	h.shut()
	h.window.manager.wg.Go(h.End)
}

// shut rejects further input and cancels the running command.
func (h *Takeover) shut() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.over = true
	if h.stop != nil {
		h.stop(errTakeoverEnded)
	}
}

var errTakeoverEnded = errors.New("the takeover has ended")

// finish masks what was typed in each tab, restores the viewports and gives up control.
func (h *Takeover) finish() {
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
			_, _ = tab.Act(ctx, page.Action{Kind: actiontable.KindResize, Width: size[0], Height: size[1]}) // may be gone
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
	w.takeover = nil
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

// coverTab masks what was typed in a tab, dismissing open dialogs first. If the page does not answer, its content
// cannot be masked, so it is navigated away or closed.
func (h *Takeover) coverTab(ctx context.Context, tab *page.Tab) {
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
	h.window.manager.Logger.Warn("leaving a page: what a person typed there cannot be masked", "tab", tab.ID())
	if _, err := tab.Navigate(ctx, "about:blank"); err != nil {
		_ = tab.Close(ctx) // gone, or Close times out
	}
}

// guardTab applies the running takeover, if any, to a new tab and masks typed secrets in its recordings. The
// caller holds w.mu.
func (w *Window) guardTab(b *browser, tab *page.Tab) {
	tab.CleanRecords(w.typed.words.JSON)
	if w.takeover == nil {
		tab.EndHold()
		return
	}
	tab.BeginHold(w.takeover.hold)
	if transfers := b.transfers(); transfers != nil {
		transfers.AskPerson(tab, true)
	}
}

// awaitTakeover waits for a takeover that is ending. It returns [page.ErrHeld] if one is still in progress.
func (w *Window) awaitTakeover(ctx context.Context) error {
	w.mu.Lock()
	h := w.takeover
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

// clean masks what people have typed in this window.
func (w *Window) clean(text string) string { return w.typed.words.Text(text) }

// cleanAll applies clean to each text, in place.
func (w *Window) cleanAll(texts []string) []string {
	for i, text := range texts {
		texts[i] = w.clean(text)
	}
	return texts
}

// cleanURL masks what people have typed in an address, except in its origin.
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

// cleanError masks what people have typed in the text of an error, and leaves out what is only for programs.
func (w *Window) cleanError(err error) error {
	if err == nil {
		return nil
	}
	text := w.clean(fault.PlainText(err.Error()))
	if text == err.Error() {
		return err
	}
	return &cleanedError{text, err}
}

type cleanedError struct {
	text string
	err  error
}

func (e *cleanedError) Error() string { return e.text }
func (e *cleanedError) Unwrap() error { return e.err }
