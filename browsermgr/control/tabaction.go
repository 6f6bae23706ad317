package control

import (
	"context"
	"fmt"
	"net/http"

	"clank/browsermgr/control/body"
	"clank/browsermgr/control/desk"
	"clank/browsermgr/control/reply"
	"clank/browsermgr/control/route"
	"clank/browsermgr/fault"
	"clank/browsermgr/tabname"
)

var tabActions = []string{"list", "new", "label", "close", "select"}

// actionAnswer has what the action asks for: tabs of list, tab of new and label, targetId of close and select.
type actionAnswer struct {
	reply.Done

	Running  *bool      `json:"running,omitempty"`
	Tabs     *[]tabJSON `json:"tabs,omitempty"`
	Tab      *tabJSON   `json:"tab,omitempty"`
	TargetID string     `json:"targetId,omitempty"`
}

func tabAction(ctx context.Context, c *route.Call) (actionAnswer, error) {
	action := c.Body.Required("action")
	index, given := c.Body.NonNegative("index")
	label := c.Body.String("label")
	name := c.Body.String("targetId")
	if label != "" {
		if err := tabname.CheckLabel(label); err != nil {
			c.Body.Fail(err)
		}
	}
	if err := c.Err(); err != nil {
		return actionAnswer{}, err
	}
	switch action {
	case "list":
		list, err := listTabs(ctx, c)
		return actionAnswer{Done: reply.Done{OK: true}, Running: &list.Running, Tabs: &list.Tabs}, err
	case "new":
		h, err := open(ctx, c, "about:blank", label)
		if err != nil {
			return actionAnswer{}, err
		}
		defer h.Release()
		return tabAnswer(ctx, h), nil
	case "label":
		return labelTab(ctx, c, name, label)
	case "close":
		closed, err := closePicked(ctx, c, at(index))
		return actionAnswer{Done: reply.Done{OK: true}, TargetID: closed.TargetID}, err
	case "select":
		if !given {
			return actionAnswer{}, fault.Invalidf("index is required")
		}
		chosen, err := focus(ctx, c, at(index))
		return actionAnswer{Done: reply.Done{OK: true}, TargetID: chosen.TargetID}, err
	}
	return actionAnswer{}, &reply.StatusError{Status: http.StatusBadRequest, Err: fmt.Errorf("unknown tab action %q: use list, new, label, close or select", action)}
}

func labelTab(ctx context.Context, c *route.Call, name, label string) (actionAnswer, error) {
	required := body.New(map[string]any{"targetId": name, "label": label})
	required.Required("targetId")
	required.Required("label")
	if err := required.Err(); err != nil {
		return actionAnswer{}, err
	}
	h, err := c.Existing(ctx, desk.Named(name))
	if err != nil {
		return actionAnswer{}, err
	}
	defer h.Release()
	if h.Names, err = h.Desk.Book.Label(h.Tab.TargetID(), label); err != nil {
		return actionAnswer{}, err
	}
	return tabAnswer(ctx, h), nil
}

func tabAnswer(ctx context.Context, h *desk.Held) actionAnswer {
	return actionAnswer{Done: reply.Done{OK: true}, Tab: &describe(ctx, h.Desk, h.Use, []tabname.Tab{h.Names})[0]}
}

// at picks a tab by its position in the list.
func at(index int) desk.Pick {
	return func(d *desk.Desk) (tabname.Tab, error) {
		tabs := d.Book.Tabs()
		if index >= len(tabs) {
			return tabname.Tab{}, fmt.Errorf("%w: there is no tab at index %d, counted from 0; %d are open", tabname.ErrNotFound, index, len(tabs))
		}
		return tabs[index], nil
	}
}
