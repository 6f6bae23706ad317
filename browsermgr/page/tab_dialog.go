package page

import (
	"context"
	"fmt"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/page/frame"

	"github.com/go-rod/rod/lib/proto"
)

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

// beginUnload says that the page is about to be left on request, until the returned function is called.
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

// dismissDialogs answers whatever is open, for a tab that is about to be closed, and ends the scripts that wait for it: they may
// open the next.
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

// AnswerDialog accepts or dismisses the open dialog and returns when it is closed. promptText is what a prompt returns
// when accepted. It is an error that wraps [ErrNoDialog] if no dialog is open.
func (t *Tab) AnswerDialog(ctx context.Context, accept bool, promptText string) error {
	return t.sendDialogAnswer(ctx, DialogAnswer{Accept: accept, PromptText: promptText})
}

// HandleDialog answers an open dialog and returns when it is closed. If none is open, and none is named, it arms the answer
// for the next one, once, instead of what was armed before: keep is how long, 0 means 120 s. Errors wrap [ErrNoDialog] if
// the dialog that is named is not pending, and [ErrInvalid] if several are and none is named.
func (t *Tab) HandleDialog(ctx context.Context, a DialogAnswer, keep time.Duration) (armed bool, err error) {
	if err := t.Err(); err != nil {
		return false, err
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
