package page

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/proto"
)

// slowDelay is the pause between keys of a slow type.
const slowDelay = 75 * time.Millisecond

// fieldArg asks for a field that takes input.
type fieldArg struct {
	Ref      string   `json:"ref,omitempty"`
	Selector string   `json:"selector,omitempty"`
	Text     any      `json:"text,omitempty"`
	Values   []string `json:"values,omitempty"`
	Checked  bool     `json:"checked"`
	Timeout  int64    `json:"timeout"`
}

// inField runs one of the field scripts on an element.
func inField[R any](ctx context.Context, t *Tab, e element, fn string, arg fieldArg, limit time.Duration) (R, error) {
	limit = pageLimit(ctx, limit)
	arg.Ref, arg.Timeout = e.local, limit.Milliseconds()
	res, err := run[R](ctx, e.session, script{fn: fn, arg: arg, within: limit + t.browser.conn.timeout, gesture: true})
	if err != nil {
		return res, t.explain(e, err)
	}
	return res, nil
}

func (t *Tab) typeText(ctx context.Context, a Action) error {
	e, err := t.locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	if a.Slowly {
		err = t.typeSlowly(ctx, e, a)
	} else {
		err = t.setText(ctx, e, a.Selector, a.Text, a.limit())
	}
	if err != nil {
		return err
	}
	if a.Submit {
		enter, _ := parseChord("Enter")
		if err := t.send(ctx, enter.events()...); err != nil {
			return err
		}
	}
	_, err = t.settled(ctx, e.session)
	return err
}

// setText replaces what a field holds in one go.
func (t *Tab) setText(ctx context.Context, e element, selector, text string, limit time.Duration) error {
	res, err := inField[struct {
		Insert bool `json:"insert"`
	}](ctx, t, e, "type", fieldArg{Selector: selector, Text: text}, limit)
	if err != nil || !res.Insert {
		return err
	}
	// Rich text: its content is selected, what is inserted takes its place.
	if text == "" {
		del, _ := parseChord("Delete")
		return t.send(ctx, del.events()...)
	}
	return t.send(ctx, proto.InputInsertText{Text: text})
}

// typeSlowly clicks a field and types key by key, as a person would, leaving what is there.
func (t *Tab) typeSlowly(ctx context.Context, e element, a Action) error {
	if _, err := inField[bool](ctx, t, e, "focus", fieldArg{Selector: a.Selector, Text: true}, a.limit()); err != nil {
		return err
	}
	for i, r := range a.Text {
		if i > 0 {
			if err := sleep(ctx, slowDelay); err != nil {
				return err
			}
		}
		if err := t.send(ctx, runeChord(r).events()...); err != nil {
			return err
		}
	}
	return nil
}

// fill sets several fields one after the other. It ends at the first that does not take its value, naming it.
func (t *Tab) fill(ctx context.Context, a Action) error {
	last := t.session
	for _, f := range a.Fields {
		e, err := t.resolve(f.Ref)
		if err != nil {
			return err
		}
		if f.Type == "checkbox" || f.Type == "radio" || f.Type == "switch" {
			err = t.check(ctx, e, truthy(f.Value), a)
		} else {
			err = t.setText(ctx, e, "", fieldText(f.Value), a.limit())
		}
		if err != nil {
			return err
		}
		last = e.session
	}
	_, err := t.settled(ctx, last)
	return err
}

// check clicks a checkbox or the like unless it is as wanted.
func (t *Tab) check(ctx context.Context, e element, checked bool, a Action) error {
	res, err := inField[struct {
		Click bool `json:"click"`
	}](ctx, t, e, "check", fieldArg{Checked: checked}, a.limit())
	if err != nil || !res.Click {
		return err
	}
	return t.click(ctx, Action{Kind: KindClick, Ref: e.given, TimeoutMs: a.TimeoutMs})
}

// truthy says whether a value means checked.
func truthy(v any) bool {
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

func (t *Tab) choose(ctx context.Context, a Action) error {
	e, err := t.locate(a.Ref, a.Selector)
	if err != nil {
		return err
	}
	if _, err := inField[bool](ctx, t, e, "select", fieldArg{Selector: a.Selector, Values: a.Values}, a.limit()); err != nil {
		return err
	}
	_, err = t.settled(ctx, e.session)
	return err
}

func (t *Tab) press(ctx context.Context, a Action) error {
	c, err := parseChord(a.Key)
	if err != nil {
		return err
	}
	if a.Ref != "" || a.Selector != "" {
		e, err := t.locate(a.Ref, a.Selector)
		if err != nil {
			return err
		}
		if _, err := inField[bool](ctx, t, e, "focus", fieldArg{Selector: a.Selector}, a.limit()); err != nil {
			return err
		}
	}
	events := c.events()
	if a.DelayMs > 0 {
		down, up := events[:len(events)-c.ups()], events[len(events)-c.ups():]
		if err := t.send(ctx, down...); err != nil {
			return err
		}
		if err := sleep(ctx, time.Duration(a.DelayMs)*time.Millisecond); err != nil {
			t.session.post(up...)
			return err
		}
		events = up
	}
	if err := t.send(ctx, events...); err != nil {
		return err
	}
	_, err = t.settled(ctx, t.session)
	return err
}

func lower(s string) string { return strings.ToLower(strings.TrimSpace(s)) }
