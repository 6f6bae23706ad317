package conversation_test

import (
	"errors"
	"strings"
	"testing"

	"clank/voice/conversation"
)

func TestTheNoticeSaysOnlyWhatIsSo(t *testing.T) {
	for _, tt := range []struct {
		name    string
		able    conversation.Capabilities
		written []string
		spoken  string
	}{
		{"all there is", conversation.Capabilities{Transcribes: true, Spots: true, OptOut: true}, []string{"Nothing that is said is stored", "Say “clank privacy”"}, "Say: clank privacy"},
		{"words are kept", conversation.Capabilities{Spots: true, OptOut: true, Records: true}, []string{"stored as text, and no sound"}, "stored as text"},
		{"nothing hears words", conversation.Capabilities{OptOut: true}, []string{"Use `/clank privacy`"}, "The chat says"},
		{"a page", conversation.Capabilities{Native: true, OnPage: true}, []string{"Mute your microphone"}, "Mute your microphone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			written, spoken := tt.able.ListeningNotice()
			for _, want := range tt.written {
				if !strings.Contains(written, want) {
					t.Errorf("written is %q, without %q", written, want)
				}
			}
			if got := strings.Join(spoken, " "); !strings.Contains(got, tt.spoken) {
				t.Errorf("spoken is %q, without %q", got, tt.spoken)
			}
			if !tt.able.OptOut && strings.Contains(written+strings.Join(spoken, ""), "privacy") {
				t.Error("it tells of a command that does nothing here")
			}
		})
	}
}

func TestWhatHelpsIsWhatThereIs(t *testing.T) {
	why := errors.New("no program")
	for able, want := range map[conversation.Capabilities][]string{
		{Spots: true, OptOut: true}:        {"stop words still work", "write “stop” in the chat", "Stop still works", "write `/clank privacy`"},
		{OnPage: true}:                     {"on the page Chat", "button Stop", "No program", "mute your microphone"},
		{OnPage: true, Spots: true}:        {"on the page Chat instead; stop words still work"},
		{Transcribes: true, Records: true}: {"write to me instead."},
	} {
		written, spoken := able.BudgetSpentTexts(why)
		whose, _ := able.UnclearOptOutTexts()
		all := strings.Join([]string{able.FallbackHint(), able.SpotterFailedText(why), written, spoken, whose, able.NoTranscriptionText()}, " ")
		for _, text := range want {
			if !strings.Contains(all, text) {
				t.Errorf("%+v: %q is missing in %s", able, text, all)
			}
		}
		if !able.Spots && strings.Contains(all, "still works") {
			t.Errorf("%+v: it promises stop words", able)
		}
	}
}

func TestWhoIsLeftOutIsToldWhatHoldsAndForHowLong(t *testing.T) {
	if got := conversation.OptOutConfirmed("Ada", nil); !strings.HasPrefix(got, "Ada, ") || strings.Contains(got, "could not") {
		t.Errorf("told %q", got)
	}
	if got := conversation.OptOutConfirmed("Ada", errors.New("the disk is full")); !strings.Contains(got, "until I am started again: The disk is full.") {
		t.Errorf("told %q", got)
	}
	if got := conversation.ModelGoneText("It hung up."); !strings.Contains(got, "It hung up. `/clank leave`") {
		t.Errorf("told %q", got)
	}
}
