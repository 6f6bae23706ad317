package control

import (
	"context"
	"fmt"
	"net/http"

	"clank/browsermgr/fault"
	"clank/browsermgr/profile"
)

var tabActions = []string{"list", "new", "label", "close", "select"}

// actionAnswer has what the action asks for: tabs of list, tab of new and label, targetId of close and select.
type actionAnswer struct {
	OKAnswer

	Running  *bool      `json:"running,omitempty"`
	Tabs     *[]tabJSON `json:"tabs,omitempty"`
	Tab      *tabJSON   `json:"tab,omitempty"`
	TargetID string     `json:"targetId,omitempty"`
}

func tabAction(ctx context.Context, c *Call) (actionAnswer, error) {
	action := c.Body.Required("action")
	index, given := c.Body.NonNegative("index")
	label := c.Body.String("label")
	name := c.Body.String("targetId")
	if label != "" {
		if err := profile.CheckTabLabel(label); err != nil {
			c.Body.Fail(err)
		}
	}
	if err := c.Err(); err != nil {
		return actionAnswer{}, err
	}
	switch action {
	case "list":
		list, err := listTabs(ctx, c)
		return actionAnswer{OKAnswer: OKAnswer{OK: true}, Running: &list.Running, Tabs: &list.Tabs}, err
	case "new":
		h, _, err := openNewTab(ctx, c, "about:blank", label)
		if err != nil {
			return actionAnswer{}, err
		}
		defer h.Release()
		return tabAnswer(ctx, h), nil
	case "label":
		return labelTab(ctx, c, name, label)
	case "close":
		closed, err := closePicked(ctx, c, pickIndex(index))
		return actionAnswer{OKAnswer: OKAnswer{OK: true}, TargetID: closed.TargetID}, err
	case "select":
		if !given {
			return actionAnswer{}, fault.Invalidf("index is required")
		}
		chosen, err := focusPicked(ctx, c, pickIndex(index))
		return actionAnswer{OKAnswer: OKAnswer{OK: true}, TargetID: chosen.TargetID}, err
	}
	return actionAnswer{}, &StatusError{Status: http.StatusBadRequest, Err: fmt.Errorf("unknown tab action %q: use list, new, label, close or select", action)}
}

func labelTab(ctx context.Context, c *Call, name, label string) (actionAnswer, error) {
	required := newFields(map[string]any{"targetId": name, "label": label})
	required.Required("targetId")
	required.Required("label")
	if err := required.Err(); err != nil {
		return actionAnswer{}, err
	}
	h, err := c.ExistingTab(ctx, pickNamed(name))
	if err != nil {
		return actionAnswer{}, err
	}
	defer h.Release()
	if h.Names, err = h.Profile.TabNames.Label(h.Tab.TargetID(), label); err != nil {
		return actionAnswer{}, err
	}
	return tabAnswer(ctx, h), nil
}

func tabAnswer(ctx context.Context, h *heldTab) actionAnswer {
	return actionAnswer{OKAnswer: OKAnswer{OK: true}, Tab: &describeTabs(ctx, h.Profile, h.Lease, []profile.NamedTab{h.Names})[0]}
}

// pickIndex picks a tab by its position in the list.
func pickIndex(index int) tabPicker {
	return func(d *profileTabs) (profile.NamedTab, error) {
		tabs := d.TabNames.Tabs()
		if index >= len(tabs) {
			return profile.NamedTab{}, fmt.Errorf("%w: there is no tab at index %d, counted from 0; %d are open", profile.ErrTabNotFound, index, len(tabs))
		}
		return tabs[index], nil
	}
}
