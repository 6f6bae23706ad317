package control

import (
	"context"
	"fmt"
	"net/http"

	"clank/browsermgr/control/body"
	"clank/browsermgr/fault"
	"clank/browsermgr/tabname"
)

var tabActions = []string{"list", "new", "label", "close", "select"}

// actionAnswer has what the action asks for: tabs of list, tab of new and label, targetId of close and select.
type actionAnswer struct {
	done

	Running  *bool      `json:"running,omitempty"`
	Tabs     *[]tabJSON `json:"tabs,omitempty"`
	Tab      *tabJSON   `json:"tab,omitempty"`
	TargetID string     `json:"targetId,omitempty"`
}

func tabAction(ctx context.Context, c *call) (actionAnswer, error) {
	action := c.body.Required("action")
	index, given := c.body.NonNegative("index")
	label := c.body.String("label")
	name := c.body.String("targetId")
	if label != "" {
		if err := tabname.CheckLabel(label); err != nil {
			c.body.Fail(err)
		}
	}
	if err := c.err(); err != nil {
		return actionAnswer{}, err
	}
	switch action {
	case "list":
		list, err := listTabs(ctx, c)
		return actionAnswer{done: done{true}, Running: &list.Running, Tabs: &list.Tabs}, err
	case "new":
		h, err := c.open(ctx, "about:blank", label)
		if err != nil {
			return actionAnswer{}, err
		}
		defer h.release()
		return c.tabAnswer(ctx, h), nil
	case "label":
		return c.label(ctx, name, label)
	case "close":
		closed, err := c.closeTab(ctx, at(index))
		return actionAnswer{done: done{true}, TargetID: closed.TargetID}, err
	case "select":
		if !given {
			return actionAnswer{}, fault.Invalidf("index is required")
		}
		chosen, err := c.focus(ctx, at(index))
		return actionAnswer{done: done{true}, TargetID: chosen.TargetID}, err
	}
	return actionAnswer{}, &failure{status: http.StatusBadRequest, err: fmt.Errorf("unknown tab action %q: use list, new, label, close or select", action)}
}

func (c *call) label(ctx context.Context, name, label string) (actionAnswer, error) {
	required := body.New(map[string]any{"targetId": name, "label": label})
	required.Required("targetId")
	required.Required("label")
	if err := required.Err(); err != nil {
		return actionAnswer{}, err
	}
	h, err := c.existing(ctx, func(d *desk) (tabname.Tab, error) { return d.book.Resolve(name) })
	if err != nil {
		return actionAnswer{}, err
	}
	defer h.release()
	if h.names, err = h.desk.book.Label(h.tab.TargetID(), label); err != nil {
		return actionAnswer{}, err
	}
	return c.tabAnswer(ctx, h), nil
}

func (c *call) tabAnswer(ctx context.Context, h *held) actionAnswer {
	return actionAnswer{done: done{true}, Tab: &c.describe(ctx, h.desk, h.use, []tabname.Tab{h.names})[0]}
}

// at picks a tab by its position in the list.
func at(index int) func(*desk) (tabname.Tab, error) {
	return func(d *desk) (tabname.Tab, error) {
		tabs := d.book.Tabs()
		if index >= len(tabs) {
			return tabname.Tab{}, fmt.Errorf("%w: there is no tab at index %d; %d are open", tabname.ErrNotFound, index, len(tabs))
		}
		return tabs[index], nil
	}
}
