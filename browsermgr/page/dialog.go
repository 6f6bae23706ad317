package page

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/frame"

	"github.com/go-rod/rod/lib/proto"
)

// recentDialogs is how many closed dialogs a tab remembers.
const recentDialogs = 20

// Dialog is a JavaScript dialog of a page: alert, confirm, prompt or beforeunload.
type Dialog struct {
	ID           string    `json:"id"` // d1, d2, … per tab
	Type         string    `json:"type"`
	Message      string    `json:"message"`
	DefaultValue string    `json:"defaultValue,omitempty"` // of a prompt
	URL          string    `json:"url,omitempty"`          // of the frame that opened it
	OpenedAt     time.Time `json:"openedAt"`
	ClosedAt     time.Time `json:"closedAt,omitzero"`
	ClosedBy     string    `json:"closedBy,omitempty"` // agent or remote

	frame *frame.Frame
}

// Dialogs is what a tab knows of its dialogs. Both lists are oldest first.
type Dialogs struct {
	Pending []Dialog `json:"pending"`
	Recent  []Dialog `json:"recent"` // closed ones, at most 20
}

type dialogState struct {
	count   int
	pending []*Dialog
	recent  []Dialog
	leaving int // navigations and closings under way: beforeunload is accepted
}

func (d *dialogState) first() *Dialog {
	if len(d.pending) == 0 {
		return nil
	}
	return d.pending[0]
}

func (d *dialogState) close(dialog *Dialog, by string) {
	i := slices.Index(d.pending, dialog)
	if i < 0 {
		return
	}
	d.pending = slices.Delete(d.pending, i, i+1)
	dialog.ClosedAt = time.Now()
	if dialog.ClosedBy == "" {
		dialog.ClosedBy = by
	}
	d.recent = append(d.recent, *dialog)
	if len(d.recent) > recentDialogs {
		d.recent = d.recent[1:]
	}
}

func (d *dialogState) closeAll(by string) {
	for len(d.pending) > 0 {
		d.close(d.pending[0], by)
	}
}

func (t *Tab) handleDialog(f *frame.Frame, ev cdp.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.signal()
	d := &t.dialogs
	if ev.Method == "Page.javascriptDialogClosed" {
		// Dialogs of one page close in the order they opened: each stops the page.
		if first := d.first(); first != nil {
			d.close(first, "remote")
		}
		return
	}
	var p proto.PageJavascriptDialogOpening
	if !ev.Decode(&p) {
		return
	}
	d.count++
	dialog := &Dialog{
		ID: fmt.Sprintf("d%d", d.count), Type: string(p.Type), Message: p.Message, DefaultValue: p.DefaultPrompt,
		URL: p.URL, OpenedAt: time.Now(), frame: f,
	}
	d.pending = append(d.pending, dialog)
	if d.leaving > 0 && p.Type == proto.PageDialogTypeBeforeunload {
		dialog.ClosedBy = "agent"
		f.Post(proto.PageHandleJavaScriptDialog{Accept: true})
		return
	}
	t.interrupt(&DialogError{Dialog: *dialog}, false)
}

// leave says that the page is about to be left on request, until the returned function is called.
func (t *Tab) leave() (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dialogs.leaving++
	if d := t.dialogs.first(); d != nil && d.Type == string(proto.PageDialogTypeBeforeunload) && d.ClosedBy == "" {
		d.ClosedBy = "agent"
		d.frame.Post(proto.PageHandleJavaScriptDialog{Accept: true})
	}
	return func() {
		t.mu.Lock()
		t.dialogs.leaving--
		t.mu.Unlock()
	}
}

// dismissAll answers whatever is open, for a tab that is about to be closed.
func (t *Tab) dismissAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.dialogs.pending {
		if d.ClosedBy == "" {
			d.ClosedBy = "agent"
			d.frame.Post(proto.PageHandleJavaScriptDialog{Accept: d.Type == string(proto.PageDialogTypeBeforeunload)})
		}
	}
}

func (t *Tab) pendingDialog() *Dialog {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dialogs.first()
}

// Dialogs reports open and recently closed dialogs.
func (t *Tab) Dialogs() Dialogs {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := Dialogs{Pending: []Dialog{}, Recent: append([]Dialog{}, t.dialogs.recent...)}
	for _, d := range t.dialogs.pending {
		out.Pending = append(out.Pending, *d)
	}
	return out
}

// ErrNoDialog says that no dialog is open that could be answered.
var ErrNoDialog = errors.New("no dialog is open")

// AnswerDialog accepts or dismisses the open dialog and returns when it is closed. promptText is what a prompt returns
// when accepted. It is an error that wraps [ErrNoDialog] if no dialog is open.
func (t *Tab) AnswerDialog(ctx context.Context, accept bool, promptText string) error {
	if err := t.Err(); err != nil {
		return err
	}
	d := t.pendingDialog()
	if d == nil {
		return fmt.Errorf("answer dialog in tab %s: %w", t.id, ErrNoDialog)
	}
	t.mu.Lock()
	d.ClosedBy = "agent"
	t.mu.Unlock()
	err := d.frame.Do(ctx, proto.PageHandleJavaScriptDialog{Accept: accept, PromptText: promptText})
	if err != nil {
		t.mu.Lock()
		d.ClosedBy = ""
		t.mu.Unlock()
		return fmt.Errorf("answer dialog %s: %w", d.ID, err)
	}
	return t.until(ctx, func() bool { return t.err != nil || !slices.Contains(t.dialogs.pending, d) })
}
