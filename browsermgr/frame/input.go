package frame

import (
	"context"

	"clank/browsermgr/cdp"

	"github.com/go-rod/rod/lib/proto"
)

// Input sends input events to the session that takes them for the frame, waits until the page has handled them and then as
// [Frame.Quiet] does. The script that waits goes out with the events, so that the answer to the last of them need not be
// awaited first.
func (f *Frame) Input(ctx context.Context, via *cdp.Session, events []proto.Request) (Calm, error) {
	w, err := f.enter(ctx)
	if err != nil {
		return calmOr(Calm{}, lostOr(err))
	}
	type inputArg struct {
		Input int `json:"input"`
		Ups   int `json:"ups"`
	}
	arg := inputArg{Input: f.nextInput(), Ups: releases(events)}
	calls := make([]*cdp.Call, len(events))
	for i, event := range events {
		calls[i] = via.Begin(event)
	}
	settled, err := f.call(w, Script{Fn: "settled", Arg: arg}, true)
	if err != nil {
		return Calm{}, err
	}
	for _, c := range calls {
		if err := c.Wait(ctx, nil); err != nil && !cdp.DocumentGone(err) {
			settled.Forget()
			return Calm{}, err
		}
	}
	// The events may have gone to another frame, or the page may have kept them from us.
	if text, err := (Script{Fn: "taken", Arg: arg.Input}).expression(w, false); err == nil {
		f.Post(proto.RuntimeEvaluate{Expression: text, ContextID: w.context})
	}
	return calmOr(await[Calm](ctx, f, w, settled))
}

// releases counts the keys and buttons that are let go.
func releases(events []proto.Request) int {
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

// nextInput numbers input that is waited for.
func (f *Frame) nextInput() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.inputs++
	return f.inputs
}
