package acts

import (
	"context"
	"fmt"

	"clank/internal/conformance/check"
)

// Dialogs are alert, confirm and prompt: nothing waits for them, and nothing dismisses them by itself.
func Dialogs() []check.Case {
	type m = map[string]any
	return append(check.Exchanges([]check.Exchange{
		{Name: "no answer", Path: "/hooks/dialog", Body: m{}, Status: 400, Says: []string{"accept is required"}},
		{Name: "a time limit that is none", Path: "/hooks/dialog", Body: m{"accept": true, "timeoutMs": "x"}, Status: 400, Says: []string{"must be a positive integer."}},
		{Name: "an unknown dialog", Path: "/hooks/dialog", Page: "/dialogs", Body: m{"accept": true, "dialogId": "d99"}, Status: 500, Says: []string{"not pending"}},
	}),
		check.Case{Name: "a click that opens one is left there", Run: blockedClick},
		check.Case{Name: "a snapshot while one is open", Run: blockedSnapshot},
		check.Case{Name: "prompt", Run: prompted},
		check.Case{Name: "an armed answer", Run: armed},
		check.Case{Name: "recent ones", Run: recentDialogs},
	)
}

type dialogState struct {
	OK              bool
	BlockedByDialog bool
	Snapshot        *string
	Refs            map[string]any
	BrowserState    struct {
		Dialogs struct {
			Pending, Recent []struct{ ID, Type, Message, DefaultValue, OpenedAt, ClosedAt, ClosedBy string }
		}
	}
}

// provoke opens a dialog by a click, which must come back at once and say so.
func provoke(ctx context.Context, s *check.Suite, button string) (dialogState, error) {
	var got dialogState
	if err := s.Open(ctx, "/dialogs"); err != nil {
		return got, err
	}
	if err := s.Call(ctx, "POST", "/act", map[string]any{"kind": "click", "selector": button}, &got); err != nil {
		return got, err
	}
	if !got.OK || !got.BlockedByDialog || len(got.BrowserState.Dialogs.Pending) != 1 {
		return got, fmt.Errorf("the click answered %+v", got)
	}
	return got, nil
}

func answer(ctx context.Context, s *check.Suite, body map[string]any) error {
	return s.Call(ctx, "POST", "/hooks/dialog", body, nil)
}

func blockedClick(ctx context.Context, s *check.Suite) error {
	got, err := provoke(ctx, s, "#alert")
	if err != nil {
		return err
	}
	d := got.BrowserState.Dialogs.Pending[0]
	if d.Type != "alert" || d.Message != "Are you there?" || d.OpenedAt == "" {
		return fmt.Errorf("dialog: %+v", d)
	}
	if err := answer(ctx, s, map[string]any{"accept": true, "dialogId": d.ID}); err != nil {
		return err
	}
	return s.Says(ctx, "answered")
}

func blockedSnapshot(ctx context.Context, s *check.Suite) error {
	if _, err := provoke(ctx, s, "#confirm"); err != nil {
		return err
	}
	var got dialogState
	if err := s.Call(ctx, "GET", "/snapshot", nil, &got); err != nil {
		return err
	}
	if !got.BlockedByDialog || got.Snapshot == nil || *got.Snapshot != "" || len(got.Refs) > 0 || len(got.BrowserState.Dialogs.Pending) != 1 {
		return fmt.Errorf("the snapshot answered %+v", got)
	}
	if err := answer(ctx, s, map[string]any{"accept": "no"}); err != nil {
		return err
	}
	return s.Says(ctx, "false")
}

func prompted(ctx context.Context, s *check.Suite) error {
	got, err := provoke(ctx, s, "#prompt")
	if err != nil {
		return err
	}
	if d := got.BrowserState.Dialogs.Pending[0]; d.DefaultValue != "nobody" {
		return fmt.Errorf("dialog: %+v", d)
	}
	if err := answer(ctx, s, map[string]any{"accept": true, "promptText": "Ada"}); err != nil {
		return err
	}
	return s.Says(ctx, "Ada")
}

func armed(ctx context.Context, s *check.Suite) error {
	if err := s.Open(ctx, "/dialogs"); err != nil {
		return err
	}
	for _, text := range []string{"first", "second"} {
		if err := answer(ctx, s, map[string]any{"accept": true, "promptText": text}); err != nil {
			return err
		}
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#prompt"}); err != nil {
		return err
	}
	return s.Says(ctx, "second")
}

func recentDialogs(ctx context.Context, s *check.Suite) error {
	if _, err := provoke(ctx, s, "#alert"); err != nil {
		return err
	}
	if err := answer(ctx, s, map[string]any{"accept": true}); err != nil {
		return err
	}
	return s.Until(ctx, "the dialog among the recent ones", func() (bool, error) {
		var got dialogState
		err := s.Call(ctx, "GET", "/dialogs", nil, &got)
		recent := got.BrowserState.Dialogs.Recent
		if err != nil || len(recent) == 0 {
			return false, err
		}
		last := recent[len(recent)-1]
		if last.ClosedBy != "agent" || last.ClosedAt == "" || len(got.BrowserState.Dialogs.Pending) > 0 {
			return false, fmt.Errorf("dialogs: %+v", got.BrowserState.Dialogs)
		}
		return true, nil
	})
}
