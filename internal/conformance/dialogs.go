package main

import (
	"context"
	"fmt"
)

// dialogs are alert, confirm and prompt: nothing waits for them, and nothing dismisses them by itself.
func dialogs() []check {
	type m = map[string]any
	return append(checks([]exchange{
		{name: "no answer", path: "/hooks/dialog", body: m{}, status: 400, says: []string{"accept is required"}},
		{name: "a time limit that is none", path: "/hooks/dialog", body: m{"accept": true, "timeoutMs": "x"}, status: 400, says: []string{"must be a positive integer."}},
		{name: "an unknown dialog", path: "/hooks/dialog", page: "/dialogs", body: m{"accept": true, "dialogId": "d99"}, status: 500, says: []string{"not pending"}},
	}),
		check{"a click that opens one is left there", blockedClick},
		check{"a snapshot while one is open", blockedSnapshot},
		check{"prompt", prompted},
		check{"an armed answer", armed},
		check{"recent ones", recentDialogs},
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
func (s *suite) provoke(ctx context.Context, button string) (dialogState, error) {
	var got dialogState
	if err := s.open(ctx, "/dialogs"); err != nil {
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

func (s *suite) answer(ctx context.Context, body map[string]any) error {
	return s.Call(ctx, "POST", "/hooks/dialog", body, nil)
}

func (s *suite) says(ctx context.Context, want string) error {
	return s.until(ctx, fmt.Sprintf("the page to say %q", want), func() (bool, error) {
		var got string
		err := s.evaluate(ctx, "document.getElementById('said').textContent", &got)
		return got == want, err
	})
}

func blockedClick(ctx context.Context, s *suite) error {
	got, err := s.provoke(ctx, "#alert")
	if err != nil {
		return err
	}
	d := got.BrowserState.Dialogs.Pending[0]
	if d.Type != "alert" || d.Message != "Are you there?" || d.OpenedAt == "" {
		return fmt.Errorf("dialog: %+v", d)
	}
	if err := s.answer(ctx, map[string]any{"accept": true, "dialogId": d.ID}); err != nil {
		return err
	}
	return s.says(ctx, "answered")
}

func blockedSnapshot(ctx context.Context, s *suite) error {
	if _, err := s.provoke(ctx, "#confirm"); err != nil {
		return err
	}
	var got dialogState
	if err := s.Call(ctx, "GET", "/snapshot", nil, &got); err != nil {
		return err
	}
	if !got.BlockedByDialog || got.Snapshot == nil || *got.Snapshot != "" || len(got.Refs) > 0 || len(got.BrowserState.Dialogs.Pending) != 1 {
		return fmt.Errorf("the snapshot answered %+v", got)
	}
	if err := s.answer(ctx, map[string]any{"accept": "no"}); err != nil {
		return err
	}
	return s.says(ctx, "false")
}

func prompted(ctx context.Context, s *suite) error {
	got, err := s.provoke(ctx, "#prompt")
	if err != nil {
		return err
	}
	if d := got.BrowserState.Dialogs.Pending[0]; d.DefaultValue != "nobody" {
		return fmt.Errorf("dialog: %+v", d)
	}
	if err := s.answer(ctx, map[string]any{"accept": true, "promptText": "Ada"}); err != nil {
		return err
	}
	return s.says(ctx, "Ada")
}

func armed(ctx context.Context, s *suite) error {
	if err := s.open(ctx, "/dialogs"); err != nil {
		return err
	}
	for _, text := range []string{"first", "second"} {
		if err := s.answer(ctx, map[string]any{"accept": true, "promptText": text}); err != nil {
			return err
		}
	}
	if _, err := s.act(ctx, map[string]any{"kind": "click", "selector": "#prompt"}); err != nil {
		return err
	}
	return s.says(ctx, "second")
}

func recentDialogs(ctx context.Context, s *suite) error {
	if _, err := s.provoke(ctx, "#alert"); err != nil {
		return err
	}
	if err := s.answer(ctx, map[string]any{"accept": true}); err != nil {
		return err
	}
	return s.until(ctx, "the dialog among the recent ones", func() (bool, error) {
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
