package main

import (
	"context"
	"errors"
	"fmt"
)

func attachByDirectory(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	return joinAs(ctx, s, "mine", map[string]any{"driver": "existing-session", "userDataDir": b.data}, func() error {
		all, err := listProfiles(ctx, s)
		if err != nil {
			return err
		}
		if p := all["mine"]; p.Driver != "existing-session" {
			return fmt.Errorf("listed as %+v", p)
		}
		if err := (requestCase{Path: "/?profile=mine", Contains: []string{b.data, `"attachOnly":true`}}).Run(ctx, s); err != nil {
			return err
		}
		return worksForeignBrowser(ctx, s, b, "mine", "about:blank")
	})
}

// personsLimits are the actions that a browser in use by a person is spared. What else the contract lets servers refuse there
// may work.
func personsLimits(ctx context.Context, s *controlSuite, b *foreignBrowser) error {
	type m = map[string]any
	return joinAs(ctx, s, "mine", m{"driver": "existing-session", "userDataDir": b.data}, func() error {
		if err := s.Call(ctx, "POST", "/tabs/open?profile=mine", m{"url": s.Site.URL + "/form"}, nil); err != nil {
			return err
		}
		var wrong []error
		for _, body := range []m{
			{"kind": "click", "selector": "#save"},
			{"kind": "type", "ref": "e1", "text": "x", "slowly": true},
			{"kind": "press", "key": "a", "delayMs": 5},
			{"kind": "type", "selector": "#name", "text": "x"},
			{"kind": "hover", "selector": "#save"},
			{"kind": "scrollIntoView", "selector": "#save"},
			{"kind": "drag", "startSelector": "#save", "endRef": "e2"},
			{"kind": "select", "selector": "#country", "values": []string{"no"}},
			{"kind": "batch", "actions": []any{m{"kind": "press", "key": "a"}}},
			{"kind": "dragCoords", "x": 1, "y": 1, "endX": 2, "endY": 2},
		} {
			x := requestCase{Path: "/act?profile=mine", Body: body, Status: 501, Code: "ACT_EXISTING_SESSION_UNSUPPORTED"}
			if err := x.Run(ctx, s); err != nil {
				wrong = append(wrong, fmt.Errorf("%v: %w", body, err))
			}
		}
		for _, x := range []requestCase{
			{Path: "/screenshot?profile=mine", Body: m{"element": "#save"}, Status: 400},
			{Path: "/act?profile=mine", Body: m{"kind": "evaluate", "fn": "document.title", "timeoutMs": 3000}, Contains: []string{"Form"}},
			{Path: "/start?profile=mine&headless=true", Method: "POST", Status: 400},
		} {
			if err := x.Run(ctx, s); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", x.Path, err))
			}
		}
		return errors.Join(wrong...)
	})
}
