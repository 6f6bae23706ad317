package memory_test

import (
	"strconv"
	"testing"
	"time"

	"clank/brain"
	"clank/voice/talk/memory"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func TestAConversationIsRememberedForAWhileInItsOrder(t *testing.T) {
	var l memory.Lines
	old := l.Add(brain.Line{Text: "old"}, noon.Add(-time.Hour))
	asked := l.Add(brain.Line{Text: "asked"}, noon)
	gone := l.Add(brain.Line{Text: "gone"}, noon)
	l.Add(brain.Line{Text: "since"}, noon)
	l.Remove(gone)
	l.Remove(gone)
	want := []brain.Line{{Text: "since"}, {Text: "asked"}}
	if diff := cmp.Diff(want, l.Until(asked, noon)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i := range 100 {
		l.Add(brain.Line{Text: strconv.Itoa(i)}, noon)
	}
	if got := l.Until(old, noon); len(got) != 41 || got[0].Text != "60" || got[40].Text != "old" {
		t.Errorf("%d lines, from %q", len(got), got[0].Text)
	}
}

func TestWhatWeSaidIsKnownWhenItComesBack(t *testing.T) {
	var s memory.Speech
	a := s.Begin("You can say stop", noon)
	a.Goes("at any time.")
	at := noon.Add(time.Second)
	if !s.IsEcho("say stop at any time", at, at) || !s.CanBe("stop", at) {
		t.Error("not known while it is said")
	}
	if s.IsEcho("look up the ferries", at, at) || s.CanBe("clank stop", at) {
		t.Error("other words are taken for it")
	}
	a.Ended(at)
	for after, want := range map[time.Duration]bool{900 * time.Millisecond: true, 1100 * time.Millisecond: false} {
		then := at.Add(after)
		if got := s.IsEcho("say stop at any time", then, then); got != want || s.CanBe("stop", then) != want {
			t.Errorf("%v after its end: %v, want %v", after, got, want)
		}
	}
	if then := at.Add(100 * time.Millisecond); s.IsEcho("stop", then, then) {
		t.Error("a single word after its end is taken for it")
	}
}
