package server

import (
	"context"
	"testing"

	"clank/internal/settings"
	"clank/voice"
	"clank/voice/conversation"
)

// optOutStoreOfBob does not want to be heard.
type optOutStoreOfBob struct{}

func (optOutStoreOfBob) ListOptedOut(context.Context) ([]voice.PrivacyKey, error) {
	return []voice.PrivacyKey{{Guild: "g", User: "bob"}}, nil
}

func (optOutStoreOfBob) SetOptedOut(context.Context, voice.PrivacyKey, bool) error { return nil }

func TestWhoIsLeftOutIsInNoTranscriptAndNobodyIsWhenTheSettingIsTakenBack(t *testing.T) {
	left, err := voice.OpenPrivacyList(t.Context(), optOutStoreOfBob{})
	if err != nil {
		t.Fatal(err)
	}
	s := settings.Defaults()
	s.Voice.KeepTranscripts = true
	x := &CallService{privacy: left, Settings: func() settings.Settings { return s }}
	lines := make(chan transcriptLine, 10)
	keep := x.transcriptRecorder(conversation.Location{Guild: "g"}, lines)
	keep(conversation.TranscriptLine{Speaker: voice.Person{ID: "bob", Name: "Bob"}, Text: "a secret"})
	keep(conversation.TranscriptLine{Speaker: voice.Person{ID: "ada", Name: "Ada"}, Text: "hello"})
	keep(conversation.TranscriptLine{Text: "Hello, Ada."})
	s.Voice.KeepTranscripts = false
	keep(conversation.TranscriptLine{Text: "Goodbye."})
	close(lines)
	var got []string
	for l := range lines {
		got = append(got, l.By+": "+l.Text)
	}
	if len(got) != 2 || got[0] != "Ada: hello" || got[1] != ": Hello, Ada." {
		t.Errorf("kept %q", got)
	}
}
