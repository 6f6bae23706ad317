package conversation_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"clank/voice/conversation"
)

func TestWhatIsUnderstoodAndSaidCanBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		var mu sync.Mutex
		var read []string
		p.ShowLine = func(s conversation.TranscriptLine) {
			mu.Lock()
			defer mu.Unlock()
			read = append(read, s.Speaker.Name+": "+s.Text)
		}
		p.begin("ada")
		p.says("ada", "clank, what time is it?")
		p.wait(5 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if len(read) < 2 || read[0] != "Ada: clank, what time is it?" || !strings.HasPrefix(read[1], ": ") {
			t.Errorf("read: %q, want what Ada said and what we answered", read)
		}
		for _, line := range read[1:] {
			if strings.Contains(p.chat.text(), strings.TrimPrefix(line, ": ")) {
				t.Errorf("%q is both shown and written", line)
			}
		}
		if strings.Contains(p.chat.text(), "is stored as text") {
			t.Error("showing is told to be storing")
		}
		p.end()
	})
}

func TestWhereNobodyIsListedAsLeftOutPeopleAreToldToMute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParty(t)
		p.Privacy = nil
		p.begin("ada")
		for where, got := range map[string]string{"said": p.mouth.words(), "written": p.chat.text()} {
			if !strings.Contains(got, "ute your microphone") || strings.Contains(got, "lank privacy") {
				t.Errorf("%s: %q, want how to mute and no command", where, got)
			}
		}
		p.says("ada", "Clank, privacy.")
		p.wait(5 * time.Second)
		if got := strings.Count(p.mouth.words(), "Mute your microphone"); got != 2 {
			t.Errorf("told to mute %d times, want once more: %q", got, p.mouth.words())
		}
		if first := p.chat.messages[0]; !first.IsNotice {
			t.Errorf("%q is no notice for those who come later", first.Text)
		}
		p.end()
	})
}
