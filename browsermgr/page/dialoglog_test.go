package page_test

import (
	"clank/internal/test/browsertest"
	"errors"
	"strings"
	"testing"
	"time"

	"clank/browsermgr/fault"
	"clank/browsermgr/page"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func open(b *page.DialogLog[string], kind, from string, at time.Time) (page.Dialog, *page.DialogAnswer) {
	return b.Opened(page.Dialog{Type: kind, OpenedAt: at}, from)
}

func TestDialogsAreNumberedAndRemembered(t *testing.T) {
	var b page.DialogLog[string]
	if l := b.List(); l.Pending == nil || l.Recent == nil {
		t.Error("got nil lists, want empty ones")
	}
	for range 25 {
		d, answer := open(&b, "alert", "main", noon)
		if answer != nil {
			t.Fatalf("got %+v: nothing is answered by itself", answer)
		}
		if _, _, err := b.BeginAnswer(page.DialogAnswer{ID: d.ID}); err != nil {
			t.Fatal(err)
		}
		b.Close("main", noon.Add(time.Second))
	}
	l := b.List()
	if len(l.Pending) != 0 || len(l.Recent) != 20 || l.Recent[0].ID != "d6" || l.Recent[19].ID != "d25" {
		t.Errorf("got %+v", l)
	}
	if d := l.Recent[0]; d.ClosedBy != page.ClosedByAgent || !d.ClosedAt.Equal(noon.Add(time.Second)) {
		t.Errorf("got %+v", d)
	}
}

func TestPickFindsTheDialogThatIsMeant(t *testing.T) {
	var b page.DialogLog[string]
	if _, _, err := b.BeginAnswer(page.DialogAnswer{}); !errors.Is(err, page.ErrNoDialog) {
		t.Errorf("got %v", err)
	}
	if _, _, err := b.BeginAnswer(page.DialogAnswer{ID: "d1"}); !errors.Is(err, page.ErrNoDialog) || !strings.Contains(err.Error(), "not pending") {
		t.Errorf("got %v", err)
	}
	open(&b, "alert", "main", noon)
	open(&b, "confirm", "frame", noon)
	_, _, err := b.BeginAnswer(page.DialogAnswer{})
	browsertest.WantError(t, err, fault.ErrInvalid, "several dialogs are pending", "d1, d2")
	if _, _, err = b.BeginAnswer(page.DialogAnswer{ID: "d3"}); !strings.Contains(err.Error(), `"d3" is not pending`) {
		t.Errorf("got %v", err)
	}
	d, from, err := b.BeginAnswer(page.DialogAnswer{ID: "d2"})
	if err != nil || d.ID != "d2" || from != "frame" {
		t.Errorf("got %+v, %s, %v", d, from, err)
	}
	b.Close("frame", noon)
	if first, _ := b.Oldest(); first.ID != "d1" || b.IsPending("d2") {
		t.Errorf("got %+v, want the frame's dialog to be the one that closed", b.List())
	}
	b.AllClosed(noon)
	if l := b.List(); l.Recent[1].ClosedBy != page.ClosedByRemote {
		t.Errorf("got %+v, want it closed by somebody else", l.Recent)
	}
	b.Close("main", noon) // one that opened before us
}

func TestArmedAnswerIsForOneDialog(t *testing.T) {
	var b page.DialogLog[string]
	b.Arm(page.DialogAnswer{Accept: false}, noon, 0)
	b.Arm(page.DialogAnswer{Accept: true, PromptText: "Ada"}, noon, 0)
	_, answer := open(&b, "prompt", "main", noon.Add(time.Minute))
	if answer == nil || !answer.Accept || answer.PromptText != "Ada" {
		t.Fatalf("got %+v, want the last that was armed", answer)
	}
	if _, again := open(&b, "prompt", "main", noon.Add(time.Minute)); again != nil {
		t.Errorf("got %+v for the second dialog", again)
	}
	b.Close("main", noon)
	if d := b.List().Recent[0]; d.ClosedBy != page.ClosedByArmed {
		t.Errorf("got %+v", d)
	}
	for keep, valid := range map[time.Duration]time.Duration{0: page.MaxArmedTime, 1: page.MinArmedTime, time.Hour: page.MaxArmedTime} {
		for _, late := range []bool{false, true} {
			b.Arm(page.DialogAnswer{}, noon, keep)
			at := noon.Add(valid - time.Millisecond)
			if late {
				at = noon.Add(valid)
			}
			if _, answer := open(&b, "alert", "main", at); (answer == nil) != late {
				t.Errorf("armed for %s, opened after %s: got %+v", keep, at.Sub(noon), answer)
			}
		}
	}
}

func TestLeavingAcceptsBeforeunloadAlone(t *testing.T) {
	var b page.DialogLog[string]
	open(&b, "beforeunload", "main", noon)
	open(&b, "alert", "frame", noon)
	if from := b.BeginUnload(); len(from) != 1 || from[0] != "main" {
		t.Errorf("got %v to accept", from)
	}
	if _, answer := open(&b, "beforeunload", "main", noon); answer == nil || !answer.Accept {
		t.Errorf("got %+v", answer)
	}
	if _, answer := open(&b, "confirm", "main", noon); answer != nil {
		t.Errorf("got %+v", answer)
	}
	if from := b.BeginClose(); len(from) != 2 {
		t.Errorf("got %v to dismiss, want the open ones that have no answer", from)
	}
	if _, answer := open(&b, "confirm", "main", noon); answer == nil || answer.Accept {
		t.Errorf("got %+v, want it dismissed while closing", answer)
	}
	b.EndUnload()
	if _, answer := open(&b, "beforeunload", "main", noon); answer != nil {
		t.Errorf("got %+v after leaving", answer)
	}
	b.UndoAnswer("d1")
	b.AllClosed(noon)
}
