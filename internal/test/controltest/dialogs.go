package main

import (
	"context"
	"fmt"
)

// dialogCases are alert, confirm and prompt: nothing waits for them, and nothing dismisses them by itself.
func dialogCases() []testCase {
	type m = map[string]any
	return append(requestCases([]requestCase{
		{Name: "no answer", Path: "/hooks/dialog", Body: m{}, Status: 400, Contains: []string{"accept is required"}},
		{Name: "a time limit that is none", Path: "/hooks/dialog", Body: m{"accept": true, "timeoutMs": "x"}, Status: 400, Contains: []string{"must be a positive integer."}},
		{Name: "an unknown dialog", Path: "/hooks/dialog", Page: "/dialogs", Body: m{"accept": true, "dialogId": "d99"}, Status: 500, Contains: []string{"not pending"}},
	}),
		testCase{Name: "a click that opens one is left there", Run: blockedClick},
		testCase{Name: "a snapshot while one is open", Run: blockedSnapshot},
		testCase{Name: "prompt", Run: promptIsAnswered},
		testCase{Name: "an armed answer", Run: dialogAnsweredAhead},
		testCase{Name: "recent ones", Run: recentDialogs},
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

// openDialog opens a dialog by a click, which must come back at once and say so.
func openDialog(ctx context.Context, s *controlSuite, button string) (dialogState, error) {
	var got dialogState
	if err := s.openPage(ctx, "/dialogs"); err != nil {
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

func answerDialog(ctx context.Context, s *controlSuite, body map[string]any) error {
	return s.Call(ctx, "POST", "/hooks/dialog", body, nil)
}

func blockedClick(ctx context.Context, s *controlSuite) error {
	got, err := openDialog(ctx, s, "#alert")
	if err != nil {
		return err
	}
	d := got.BrowserState.Dialogs.Pending[0]
	if d.Type != "alert" || d.Message != "Are you there?" || d.OpenedAt == "" {
		return fmt.Errorf("dialog: %+v", d)
	}
	if err := answerDialog(ctx, s, map[string]any{"accept": true, "dialogId": d.ID}); err != nil {
		return err
	}
	return s.waitForSaid(ctx, "answered")
}

func blockedSnapshot(ctx context.Context, s *controlSuite) error {
	if _, err := openDialog(ctx, s, "#confirm"); err != nil {
		return err
	}
	var got dialogState
	if err := s.Call(ctx, "GET", "/snapshot", nil, &got); err != nil {
		return err
	}
	if !got.BlockedByDialog || got.Snapshot == nil || *got.Snapshot != "" || len(got.Refs) > 0 || len(got.BrowserState.Dialogs.Pending) != 1 {
		return fmt.Errorf("the snapshot answered %+v", got)
	}
	if err := answerDialog(ctx, s, map[string]any{"accept": "no"}); err != nil {
		return err
	}
	return s.waitForSaid(ctx, "false")
}

func promptIsAnswered(ctx context.Context, s *controlSuite) error {
	got, err := openDialog(ctx, s, "#prompt")
	if err != nil {
		return err
	}
	if d := got.BrowserState.Dialogs.Pending[0]; d.DefaultValue != "nobody" {
		return fmt.Errorf("dialog: %+v", d)
	}
	if err := answerDialog(ctx, s, map[string]any{"accept": true, "promptText": "Ada"}); err != nil {
		return err
	}
	return s.waitForSaid(ctx, "Ada")
}

func dialogAnsweredAhead(ctx context.Context, s *controlSuite) error {
	if err := s.openPage(ctx, "/dialogs"); err != nil {
		return err
	}
	for _, text := range []string{"first", "second"} {
		if err := answerDialog(ctx, s, map[string]any{"accept": true, "promptText": text}); err != nil {
			return err
		}
	}
	if _, err := s.Act(ctx, map[string]any{"kind": "click", "selector": "#prompt"}); err != nil {
		return err
	}
	return s.waitForSaid(ctx, "second")
}

func recentDialogs(ctx context.Context, s *controlSuite) error {
	if _, err := openDialog(ctx, s, "#alert"); err != nil {
		return err
	}
	if err := answerDialog(ctx, s, map[string]any{"accept": true}); err != nil {
		return err
	}
	return s.waitUntil(ctx, "the dialog among the recent ones", func() (bool, error) {
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
