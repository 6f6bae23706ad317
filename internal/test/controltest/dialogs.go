package controltest

// dialogCases returns the cases of alert, confirm and prompt: nothing waits for them, and nothing dismisses them
// by itself.
func dialogCases() []testCase {
	return append(requestCases([]requestCase{
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
	Refs            m
	BrowserState    struct {
		Dialogs struct {
			Pending, Recent []struct{ ID, Type, Message, DefaultValue, OpenedAt, ClosedAt, ClosedBy string }
		}
	}
}

// openDialog opens a dialog by a click, which must come back at once and say so.
func openDialog(s *suite, button string) dialogState {
	var got dialogState
	s.openPage("/dialogs")
	s.call("POST", "/act", m{"kind": "click", "selector": button}, &got)
	if !got.OK || !got.BlockedByDialog || len(got.BrowserState.Dialogs.Pending) != 1 {
		s.Fatalf("the click answered %+v", got)
		return got
	}
	return got
}

func answerDialog(s *suite, body m) {
	s.call("POST", "/hooks/dialog", body, nil)
}

func blockedClick(s *suite) {
	got := openDialog(s, "#alert")
	d := got.BrowserState.Dialogs.Pending[0]
	if d.Type != "alert" || d.Message != "Are you there?" || d.OpenedAt == "" {
		s.Fatalf("dialog: %+v", d)
	}
	answerDialog(s, m{"accept": true, "dialogId": d.ID})
	s.waitForSaid("answered")
}

func blockedSnapshot(s *suite) {
	openDialog(s, "#confirm")
	var got dialogState
	s.call("GET", "/snapshot", nil, &got)
	if !got.BlockedByDialog || got.Snapshot == nil || *got.Snapshot != "" || len(got.Refs) > 0 || len(got.BrowserState.Dialogs.Pending) != 1 {
		s.Fatalf("the snapshot answered %+v", got)
	}
	answerDialog(s, m{"accept": "no"})
	s.waitForSaid("false")
}

func promptIsAnswered(s *suite) {
	got := openDialog(s, "#prompt")
	if d := got.BrowserState.Dialogs.Pending[0]; d.DefaultValue != "nobody" {
		s.Fatalf("dialog: %+v", d)
	}
	answerDialog(s, m{"accept": true, "promptText": "Ada"})
	s.waitForSaid("Ada")
}

func dialogAnsweredAhead(s *suite) {
	s.openPage("/dialogs")
	for _, text := range []string{"first", "second"} {
		answerDialog(s, m{"accept": true, "promptText": text})
	}
	s.click("#prompt")
	s.waitForSaid("second")
}

func recentDialogs(s *suite) {
	openDialog(s, "#alert")
	answerDialog(s, m{"accept": true})
	s.waitUntil("the dialog among the recent ones", func() bool {
		var got dialogState
		s.call("GET", "/dialogs", nil, &got)
		recent := got.BrowserState.Dialogs.Recent
		if len(recent) == 0 {
			return false
		}
		last := recent[len(recent)-1]
		if last.ClosedBy != "agent" || last.ClosedAt == "" || len(got.BrowserState.Dialogs.Pending) > 0 {
			s.Fatalf("dialogs: %+v", got.BrowserState.Dialogs)
		}
		return true
	})
}
