package page

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

// Values of [Dialog.ClosedBy].
const (
	ClosedByAgent  = "agent"  // answered by [Tab.HandleDialog]
	ClosedByArmed  = "armed"  // answered by an armed answer
	ClosedByRemote = "remote" // answered by a person, or its page is gone
)

// Limits of how long an armed answer is kept for the next dialog; 0 means MaxArmedTime.
const (
	MinArmedTime = 500 * time.Millisecond
	MaxArmedTime = 120 * time.Second
)

// maxRecentDialogs is how many closed dialogs are remembered.
const maxRecentDialogs = 20

// ErrNoDialog is returned if there is no such open dialog.
var ErrNoDialog = errors.New("no dialog is open")

// Dialog is a JavaScript dialog of a page: alert, confirm, prompt or beforeunload.
type Dialog struct {
	ID           string    `json:"id"` // d1, d2, … per tab
	Type         string    `json:"type"`
	Message      string    `json:"message"`
	DefaultValue string    `json:"defaultValue,omitempty"` // of a prompt
	URL          string    `json:"url,omitempty"`          // of the frame that opened it
	OpenedAt     time.Time `json:"openedAt"`
	ClosedAt     time.Time `json:"closedAt,omitzero"`
	ClosedBy     string    `json:"closedBy,omitempty"` // agent, armed or remote
}

// Dialogs lists the dialogs of a tab, oldest first.
type Dialogs struct {
	Pending []Dialog `json:"pending"`
	Recent  []Dialog `json:"recent"` // closed, at most 20
}

// DialogAnswer answers a dialog.
type DialogAnswer struct {
	// ID names the dialog; "" means the only open one.
	ID     string
	Accept bool
	// PromptText is the result of a prompt if it is accepted.
	PromptText string
}

// DialogLog records the dialogs of one tab. From identifies where a dialog came from. The zero value is ready for use.
// It is not safe for concurrent use.
type DialogLog[From comparable] struct {
	count      int
	pending    []*dialogEntry[From]
	recent     []Dialog
	armed      *DialogAnswer
	armedUntil time.Time // when armed expires
	unloads    int       // navigations and closings in progress, which accept beforeunload
	closing    bool      // the tab is being closed: other dialogs are dismissed
}

type dialogEntry[From comparable] struct {
	Dialog

	from From
}

// Opened records a dialog that opened and sets its id. If its answer is known already it is returned, and the caller
// sends it.
func (b *DialogLog[From]) Opened(d Dialog, from From) (Dialog, *DialogAnswer) {
	b.count++
	d.ID = fmt.Sprintf("d%d", b.count)
	e := &dialogEntry[From]{Dialog: d, from: from}
	b.pending = append(b.pending, e)
	var answer *DialogAnswer
	switch unload := d.Type == "beforeunload"; {
	case unload && b.unloads > 0, b.closing:
		answer = &DialogAnswer{ID: d.ID, Accept: unload}
		e.ClosedBy = ClosedByAgent
	case b.armed != nil && d.OpenedAt.Before(b.armedUntil):
		answer, b.armed = b.armed, nil
		answer.ID = d.ID
		e.ClosedBy = ClosedByArmed
	}
	return e.Dialog, answer
}

// Close records that a dialog from this source closed. Dialogs of one page close in the order they opened.
func (b *DialogLog[From]) Close(from From, now time.Time) {
	i := slices.IndexFunc(b.pending, func(e *dialogEntry[From]) bool { return e.from == from })
	if i < 0 && len(b.pending) > 0 {
		i = 0
	}
	b.closeAt(i, now)
}

// AllClosed records that the page is gone, with all its dialogs.
func (b *DialogLog[From]) AllClosed(now time.Time) {
	for len(b.pending) > 0 {
		b.closeAt(0, now)
	}
}

func (b *DialogLog[From]) closeAt(i int, now time.Time) {
	if i < 0 {
		return
	}
	d := b.pending[i].Dialog
	b.pending = slices.Delete(b.pending, i, i+1)
	d.ClosedAt = now
	d.ClosedBy = cmp.Or(d.ClosedBy, ClosedByRemote)
	b.recent = append(b.recent, d)
	if len(b.recent) > maxRecentDialogs {
		b.recent = slices.Delete(b.recent, 0, 1)
	}
}

// Oldest returns the dialog that has been open longest.
func (b *DialogLog[From]) Oldest() (Dialog, bool) {
	if len(b.pending) == 0 {
		return Dialog{}, false
	}
	return b.pending[0].Dialog, true
}

// IsPending reports whether a dialog is open.
func (b *DialogLog[From]) IsPending(id string) bool {
	return slices.ContainsFunc(b.pending, func(e *dialogEntry[From]) bool { return e.ID == id })
}

// List returns a copy of the log.
func (b *DialogLog[From]) List() Dialogs {
	l := Dialogs{Pending: []Dialog{}, Recent: append([]Dialog{}, b.recent...)}
	for _, e := range b.pending {
		l.Pending = append(l.Pending, e.Dialog)
	}
	return l
}

// BeginAnswer returns the dialog that an answer is for and its source, and marks it as answered by the agent. The error
// wraps [ErrNoDialog] if it is not open, and fault.ErrInvalid if several are open and none was named.
func (b *DialogLog[From]) BeginAnswer(a DialogAnswer) (Dialog, From, error) {
	var none From
	var ids []string
	for _, e := range b.pending {
		if e.ID == a.ID || a.ID == "" && len(b.pending) == 1 {
			e.ClosedBy = ClosedByAgent
			return e.Dialog, e.from, nil
		}
		ids = append(ids, e.ID)
	}
	switch {
	case a.ID != "":
		return Dialog{}, none, fmt.Errorf("dialog %q is not pending (%w)", a.ID, ambiguousDialog(ids))
	case len(ids) == 0:
		return Dialog{}, none, ErrNoDialog
	}
	return Dialog{}, none, fault.Invalidf("several dialogs are pending: name one of them by dialogId, %s",
		strings.Join(ids, ", "))
}

func ambiguousDialog(ids []string) error {
	if len(ids) == 0 {
		return ErrNoDialog
	}
	return fmt.Errorf("%w by that id, only %s", ErrNoDialog, strings.Join(ids, ", "))
}

// UndoAnswer reverts BeginAnswer.
func (b *DialogLog[From]) UndoAnswer(id string) {
	for _, e := range b.pending {
		if e.ID == id {
			e.ClosedBy = ""
		}
	}
}

// Arm keeps an answer for the next dialog, replacing an earlier one, for at most keep; see [MaxArmedTime].
func (b *DialogLog[From]) Arm(a DialogAnswer, now time.Time, keep time.Duration) {
	if keep <= 0 {
		keep = MaxArmedTime
	}
	b.armed, b.armedUntil = &a, now.Add(min(max(keep, MinArmedTime), MaxArmedTime))
}

// BeginUnload records that the page is about to be left on request, until EndUnload. It returns the sources of open
// beforeunload dialogs, which the caller accepts.
func (b *DialogLog[From]) BeginUnload() []From {
	b.unloads++
	return b.markAnswered(func(e *dialogEntry[From]) bool { return e.Type == "beforeunload" })
}

// EndUnload records that the navigation or closing has ended, successfully or not.
func (b *DialogLog[From]) EndUnload() {
	if b.unloads--; b.unloads == 0 {
		b.closing = false
	}
}

// BeginClose records that the tab is about to be closed: dialogs that open later are dismissed. It returns the sources
// of open ones, which the caller dismisses.
func (b *DialogLog[From]) BeginClose() []From {
	b.closing = true
	return b.markAnswered(func(*dialogEntry[From]) bool { return true })
}

// markAnswered marks open dialogs as answered and returns their sources.
func (b *DialogLog[From]) markAnswered(which func(*dialogEntry[From]) bool) []From {
	var from []From
	for _, e := range b.pending {
		if e.ClosedBy == "" && which(e) {
			e.ClosedBy = ClosedByAgent
			from = append(from, e.from)
		}
	}
	return from
}

func (t *Tab) handleDialog(f *frame.Frame, ev cdp.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.signalChange()
	if ev.Method == "Page.javascriptDialogClosed" {
		t.dialogs.Close(f, time.Now())
		return
	}
	var p proto.PageJavascriptDialogOpening
	if !ev.Decode(&p) {
		return
	}
	d, answer := t.dialogs.Opened(Dialog{
		Type: string(p.Type), Message: p.Message, DefaultValue: p.DefaultPrompt, URL: p.URL, OpenedAt: time.Now(),
	}, f)
	if answer != nil {
		f.Post(proto.PageHandleJavaScriptDialog{Accept: answer.Accept, PromptText: answer.PromptText})
		return
	}
	t.cancelWatchers(&DialogError{Dialog: d}, false)
}

// beginUnload accepts beforeunload dialogs until the returned function is called.
func (t *Tab) beginUnload() (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.dialogs.BeginUnload() {
		f.Post(proto.PageHandleJavaScriptDialog{Accept: true})
	}
	return func() {
		t.mu.Lock()
		t.dialogs.EndUnload()
		t.mu.Unlock()
	}
}

// dismissDialogs dismisses all dialogs of a tab that is about to be closed, and terminates the scripts waiting for
// them, which might open another.
func (t *Tab) dismissDialogs() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range t.dialogs.BeginClose() {
		f.Post(proto.RuntimeTerminateExecution{}, proto.PageHandleJavaScriptDialog{})
	}
}

func (t *Tab) pendingDialog() *Dialog {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d, open := t.dialogs.Oldest(); open {
		return &d
	}
	return nil
}

// Dialogs reports open and recently closed dialogs.
func (t *Tab) Dialogs() Dialogs {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dialogs.List()
}

// AnswerDialog accepts or dismisses the open dialog and returns when it is closed. promptText is the result of an
// accepted prompt. The error wraps [ErrNoDialog] if no dialog is open.
func (t *Tab) AnswerDialog(ctx context.Context, accept bool, promptText string) error {
	return t.sendDialogAnswer(ctx, DialogAnswer{Accept: accept, PromptText: promptText})
}

// HandleDialog answers an open dialog and returns when it is closed. If none is open and none is named, it arms the
// answer for the next one, once, replacing an earlier one. keep is how long it stays armed; 0 means 120 s. Errors wrap
// [ErrNoDialog] if the named dialog is not open, and [ErrInvalid] if several are open and none is named.
func (t *Tab) HandleDialog(ctx context.Context, a DialogAnswer, keep time.Duration) (armed bool, err error) {
	if err := t.Err(); err != nil {
		return false, err
	}
	if !t.mayUse(ctx, false) {
		return false, ErrHeld
	}
	t.mu.Lock()
	_, open := t.dialogs.Oldest()
	if !open && a.ID == "" {
		t.dialogs.Arm(a, time.Now(), keep)
		t.mu.Unlock()
		return true, nil
	}
	t.mu.Unlock()
	return false, t.sendDialogAnswer(ctx, a)
}

func (t *Tab) sendDialogAnswer(ctx context.Context, a DialogAnswer) error {
	if err := t.Err(); err != nil {
		return err
	}
	if !t.mayUse(ctx, false) {
		return ErrHeld
	}
	t.mu.Lock()
	d, f, err := t.dialogs.BeginAnswer(a)
	t.mu.Unlock()
	if err != nil {
		return fmt.Errorf("answer dialog in tab %s: %w", t.id, err)
	}
	if err := f.Do(ctx, proto.PageHandleJavaScriptDialog{Accept: a.Accept, PromptText: a.PromptText}); err != nil {
		t.mu.Lock()
		t.dialogs.UndoAnswer(d.ID)
		t.mu.Unlock()
		return fmt.Errorf("answer dialog %s: %w", d.ID, err)
	}
	return t.waitUntil(ctx, func() bool { return t.err != nil || !t.dialogs.IsPending(d.ID) })
}
