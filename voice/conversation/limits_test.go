package conversation_test

import (
	"errors"
	"testing"
	"time"

	"clank/voice/conversation"
)

// told looks every second and returns what was told after how long, until the call ends.
func told(w *conversation.CallLimits, span time.Duration, people func(time.Duration) int) (texts map[time.Duration]string, end error) {
	texts = map[time.Duration]string{}
	for at := time.Duration(0); at < span; at += time.Second {
		for _, word := range w.Check(w.StartedAt.Add(at), people(at)) {
			texts[at] += word.Text
			if word.End != nil {
				end = word.End
			}
		}
	}
	return texts, end
}

func TestACallInWhichNobodyIsEnds(t *testing.T) {
	w := &conversation.CallLimits{AloneTimeout: 5 * time.Minute, StartedAt: time.Unix(1, 0)}
	texts, end := told(w, time.Hour, func(at time.Duration) int { // ada leaves after a minute, comes back after five, and is gone after ten
		if at < time.Minute || at >= 330*time.Second && at < 10*time.Minute {
			return 1
		}
		return 0
	})
	want := map[time.Duration]string{5 * time.Minute: conversation.AloneSoonText, 14 * time.Minute: conversation.AloneSoonText, 15 * time.Minute: conversation.LeftAloneText}
	if !errors.Is(end, conversation.ErrCallEmpty) || len(texts) != len(want) {
		t.Errorf("told %v, ended with %v", texts, end)
	}
	for at, text := range want {
		if texts[at] != text {
			t.Errorf("after %v told %q, want %q", at, texts[at], text)
		}
	}
}

func TestACallLastsAsLongAsItMay(t *testing.T) {
	for limit, want := range map[time.Duration]map[time.Duration]string{
		10 * time.Minute: {8 * time.Minute: conversation.LimitSoonText, 9*time.Minute + 15*time.Second: conversation.LimitNearText, 10 * time.Minute: conversation.LimitReachedText},
		2 * time.Minute:  {75 * time.Second: conversation.LimitNearText, 2 * time.Minute: conversation.LimitReachedText},
		0:                {},
	} {
		w := &conversation.CallLimits{AloneTimeout: time.Minute, MaxDuration: limit, StartedAt: time.Unix(1, 0)}
		texts, end := told(w, time.Hour, func(time.Duration) int { return 2 })
		if errors.Is(end, conversation.ErrCallTooLong) != (limit > 0) || len(texts) != len(want) {
			t.Errorf("limit %v: told %v, ended with %v", limit, texts, end)
		}
		for at, text := range want {
			if texts[at] != text {
				t.Errorf("limit %v: after %v told %q, want %q", limit, at, texts[at], text)
			}
		}
	}
}

func TestAnEndIsToldOnce(t *testing.T) {
	w := &conversation.CallLimits{AloneTimeout: time.Minute, MaxDuration: time.Minute, StartedAt: time.Unix(1, 0)}
	w.Check(w.StartedAt, 0)
	if got := w.Check(w.StartedAt.Add(time.Hour), 0); len(got) != 1 || !errors.Is(got[0].End, conversation.ErrCallTooLong) {
		t.Errorf("told %+v, want one end", got)
	}
	if got := w.Check(w.StartedAt.Add(2*time.Hour), 0); len(got) > 0 {
		t.Errorf("told %+v after the end", got)
	}
}
