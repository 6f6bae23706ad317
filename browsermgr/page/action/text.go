package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"clank/browsermgr/cdp"
	"clank/browsermgr/fault"
	"clank/browsermgr/page/action/actiontable"
	"clank/browsermgr/page/frame"
	"clank/cancel"

	"github.com/go-rod/rod/lib/proto"
)

// fieldArg describes a field to find and edit.
type fieldArg struct {
	Ref      string   `json:"ref,omitempty"`
	Selector string   `json:"selector,omitempty"`
	Text     any      `json:"text,omitempty"`
	Values   []string `json:"values,omitempty"`
	Checked  bool     `json:"checked"`
	Leave    bool     `json:"leave,omitempty"` // blur the field briefly after editing
	Cell     bool     `json:"cell,omitempty"`  // report a cell, which may open a field

	Moved   map[string]float64 `json:"moved,omitempty"` // what keys were to change the value from and to
	Timeout int64              `json:"timeout"`
}

// runFieldScript runs a field script on an element.
func runFieldScript[R any](ctx context.Context, e frame.Element, fn string, arg fieldArg,
	limit time.Duration,
) (R, error) {
	limit = frame.ScriptLimit(ctx, limit)
	arg.Ref, arg.Timeout = e.LocalRef, limit.Milliseconds()
	res, err := frame.RunScript[R](ctx, e.Frame, frame.Script{
		Fn: fn, Arg: arg, Within: limit + e.Frame.Timeout(),
		Gesture: true,
	})
	if err != nil {
		return res, e.Explain(err)
	}
	return res, nil
}

func (d *performer) typeText(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	if a.Slowly {
		err = d.typeSlowly(ctx, e, a)
	} else {
		err = d.setText(ctx, e, fieldArg{Selector: a.Selector, Text: a.Text, Cell: true}, a.Limit())
	}
	if err != nil || !a.Submit && !a.Slowly {
		return err
	}
	if a.Submit {
		_, err := d.sendAndWait(ctx, e.Frame, frame.EnterChord().Events()...)
		return err
	}
	return d.settle(ctx, e.Frame)
}

// selectAll is the chord that selects what a field holds.
const selectAll = "Control+a"

// fieldKind says how an element takes text.
type fieldKind struct {
	Insert bool `json:"insert"` // it has the focus, and takes input
	All    bool `json:"all"`    // the page has to select what it holds
	Steps  bool `json:"steps"`  // keys change its value
	Cell   bool `json:"cell"`   // it is a cell, which may open a field
}

// setText replaces a field's value at once, like pasting, and waits for the effects.
func (d *performer) setText(ctx context.Context, e frame.Element, arg fieldArg, limit time.Duration) error {
	res, err := runFieldScript[fieldKind](ctx, e, "type", arg, limit)
	if err != nil {
		return err
	}
	if res.Cell {
		if err := d.openCell(ctx, e, arg, limit); err != nil {
			return err
		}
		arg.Cell = false
		return d.setText(ctx, e, arg, limit)
	}
	if res.Steps {
		return d.stepTo(ctx, e, arg, limit)
	}
	if !res.Insert {
		return d.settle(ctx, e.Frame)
	}
	// The field's value is selected, so that inserted text replaces it.
	events := frame.DeleteChord().Events()
	if arg.Text != "" {
		events = []proto.Request{proto.InputInsertText{Text: arg.Text.(string)}}
	}
	if res.All {
		all, err := frame.ParseChord(selectAll)
		if err != nil {
			return err
		}
		events = append(all.Events(), events...)
	}
	return d.edit(ctx, e, events)
}

// openCell has a cell open its field, as people do: by a click, Enter or a double click.
func (d *performer) openCell(ctx context.Context, e frame.Element, arg fieldArg, limit time.Duration) error {
	click := Action{Selector: arg.Selector, TimeoutMs: int(limit.Milliseconds())}
	double := click
	double.DoubleClick = true
	for _, open := range []func() error{
		func() error { return d.clickElement(ctx, e, click) },
		func() error { _, err := d.sendAndWait(ctx, e.Frame, frame.EnterChord().Events()...); return err },
		func() error { return d.clickElement(ctx, e, double) },
	} {
		if err := open(); err != nil {
			return err
		}
		if opened, err := runFieldScript[bool](ctx, e, "opened", arg, limit); opened || err != nil {
			return err
		}
	}
	return (&frame.ScriptError{Code: "unopened", Role: "cell"}).Explain(e.GivenRef)
}

// edit sends input to a field prepared by a script, and waits for the effects.
func (d *performer) edit(ctx context.Context, e frame.Element, events []proto.Request) error {
	_, err := d.sendAndWait(ctx, e.Frame, append(events, frame.EndEdit{})...)
	return e.Explain(err)
}

// typeSlowly clicks a field and types key by key, as a person would, keeping its value.
func (d *performer) typeSlowly(ctx context.Context, e frame.Element, a Action) error {
	if err := d.click(ctx, Action{
		Kind: actiontable.KindClick, Ref: a.Ref, Selector: a.Selector,
		TimeoutMs: a.TimeoutMs,
	}); err != nil {
		return err
	}
	arg := fieldArg{Selector: a.Selector, Text: true, Cell: true}
	res, err := runFieldScript[fieldKind](ctx, e, "focus", arg, a.Limit())
	if err == nil && res.Cell {
		if err := d.openCell(ctx, e, arg, a.Limit()); err != nil {
			return err
		}
		arg.Cell = false
		_, err = runFieldScript[fieldKind](ctx, e, "focus", arg, a.Limit())
	}
	if err != nil {
		return err
	}
	for i, r := range a.Text {
		if i > 0 {
			if err := cancel.Sleep(ctx, actiontable.SlowKey); err != nil {
				return err
			}
		}
		if err := d.sendInput(ctx, frame.RuneChord(r).Events()...); err != nil {
			return err
		}
	}
	return nil
}

// fill sets several fields in order. It ends at the first that does not accept its value, naming it.
func (d *performer) fill(ctx context.Context, a Action) error {
	fields := a.NamedFields()
	for i, f := range fields {
		e, err := d.tab.Locate(f.Ref, "")
		if err != nil {
			return err
		}
		switch strings.TrimSpace(f.Type) {
		case "checkbox", "radio", "switch":
			err = d.setChecked(ctx, e, isTruthy(f.Value), a)
		default:
			err = d.setText(ctx, e, fieldArg{Text: fieldText(f.Value), Leave: i == len(fields)-1}, a.StepLimit())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setChecked clicks a checkbox or similar control unless it is already in the wanted state.
func (d *performer) setChecked(ctx context.Context, e frame.Element, checked bool, a Action) error {
	res, err := runFieldScript[struct {
		Click bool `json:"click"`
	}](ctx, e, "check", fieldArg{Checked: checked}, a.StepLimit())
	if err != nil || !res.Click {
		return err
	}
	err = d.click(ctx, Action{Kind: actiontable.KindClick, Ref: e.GivenRef, TimeoutMs: a.TimeoutMs})
	if err != nil {
		return err
	}
	_, err = runFieldScript[bool](ctx, e, "keptCheck", fieldArg{Checked: checked}, a.StepLimit())
	if errors.Is(err, fault.ErrUnknownRef) {
		return nil // the click made the page replace it
	}
	return err
}

// isTruthy reports whether a value means checked.
func isTruthy(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v == 1
	case int:
		return v == 1
	case string:
		return v == "1" || v == "true"
	}
	return false
}

func fieldText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return fmt.Sprint(v)
}

// selection is what to do next to select options of a list.
type selection struct {
	Key    string `json:"key"`
	Option string `json:"option"` // local ref of the option to click
	Left   int    `json:"left"`   // number of options to click in a list of scripts

	Modifiers []string `json:"modifiers"` // held during the click
}

// pickOptions clicks options of a list of scripts one by one until those that are wanted are selected. Where a click
// takes the place of others, it holds Control.
func (d *performer) pickOptions(ctx context.Context, e frame.Element, next selection, a Action) error {
	click := Action{TimeoutMs: a.TimeoutMs}
	for next.Left > 0 {
		option, left := frame.Element{Frame: e.Frame, LocalRef: next.Option, GivenRef: e.GivenRef}, next.Left
		if err := d.clickElement(ctx, option, click); err != nil {
			return err
		}
		var err error
		if next, err = runFieldScript[selection](ctx, option, "picked", fieldArg{}, a.Limit()); err != nil {
			return err
		}
		if next.Left < left {
			continue
		}
		if click.Modifiers != nil {
			return (&frame.ScriptError{Code: "unpicked", Role: "listbox"}).Explain(e.GivenRef)
		}
		click.Modifiers = []string{"Control"}
	}
	return nil
}

func (d *performer) selectOptions(ctx context.Context, a Action) error {
	e, err := d.tab.Locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	step, err := runFieldScript[selection](ctx, e, "select", fieldArg{Selector: a.Selector, Values: a.Values}, a.Limit())
	switch {
	case err != nil:
		return err
	case step.Key != "":
		c, err := frame.ParseChord(step.Key)
		if err != nil {
			return err
		}
		return d.edit(ctx, e, c.Events())
	case step.Left > 0:
		return d.pickOptions(ctx, e, step, a)
	case step.Option == "":
		return d.settle(ctx, e.Frame)
	}
	option := frame.Element{Frame: e.Frame, LocalRef: step.Option, GivenRef: e.GivenRef}
	if err := d.clickElement(ctx, option, Action{TimeoutMs: a.TimeoutMs, Modifiers: step.Modifiers}); err != nil &&
		ctx.Err() != nil {
		return err
	}
	if _, err := frame.RunScript[bool](ctx, e.Frame, frame.Script{Fn: "chosen"}); err != nil && !cdp.IsDocumentGone(err) {
		return err
	}
	return d.settle(ctx, e.Frame)
}

func (d *performer) press(ctx context.Context, a Action) error {
	c, err := frame.ParseChord(a.Key)
	if err != nil {
		return err
	}
	if a.Ref != "" || a.Selector != "" {
		e, err := d.tab.Locate(a.Ref, a.Selector)
		if err != nil {
			return err
		}
		if _, err := runFieldScript[fieldKind](ctx, e, "focus", fieldArg{Selector: a.Selector}, a.Limit()); err != nil {
			return err
		}
	}
	c = c.WithModifiers(d.state.keys.ModifierBits())
	f, err := FocusedFrame(ctx, d.tab.Frames())
	if err != nil {
		return err
	}
	if edit := c.ClipboardEdit(); edit != "" {
		for range max(a.Count, 1) {
			err := d.useClipboard(ctx, f, edit, func() error { return d.pressChord(ctx, c, a.DelayMs, d.sendInput) })
			if err != nil {
				return err
			}
		}
		return d.settle(ctx, f)
	}
	for i := 1; i < a.Count; i++ {
		if err := d.pressChord(ctx, c, a.DelayMs, d.sendInput); err != nil {
			return err
		}
	}
	return d.pressChord(ctx, c, a.DelayMs, func(ctx context.Context, events ...proto.Request) error {
		_, err := d.sendAndWait(ctx, f, events...)
		return err
	})
}

// pressChord presses keys and holds them for a while; end sends the events that release them.
func (d *performer) pressChord(ctx context.Context, c frame.Chord, holdMs int,
	end func(context.Context, ...proto.Request) error,
) error {
	if holdMs <= 0 {
		return end(ctx, c.Events()...)
	}
	down, up := c.Split()
	if err := d.sendInput(ctx, down...); err != nil {
		return err
	}
	if err := cancel.Sleep(ctx, time.Duration(holdMs)*time.Millisecond); err != nil {
		d.mainFrame().Post(up...)
		return err
	}
	return end(ctx, up...)
}
