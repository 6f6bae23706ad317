package main

import (
	"context"
	"errors"
	"fmt"
)

func byDirectory(ctx context.Context, s *suite, b *outsider) error {
	return s.joinAs(ctx, "mine", map[string]any{"driver": "existing-session", "userDataDir": b.data}, func() error {
		all, err := s.listProfiles(ctx)
		if err != nil {
			return err
		}
		if p := all["mine"]; p.Driver != "existing-session" {
			return fmt.Errorf("listed as %+v", p)
		}
		if err := (exchange{path: "/?profile=mine", says: []string{b.data, `"attachOnly":true`}}).run(ctx, s); err != nil {
			return err
		}
		return s.worked(ctx, b, "mine", "about:blank")
	})
}

// personsLimits are the actions that a browser in use by a person is spared. What else the contract lets servers refuse there
// may work.
func personsLimits(ctx context.Context, s *suite, b *outsider) error {
	type m = map[string]any
	return s.joinAs(ctx, "mine", m{"driver": "existing-session", "userDataDir": b.data}, func() error {
		if err := s.Call(ctx, "POST", "/tabs/open?profile=mine", m{"url": s.site.URL + "/form"}, nil); err != nil {
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
			x := exchange{path: "/act?profile=mine", body: body, status: 501, code: "ACT_EXISTING_SESSION_UNSUPPORTED"}
			if err := x.run(ctx, s); err != nil {
				wrong = append(wrong, fmt.Errorf("%v: %w", body, err))
			}
		}
		for _, x := range []exchange{
			{path: "/screenshot?profile=mine", body: m{"element": "#save"}, status: 400},
			{path: "/act?profile=mine", body: m{"kind": "evaluate", "fn": "document.title", "timeoutMs": 3000}, says: []string{"Form"}},
			{path: "/start?profile=mine&headless=true", method: "POST", status: 400},
		} {
			if err := x.run(ctx, s); err != nil {
				wrong = append(wrong, fmt.Errorf("%s: %w", x.path, err))
			}
		}
		return errors.Join(wrong...)
	})
}
