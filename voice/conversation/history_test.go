package conversation_test

import (
	"strconv"
	"testing"
	"time"

	"clank/internal/assistant"
	"clank/voice/conversation"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func TestAConversationIsRememberedForAWhileInItsOrder(t *testing.T) {
	var l conversation.History
	old := l.Add(assistant.ChatLine{Text: "old"}, noon.Add(-time.Hour))
	asked := l.Add(assistant.ChatLine{Text: "asked"}, noon)
	gone := l.Add(assistant.ChatLine{Text: "gone"}, noon)
	l.Add(assistant.ChatLine{Text: "since"}, noon)
	l.Remove(gone)
	l.Remove(gone)
	want := []assistant.ChatLine{{Text: "since"}, {Text: "asked"}}
	if diff := cmp.Diff(want, l.LinesUntil(asked, noon)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 100 {
		l.Add(assistant.ChatLine{Text: strconv.Itoa(i)}, noon)
	}
	if got := l.LinesUntil(old, noon); len(got) != 41 || got[0].Text != "60" || got[40].Text != "old" {
		t.Errorf("%d lines, from %q", len(got), got[0].Text)
	}
}

func TestWhatWeSaidIsKnownWhenItComesBack(t *testing.T) {
	var s conversation.EchoDetector
	a := s.Begin("You can say stop", noon)
	a.Append("at any time.")
	at := noon.Add(time.Second)
	if !s.IsEcho("say stop at any time", at, at) || !s.MayBeEcho("stop", at) {
		t.Error("not known while it is said")
	}
	if s.IsEcho("look up the ferries", at, at) || s.MayBeEcho("clank stop", at) {
		t.Error("other words are taken for it")
	}
	a.End(at)
	for after, want := range map[time.Duration]bool{900 * time.Millisecond: true, 1100 * time.Millisecond: false} {
		then := at.Add(after)
		if got := s.IsEcho("say stop at any time", then, then); got != want || s.MayBeEcho("stop", then) != want {
			t.Errorf("%v after its end: %v, want %v", after, got, want)
		}
	}
	if then := at.Add(100 * time.Millisecond); s.IsEcho("stop", then, then) {
		t.Error("a single word after its end is taken for it")
	}
}
