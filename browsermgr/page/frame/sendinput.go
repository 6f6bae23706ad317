package frame

import (
	"context"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// SendInput sends input events to the session that takes them for the frame, waits until the page has handled them and then as
// [Frame.AwaitQuiet] does. The script that waits goes out with the events, so that the answer to the last of them need not be
// awaited first.
func (f *Frame) SendInput(ctx context.Context, via *cdp.Session, events []proto.Request) (QuietState, error) {
	w, err := f.enterWorld(ctx)
	if err != nil {
		return quietStateOrError(QuietState{}, explainLost(err))
	}
	type inputArg struct {
		Input int  `json:"input"`
		Ups   int  `json:"ups"`
		Texts int  `json:"texts"`
		Edit  bool `json:"edit"`
	}
	arg := inputArg{Input: f.nextInputNumber()}
	if last := len(events) - 1; last >= 0 && events[last] == (EndEdit{}) {
		arg.Edit, events = true, events[:last]
	}
	if arg.Ups = countReleases(events); arg.Ups == 0 {
		arg.Texts = countTexts(events)
	}
	calls := make([]*cdp.Call, len(events))
	for i, event := range events {
		calls[i] = via.Begin(event)
	}
	settled, err := f.callScript(w, Script{Fn: "settled", Arg: arg}, true)
	if err != nil {
		return QuietState{}, err
	}
	for _, c := range calls {
		if err := c.Wait(ctx, nil); err != nil && !cdp.IsDocumentGone(err) {
			settled.Abandon()
			return QuietState{}, err
		}
	}
	// The events may have gone to another frame, or the page may have kept them from us.
	if text, err := (Script{Fn: "taken", Arg: arg.Input}).expression(w, false); err == nil {
		f.Post(proto.RuntimeEvaluate{Expression: text, ContextID: w.context})
	}
	return quietStateOrError(awaitAnswer[QuietState](ctx, f, w, settled))
}

// EndEdit stands after the events that change a field which one of our scripts has prepared: the script that waits for them then
// sees whether they did, see edit in input.js. The browser gets nothing for it.
type EndEdit struct{}

// ProtoReq makes it one of the events.
func (EndEdit) ProtoReq() string { return "" }

// countTexts counts the texts that are put in as a whole.
func countTexts(events []proto.Request) int {
	n := 0
	for _, event := range events {
		if _, ok := event.(proto.InputInsertText); ok {
			n++
		}
	}
	return n
}

// countReleases counts the keys and buttons that are let go.
func countReleases(events []proto.Request) int {
	n := 0
	for _, event := range events {
		switch event := event.(type) {
		case proto.InputDispatchKeyEvent:
			if event.Type == proto.InputDispatchKeyEventTypeKeyUp {
				n++
			}
		case proto.InputDispatchMouseEvent:
			if event.Type == proto.InputDispatchMouseEventTypeMouseReleased {
				n++
			}
		}
	}
	return n
}

// nextInputNumber numbers input that is waited for.
func (f *Frame) nextInputNumber() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inputCount++
	return f.inputCount
}
